"""Compute placements and velocities of bodies, and rows of their Jacobians.

A row holds the power of a wrench on one body and its opposite on another body, for unit velocities of the
joints. Only freedoms that move one of the two bodies relative to the other have entries: its support.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._util.validation import ReadOnly, Sealed
from ..dynamics._recursions import BODY_MOTION, ENTRY
from ..model.model import Model
from ..quantities.functions import frames

__all__ = ["BodyMotions", "Support"]

RECORD = BODY_MOTION.itemsize // 8  # numbers of a kinematics record
FIELDS = {  # ranges of its fields
    name: slice(start // 8, (start + kind.itemsize) // 8)
    for name, (kind, start) in BODY_MOTION.fields.items()
}

NEXT, LAST = [1, 2, 0], [2, 0, 1]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a × b along the last axis."""
    return a[..., NEXT] * b[..., LAST] - a[..., LAST] * b[..., NEXT]


def product(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return R x, for stacks of both."""
    return (R @ x[..., None])[..., 0]


class BodyMotions(Sealed):
    """Placements, velocities and unit motions of a model's bodies in one or many states, in base axes.

    Parameters
    ----------
    model : Model
    q, v : array_like, shapes (..., nq) and (..., nv)
        v is zero by default.

    Attributes
    ----------
    R : ndarray, shape (..., njoints + 1, 3, 3)
        Rotations of the bodies of all joints. Here and below the last body, number -1, is the base.
    origin : ndarray, shape (..., njoints + 1, 3)
        Origin of the root body of the tree that a body belongs to, m; of the base its own.
    p : ndarray, shape (..., njoints + 1, 3)
        Origins of the bodies, measured from that of the root body: exact to rounding however far away that
        is. Rows of a Jacobian are as exact as the rounded distance of a point from the root body: 1e-10 m at
        1,000 km.
    V, A : ndarray, shape (..., njoints + 1, 6)
        Spatial velocities, and accelerations at zero acceleration of the joints: linear before angular, taken
        at the origin of the root body.
    S : ndarray, shape (..., m, 6)
        Unit motions of the freedoms of all joints; those of mimic joints times their ratio.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    """

    model: Model
    frames: np.ndarray
    batch: tuple[int, ...]

    def __init__(self, model: Model, q, v=None):
        records = frames(model, q, np.zeros(model.nv) if v is None else v)
        self._keep(model=model, frames=records, batch=records.shape[:-1])

    @cached_property
    def _bodies(self) -> np.ndarray:
        """Return the numbers of the kinematics records of all joints, then those of the base."""
        n = self.model.njoints
        bodies = np.zeros((*self.batch, n + 1, RECORD))
        bodies[..., :n, :] = self.frames[..., : RECORD * n].reshape(*self.batch, n, RECORD)
        bodies[..., n, FIELDS["axes"]] = np.eye(3).ravel()
        return bodies

    @cached_property
    def R(self) -> np.ndarray:
        """Return the rotations."""
        axes = self._bodies[..., FIELDS["axes"]].reshape(*self.batch, self.model.njoints + 1, 3, 3)
        return np.swapaxes(axes, -1, -2)

    @property
    def p(self) -> np.ndarray:
        """Return the origins, measured from those of the root bodies."""
        return self._bodies[..., FIELDS["origin"]]

    @property
    def origin(self) -> np.ndarray:
        """Return the origins of the root bodies."""
        return self._bodies[..., FIELDS["root"]]

    @property
    def V(self) -> np.ndarray:
        """Return the spatial velocities."""
        return self._bodies[..., FIELDS["velocity"]]

    @property
    def A(self) -> np.ndarray:
        """Return the spatial accelerations at zero acceleration of the joints."""
        return self._bodies[..., FIELDS["acceleration"]]

    @cached_property
    def S(self) -> np.ndarray:
        """Return the unit motions."""
        S = self.frames[..., RECORD * self.model.njoints :].reshape(*self.batch, self.model.extended.n, 6)
        return S * ratios(self.model)[:, None]

    def points(self, body, at: np.ndarray) -> np.ndarray:
        """Return points (..., 3) given in body axes, measured from the origins of the root bodies."""
        return self.p[..., body, :] + product(self.R[..., body, :, :], at)


class Support(Sealed, ReadOnly):
    """Support of Jacobian rows: the freedoms that move two bodies relative to each other, as in SciPy's CSR.

    Parameters
    ----------
    model : Model
    first, second : sequence of int
        The two bodies of every row, by the numbers of their joints; -1 is the base.

    Attributes
    ----------
    indptr, indices : ndarray of int
        Row r has the columns ``indices[indptr[r]:indptr[r + 1]]``, in ascending order.
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
            "starts": starts if len(starts) < len(column) else None,  # joints of a path that share a leader
            "indices": column[starts].astype(np.intp),
            "indptr": np.searchsorted(row[starts], np.arange(len(first) + 1)).astype(np.intp),
            "place": np.searchsorted(starts, np.arange(len(column)), "right") - 1,  # index among the sums
        })  # fmt: skip

    def entries(self, model: Model) -> np.ndarray:
        """Return the entries as an array of the kernels' struct."""
        entries = np.zeros(len(self.row), dtype=ENTRY)
        entries["freedom"], entries["side"] = self.freedom, self.side
        entries["place"] = self.place - self.indptr[self.row]
        entries["ratio"] = ratios(model)[self.freedom]
        return entries

    def ranges(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return the first entries of rows, and the ends of their ranges."""
        return [np.searchsorted(self.row, rows, side) for side in ("left", "right")]

    def data(self, at: BodyMotions, W: np.ndarray) -> np.ndarray:
        """Return entries (..., nnz) of rows for wrenches W (2, ..., rows, 6) on first and second bodies."""
        wrench = np.moveaxis(W, 0, -3)[..., self.side, self.row, :]
        data = np.einsum("...i,...i->...", at.S[..., self.freedom, :], wrench)
        return data if self.starts is None else np.add.reduceat(data, self.starts, axis=-1)

    def dense(self, data: np.ndarray) -> np.ndarray:
        """Return matrices (..., rows, nv) of entries (..., nnz)."""
        J = np.zeros((*data.shape[:-1], *self.shape))
        J[..., np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices] = data
        return J


def ratios(model: Model) -> np.ndarray:
    """Return the ratio between each freedom of all joints and its leader in v; 1 without a mimic joint."""
    return np.ones(model.nv) if model.coupling is None else model.coupling.G.sum(axis=1)


def _paths(model: Model) -> list[np.ndarray]:
    """Return the freedoms between the root and the body of every joint, root first; the base comes last."""
    tree = model.extended
    counts = [len(joint.armature) for joint in model.joints]
    last = np.cumsum(counts, dtype=np.intp) - 1
    return [tree.columns[tree.row_start[k] : tree.row_start[k + 1]] for k in last] + [tree.columns[:0]]


def _apart(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the freedoms on exactly one of two paths, and which path: 0 or 1."""
    length = min(len(first), len(second))
    same = np.append(first[:length] == second[:length], False)
    common = int(np.argmin(same))
    freedoms = np.concatenate([first[common:], second[common:]])
    return np.stack([freedoms, np.repeat([0, 1], [len(first) - common, len(second) - common])])
