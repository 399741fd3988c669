"""Compute rows of loops, drives and rigid contacts with their derivatives, and those of their forces."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._util.validation import Sealed
from ..kinematics.jacobians import BodyMotions, ratios
from ..model.joints import PAIRS
from ._frame_derivatives import freedoms_of
from ._loop_rows import Loops
from ._row_kernel import DRIVE, PAIR, PART, PART_KINDS, RowKernel
from .rigid_contacts import RigidContact, frames_of_contacts


class RowDerivatives(NamedTuple):
    """Residuals, rates and accelerations of rows (..., rows), and their derivatives (..., rows, 2 nv).

    Columns are derivatives by q at fixed v and a, then by v.
    """

    residual: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    dresidual: np.ndarray
    drate: np.ndarray
    dacceleration: np.ndarray

    @property
    def J(self) -> np.ndarray:
        """Return the Jacobian (..., rows, nv)."""
        return self.drate[..., self.drate.shape[-1] // 2 :]

    def stabilized(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Return acceleration + 2 s rate + s² residual, which dynamics keep at zero, and its derivatives."""
        if s == 0.0:
            return self.acceleration, self.dacceleration
        value = self.acceleration + s * (2.0 * self.rate + s * self.residual)
        derivative = self.dacceleration + s * (2.0 * self.drate + s * self.dresidual)
        return value, derivative


class ConstraintRows(Sealed):
    """Loops, drives and rigid contacts of a model, prepared for derivatives of rows in many states.

    Parameters
    ----------
    loops : Loops
        Rows of the loops of the model, then those of driven joints.
    contacts : tuple of RigidContact
        Rows of contacts follow.
    """

    loops: Loops
    count: int
    kernel: RowKernel
    drives: np.ndarray
    driven: tuple[np.ndarray, np.ndarray]

    def __init__(self, loops: Loops, contacts: tuple[RigidContact, ...]):
        model, known = loops.model, freedoms_of(loops.model)
        ends = [((x.first, x.R1, x.p1), (x.second, x.R2, x.p2)) for x in model.loops]
        frames = frames_of_contacts(model, contacts)
        ends += [((x.joint, x.R, x.p), (y.joint, y.R, y.p)) for x, y in frames]
        pairs = np.zeros(len(ends), dtype=PAIR)
        for struct, pair in zip(pairs, ends, strict=True):
            struct["body"], struct["p"] = [end[0] for end in pair], np.ravel([end[2] for end in pair])
            struct["R"] = np.ravel([np.transpose(end[1]) for end in pair])
        parts, count = _parts(loops, contacts)
        second = np.zeros(len(known.joint), dtype=np.uint8)
        second[known.second] = 1
        kernel = RowKernel(
            *(known.below, known.joint, known.leader.astype(np.intp), ratios(model).astype(float)),
            *(known.path.astype(np.uint8), known.moves.astype(np.uint8), second, pairs, parts),
            (model.njoints, model.nv, count),
        )
        drives = drives_of(loops)
        joints = drives[drives["column"] >= 0]
        self._keep(loops=loops, count=count, kernel=kernel)
        self._keep(drives=drives, driven=(joints["row"], joints["column"]))

    def rows(self, at: BodyMotions, v: np.ndarray, a: np.ndarray, residuals: bool = True) -> RowDerivatives:
        """Compute all rows; those of driven joints have no values, and no row has prescribed motions.

        Without residuals those of rotations of contacts are zero, which takes less time.
        """
        n = self.loops.model.nv
        frames, v, a = self._states(at, v, a)
        values = np.zeros((len(frames), 3, self.count))
        derivatives = np.zeros((len(frames), 3, self.count, 2 * n))
        if n:
            self.kernel.rows_of(frames, v, a, residuals, values, derivatives)
        if self.loops.targets:
            rows, columns = self.driven
            derivatives[:, 0, rows, columns] = derivatives[:, 1, rows, n + columns] = 1.0
        if not at.batch:
            return RowDerivatives(*values[0], *derivatives[0])
        values, derivatives = (x.reshape(*at.batch, *x.shape[1:]) for x in (values, derivatives))
        parts = [values[..., k, :] for k in range(3)]
        return RowDerivatives(*parts, *(derivatives[..., k, :, :] for k in range(3)))

    def force_derivatives(
        self, at: BodyMotions, v: np.ndarray, a: np.ndarray, forces: np.ndarray
    ) -> np.ndarray:
        """Compute the derivatives of Jᵀ forces by q (..., nv, nv) at fixed forces (..., rows)."""
        n = self.loops.model.nv
        frames, v, a = self._states(at, v, a)
        by_q = np.zeros((len(frames), n, n))
        if n:
            forces = np.ascontiguousarray(forces).reshape(len(frames), self.count)
            self.kernel.forces_of(frames, v, a, forces, by_q)
        return by_q.reshape(*at.batch, n, n)

    def _states(self, at: BodyMotions, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return kinematics records, v and a with one leading axis."""
        if not at.batch:
            return at.frames[None], np.ascontiguousarray(v)[None], np.ascontiguousarray(a)[None]
        count, n = math.prod(at.batch), self.loops.model.nv
        v, a = (np.ascontiguousarray(np.broadcast_to(x, (*at.batch, n))).reshape(count, n) for x in (v, a))
        return at.frames.reshape(count, at.frames.shape[-1]), v, a


def drives_of(loops: Loops) -> np.ndarray:
    """Return the drives of rows as an array of the struct of compiled functions."""
    drives = np.zeros(len(loops.targets), dtype=DRIVE)
    drives["row"], drives["column"] = loops.driven, -1
    for drive, target in zip(drives, loops.targets, strict=True):
        if target.loop < 0:
            model, joint = loops.model, target.joint
            drive["column"] = model.idx_v[joint] + target.freedom
            drive["q"] = model.idx_q[joint] + target.freedom
            drive["circle"] = model.joints[joint].kind == "continuous"
    return drives


def _parts(loops: Loops, contacts: tuple[RigidContact, ...]) -> tuple[np.ndarray, int]:
    """Return the parts of all rows as an array of the kernel's struct, and the number of rows."""
    parts = []
    for k, loop in enumerate(loops.model.loops):
        row = int(np.searchsorted(loops.of, k))
        parts.append((PART_KINDS["origins"], row, k, 0, 0, 1))
        parts += [(PART_KINDS["angle"], row + 3 + r, k, i, j, 0) for r, (i, j) in enumerate(PAIRS[loop.kind])]
    row = loops.kernel.row_count
    for k, contact in enumerate(contacts):
        local, pair = contact.reference == "LOCAL", len(loops.model.loops) + k
        parts.append((PART_KINDS[contact.kind], row, pair, 0, 0, int(local)))
        row += contact.rows
    return np.array(parts, dtype=PART), row
