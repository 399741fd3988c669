"""Loops of a model: how far from closed they are, their rows, assembly, and dynamics with them closed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import dynamics
from .._arrays import as_vector
from .._states import states
from ..configuration import integrate, require_rotations
from ..exceptions import ConfigurationError
from ..ltdl import factor
from ..model import Model
from .kinematics import Kinematics, Pattern, cross

PAIRS = {  # axes of the first and of the second frame that stay at right angles
    "spherical": (),
    "universal": ((2, 0),),
    "revolute": ((0, 2), (1, 2)),
    "weld": ((2, 1), (0, 2), (1, 0)),
}
ALIKE = {
    "spherical": (),
    "universal": (),
    "revolute": (2,),
    "weld": (0, 1, 2),
}  # axes that must not be opposite
RANK = 1e-9  # singular values below this share of the largest belong to rows that others already say
STEPS = 100  # of Newton's method


@dataclass(frozen=True)
class Rows:
    """Constraints on the velocities of a model, for one state or many: residual, J and J-dot v.

    Attributes
    ----------
    residual : ndarray, shape (..., rows)
        What is to be zero: m, or cosines of angles that are to be right ones.
    bias : ndarray, shape (..., rows)
        J-dot v, the second derivative of the residual at zero acceleration.
    data : ndarray, shape (..., nnz)
        Entries of J, where ``pattern`` says.
    pattern : Pattern
    """

    residual: np.ndarray
    bias: np.ndarray
    data: np.ndarray
    pattern: Pattern

    def dense(self) -> np.ndarray:
        """J as (..., rows, nv)."""
        return self.pattern.dense(self.data)

    def csr(self):
        """J of a single state as a `scipy.sparse.csr_array`."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape)


class Loops:
    """The loops of a model, ready to be evaluated in many states.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    of : ndarray of int
        Which of ``model.loops`` every row belongs to.
    """

    def __init__(self, model: Model):
        self.model, loops = model, model.loops
        count = len(loops)
        self.ends = np.array([[loop.first, loop.second] for loop in loops], dtype=np.intp).reshape(-1, 2).T
        self.R = np.array([[loop.R1, loop.R2] for loop in loops]).reshape(count, 2, 3, 3).swapaxes(0, 1)
        self.p = np.array([[loop.p1, loop.p2] for loop in loops]).reshape(count, 2, 3).swapaxes(0, 1)
        self.of = np.repeat(np.arange(count), [loop.rows for loop in loops])
        start = np.searchsorted(self.of, np.arange(count))
        self.meeting = start[:, None] + np.arange(3)  # rows of the origins
        turning = [(i, *pair) for i, loop in enumerate(loops) for pair in PAIRS[loop.kind]]
        self.turning = np.setdiff1d(np.arange(len(self.of)), self.meeting)  # rows of pairs of axes
        self.pairs = np.array(turning, dtype=np.intp).reshape(-1, 3).T
        self.pattern = Pattern(model, *self.ends[:, self.of])

    def rows(self, at: Kinematics) -> Rows:
        """Rows of all loops, those of one after those of another.

        The residual of the origins is x = R1ᵀ (p2 - p1) in the axes of the first frame, of a pair of axes
        a · b. Their rates are the powers of the wrenches (f, p2 × f) and (0, b × a) on the second body and of
        their opposites on the first; J-dot v is what remains of the second derivative.
        """
        first, second = self.ends
        axes = at.R[..., self.ends, :, :] @ self.R
        apart = at.origin[..., second, :] - at.origin[..., first, :]
        r1, r2 = np.moveaxis(at.points(self.ends, self.p), -3, 0)
        batch, size = r1.shape[:-2], len(self.of)
        residual, W, rate = (
            np.empty((*batch, size)),
            np.empty((2, *batch, size, 6)),
            np.empty((2, *batch, size, 6)),
        )
        omega1, omega2 = at.V[..., first, 3:], at.V[..., second, 3:]

        f = np.swapaxes(axes[..., 0, :, :, :], -1, -2)  # (..., loops, 3 rows, 3)
        velocity = (at.V[..., second, :3] + cross(omega2, r2))[..., None, :]
        turned = cross(omega1[..., None, :], f)
        residual[..., self.meeting] = (f @ (apart + r2 - r1)[..., None])[..., 0]
        for side, r in enumerate([(apart + r2)[..., None, :], r2[..., None, :]]):
            W[side][..., self.meeting, :] = np.concatenate([f, cross(r, f)], axis=-1)
            moment = cross(velocity, f) + cross(r, turned)
            rate[side][..., self.meeting, :] = np.concatenate([turned, moment], axis=-1)

        loop, i, j = self.pairs
        a, b = axes[..., 0, loop, :, i], axes[..., 1, loop, :, j]
        a, b = np.moveaxis(a, 0, -2), np.moveaxis(b, 0, -2)  # NumPy puts such axes first
        residual[..., self.turning] = (a * b).sum(-1)
        moved = cross(cross(omega2[..., loop, :], b), a) + cross(b, cross(omega1[..., loop, :], a))
        W[..., self.turning, :3] = rate[..., self.turning, :3] = 0.0
        W[..., self.turning, 3:], rate[..., self.turning, 3:] = cross(b, a), moved
        W[0] *= -1.0
        rate[0] *= -1.0
        bias = self.pattern.rates(at.A, W) + self.pattern.rates(at.V, rate)
        return Rows(residual, bias, self.pattern.data(at, W), self.pattern)


@lru_cache(maxsize=16)
def loops_of(model: Model) -> Loops:
    """The loops of a model, made once."""
    return Loops(model)


def loop_rows(model: Model, q, v=None) -> Rows:
    """Residual, J and J-dot v of the loops of a model, for one state or many.

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
    return loops_of(model).rows(Kinematics(model, q, v))


def forward_dynamics(
    model: Model, q, v, tau, fext=None, stabilization: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Acceleration that tau gives while the loops of the model stay closed, and the forces that close them.

    Parameters
    ----------
    model : Model
    q, v, tau, fext
        As of `treefactor.forward_dynamics`; q and v should close the loops.
    stabilization : float
        Rate at which errors of loops die out, 1/s (Baumgarte, critically damped); 0 leaves them alone.

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2.
    ndarray, shape (..., rows)
        Forces of the loops, those of one after those of another: N in the axes of the first frame, on the
        second body at the origin of the second frame; then N m for pairs of axes. Where rows repeat each
        other, as of planar loops of revolute joints, the smallest forces that do.

    Raises
    ------
    DtypeError, ShapeError
    NotPositiveDefiniteError, NonFiniteError, ConfigurationError
        Of a single state: a freedom that moves no mass, say. In a batch such results are NaN.

    Notes
    -----
    ``H a - J^T f = tau - bias``, ``J a = -J-dot v - 2 s J v - s^2 residual`` with the stabilization s
    (Featherstone 2008, section 8.5): f by the singular values of W = D^-1/2 L^-T J^T, whose squares are those
    of J H^-1 J^T, for it squares its condition number.
    """
    given = {"q": q, "v": v, "tau": tau} | ({} if fext is None else {"fext": fext})
    tails = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "fext": (model.njoints, 6)}
    arrays, batch = states(given, tails, model)
    q, v, tau = (np.broadcast_to(arrays[name], (*batch, *tails[name])) for name in ("q", "v", "tau"))
    found = loop_rows(model, q, v)
    inertia = factor(dynamics.crba(model, q), model.tree)
    free = inertia.solve(tau - dynamics.bias(model, q, v, fext))
    J = found.dense()
    speed = (J @ v[..., None])[..., 0]
    wanted = -found.bias - stabilization * (2.0 * speed + stabilization * found.residual)
    missing = wanted - (J @ free[..., None])[..., 0]
    JT = np.swapaxes(J, -1, -2)
    force = _least_force(inertia.half_solve(JT), missing)
    return free + inertia.solve((JT @ force[..., None])[..., 0]), force


def _least_force(W: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Smallest f with WᵀW f = missing."""
    if not W.size:
        return np.zeros_like(missing)
    sound = np.isfinite(W).all(axis=(-2, -1), keepdims=True)
    missing = np.where(sound[..., 0], missing, np.nan)
    _, size, V = np.linalg.svd(np.where(sound, W, 0.0), full_matrices=False)
    kept = size > RANK * size[..., :1]
    with np.errstate(divide="ignore"):
        inverse = np.where(kept, 1.0 / size**2, 0.0)
    return ((inverse * (V @ missing[..., None])[..., 0])[..., None, :] @ V)[..., 0, :]


def close(model: Model, q, tolerance: float = 1e-12) -> np.ndarray:
    """Configuration near q in which the loops of a model are closed.

    Parameters
    ----------
    model : Model
    q : array_like, shape (nq,)
        May be a rough one.
    tolerance : float
        Of every residual: m, or cosine.

    Returns
    -------
    ndarray, shape (nq,)

    Raises
    ------
    ConfigurationError
        Where loops cannot be closed from there; names the one that is farthest open.
    ShapeError, NonFiniteError

    Notes
    -----
    Levenberg's and Marquardt's damped Newton steps (Nocedal and Wright 2006, section 10.3), along the joints'
    manifolds; the smallest steps that do where there are many.
    """
    q = as_vector(q, model.nq, "q").copy()
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
    """x that makes |J x + residual|² + damping |x|² least."""
    U, size, V = np.linalg.svd(J, full_matrices=False)
    kept = size > RANK * size[0]
    return -((np.where(kept, size, 0.0) / (size**2 + damping**2 + ~kept)) * (residual @ U)) @ V


def _require_closed(loops: Loops, at: Kinematics, found: Rows, tolerance: float) -> None:
    """Raise ConfigurationError about the loop that is farthest open, or one closed the wrong way round."""
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
