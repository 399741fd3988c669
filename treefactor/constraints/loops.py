"""Evaluate loops and drives of a model: residuals, rows, assembly, and dynamics with closed loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import dynamics
from .._util.validation import Sealed, as_number, as_size, as_vector, flatten
from ..exceptions import ConfigurationError
from ..kinematics.jacobians import BodyMotions, Support
from ..linalg.factorization import factor
from ..model._unit_rotations import require_rotations
from ..model.configuration import integrate
from ..model.joints import PAIRS
from ..model.model import Model, require_model
from ._loops import LOOP, MOTOR, LoopKernel, one
from .drives import (
    Drive,
    Target,
    as_drives,
    motions_at,
    require_finite_motions,
    states_with_motions,
    targets_of,
)

ALIKE = {
    "spherical": (),
    "universal": (),
    "revolute": (2,),
    "weld": (0, 1, 2),
}  # axes that must not be opposite
RANK = 1e-9  # smaller singular values, relative to the largest, belong to dependent rows
STEPS = 100  # of Newton's method
NO_DRIVES: tuple[Drive, ...] = ()


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
        found = self.kernel.rows(frames, *given)
        residual, bias, rate, data = (x.reshape(*at.batch, x.shape[1]) if at.batch else x[0] for x in found)
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
        motor["circle"] = model.joints[target.joint].kind == "continuous"
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
    """Return the loops and drives of a model, which are made once."""
    return Loops(model, targets)


def driven_loops(model: Model, drives) -> tuple[tuple[Drive, ...], Loops]:
    """Return validated drives, and the loops of a model with them."""
    drives = as_drives(drives)
    return drives, loops_of(model, targets_of(model, drives)) if drives else loops_of(model)


def loop_rows(model: Model, q, v=None, drives=NO_DRIVES, t=0.0) -> Rows:
    """Compute residual, J and J-dot v of the loops and drives of a model, for one state or many.

    The residual of a loop is the origin of the second frame in the first one, in m, then the cosines of the
    angles that must be right angles; `treefactor.Kernels.loop_gap` computes the same.

    Parameters
    ----------
    model : Model
        With loops; their rows follow each other in its order.
    q, v : array_like, shapes (..., nq) and (..., nv)
        v by default zero.
    drives : sequence of Drive
        The rows of driven joints follow those of the loops: their positions less the prescribed ones, modulo
        a turn for continuous joints. Of a driven loop the residual is less what is prescribed.
    t : array_like, shape (...)
        Time of the drives, s; one for each state, or one for all.

    Returns
    -------
    Rows

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError
    """
    require_model(model)
    if drives is NO_DRIVES:
        return loops_of(model).rows(BodyMotions(model, q, v))
    drives, loops = driven_loops(model, drives)
    motion = motions_at(drives, t)
    given = {"q": q, "drives": motion} | ({} if v is None else {"v": v})
    tails = {"q": (model.nq,), "v": (model.nv,), "drives": motion.shape[-1:]}
    arrays, batch = states_with_motions(given, tails, model)
    q = np.broadcast_to(arrays["q"], (*batch, model.nq))
    return loops.rows(BodyMotions(model, q, arrays.get("v")), q, motion)


def forward_dynamics(
    model: Model, q, v, tau, fext=None, stabilization: float = 0.0, drives=NO_DRIVES, t=0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the acceleration under tau with closed loops and drives, and the forces of both.

    Parameters
    ----------
    model : Model
    q, v, tau, fext
        As for `treefactor.forward_dynamics`. q and v should close the loops.
    stabilization : float
        Rate at which errors of loops and drives decay, 1/s (Baumgarte, critically damped); 0: no correction.
    drives : sequence of Drive
        Motors whose accelerations are prescribed; q and v should be at theirs.
    t : array_like, shape (...)
        Time of the drives, s; one for each state, or one for all.

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2.
    ndarray, shape (..., rows)
        Forces of the loops, those of one after those of another: N in the axes of the first frame, on the
        second body at the origin of the second frame; then N m for pairs of axes. Then for each driven joint
        the force of its motor along its freedom, in addition to tau; of a driven loop it is that of its row.
        If rows depend on each other, as in planar loops of revolute joints, these are the forces of least
        norm. Drives that contradict each other or a loop are followed with the least sum of squared errors.

    Raises
    ------
    DtypeError, ShapeError
    NotPositiveDefiniteError, NonFiniteError, ConfigurationError
        For a single state, for instance if a freedom moves no mass. In a batch such results are NaN.
    InvalidModelError
        If a drive moves nothing of the model, or what another one moves; names the drive.
    ValueError
        If the stabilization is negative.

    Notes
    -----
    ``H a - J^T f = tau - bias``, ``J a = -bias_C - 2 s (J v + rate) - s^2 residual`` with the stabilization s
    and the `Rows` of `loop_rows`
    (Featherstone 2008, section 8.5): f by the orthogonal factor of D^-1/2 L^-T J^T (Golub and Van Loan 2013,
    section 5.2.8), for J H^-1 J^T squares its condition number.
    """
    require_model(model)
    if drives is NO_DRIVES:
        loops, motion = loops_of(model), None
    else:
        drives, loops = driven_loops(model, drives)
        motion = motions_at(drives, t) if drives else None
    kernel, stabilization = loops.kernel, as_number(stabilization, "stabilization")
    if stabilization < 0.0:
        raise ValueError(f"stabilization must not be negative, got {stabilization}")
    found = one(kernel, q, v, tau, stabilization, motion) if fext is None else None
    if found is not None:
        return found
    given = {"q": q, "v": v, "tau": tau} | ({} if fext is None else {"fext": fext})
    tails = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "fext": (model.njoints, 6)}
    if motion is not None:
        given["drives"] = motion
    tails["drives"] = (3 * len(drives),)
    arrays, batch = states_with_motions(given, tails, model)
    operands = [_operand(arrays[name], len(tails[name])) if name in arrays else None for name in tails]
    count = math.prod(batch)
    a, force = np.empty((count, model.nv)), np.empty((count, kernel.row_count))
    kernel.batch(count, operands, stabilization, a, force)
    if not batch and np.isnan(a).any():
        factor(dynamics.crba(model, q), model.tree)  # raises an error that names the freedom
    return a.reshape(*batch, model.nv), force.reshape(*batch, force.shape[1])


def _operand(array: np.ndarray, axes: int) -> np.ndarray:
    """Return the array with one leading axis and contiguous rows."""
    rows = flatten(np.ascontiguousarray(array), axes)
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


def close(model: Model, q, tolerance: float = 1e-12, drives=NO_DRIVES, t: float = 0.0) -> np.ndarray:
    """Find a configuration near q in which the loops of a model are closed and its drives in their positions.

    Parameters
    ----------
    model : Model
    q : array_like, shape (nq,)
        First guess.
    tolerance : float
        Bound of every residual: m, rad, or cosine.
    drives : sequence of Drive
    t : float
        Time of the drives, s.

    Returns
    -------
    ndarray, shape (nq,)

    Raises
    ------
    ConfigurationError
        If loops cannot be closed from q; names the loop or driven joint with the largest residual.
    ShapeError, DtypeError, NonFiniteError, InvalidModelError
    ValueError
        If the tolerance is negative or NaN.

    Notes
    -----
    Levenberg's and Marquardt's damped Newton steps (Nocedal and Wright 2006, section 10.3), along the joints'
    manifolds; steps have least norm where they are not unique.
    """
    require_model(model)
    q, tolerance = as_vector(q, model.nq, "q").copy(), as_size(tolerance, "tolerance")
    require_rotations(model, q, "q")
    drives, loops = driven_loops(model, drives)
    motion = motions_at(drives, as_number(t, "t"))
    require_finite_motions(motion)
    found, damping = loops.rows(BodyMotions(model, q), q, motion), 1e-3
    for _ in range(STEPS):
        error = np.abs(found.residual).max(initial=0.0)
        if error <= tolerance:
            break
        nearer = integrate(model, q, _step(found.dense(), found.residual, damping * min(error, 1.0)))
        tried = loops.rows(BodyMotions(model, nearer), nearer, motion)
        if np.linalg.norm(tried.residual) < np.linalg.norm(found.residual):
            q, found, damping = nearer, tried, damping / 10.0
        else:
            damping = max(10.0 * damping, 1e-12)
    _require_closed(loops, BodyMotions(model, q), found, tolerance)
    return q


def _step(J: np.ndarray, residual: np.ndarray, damping: float) -> np.ndarray:
    """Return the x that minimises |J x + residual|² + damping² |x|²."""
    U, size, V = np.linalg.svd(J, full_matrices=False)
    kept = size > RANK * size[0]
    return -((np.where(kept, size, 0.0) / (size**2 + damping**2 + ~kept)) * (residual @ U)) @ V


def _require_closed(loops: Loops, at: BodyMotions, found: Rows, tolerance: float) -> None:
    """Raise ConfigurationError that names an open loop, or one whose frames have opposite axes."""
    error = np.abs(found.residual)
    if error.max(initial=0.0) > tolerance:
        row = int(np.argmax(error))
        if row >= len(loops.of):
            name = loops.model.joints[loops.targets[int(np.flatnonzero(loops.driven == row)[0])].joint].name
            raise ConfigurationError(
                f"joint {name!r} cannot be driven to its position from here: it stays {error[row]:.3g} away",
                name,
            )
        name = loops.model.loops[loops.of[row]].name
        raise ConfigurationError(
            f"loop {name!r} cannot be closed from here: it stays {error[row]:.3g} open", name
        )
    for loop, end1, end2, R1, R2 in zip(loops.model.loops, *loops.ends, *loops.R, strict=True):
        turned = (at.R[end1] @ R1).T @ at.R[end2] @ R2
        if any(turned[axis, axis] < 0.0 for axis in ALIKE[loop.kind]):
            raise ConfigurationError(
                f"loop {loop.name!r} closes with its frames the wrong way round", loop.name
            )
