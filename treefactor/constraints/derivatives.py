"""Compute derivatives of the dynamics with closed loops, drives and rigid contacts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._util.validation import as_number
from ..derivatives.first_order import rnea_derivatives
from ..kinematics.jacobians import BodyMotions
from ..model.model import Model, require_model
from ._constrained_dynamics import States, prepared_rows, solve_states, states_of
from ._loop_rows import driven_loops
from ._row_derivatives import ConstraintRows
from .drives import motions_at
from .loops import NO_DRIVES

BLOCK = 32  # states at a time, whose arrays stay in a cache


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of constrained forward dynamics: matrices (..., nv, nv) and (..., rows, nv).

    Of the accelerations by q, v and tau, then of the forces of loops, drives and contacts.
    """

    da_dq: np.ndarray
    da_dv: np.ndarray
    da_dtau: np.ndarray
    dforces_dq: np.ndarray
    dforces_dv: np.ndarray
    dforces_dtau: np.ndarray


class ConstrainedDerivativesWithValue(NamedTuple):
    """Derivatives of constrained forward dynamics, accelerations (..., nv) and forces (..., rows)."""

    da_dq: np.ndarray
    da_dv: np.ndarray
    da_dtau: np.ndarray
    dforces_dq: np.ndarray
    dforces_dv: np.ndarray
    dforces_dtau: np.ndarray
    a: np.ndarray
    forces: np.ndarray


def forward_dynamics_derivatives(
    model: Model,
    q,
    v,
    tau,
    fext=None,
    stabilization: float = 0.0,
    drives=NO_DRIVES,
    t=0.0,
    contacts=(),
    with_value: bool = False,
) -> ConstrainedDerivatives | ConstrainedDerivativesWithValue:
    """Compute the derivatives of dynamics with closed loops, drives and rigid contacts that hold.

    Parameters
    ----------
    model, q, v, tau, fext, stabilization, drives, t, contacts
        As for `constraints.forward_dynamics`. All loops, drives and contacts hold, before and after the
        change; fext turns with the bodies.
    with_value : bool
        Whether to return the accelerations and forces, too.

    Returns
    -------
    ConstrainedDerivatives
        Named tuple of da_dq, da_dv, da_dtau, each (..., nv, nv), and dforces_dq, dforces_dv, dforces_dtau,
        each (..., rows, nv), with the rows of `forward_dynamics`; then a (..., nv) and forces (..., rows) if
        they are wanted. m/s^2, rad/s^2, N, N m per m or rad, per m/s or rad/s, and per N or N m. In a batch,
        NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError, ShapeError, NonFiniteError, ConfigurationError, InvalidModelError, ValueError
        As `forward_dynamics`.

    Notes
    -----
    Column k of derivatives by q is along `treefactor.integrate`. With J a + gamma the second derivative of
    the rows, and ID inverse dynamics without the forces f of the constraints::

        [H J^T; J 0] [da; -df] = [dtau - dID + d(J^T f); -d(J a + gamma + 2 s J v + s^2 residual)]

    where d(J^T f) holds f in its axes: those of the first frame of a loop, of the frame of a "LOCAL" contact,
    or of the base. Carpentier and Mansard (2018); Pinocchio's ``computeConstraintDynamicsDerivatives``, which
    has other terms for open "6D" loops in "LOCAL_WORLD_ALIGNED" axes. Where rows depend on each other, the
    rank of J must be constant near q, as in planar loops of revolute joints; the derivatives are those of the
    least forces. Where it changes, as in a singular configuration, there are no derivatives.

    Examples
    --------
    A hinge whose end is held: its weight in the axes of the rod depends on the angle.

    >>> import numpy as np, treefactor as tf
    >>> from treefactor.constraints import RigidContact, forward_dynamics_derivatives
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> end = RigidContact(tf.Frame("end", "hinge", p=[0, 0, -1.0]))
    >>> found = forward_dynamics_derivatives(model, [0.1], [0.0], [0.0], contacts=[end])
    >>> found.dforces_dq[0].round(3), found.dforces_dtau[0].round(3)
    (array([-4.88]), array([1.]))
    """
    require_model(model)
    s = as_number(stabilization, "stabilization")
    if s < 0.0:
        raise ValueError(f"stabilization must not be negative, got {s}")
    drives, loops = driven_loops(model, drives)
    motion = motions_at(drives, t) if drives else None
    rows = prepared_rows(loops, contacts)
    given = states_of(model, {"q": q, "v": v, "tau": tau, "fext": fext}, motion)
    found = _of_states(rows, given, s) if math.prod(given.batch) <= BLOCK else _of_blocks(rows, given, s)
    return ConstrainedDerivativesWithValue(*found) if with_value else ConstrainedDerivatives(*found[:6])


def _of_blocks(rows: ConstraintRows, given: States, s: float) -> list[np.ndarray]:
    """Return derivatives and values of a batch, block by block, so that all arrays fit into a cache."""
    batch, count = given.batch, math.prod(given.batch)
    flat = {
        name: x.reshape(count, *x.shape[len(batch) :])
        for name, x in given._asdict().items()
        if isinstance(x, np.ndarray)
    }
    results: list[np.ndarray] = []
    for first in range(0, count, BLOCK):
        part = slice(first, min(first + BLOCK, count))
        block = {name: x[part] for name, x in flat.items()}
        found = _of_states(rows, given._replace(**block, batch=(len(block["q"]),)), s)
        results = results or [np.empty((count, *x.shape[1:])) for x in found]
        for result, x in zip(results, found, strict=True):
            result[part] = x
    return [x.reshape(*batch, *x.shape[1:]) for x in results]


def _of_states(rows: ConstraintRows, given: States, s: float) -> list[np.ndarray]:
    """Return derivatives and values of states."""
    model, n = rows.loops.model, rows.loops.model.nv
    found = solve_states(rows, given, s)
    drows = rows.rows(found.at, given.v, found.a, s != 0.0).stabilized(s)[1]
    dq, dv, _ = rnea_derivatives(model, given.q, given.v, found.a, given.fext)
    push = rows.force_derivatives(found.at, given.v, found.a, found.forces)
    top = np.concatenate([push - dq, -dv, np.broadcast_to(np.eye(n), dq.shape)], axis=-1)
    bottom = np.concatenate([-drows, np.zeros((*drows.shape[:-1], n))], axis=-1)
    x, y = _solved_with_rank(rows, given, found, top, bottom)
    return [*(z[..., k * n : (k + 1) * n] for z in (x, y) for k in range(3)), found.a, found.forces]


def _solved_with_rank(rows, given, found, top, bottom) -> tuple[np.ndarray, np.ndarray]:
    """Solve for derivatives of accelerations and forces; the rank of J is constant near the state.

    Where rows depend on each other, the least squares J^T (error of J a) = 0 and the least forces, which are
    in the range of J, change with J.
    """
    system, model = found.system, rows.loops.model
    dependent = system.dependent[..., None, None]
    if not dependent.any():
        return system.solve(top, bottom)
    n = model.nv
    push = system.forces_of(rows.force_derivatives(found.at, given.v, found.a, found.error))
    bottom[..., :n] -= np.where(dependent, push, 0.0)
    x, y = system.solve(top, bottom)
    z = system.rates_of(found.forces)
    other = rows.rows(BodyMotions(model, given.q, z), z, np.zeros(n))
    y[..., :n] += np.where(dependent, system.outside_range(other.drate[..., :n]), 0.0)
    return x, y
