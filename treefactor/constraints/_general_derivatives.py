"""Compute and differentiate dynamics with loops, drives and contacts in NumPy, whatever the rank of rows."""

from __future__ import annotations

import numpy as np

from ..derivatives.first_order import rnea_derivatives
from ..kinematics.jacobians import BodyMotions
from ._constrained_dynamics import States, solve_states
from ._row_derivatives import ConstraintRows


def _states(arrays: list) -> States:
    """Return one state or many: q, v, tau, fext and motions of drives, if there are any."""
    q, v, tau, fext, *motion = arrays
    return States(q, v, tau, fext, motion[0] if motion else None, q.shape[:-1])


def values_of_states(rows: ConstraintRows, arrays: list, s: float) -> list[np.ndarray]:
    """Return accelerations and forces of states, given as q, v, tau, fext and motions of drives."""
    solved = solve_states(rows, _states(arrays), s)
    return [solved.a, solved.forces]


def derivatives_of_states(rows: ConstraintRows, arrays: list, s: float) -> list[np.ndarray]:
    """Return derivatives and values of states, given as q, v, tau, fext and motions of drives."""
    model, n = rows.loops.model, rows.loops.model.nv
    given = _states(arrays)
    solved = solve_states(rows, given, s)
    change = rows.rows(solved.at, given.v, solved.a, s != 0.0).stabilized(s)[1]
    dq, dv, _ = rnea_derivatives(model, given.q, given.v, solved.a, given.fext)
    push = rows.force_derivatives(solved.at, given.v, solved.a, solved.forces)
    top = np.concatenate([push - dq, -dv, np.broadcast_to(np.eye(n), dq.shape)], axis=-1)
    bottom = np.concatenate([-change, np.zeros((*change.shape[:-1], n))], axis=-1)
    x, y = _solved_with_rank(rows, given, solved, top, bottom)
    return [*(z[..., k * n : (k + 1) * n] for z in (x, y) for k in range(3)), solved.a, solved.forces]


def _solved_with_rank(rows, given, solved, top, bottom) -> tuple[np.ndarray, np.ndarray]:
    """Solve for derivatives of accelerations and forces; the rank of J is constant near the state.

    Where rows depend on each other, the least squares J^T (J a - required_accelerations) = 0 and the
    least forces, which are in the range of J, change with J.
    """
    system, model = solved.system, rows.loops.model
    dependent = system.dependent[..., None, None]
    if not dependent.any():
        return system.solve(top, bottom)
    n = model.nv
    push = system.forces_of(rows.force_derivatives(solved.at, given.v, solved.a, solved.error))
    bottom[..., :n] -= np.where(dependent, push, 0.0)
    x, y = system.solve(top, bottom)
    z = system.rates_of(solved.forces)
    changed = rows.rows(BodyMotions(model, given.q, z), z, np.zeros(n))
    y[..., :n] += np.where(dependent, system.outside_range(changed.drate[..., :n]), 0.0)
    return x, y
