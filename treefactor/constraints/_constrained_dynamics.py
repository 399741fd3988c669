"""Solve the dynamics of a model with loops, drives and rigid contacts, for `loops` and `derivatives`."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .. import dynamics
from ..kinematics.jacobians import BodyMotions
from ..linalg.constrained_system import ConstrainedSystem
from ..linalg.factorization import factor
from ._loop_rows import Loops
from ._row_derivatives import ConstraintRows, RowDerivatives
from .rigid_contacts import RigidContact, as_contacts


@lru_cache(maxsize=16)
def _prepared_rows(loops: Loops, contacts: tuple[RigidContact, ...]) -> ConstraintRows:
    """Return the rows of loops, drives and contacts, which are cached."""
    return ConstraintRows(loops, contacts)


def prepared_rows(loops: Loops, contacts) -> ConstraintRows:
    """Return the rows of loops, drives and contacts; raise an error that names an invalid contact."""
    return _prepared_rows(loops, as_contacts(contacts))


class States(NamedTuple):
    """Arguments of constrained dynamics with the leading axes of a batch."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    fext: np.ndarray | None
    motion: np.ndarray | None
    batch: tuple[int, ...]


def required_accelerations(
    rows: ConstraintRows, at_rest: RowDerivatives, at: BodyMotions, given: States, s: float
) -> np.ndarray:
    """Return J a as all rows require it; `at_rest` has the rows at zero acceleration."""
    rest = at_rest.stabilized(s)[0]
    loops = rows.loops
    if loops.targets:
        own = loops.rows(at, given.q, given.motion)
        J = at_rest.J[..., : len(own.residual.T), :]
        speed = (J @ given.v[..., None])[..., 0] + own.rate
        rest[..., : J.shape[-2]] = own.bias + s * (2.0 * speed + s * own.residual)
    return -rest


class SolvedStates(NamedTuple):
    """Accelerations and forces of states, errors of J a, and the system that gave them."""

    a: np.ndarray
    forces: np.ndarray
    error: np.ndarray
    system: ConstrainedSystem
    at: BodyMotions


def solve_states(rows: ConstraintRows, given: States, s: float) -> SolvedStates:
    """Solve the dynamics of states."""
    model = rows.loops.model
    at = BodyMotions(model, given.q, given.v)
    derivatives = rows.rows(at, given.v, np.zeros(model.nv), s != 0.0)
    system = ConstrainedSystem(factor(dynamics.crba(model, given.q), model.tree), derivatives.J)
    force = given.tau - dynamics.bias(model, given.q, given.v, given.fext)
    required = required_accelerations(rows, derivatives, at, given, s)[..., None]
    a, forces = system.solve(force[..., None], required)
    return SolvedStates(a[..., 0], forces[..., 0], (derivatives.J @ a - required)[..., 0], system, at)
