"""Compute derivatives of the dynamics with closed loops, drives and rigid contacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._util.validation import as_number
from ..derivatives.first_order import rnea_derivatives
from ..kinematics.jacobians import BodyMotions
from ..model.model import Model, require_model
from ._loop_rows import driven_loops
from ._rigid_dynamics import prepared, solved, states_of
from .drives import motions_at
from .loops import NO_DRIVES


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
        As for `forward_dynamics` of this module, whose results are differentiated: all loops, drives and
        contacts hold, before and after the change. fext turns with the bodies.
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
    rows, n = prepared(loops, contacts), model.nv
    given = states_of(model, {"q": q, "v": v, "tau": tau, "fext": fext}, motion)
    found = solved(rows, given, s)
    frames = rows.frames(found.at, given.v, found.a)
    change = rows.rows(frames).stabilized(s)[1]
    dq, dv, _ = rnea_derivatives(model, given.q, given.v, found.a, given.fext)
    one = np.broadcast_to(np.eye(n), dq.shape)
    top = np.concatenate([rows.force_changes(frames, found.forces) - dq, -dv, one], axis=-1)
    bottom = np.concatenate([-change, np.zeros((*change.shape[:-1], n))], axis=-1)
    x, y = _solved_with_rank(rows, given, found, frames, top, bottom)
    parts = ConstrainedDerivatives(*(z[..., k * n : (k + 1) * n] for z in (x, y) for k in range(3)))
    return ConstrainedDerivativesWithValue(*parts, found.a, found.forces) if with_value else parts


def _solved_with_rank(rows, given, found, frames, top, bottom) -> tuple[np.ndarray, np.ndarray]:
    """Solve for derivatives of accelerations and forces; the rank of J is constant near the state.

    Where rows depend on each other, the least squares J^T (J a - wanted) = 0 and the least forces, which are
    in the range of J, change with J.
    """
    system, model = found.system, rows.loops.model
    dependent = system.dependent[..., None, None]
    if not dependent.any():
        return system.solve(top, bottom)
    n = model.nv
    push = system.forces_of(rows.force_changes(frames, found.error))
    bottom[..., :n] -= np.where(dependent, push, 0.0)
    x, y = system.solve(top, bottom)
    z = system.rates_of(found.forces)
    other = rows.rows(rows.frames(BodyMotions(model, given.q, z), z, np.zeros(n)))
    y[..., :n] += np.where(dependent, system.rest(other.rate_change[..., :n]), 0.0)
    return x, y
