"""Convert the conventions of MuJoCo and Drake to Pinocchio's, and list what a Pinocchio model lacks.

A ``body`` has ``engine``, ``nq``, ``nv``, ``joints``, ``armature``, ``gravity``, and ``parts(name)``: its
joints that make up one of Pinocchio's. A joint has ``name``, ``nq``, ``nv``, ``free``, slices ``q``, ``v``,
and ``block(x)`` and ``position(x)``: its block of T and its part of q, where Pinocchio's part of q is x.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .._util.validation import as_vector
from ..exceptions import AdapterError
from ..model.model import Model
from ..tolerances import SAME_PARAMETER

ARMATURE = "another armature"
GRAVITY = "another gravity"


def transform(body, model, q) -> np.ndarray:
    """Return T with v_pinocchio = T v, shape (model.nv, nv); joints are matched by name.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model or Model
        A free-flyer called ``root_joint`` is the only free joint of the body, whatever that is called.
    q : array_like, shape (model.nq,)
        Pinocchio's.

    Raises
    ------
    AdapterError
        If body and model have different joints, or a joint is of a type that only one of them has; names
        the joints.

    Notes
    -----
    H = T' H_pin T, tau = T' tau_pin, a_pin = T a + c with c from `acceleration_offset`, and so
    bias = T' (nle + H_pin c). The block of a free joint is that of ``Joint.block``. The armature of a free
    joint of MuJoCo acts along the axes of the world, Pinocchio's along those of the body: H_pin
    does not contain it in the last equation. ``model`` has it as MuJoCo has.
    """
    q = as_vector(q, model.nq, "q")
    T = np.zeros((model.nv, body.nv))
    for joint, at_q, at_v in _matched(body, model):
        T[at_v, joint.v] = joint.block(q[at_q])
    return T


def acceleration_offset(body, model, q, v) -> np.ndarray:
    """Return c with a_pinocchio = T a + c, shape (model.nv,); q and v are Pinocchio's.

    Notes
    -----
    Pinocchio's acceleration of a free body is spatial: a_lin = classical acceleration - ω × v.
    """
    v = as_vector(v, model.nv, "v")
    c = np.zeros(model.nv)
    for joint, _, at_v in _matched(body, model):
        if joint.free:
            c[at_v][:3] = -np.cross(v[at_v][3:], v[at_v][:3])
    return c


def from_pinocchio(body, model, q, v) -> tuple[np.ndarray, np.ndarray]:
    """Convert Pinocchio's q and v to the engine's.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model or Model
    q : array_like, shape (model.nq,)
        Continuous joints as (cos, sin), quaternions x y z w.
    v : array_like, shape (model.nv,)
    """
    q, v = as_vector(q, model.nq, "q"), as_vector(v, model.nv, "v")
    mine = np.empty(body.nq)
    for joint, at_q, _ in _matched(body, model):
        mine[joint.q] = joint.position(q[at_q])
    return mine, transform(body, model, q).T @ v  # T is a permutation of rotations: T^-1 = T'


def one_position(x: np.ndarray) -> np.ndarray:
    """Return angle or distance of a joint with one freedom; continuous joints are (cos, sin) in Pinocchio."""
    return np.arctan2(x[1], x[0]) if x.size == 2 else x


def model_changes(body, model) -> dict[str, dict[str, Callable]]:
    """Return armature and gravity of the body as changes of a Pinocchio model that lacks them, by cause."""
    changes: dict[str, dict[str, Callable]] = {ARMATURE: {}, GRAVITY: {}}
    for joint, _, at_v in _matched(body, model):
        own = body.armature[joint.v]
        if not np.allclose(own, model.armature[at_v], rtol=SAME_PARAMETER, atol=0.0):
            changes[ARMATURE][joint.name] = partial(_set_armature, at=at_v, value=own)
    if not np.allclose(body.gravity, model.gravity.linear, rtol=SAME_PARAMETER, atol=0.0):
        changes[GRAVITY]["world"] = partial(_set_gravity, value=body.gravity)
    return {cause: found for cause, found in changes.items() if found}


def _set_armature(model, at: slice, value: np.ndarray) -> None:
    armature = np.array(model.armature)
    armature[at] = value
    model.armature = armature


def _set_gravity(model, value: np.ndarray) -> None:
    model.gravity.linear = value


def joints_of(model) -> list[tuple[str, slice, slice]]:
    """Yield the name of every joint of a Pinocchio model, or of one of ours, and its entries in q and v."""
    if isinstance(model, Model):
        names = [joint.name for joint in model.joints]
        counts = [(joint.nq, joint.nv) for joint in model.joints]
        rows = zip(names, model.idx_q, model.idx_v, *zip(*counts, strict=True), strict=True)
    else:
        columns = model.names, model.idx_qs, model.idx_vs, model.nqs, model.nvs
        rows = zip(*(list(column)[1:] for column in columns), strict=True)
    return [(name, slice(q, q + nq), slice(v, v + nv)) for name, q, v, nq, nv in rows]


def _matched(body, model) -> list[tuple]:
    """Yield every joint of the body with its entries in the model's q and v."""
    found, odd = [], []
    for name, q, v in joints_of(model):
        parts = body.parts(name)
        at_q, at_v = q.start, v.start
        for joint in parts:
            nq = q.stop - q.start if len(parts) == 1 else joint.nq  # 2 if continuous
            found.append((joint, slice(at_q, at_q + nq), slice(at_v, at_v + joint.nv)))
            at_q, at_v = at_q + nq, at_v + joint.nv
        if at_v != v.stop:
            odd.append(name)
    starts = {joint.v.start for joint, _, _ in found}
    odd += [joint.name for joint in body.joints if joint.v.start not in starts]
    if odd:
        names = ", ".join(dict.fromkeys(odd))
        raise AdapterError(
            f"the joints of the Pinocchio model are not those of {body.engine}'s: {names}",
            body.engine.lower(),
            joint=odd[0],
        )
    return found
