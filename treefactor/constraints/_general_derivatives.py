"""Differentiate the dynamics with loops, drives and rigid contacts in NumPy, whatever the rank of their rows."""

from __future__ import annotations

import numpy as np

from ..derivatives.first_order import rnea_derivatives
from ..kinematics.jacobians import BodyMotions
from ._rigid_dynamics import States, solved
from ._row_changes import RowChanges


def derivatives_of_states(rows: RowChanges, given: list, s: float) -> list[np.ndarray]:
    """Return derivatives and values of states q, v, tau, fext and motions of drives, with one leading axis."""
    q, v, tau, fext, *motion = given
    given = States(q, v, tau, fext, motion[0] if motion else None, q.shape[:1])
    model, n = rows.loops.model, rows.loops.model.nv
    found = solved(rows, given, s)
    change = rows.rows(found.at, given.v, found.a, s != 0.0).stabilized(s)[1]
    dq, dv, _ = rnea_derivatives(model, given.q, given.v, found.a, given.fext)
    push = rows.force_changes(found.at, given.v, found.a, found.forces)
    top = np.concatenate([push - dq, -dv, np.broadcast_to(np.eye(n), dq.shape)], axis=-1)
    bottom = np.concatenate([-change, np.zeros((*change.shape[:-1], n))], axis=-1)
    x, y = _solved_with_rank(rows, given, found, top, bottom)
    return [*(z[..., k * n : (k + 1) * n] for z in (x, y) for k in range(3)), found.a, found.forces]


def _solved_with_rank(rows, given, found, top, bottom) -> tuple[np.ndarray, np.ndarray]:
    """Solve for derivatives of accelerations and forces; the rank of J is constant near the state.

    Where rows depend on each other, the least squares J^T (J a - wanted) = 0 and the least forces, which are
    in the range of J, change with J.
    """
    system, model = found.system, rows.loops.model
    dependent = system.dependent[..., None, None]
    if not dependent.any():
        return system.solve(top, bottom)
    n = model.nv
    push = system.forces_of(rows.force_changes(found.at, given.v, found.a, found.error))
    bottom[..., :n] -= np.where(dependent, push, 0.0)
    x, y = system.solve(top, bottom)
    z = system.rates_of(found.forces)
    other = rows.rows(BodyMotions(model, given.q, z), z, np.zeros(n))
    y[..., :n] += np.where(dependent, system.rest(other.rate_change[..., :n]), 0.0)
    return x, y
