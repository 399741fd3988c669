"""Solve the dynamics of a model with loops, drives and rigid contacts in NumPy, for many right sides."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .. import dynamics
from ..kinematics.jacobians import BodyMotions
from ..linalg.factorization import Factor, factor
from ..model.model import Model
from ._loop_rows import Loops
from ._row_changes import RowChanges, Rows
from .drives import states_with_motions
from .rigid_contacts import RigidContact, as_contacts

RANK = 1e-9  # smaller singular values, relative to the largest, belong to dependent rows


@lru_cache(maxsize=16)
def _prepared(loops: Loops, contacts: tuple[RigidContact, ...]) -> RowChanges:
    """Return the rows of loops, drives and contacts, which are prepared once."""
    return RowChanges(loops, contacts)


def prepared(loops: Loops, contacts) -> RowChanges:
    """Return the rows of loops, drives and contacts; raise an error that names an invalid contact."""
    return _prepared(loops, as_contacts(contacts))


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
    every = {name: np.broadcast_to(x, (*batch, *tails[name])) for name, x in arrays.items()}
    q, v, tau = every["q"], every["v"], every["tau"]
    return States(q, v, tau, every.get("fext"), every.get("drives"), batch)


class ClosedSystem:
    """Solve H x - Jᵀ y = top, J x = bottom, with y of least norm, for many right sides.

    With W = D^-1/2 L^-T Jᵀ = U S Vᵀ: Wᵀ W is J H^-1 Jᵀ, and small singular values belong to rows that depend
    on others (Golub and Van Loan 2013, section 5.5). States that are not finite give NaN.
    """

    def __init__(self, inertia: Factor, J: np.ndarray):
        self.inertia, self.J = inertia, J
        W = inertia.half_solve(np.ascontiguousarray(np.swapaxes(J, -1, -2)))
        bad = ~np.isfinite(W).all((-1, -2), keepdims=True)
        self.bad = np.where(bad, np.nan, 0.0)
        self.U, size, V = np.linalg.svd(np.where(bad, 0.0, W), full_matrices=False)
        size = np.where(bad[..., 0], 1.0, size)
        self.kept = size > RANK * size[..., :1]
        self.inverse = self.kept / np.where(self.kept, size, 1.0)
        self.V = np.swapaxes(V, -1, -2)

    @property
    def dependent(self) -> np.ndarray:
        """Return whether rows depend on each other, for every state."""
        return ~self.kept.all(-1) | (self.J.shape[-2] > self.J.shape[-1])

    def solve(self, top: np.ndarray, bottom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return x and y for columns."""
        U, inverse = np.swapaxes(self.U, -1, -2), self.inverse[..., None]
        free = U @ self.inertia.half_solve(top)
        y = self.V @ (inverse * (inverse * (np.swapaxes(self.V, -1, -2) @ bottom) - free)) + self.bad
        return self.inertia.solve(top + np.swapaxes(self.J, -1, -2) @ y), y

    def rest(self, rows: np.ndarray) -> np.ndarray:
        """Return rows without their share in the range of J."""
        V = self.V * self.kept[..., None, :]
        return rows - V @ (np.swapaxes(V, -1, -2) @ rows)

    def rates_of(self, forces: np.ndarray) -> np.ndarray:
        """Return velocities z with J z = forces (..., rows), which must be in the range of J."""
        share = (
            self.V @ (self.inverse**2 * (np.swapaxes(self.V, -1, -2) @ forces[..., None])[..., 0])[..., None]
        )
        return self.inertia.solve(np.swapaxes(self.J, -1, -2) @ share)[..., 0]

    def forces_of(self, push: np.ndarray) -> np.ndarray:
        """Return least forces y with Jᵀ y = push (..., nv, columns), which must be in the range of Jᵀ."""
        U = np.swapaxes(self.U, -1, -2)
        return self.V @ (self.inverse[..., None] * (U @ self.inertia.half_solve(push)))


def wanted(rows: RowChanges, found: Rows, at: BodyMotions, given: States, s: float) -> np.ndarray:
    """Return the J a that rows found at zero acceleration demand."""
    demand = found.stabilized(s)[0]
    loops = rows.loops
    if loops.targets:
        own = loops.rows(at, given.q, given.motion)
        J = found.J[..., : len(own.residual.T), :]
        speed = (J @ given.v[..., None])[..., 0] + own.rate
        demand[..., : J.shape[-2]] = own.bias + s * (2.0 * speed + s * own.residual)
    return -demand


class Solved(NamedTuple):
    """Accelerations and forces of states, errors J a - wanted of the rows, and what they were solved with."""

    a: np.ndarray
    forces: np.ndarray
    error: np.ndarray
    system: ClosedSystem
    at: BodyMotions


def solved(rows: RowChanges, given: States, s: float) -> Solved:
    """Solve the dynamics of states."""
    model = rows.loops.model
    at = BodyMotions(model, given.q, given.v)
    found = rows.rows(rows.frames(at, given.v, np.zeros(model.nv)))
    system = ClosedSystem(factor(dynamics.crba(model, given.q), model.tree), found.J)
    force = given.tau - dynamics.bias(model, given.q, given.v, given.fext)
    demand = wanted(rows, found, at, given, s)[..., None]
    a, forces = system.solve(force[..., None], demand)
    return Solved(a[..., 0], forces[..., 0], (found.J @ a - demand)[..., 0], system, at)


def rigid_dynamics(loops: Loops, contacts, given: dict, s: float, motion) -> tuple[np.ndarray, np.ndarray]:
    """Compute accelerations and forces of loops, drives and contacts."""
    found = solved(prepared(loops, contacts), states_of(loops.model, given, motion), s)
    return found.a, found.forces
