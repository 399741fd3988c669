"""Evaluate the loops of a model: residuals, rows, assembly, and dynamics with closed loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import dynamics
from .._util.validation import Sealed, as_number, as_size, as_vector, flatten
from ..exceptions import ConfigurationError
from ..kinematics.jacobians import Kinematics, Pattern
from ..linalg.factorization import factor
from ..model._states import states
from ..model.configuration import integrate, require_rotations
from ..model.joints import PAIRS
from ..model.model import Model, require_model
from ._loops import LOOP, LoopKernel, one

ALIKE = {
    "spherical": (),
    "universal": (),
    "revolute": (2,),
    "weld": (0, 1, 2),
}  # axes that must not be opposite
RANK = 1e-9  # smaller singular values, relative to the largest, belong to dependent rows
STEPS = 100  # of Newton's method


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of velocity constraints of a model, for one state or many: residual, J and J-dot v.

    Attributes
    ----------
    residual : ndarray, shape (..., rows)
        Errors of the loops: m, or cosines of angles that must be right angles.
    bias : ndarray, shape (..., rows)
        J-dot v, the second derivative of the residual at zero acceleration.
    data : ndarray, shape (..., nnz)
        Entries of J, at the places of ``pattern``.
    pattern : Pattern

    Notes
    -----
    Thread-compatible.
    """

    residual: np.ndarray
    bias: np.ndarray
    data: np.ndarray
    pattern: Pattern

    def dense(self) -> np.ndarray:
        """Return J as a dense array (..., rows, nv)."""
        return self.pattern.dense(self.data)

    def csr(self):
        """Return J of a single state as a `scipy.sparse.csr_array`."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape)


class Loops(Sealed):
    """Loops of a model, prepared for evaluation in many states.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    of : ndarray of int
        Index in ``model.loops`` of every row.
    """

    model: Model
    ends: np.ndarray
    R: np.ndarray
    p: np.ndarray
    of: np.ndarray
    pattern: Pattern
    kernel: LoopKernel

    def __init__(self, model: Model):
        loops, count = model.loops, len(model.loops)
        ends = np.array([[loop.first, loop.second] for loop in loops], dtype=np.intp).reshape(-1, 2).T
        R = np.array([[loop.R1, loop.R2] for loop in loops]).reshape(count, 2, 3, 3).swapaxes(0, 1)
        p = np.array([[loop.p1, loop.p2] for loop in loops]).reshape(count, 2, 3).swapaxes(0, 1)
        of = np.repeat(np.arange(count), [loop.rows for loop in loops])
        pattern = Pattern(model, *ends[:, of])
        kernel = kernel_of(model, pattern, of)
        self._keep(model=model, ends=ends, R=R, p=p, of=of, pattern=pattern, kernel=kernel)

    def __reduce__(self):
        return loops_of, (self.model,)

    def rows(self, at: Kinematics) -> Rows:
        """Compute the rows of all loops, one loop after the other.

        The residual of the origins is x = R1ᵀ (p2 - p1) in the axes of the first frame, of a pair of axes
        a · b. Their rates are the powers of the wrenches (f, p2 × f) and (0, b × a) on the second body and of
        their opposites on the first; J-dot v is what remains of the second derivative.
        """
        frames = flatten(at.frames, 1)
        found = (x.reshape(*at.batch, x.shape[1]) for x in self.kernel.rows(frames))
        residual, bias, data = found
        return Rows(residual, bias, data, self.pattern)


def kernel_of(model: Model, pattern: Pattern, of: np.ndarray) -> LoopKernel:
    """Make the loop kernel of a model; ``of`` is the loop of every row."""
    loops, row = np.zeros(len(model.loops), dtype=LOOP), np.searchsorted(of, np.arange(len(model.loops)))
    loops["row"] = row
    for struct, loop in zip(loops, model.loops, strict=True):
        pairs = np.ravel(PAIRS[loop.kind]).astype(np.intp)
        struct["body"], struct["pairs"] = (loop.first, loop.second), len(pairs) // 2
        struct["pair"][: len(pairs)] = pairs
        struct["R"], struct["p"] = np.ravel([loop.R1.T, loop.R2.T]), np.ravel([loop.p1, loop.p2])
    loops["entry"], loops["stop"] = pattern.ranges(row)  # all rows of a loop have those of its first one
    first, stop = _reach(model, pattern)
    return LoopKernel(
        model.bodies, loops, pattern.entries(model), pattern.indptr, pattern.indices, first, stop
    )


def _reach(model: Model, pattern: Pattern) -> tuple[np.ndarray, np.ndarray]:
    """Find the first nonzero row of every column of J L^-1, and one past the last."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    first, stop = np.full(model.nv, pattern.shape[0]), np.zeros(model.nv, dtype=np.intp)
    np.minimum.at(first, pattern.indices, rows)
    np.maximum.at(stop, pattern.indices, rows + 1)
    parent = model.tree.parent
    for k in range(model.nv - 1, -1, -1):  # a row that is nonzero in a column is so in its ancestors
        i = parent[k]
        if i >= 0:
            first[i], stop[i] = min(first[i], first[k]), max(stop[i], stop[k])
    return first, stop


@lru_cache(maxsize=16)
def loops_of(model: Model) -> Loops:
    """Return the loops of a model, which are made once."""
    return Loops(model)


def loop_rows(model: Model, q, v=None) -> Rows:
    """Compute residual, J and J-dot v of the loops of a model, for one state or many.

    The residual of a loop is the origin of the second frame in the first one, in m, then the cosines of the
    angles that must be right angles; `treefactor.Kernels.loop_gap` computes the same.

    Parameters
    ----------
    model : Model
        With loops; their rows follow each other in its order.
    q, v : array_like, shapes (..., nq) and (..., nv)
        v by default zero.

    Returns
    -------
    Rows

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    """
    require_model(model)
    return loops_of(model).rows(Kinematics(model, q, v))


def forward_dynamics(
    model: Model, q, v, tau, fext=None, stabilization: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the acceleration under tau with closed loops, and the forces that keep them closed.

    Parameters
    ----------
    model : Model
    q, v, tau, fext
        As of `treefactor.forward_dynamics`; q and v should close the loops.
    stabilization : float
        Rate at which errors of loops decay, 1/s (Baumgarte, critically damped); 0 for no correction.

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2.
    ndarray, shape (..., rows)
        Forces of the loops, those of one after those of another: N in the axes of the first frame, on the
        second body at the origin of the second frame; then N m for pairs of axes. If rows depend on
        each other, as in planar loops of revolute joints, these are the forces of least norm.

    Raises
    ------
    DtypeError, ShapeError
    NotPositiveDefiniteError, NonFiniteError, ConfigurationError
        For a single state, for instance if a freedom moves no mass. In a batch such results are NaN.
    ValueError
        If the stabilization is negative.

    Notes
    -----
    ``H a - J^T f = tau - bias``, ``J a = -J-dot v - 2 s J v - s^2 residual`` with the stabilization s
    (Featherstone 2008, section 8.5): f by the orthogonal factor of D^-1/2 L^-T J^T (Golub and Van Loan 2013,
    section 5.2.8), for J H^-1 J^T squares its condition number.
    """
    require_model(model)
    kernel, stabilization = loops_of(model).kernel, as_number(stabilization, "stabilization")
    if stabilization < 0.0:
        raise ValueError(f"stabilization must not be negative, got {stabilization}")
    found = one(kernel, q, v, tau, stabilization) if fext is None else None
    if found is not None:
        return found
    given = {"q": q, "v": v, "tau": tau} | ({} if fext is None else {"fext": fext})
    tails = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "fext": (model.njoints, 6)}
    arrays, batch = states(given, tails, model)
    operands = [_operand(arrays[name], len(tails[name])) if name in arrays else None for name in tails]
    count = math.prod(batch)
    a, force = np.empty((count, model.nv)), np.empty((count, len(loops_of(model).of)))
    kernel.batch(count, operands, stabilization, a, force)
    if not batch and np.isnan(a).any():
        factor(dynamics.crba(model, q), model.tree)  # raises an error that names the freedom
    return a.reshape(*batch, model.nv), force.reshape(*batch, force.shape[1])


def _operand(array: np.ndarray, axes: int) -> np.ndarray:
    """Return the array with one leading axis and contiguous rows."""
    rows = flatten(np.ascontiguousarray(array), axes)
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


def close(model: Model, q, tolerance: float = 1e-12) -> np.ndarray:
    """Find a configuration near q in which the loops of a model are closed.

    Parameters
    ----------
    model : Model
    q : array_like, shape (nq,)
        First guess.
    tolerance : float
        Bound of every residual: m, or cosine.

    Returns
    -------
    ndarray, shape (nq,)

    Raises
    ------
    ConfigurationError
        If loops cannot be closed from q; names the loop with the largest residual.
    ShapeError, DtypeError, NonFiniteError
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
    loops = loops_of(model)
    at = Kinematics(model, q)
    found, damping = loops.rows(at), 1e-3
    for _ in range(STEPS):
        error = np.abs(found.residual).max(initial=0.0)
        if error <= tolerance:
            break
        nearer = integrate(model, q, _step(found.dense(), found.residual, damping * min(error, 1.0)))
        tried = loops.rows(Kinematics(model, nearer))
        if np.linalg.norm(tried.residual) < np.linalg.norm(found.residual):
            q, found, damping = nearer, tried, damping / 10.0
        else:
            damping = max(10.0 * damping, 1e-12)
    _require_closed(loops, Kinematics(model, q), found, tolerance)
    return q


def _step(J: np.ndarray, residual: np.ndarray, damping: float) -> np.ndarray:
    """Return the x that minimises |J x + residual|² + damping² |x|²."""
    U, size, V = np.linalg.svd(J, full_matrices=False)
    kept = size > RANK * size[0]
    return -((np.where(kept, size, 0.0) / (size**2 + damping**2 + ~kept)) * (residual @ U)) @ V


def _require_closed(loops: Loops, at: Kinematics, found: Rows, tolerance: float) -> None:
    """Raise ConfigurationError that names an open loop, or one whose frames have opposite axes."""
    error = np.abs(found.residual)
    if error.max(initial=0.0) > tolerance:
        row = int(np.argmax(error))
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
