"""Evaluate the rows of the loops and drives of a model in many states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._util.validation import Sealed, flatten
from ..kinematics.jacobians import BodyMotions, Support
from ..model.joints import PAIRS
from ..model.model import Model
from ._loops import LOOP, MOTOR, LoopKernel
from .drives import Drive, Target, as_drives, targets_of


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of velocity constraints of a model, for one state or many: residual, J and J-dot v.

    Attributes
    ----------
    residual : ndarray, shape (..., rows)
        Errors of the loops: m, or cosines of angles that must be right angles; errors of driven positions.
    bias : ndarray, shape (..., rows)
        The second derivative of the residual at zero acceleration: J-dot v, less prescribed accelerations.
    data : ndarray, shape (..., nnz)
        Entries of J, at the places of ``pattern``.
    pattern : Support
    rate : ndarray, shape (..., rows)
        The derivative of the residual by time at zero velocity: minus prescribed velocities, otherwise 0.

    Notes
    -----
    Thread-compatible.
    """

    residual: np.ndarray
    bias: np.ndarray
    data: np.ndarray
    pattern: Support
    rate: np.ndarray

    def dense(self) -> np.ndarray:
        """Return J as a dense array (..., rows, nv)."""
        return self.pattern.dense(self.data)

    def csr(self):
        """Return J of a single state as a `scipy.sparse.csr_array`."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape)


class Loops(Sealed):
    """Loops and drives of a model, prepared for evaluation in many states.

    Parameters
    ----------
    model : Model
    targets : tuple of Target
        What the drives move.

    Attributes
    ----------
    of : ndarray of int
        Index in ``model.loops`` of every row of a loop; the rows of driven joints follow.
    driven : ndarray of int
        Row of every drive.
    """

    model: Model
    ends: np.ndarray
    R: np.ndarray
    p: np.ndarray
    of: np.ndarray
    targets: tuple[Target, ...]
    driven: np.ndarray
    support: Support
    kernel: LoopKernel

    def __init__(self, model: Model, targets: tuple[Target, ...] = ()):
        loops, count = model.loops, len(model.loops)
        ends = np.array([[loop.first, loop.second] for loop in loops], dtype=np.intp).reshape(-1, 2).T
        R = np.array([[loop.R1, loop.R2] for loop in loops]).reshape(count, 2, 3, 3).swapaxes(0, 1)
        p = np.array([[loop.p1, loop.p2] for loop in loops]).reshape(count, 2, 3).swapaxes(0, 1)
        of = np.repeat(np.arange(count), [loop.rows for loop in loops])
        joints = np.array([target.joint for target in targets if target.loop < 0], dtype=np.intp)
        moved = np.array([[model.joints[i].parent for i in joints], joints], dtype=np.intp)
        support = Support(model, *np.concatenate([ends[:, of], moved], axis=1))
        motors = motors_of(model, targets, of)
        kernel = kernel_of(model, support, of, motors)
        self._keep(model=model, ends=ends, R=R, p=p, of=of, support=support, kernel=kernel)
        self._keep(targets=targets, driven=motors["row"])

    def __reduce__(self):
        return loops_of, (self.model, self.targets)

    def rows(self, at: BodyMotions, q=None, motion=None) -> Rows:
        """Compute the rows of all loops, one loop after the other, then those of driven joints.

        With drives q (..., nq) and the motion (..., 3 drives) are needed.

        The residual of the origins is x = R1ᵀ (p2 - p1) in the axes of the first frame, of a pair of axes
        a · b. Their rates are the powers of the wrenches (f, p2 × f) and (0, b × a) on the second body and of
        their opposites on the first; J-dot v is what remains of the second derivative.
        """
        frames = flatten(at.frames, 1)
        given = () if not self.targets else [_repeated(x, len(frames)) for x in (q, motion)]
        arrays = self.kernel.rows(frames, *given)
        residual, bias, rate, data = (x.reshape(*at.batch, x.shape[1]) if at.batch else x[0] for x in arrays)
        return Rows(residual, bias, data, self.support, rate)


def _repeated(x: np.ndarray, count: int) -> np.ndarray:
    """Return rows (count, size) of an array, or of one row that all states share."""
    rows = flatten(np.asarray(x), 1)
    return np.ascontiguousarray(np.broadcast_to(rows, (count, rows.shape[1])))


def motors_of(model: Model, targets: tuple[Target, ...], of: np.ndarray) -> np.ndarray:
    """Return the drives as an array of the kernel's struct."""
    motors, own = np.zeros(len(targets), dtype=MOTOR), len(of)
    for motor, target in zip(motors, targets, strict=True):
        motor["q"], motor["place"] = -1, target.freedom
        if target.loop >= 0:
            motor["row"] = np.searchsorted(of, target.loop) + target.freedom
            continue
        motor["row"], own = own, own + 1
        motor["q"] = model.idx_q[target.joint] + target.freedom
        motor["as_cosine_and_sine"] = model.joints[target.joint].kind == "continuous"
    return motors


def kernel_of(model: Model, support: Support, of: np.ndarray, motors: np.ndarray) -> LoopKernel:
    """Make the loop kernel of a model; ``of`` is the loop of every row."""
    loops, row = np.zeros(len(model.loops), dtype=LOOP), np.searchsorted(of, np.arange(len(model.loops)))
    loops["row"] = row
    for struct, loop in zip(loops, model.loops, strict=True):
        pairs = np.ravel(PAIRS[loop.kind]).astype(np.intp)
        struct["body"], struct["pairs"] = (loop.first, loop.second), len(pairs) // 2
        struct["pair"][: len(pairs)] = pairs
        struct["R"], struct["p"] = np.ravel([loop.R1.T, loop.R2.T]), np.ravel([loop.p1, loop.p2])
    loops["entry"], loops["stop"] = support.ranges(row)  # all rows of a loop have those of its first one
    first, stop = _reach(model, support)
    return LoopKernel(
        model.bodies, loops, support.entries(model), support.indptr, support.indices, first, stop, motors
    )


def _reach(model: Model, support: Support) -> tuple[np.ndarray, np.ndarray]:
    """Find the first nonzero row of every column of J L^-1, and one past the last."""
    rows = np.repeat(np.arange(support.shape[0]), np.diff(support.indptr))
    first, stop = np.full(model.nv, support.shape[0]), np.zeros(model.nv, dtype=np.intp)
    np.minimum.at(first, support.indices, rows)
    np.maximum.at(stop, support.indices, rows + 1)
    parent = model.tree.parent
    for k in range(model.nv - 1, -1, -1):  # a row that is nonzero in a column is so in its ancestors
        i = parent[k]
        if i >= 0:
            first[i], stop[i] = min(first[i], first[k]), max(stop[i], stop[k])
    return first, stop


@lru_cache(maxsize=16)
def loops_of(model: Model, targets: tuple[Target, ...] = ()) -> Loops:
    """Return the loops and drives of a model; they are made once and cached."""
    return Loops(model, targets)


def driven_loops(model: Model, drives) -> tuple[tuple[Drive, ...], Loops]:
    """Return validated drives, and the loops of a model with them."""
    drives = as_drives(drives)
    return drives, loops_of(model, targets_of(model, drives)) if drives else loops_of(model)
