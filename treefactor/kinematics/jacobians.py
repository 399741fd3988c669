"""Where bodies are and how they move, and the rows of the Jacobian that belong to them.

A row is the work that a wrench, on one body, and its opposite, on another one, do at unit velocities of the
joints. Only the freedoms that move one of both bodies against the other have entries in it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._util.validation import ReadOnly, Sealed, as_vector
from ..dynamics.recursions import frames
from ..model.joints import _rotation
from ..model.model import Model, body_number, require_model

__all__ = ["Kinematics", "Pattern", "acceleration_bias", "jacobian", "placement"]

ENTRY = np.dtype([("freedom", np.intp), ("side", np.intp), ("place", np.intp), ("ratio", float)])

NEXT, LAST = [1, 2, 0], [2, 0, 1]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b along the last axis."""
    return a[..., NEXT] * b[..., LAST] - a[..., LAST] * b[..., NEXT]


def product(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """R x, for stacks of both."""
    return (R @ x[..., None])[..., 0]


class Kinematics(Sealed):
    """Bodies of a model in one state, or in many: all in the axes of the base.

    Parameters
    ----------
    model : Model
    q, v : array_like, shapes (..., nq) and (..., nv)
        v by default zero.

    Attributes
    ----------
    R : ndarray, shape (..., njoints + 1, 3, 3)
        Rotations of the bodies of all joints. In this and the others the last body, number -1, is the base.
    origin : ndarray, shape (..., njoints + 1, 3)
        Of the root body of the tree that a body is part of, m; of the base its own.
    p : ndarray, shape (..., njoints + 1, 3)
        Origins of the bodies, from that of the root body: exact to rounding however far away that is. Rows of
        a Jacobian are as exact as a point's distance from the root body, rounded: 1e-10 m at 1,000 km.
    V, A : ndarray, shape (..., njoints + 1, 6)
        Spatial velocities, and accelerations at zero acceleration of the joints: linear before angular, of
        the point at the origin of the root body.
    S : ndarray, shape (..., m, 6)
        Unit motions of the freedoms of all joints, those times the ratio that follow others.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    """

    model: Model
    frames: np.ndarray
    batch: tuple[int, ...]

    def __init__(self, model: Model, q, v=None):
        found = frames(model, q, np.zeros(model.nv) if v is None else v)
        self._keep(model=model, frames=found, batch=found.shape[:-1])

    @cached_property
    def _bodies(self) -> np.ndarray:
        """27 numbers of every joint as of `frames`, then those of the base."""
        n = self.model.njoints
        bodies = np.zeros((*self.batch, n + 1, 27))
        bodies[..., :n, :] = self.frames[..., : 27 * n].reshape(*self.batch, n, 27)
        bodies[..., n, :9] = np.eye(3).ravel()
        return bodies

    @cached_property
    def R(self) -> np.ndarray:
        """Rotations."""
        return np.swapaxes(self._bodies[..., :9].reshape(*self.batch, self.model.njoints + 1, 3, 3), -1, -2)

    @property
    def p(self) -> np.ndarray:
        """Origins from those of the root bodies."""
        return self._bodies[..., 9:12]

    @property
    def origin(self) -> np.ndarray:
        """Origins of the root bodies."""
        return self._bodies[..., 12:15]

    @property
    def V(self) -> np.ndarray:
        """Velocities."""
        return self._bodies[..., 15:21]

    @property
    def A(self) -> np.ndarray:
        """Accelerations."""
        return self._bodies[..., 21:]

    @cached_property
    def S(self) -> np.ndarray:
        """Unit motions."""
        S = self.frames[..., 27 * self.model.njoints :].reshape(*self.batch, self.model.extended.n, 6)
        return S * ratios(self.model)[:, None]

    def points(self, body, at: np.ndarray) -> np.ndarray:
        """Points (..., 3) of bodies, in their axes, as seen from the origins of their root bodies."""
        return self.p[..., body, :] + product(self.R[..., body, :, :], at)


class Pattern(Sealed, ReadOnly):
    """The freedoms that move bodies against each other: sparse rows, compressed as SciPy's CSR.

    Parameters
    ----------
    model : Model
    first, second : sequence of int
        The two bodies of every row, by their joints; -1 is the base.

    Attributes
    ----------
    indptr, indices : ndarray of int
        Columns of row r are ``indices[indptr[r]:indptr[r + 1]]``, in order.
    """

    bodies: tuple[np.ndarray, np.ndarray]
    shape: tuple[int, int]
    freedom: np.ndarray
    side: np.ndarray
    row: np.ndarray
    starts: np.ndarray | None
    indices: np.ndarray
    indptr: np.ndarray
    place: np.ndarray

    def __init__(self, model: Model, first, second):
        first, second = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
        paths = _paths(model)
        entries = [_apart(paths[i], paths[j]) for i, j in zip(first, second, strict=True)]
        counts = [len(entry[0]) for entry in entries]
        freedom, side = np.concatenate([np.zeros((2, 0), dtype=np.intp), *entries], axis=1)
        row = np.repeat(np.arange(len(first)), counts)
        column = freedom if model.coupling is None else np.argmax(model.coupling.G != 0, axis=1)[freedom]
        order = np.lexsort((column, row))
        freedom, side, row, column = freedom[order], side[order], row[order], column[order]
        starts = np.flatnonzero(np.diff(row * max(model.nv, 1) + column, prepend=-1))
        self.__setstate__({
            **{"bodies": (first, second), "shape": (len(first), model.nv)},
            **{"freedom": freedom, "side": side, "row": row},
            "starts": starts if len(starts) < len(column) else None,  # of joints of a path that move as one
            "indices": column[starts].astype(np.intp),
            "indptr": np.searchsorted(row[starts], np.arange(len(first) + 1)).astype(np.intp),
            "place": np.searchsorted(starts, np.arange(len(column)), "right") - 1,  # among the sums
        })  # fmt: skip

    def entries(self, model: Model) -> np.ndarray:
        """Entries as the kernels take them."""
        found = np.zeros(len(self.row), dtype=ENTRY)
        found["freedom"], found["side"] = self.freedom, self.side
        found["place"] = self.place - self.indptr[self.row]
        found["ratio"] = ratios(model)[self.freedom]
        return found

    def ranges(self, rows: np.ndarray) -> list[np.ndarray]:
        """First entries of rows, and those behind their last ones."""
        return [np.searchsorted(self.row, rows, side) for side in ("left", "right")]

    def data(self, at: Kinematics, W: np.ndarray) -> np.ndarray:
        """Entries (..., nnz) of the rows of wrenches W (2, ..., rows, 6): on the first bodies, the second."""
        wrench = np.moveaxis(W, 0, -3)[..., self.side, self.row, :]
        data = np.einsum("...i,...i->...", at.S[..., self.freedom, :], wrench)
        return data if self.starts is None else np.add.reduceat(data, self.starts, axis=-1)

    def dense(self, data: np.ndarray) -> np.ndarray:
        """Matrices (..., rows, nv) of entries (..., nnz)."""
        J = np.zeros((*data.shape[:-1], *self.shape))
        J[..., np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices] = data
        return J


def jacobian(model: Model, q, body: int | str, R=None, p=(0.0, 0.0, 0.0)) -> np.ndarray:
    """Jacobian of a frame on a body: rows of the velocity of its origin, then of its angular velocity.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
    body : int or str
        By the number of its joint, -1 for the base, or by the joint's or its own name.
    R : array_like, shape (3, 3), optional
        Rotation of the frame in that of the joint: the rows are those of the frame's own axes, Pinocchio's
        LOCAL. Without it they are those of the base's axes, LOCAL_WORLD_ALIGNED.
    p : array_like, shape (3,)
        Origin of the frame in that of the joint, m.

    Returns
    -------
    ndarray, shape (..., 6, nv)
        m, rad per unit of v.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError
        Where q is not a configuration or R not a rotation, or the model has no joint or body of that name.
    IndexError, ValueError, DtypeError
        Where body is not the number of a body.

    Notes
    -----
    Featherstone (2008), section 4.4.
    """
    at, body, axes, r = _frame(model, q, None, body, R, p)
    W = np.zeros((2, *r.shape[:-1], 6, 6))
    W[1, ..., :3, :3] = axes
    W[1, ..., :3, 3:] = cross(r[..., None, :], axes)
    W[1, ..., 3:, 3:] = axes
    pattern = Pattern(model, [-1] * 6, [body] * 6)
    return pattern.dense(pattern.data(at, W))


def acceleration_bias(model: Model, q, v, body: int | str, R=None, p=(0.0, 0.0, 0.0)) -> np.ndarray:
    """Acceleration of a frame on a body where those of the joints are zero: what J-dot v is short for.

    Parameters
    ----------
    model, q, body, R, p
        As of `jacobian`.
    v : array_like, shape (..., nv)

    Returns
    -------
    ndarray, shape (..., 6)
        Of the origin as seen from the base (Pinocchio's classical acceleration), m/s^2, then angular,
        rad/s^2; in the axes of the frame, or of the base.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError, IndexError
    """
    at, body, axes, r = _frame(model, q, v, body, R, p)
    V, A = at.V[..., body, :], at.A[..., body, :]
    velocity = V[..., :3] + cross(V[..., 3:], r)
    linear = A[..., :3] + cross(A[..., 3:], r) + cross(V[..., 3:], velocity)
    return np.concatenate([product(axes, linear), product(axes, A[..., 3:])], axis=-1)


def placement(model: Model, q, body: int | str, R=None, p=(0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """Where a frame on a body is, as seen from the base.

    Parameters
    ----------
    model, q, body, R, p
        As of `jacobian`; without R the frame has the axes of the joint's.

    Returns
    -------
    ndarray, shape (..., 3, 3)
        Rotation.
    ndarray, shape (..., 3)
        Origin, m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError, IndexError
    """
    at, body, axes, r = _frame(model, q, None, body, np.eye(3) if R is None else R, p)
    return np.swapaxes(axes, -1, -2), at.origin[..., body, :] + r


def _frame(model: Model, q, v, body, R, p) -> tuple[Kinematics, int, np.ndarray, np.ndarray]:
    """Bodies; the number of one; rows of axes of a frame, or of the base; its origin from the root body's."""
    require_model(model)
    body, p = body_number(model, body), as_vector(p, 3, "p")
    at = Kinematics(model, q, v)
    axes = np.swapaxes(at.R[..., body, :, :] @ _rotation(R, "R"), -1, -2) if R is not None else np.eye(3)
    r = at.points(body, p)
    return at, body, np.broadcast_to(axes, (*r.shape, 3)), r


def ratios(model: Model) -> np.ndarray:
    """How many times the freedoms of all joints follow those of v."""
    return np.ones(model.nv) if model.coupling is None else model.coupling.G.sum(axis=1)


def _paths(model: Model) -> list[np.ndarray]:
    """Freedoms of all joints that move the body of every joint, root first; those of the base last."""
    tree = model.extended
    counts = [len(joint.armature) for joint in model.joints]
    last = np.cumsum(counts, dtype=np.intp) - 1
    return [tree.columns[tree.row_start[k] : tree.row_start[k + 1]] for k in last] + [tree.columns[:0]]


def _apart(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Freedoms that only one of two paths has, and which: 0, 1."""
    length = min(len(first), len(second))
    same = np.append(first[:length] == second[:length], False)
    common = int(np.argmin(same))
    freedoms = np.concatenate([first[common:], second[common:]])
    return np.stack([freedoms, np.repeat([0, 1], [len(first) - common, len(second) - common])])
