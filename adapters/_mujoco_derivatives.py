"""Compute derivatives of inverse dynamics by MuJoCo's differences, and translate treefactor's ones."""

from __future__ import annotations

from copy import copy

import mujoco
import numpy as np

from ..model.model import Model
from ..quantities.functions import integrate
from ._mujoco_body import DISABLED, PASSIVE, Body
from .mujoco_ import acceleration_offset, from_pinocchio, transform

STEP = 2.0**-20  # step of MuJoCo's differences
TURN = 2.0**-17  # step of the central differences of T
Matrices = dict[tuple[str, str], np.ndarray]


def derivatives(
    body: Body, model: Model, q, v, a, tau, own: Matrices
) -> tuple[Matrices, Matrices, np.ndarray]:
    """Return derivatives of inverse dynamics by ``mjd_inverseFD``, those of treefactor, and T.

    Parameters
    ----------
    body : Body
    model : Model
        The same robot; q, v, a are its own, and tau the forces for a.
    own : dict
        Its derivatives of inverse dynamics by "q", "v" and "a".

    Returns
    -------
    theirs, translated : dict of ndarray, shape (nv, nv)
        Both in MuJoCo's conventions.
    T : ndarray
        Of `transform`.
    """
    T = transform(body, model, q)
    own_a = T.T @ (a - acceleration_offset(body, model, q, v))
    theirs = _differences(body, *from_pinocchio(body, model, q, v), own_a)
    return theirs, _translated(body, model, (q, v, a, tau), own_a, own), T


def _differences(body: Body, q, v, a) -> Matrices:
    """Return MuJoCo's one-sided differences of inverse dynamics, without passive forces."""
    engine, n = copy(body.model), body.nv
    engine.opt.disableflags |= DISABLED | PASSIVE
    data = mujoco.MjData(engine)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    mujoco.mj_forward(engine, data)
    data.qacc[:] = a
    matrices = {("τ", by): np.zeros((n, n)) for by in "qva"}
    mujoco.mjd_inverseFD(engine, data, STEP, False, *matrices.values(), None, None, None, None)
    return {key: X.T for key, X in matrices.items()}  # MuJoCo's rows are the inputs


def _translated(body: Body, model: Model, state: tuple, own_a: np.ndarray, own: Matrices) -> Matrices:
    """Return derivatives of T' tau(q, T v, T a + c) by MuJoCo's q, v and a; ``own_a`` is MuJoCo's a.

    T and c depend on q and v at free joints only, and are differenced; everything else is exact.
    """
    q, v, a, tau = state
    T = transform(body, model, q)
    own_v, by_q, by_v, H = T.T @ v, own["τ", "q"], own["τ", "v"], own["τ", "a"]

    def forces(step: np.ndarray, step_v: np.ndarray) -> np.ndarray:
        """Return MuJoCo's forces, linear in everything but T and c."""
        moved = integrate(model, q, T @ step)
        T_moved = transform(body, model, moved)
        speed = T_moved @ (own_v + step_v)
        change = T_moved @ own_a + acceleration_offset(body, model, moved, speed) - a
        return T_moved.T @ (tau + by_q @ (T @ step) + by_v @ (speed - v) + H @ change)

    still, steps = np.zeros(body.nv), TURN * np.eye(body.nv)
    return {
        ("τ", "q"): np.transpose([(forces(s, still) - forces(-s, still)) / (2 * TURN) for s in steps]),
        ("τ", "v"): np.transpose([(forces(still, s) - forces(still, -s)) / (2 * TURN) for s in steps]),
        ("τ", "a"): T.T @ H @ T,
    }
