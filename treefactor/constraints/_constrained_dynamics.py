"""Solve the dynamics of a model with loops, drives and rigid contacts, for `loops` and `derivatives`."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .. import dynamics
from ..kinematics.jacobians import BodyMotions
from ..linalg.constrained_system import ConstrainedSystem
from ..linalg.factorization import factor
from ..model.model import Model
from ._loop_rows import Loops
from ._row_derivatives import ConstraintRows, RowDerivatives
from .drives import states_with_motions
from .rigid_contacts import RigidContact, as_contacts


@lru_cache(maxsize=16)
def _prepared_rows(loops: Loops, contacts: tuple[RigidContact, ...]) -> ConstraintRows:
    """Return the rows of loops, drives and contacts, which are cached."""
    return ConstraintRows(loops, contacts)


def prepared_rows(loops: Loops, contacts) -> ConstraintRows:
    """Return the rows of loops, drives and contacts; raise an error that names an invalid contact."""
    return _prepared_rows(loops, as_contacts(contacts))


class States(NamedTuple):
    """Validated arguments of constrained dynamics: q, v, tau and fext with the leading axes of a batch."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    fext: np.ndarray | None
    motion: np.ndarray | None
    batch: tuple[int, ...]


def states_of(model: Model, given: dict, motion: np.ndarray | None) -> States:
    """Validate q, v, tau, fext and the motions of drives, and give all of them the same leading axes."""
    tails = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "fext": (model.njoints, 6)}
    given = {name: x for name, x in given.items() if x is not None}
    if motion is not None:
        given["drives"], tails["drives"] = motion, motion.shape[-1:]
    arrays, batch = states_with_motions(given, tails, model)
    if batch:
        arrays = {name: np.broadcast_to(x, (*batch, *tails[name])) for name, x in arrays.items()}
    q, v, tau = arrays["q"], arrays["v"], arrays["tau"]
    return States(q, v, tau, arrays.get("fext"), arrays.get("drives"), batch)


def required_accelerations(
    rows: ConstraintRows, found: RowDerivatives, at: BodyMotions, given: States, s: float
) -> np.ndarray:
    """Return J a as all rows require it, from those found at zero acceleration."""
    rest = found.stabilized(s)[0]
    loops = rows.loops
    if loops.targets:
        own = loops.rows(at, given.q, given.motion)
        J = found.J[..., : len(own.residual.T), :]
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
    found = rows.rows(at, given.v, np.zeros(model.nv), s != 0.0)
    system = ConstrainedSystem(factor(dynamics.crba(model, given.q), model.tree), found.J)
    force = given.tau - dynamics.bias(model, given.q, given.v, given.fext)
    required = required_accelerations(rows, found, at, given, s)[..., None]
    a, forces = system.solve(force[..., None], required)
    return SolvedStates(a[..., 0], forces[..., 0], (found.J @ a - required)[..., 0], system, at)


def constrained_dynamics(
    loops: Loops, contacts, given: dict, s: float, motion
) -> tuple[np.ndarray, np.ndarray]:
    """Compute accelerations and forces of loops, drives and contacts."""
    found = solve_states(prepared_rows(loops, contacts), states_of(loops.model, given, motion), s)
    return found.a, found.forces
