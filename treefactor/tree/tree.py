"""Kinematic trees: the parent array, its expansion, depths, costs and the pattern it gives H.

Rows are numbered from 0 and the base is -1. Row k of the packed layout holds H(k, i) for the ancestors
i of k, root first, and ends with the diagonal, so the row of an ancestor is a prefix of the row below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from .._util.messages import not_a_tree
from .._util.validation import (
    Sealed,
    as_array,
    as_float,
    as_real,
    check_choice,
    flatten,
    lane_count,
    require_sound,
)
from ..exceptions import InvalidTreeError, ShapeError
from . import _parents, _pattern  # type: ignore[attr-defined]  # compiled

LAYOUTS = ("dense", "packed", "lanes")
FREEDOMS = 10**6  # more than any joint has; keeps sums of them exact

CostKind = Literal["LTL", "LTDL", "L", "LT", "L_inv", "LT_inv", "H", "solve"]


@dataclass(frozen=True)
class OperationCount:
    """Scalar operations of one run of an algorithm.

    Attributes
    ----------
    mul, add, div, sqrt, trig : int
        Multiplications, additions and subtractions, divisions, square roots, sines and cosines.

    Notes
    -----
    Immutable: threads may share it.
    """

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0

    @property
    def total(self) -> int:
        """Sum over all kinds."""
        return self.mul + self.add + self.div + self.sqrt + self.trig


def _indices(values, what: str) -> np.ndarray:
    """Return values as a C-contiguous vector of indices, or raise InvalidTreeError."""
    try:
        array = as_array(values, what)
    except ShapeError as error:  # ragged nesting
        raise InvalidTreeError(f"{what} must be one-dimensional: {error}") from None
    if array.ndim != 1:
        raise InvalidTreeError(f"{what} must be one-dimensional, got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidTreeError(f"{what} must hold integers, got dtype {array.dtype}")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.intp).max:
        raise InvalidTreeError(f"{what} holds a number too large for an index")
    return np.array(array, dtype=np.intp)


def _sum_exactly(terms: np.ndarray) -> int:
    """Sum non-negative int64 terms without overflow, however many there are."""
    if not terms.size:
        return 0
    block = max(1, np.iinfo(np.int64).max // max(1, int(terms.max())))
    return sum(int(terms[p : p + block].sum()) for p in range(0, terms.size, block))


class Tree(Sealed):
    """The tree of a kinematic mechanism, one node for each freedom.

    Parameters
    ----------
    parent : array_like of int, shape (n,)
        Parent of every node, ``-1 <= parent[k] < k``; -1 is the base. There may be several roots.
    names : sequence of str, optional
        A name for every node, used in error messages. Names do not take part in comparisons.

    Attributes
    ----------
    parent, depth : ndarray of int, shape (n,), read-only
        Parents, and nodes on the path from the base to each node (1 for a child of the base).
    n, nnz : int
        Nodes; entries in the lower triangle of H.
    D1, D2 : int
        ``sum(depth - 1)`` and ``sum(depth (depth - 1) / 2)``, the N1 and N2 of Shimanovsky.
    density : float
        Share of non-zeros in H, ``(n + 2 D1) / n^2``.

    Raises
    ------
    InvalidTreeError
        Where an entry is not an integer, or row k breaks ``-1 <= parent[k] < k``.

    Notes
    -----
    Immutable: threads may share it.

    Featherstone (2008), ch. 6.4; Shimanovsky, eta_i = depth. A tree is hashable and picklable.

    Examples
    --------
    >>> import treefactor as tf
    >>> tree = tf.Tree([-1, 0, 1, 1])
    >>> tree.mask().astype(int)
    array([[1, 1, 1, 1],
           [1, 1, 1, 1],
           [1, 1, 1, 0],
           [1, 1, 0, 1]])
    >>> tree.cost("LTDL")
    OperationCount(mul=7, add=7, div=5, sqrt=0, trig=0)
    """

    parent: np.ndarray
    depth: np.ndarray
    row_start: np.ndarray
    names: tuple[str, ...] | None
    n: int
    nnz: int

    def __init__(self, parent: Sequence[int] | np.ndarray, names: Sequence[str] | None = None):
        parent = _indices(parent, "parent")
        n = parent.size
        if names is not None:
            names = tuple(map(str, names))
            if len(names) != n:
                raise ShapeError(f"{n} nodes but {len(names)} names", (len(names),), (n,))
        depth, bad = _parents.depths(parent)
        if bad >= 0:
            raise InvalidTreeError(_complaint(parent, bad), row=bad)

        start = np.zeros(n + 1, dtype=np.intp)
        np.cumsum(depth, out=start[1:])
        self.__dict__.update(
            parent=_frozen(parent),
            depth=_frozen(depth),
            row_start=_frozen(start),
            names=names,
            n=n,
            nnz=int(start[-1]),
        )

    @classmethod
    def from_one_based(cls, lam: Sequence[int] | np.ndarray, names: Sequence[str] | None = None) -> Tree:
        """Tree from the papers' array, in which nodes are numbered from 1 and the base is 0."""
        return cls(_indices(lam, "lam") - 1, names)

    @classmethod
    def from_joints(
        cls,
        parent: Sequence[int] | np.ndarray,
        nv: Sequence[int] | np.ndarray,
        names: Sequence[str] | None = None,
    ) -> Tree:
        """Expand a tree of joints into the tree of their freedoms.

        Parameters
        ----------
        parent : array_like of int, shape (joints,)
            Parent joint of every joint, -1 for the base, ``parent[j] < j``.
        nv : array_like of int, shape (joints,)
            Freedoms of every joint; 0 is allowed.
        names : sequence of str, shape (joints,), optional
            Names of the joints; freedoms of a joint with several are named ``joint[0]``, ``joint[1]`` ...

        Notes
        -----
        Featherstone (2008), table 6.4.
        """
        parent, nv = _indices(parent, "parent"), _indices(nv, "nv")
        if nv.shape != parent.shape:
            raise ShapeError(f"{parent.size} joints but {nv.size} freedom counts", nv.shape, parent.shape)
        odd = np.flatnonzero((nv < 0) | (nv > FREEDOMS))
        if odd.size:
            joint = int(odd[0])
            raise InvalidTreeError(f"joint {joint} has {nv[joint]} freedoms", row=joint)
        cls(parent)  # the tree of joints must be one, too
        if names is not None:
            if len(names) != parent.size:
                raise ShapeError(f"{parent.size} joints but {len(names)} names", (len(names),), parent.shape)
            names = freedom_names(names, nv)
        return cls(_parents.expand(parent, nv, int(nv.sum())), names)

    @classmethod
    def from_pattern(cls, mask, names: Sequence[str] | None = None) -> Tree:
        """Smallest tree whose pattern contains the given one and in which factorization makes no fill.

        Parameters
        ----------
        mask : array_like or SciPy sparse, shape (n, n)
            Symmetric pattern; true or non-zero where H may be non-zero.

        Raises
        ------
        ShapeError
            Where it is not square, or the indices of a sparse matrix do not fit its shape.
        DtypeError
            Where an array holds no real numbers.

        Notes
        -----
        The elimination tree of the pattern, eliminated from the last row to the first (Liu 1990). For the
        pattern of a kinematic tree it gives that tree back.
        """
        from scipy.sparse import csr_array

        if hasattr(mask, "tocsr"):
            require_sound(mask, "mask")
        else:
            mask = as_real(mask, "mask")
        if mask.ndim != 2 or mask.shape[0] != mask.shape[1]:
            raise ShapeError(f"a pattern must be square, got shape {mask.shape}", mask.shape)
        pattern = csr_array(mask)
        pattern.data = pattern.data != 0
        pattern = csr_array(pattern + pattern.T)
        start, column = (np.ascontiguousarray(a, dtype=np.intp) for a in (pattern.indptr, pattern.indices))
        return cls(_parents.elimination_tree(start, column, pattern.shape[0]), names)

    @staticmethod
    def renumber(parent: Sequence[int] | np.ndarray) -> tuple[Tree, np.ndarray]:
        """Give any acyclic parent array a proper numbering, depth first.

        Parameters
        ----------
        parent : array_like of int, shape (n,)
            Parents in any order, -1 for the base.

        Returns
        -------
        tree : Tree
        permutation : ndarray of int, shape (n,)
            The old number of every new node: ``H[np.ix_(permutation, permutation)]`` has the tree's pattern.

        Raises
        ------
        InvalidTreeError
            Where a parent is out of range or the nodes form a cycle; the message names one.
        """
        parent = _indices(parent, "parent")
        n = parent.size
        outside = np.flatnonzero((parent < -1) | (parent >= n))
        if outside.size:
            row = int(outside[0])
            raise InvalidTreeError(f"parent[{row}] = {parent[row]} is not a node of a tree of {n}", row=row)
        order = _parents.depth_first(parent)
        if order.size < n:
            row = _parents.cycle_node(parent)
            raise InvalidTreeError(f"node {row} is its own ancestor: the parent array has a cycle", row=row)
        new_number = np.empty(n + 1, dtype=np.intp)
        new_number[order] = np.arange(n)
        new_number[n] = -1  # parent -1 looks here
        return Tree(new_number[parent[order]]), order

    def __eq__(self, other):
        if not isinstance(other, Tree):
            return NotImplemented
        return np.array_equal(self.parent, other.parent)

    def __hash__(self):
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.parent.tobytes())

    def __reduce__(self):
        return Tree, (np.array(self.parent), self.names)

    def __repr__(self):
        shown = np.array2string(self.parent, separator=", ", threshold=20, max_line_width=10**6)
        return f"Tree({shown})"

    @cached_property
    def D1(self) -> int:
        """Sum of ``depth - 1``: entries below the diagonal."""
        return self.nnz - self.n

    @cached_property
    def D2(self) -> int:
        """Sum of ``depth (depth - 1) / 2``: multiply-adds of a factorization."""
        return _sum_exactly(self.depth * (self.depth - 1) // 2)

    @property
    def density(self) -> float:
        """Share of non-zeros in H; 1 for the empty tree."""
        return (self.n + 2 * self.D1) / self.n**2 if self.n else 1.0

    @cached_property
    def order(self) -> np.ndarray:
        """Nodes depth first, so that subtrees are contiguous, shape (n,), read-only."""
        return _frozen(_parents.depth_first(self.parent))

    @cached_property
    def columns(self) -> np.ndarray:
        """Column of every entry of the packed layout, shape (nnz,), read-only.

        Row k stands at ``row_start[k]:row_start[k + 1]``: the ancestors of k, root first, then k.
        """
        return _frozen(_parents.columns(self.parent, self.row_start))

    @cached_property
    def rows(self) -> np.ndarray:
        """Row of every entry of the packed layout, shape (nnz,), read-only."""
        return _frozen(np.repeat(np.arange(self.n), self.depth))

    @cached_property
    def pattern(self) -> _pattern.Pattern:
        """The tree as the kernels take it."""
        return _pattern.Pattern(self)

    def ancestors(self, k: int) -> np.ndarray:
        """Ancestors of node k, root first, k excluded."""
        if not 0 <= k < self.n:
            raise IndexError(f"node {k} is out of range for a tree of {self.n}")
        return self.columns[self.row_start[k] : self.row_start[k + 1] - 1]

    def name(self, k: int) -> str | None:
        """Name of node k, or None in a tree without names."""
        if not 0 <= k < self.n:
            raise IndexError(f"node {k} is out of range for a tree of {self.n}")
        return None if self.names is None else self.names[k]

    def mask(self) -> np.ndarray:
        """Pattern of H: a boolean (n, n) array, true where one node is an ancestor of the other."""
        mask = np.zeros((self.n, self.n), dtype=bool)
        mask[self.rows, self.columns] = True
        mask[self.columns, self.rows] = True
        return mask

    def pack(self, H, layout: str = "packed", triangle: str = "lower", dtype=np.float64) -> np.ndarray:
        """Packed rows of H; only the declared triangle's pattern is read.

        Parameters
        ----------
        H : array_like, shape (..., n, n), or SciPy sparse, shape (n, n)
        layout : {"packed", "lanes"}
            ``(..., nnz)``, or ``(blocks, nnz, 8)`` with 8 matrices side by side (16 of float32), the last
            block filled up with identity matrices.
        triangle : {"lower", "upper"}
        dtype : {float64, float32}

        Returns
        -------
        ndarray of that dtype
        """
        check_choice("triangle", triangle, ("lower", "upper"))
        check_choice("layout", layout, LAYOUTS[1:])
        if hasattr(H, "tocsr"):
            from .sparse import packed_rows

            self.batch_of(H, "dense")
            packed = as_real(packed_rows(self, H, triangle == "upper"), "H", as_float(dtype))
        else:
            H = as_real(H, "H", as_float(dtype))
            self.batch_of(H, "dense")
            read = (self.rows, self.columns) if triangle == "lower" else (self.columns, self.rows)
            packed = np.ascontiguousarray(H[(..., *read)])
        return packed if layout == "packed" else self._to_lanes(packed)

    def unpack(self, packed, layout: str = "packed") -> np.ndarray:
        """Dense symmetric (..., n, n) matrices from packed rows or lanes; padding is returned, too."""
        check_choice("layout", layout, LAYOUTS[1:])
        single = getattr(packed, "dtype", None) == np.float32
        packed = as_real(packed, "packed", np.float32 if single else np.float64)
        self.batch_of(packed, layout)
        if layout == "lanes":
            packed = self.from_lanes(packed)
        H = np.zeros((*packed.shape[:-1], self.n, self.n), packed.dtype)
        H[..., self.rows, self.columns] = packed
        H[..., self.columns, self.rows] = packed
        return H

    def csc(self, packed):
        """Symmetric H as a `scipy.sparse.csc_array` from the packed rows, shape (nnz,), of one matrix."""
        from .sparse import symmetric

        packed = as_real(packed, "packed")
        if self.batch_of(packed, "packed"):
            raise ShapeError(f"packed rows of one matrix are a vector, got {packed.shape}", packed.shape)
        return symmetric(self, packed)

    def _to_lanes(self, packed: np.ndarray) -> np.ndarray:
        """(..., nnz) -> (blocks, nnz, lanes), padded with identity matrices."""
        flat = flatten(packed, 1)
        lanes = lane_count(packed.dtype)
        blocks = -(-len(flat) // lanes)
        padded = np.zeros((blocks * lanes, self.nnz), packed.dtype)
        padded[len(flat) :, self.row_start[1:] - 1] = 1.0
        padded[: len(flat)] = flat
        return np.ascontiguousarray(padded.reshape(blocks, lanes, self.nnz).swapaxes(1, 2))

    def from_lanes(self, lanes: np.ndarray) -> np.ndarray:
        """(blocks, nnz, lanes) -> (blocks * lanes, nnz)."""
        return lanes.swapaxes(1, 2).reshape(lanes.shape[0] * lanes.shape[2], self.nnz)

    def batch_of(self, H: np.ndarray, layout: str) -> tuple[int, ...]:
        """Leading axes of an array of matrices in one of LAYOUTS, or raise ShapeError."""
        n, nnz, lanes = self.n, self.nnz, lane_count(H.dtype)
        tail = (n, n) if layout == "dense" else (nnz,) if layout == "packed" else (nnz, lanes)
        lead = H.ndim - len(tail)
        if lead < 0 or H.shape[lead:] != tail or (layout == "lanes" and lead != 1):
            expected = ("blocks" if layout == "lanes" else "...", *tail)
            raise ShapeError(
                f"H must have shape ({', '.join(map(str, expected))}) in the {layout} layout of a tree of "
                f"{n} nodes, got {H.shape}",
                H.shape,
                expected,
            )
        return (H.shape[0] * lanes,) if layout == "lanes" else H.shape[:lead]

    def cost(self, kind: CostKind, unit: bool = True) -> OperationCount:
        """Exact operation count of one algorithm on this tree.

        Parameters
        ----------
        kind : {"LTL", "LTDL", "L", "LT", "L_inv", "LT_inv", "H", "solve"}
            Factorizations; L x, L^T x, L^-1 x, L^-T x, H x; and the solution of H x = b from the factor.
        unit : bool
            Whether L has a unit diagonal (the L of LTDL) or a general one (the L of LTL).

        Notes
        -----
        Featherstone (2008), table 6.6; Shimanovsky, table 1.
        """
        n, D1, D2 = self.n, self.D1, self.D2
        diagonal = 0 if unit else n
        match kind:
            case "LTL":
                return OperationCount(D2, D2, D1, n)
            case "LTDL":
                return OperationCount(D2, D2, D1)
            case "L" | "LT":
                return OperationCount(D1 + diagonal, D1)
            case "L_inv" | "LT_inv":
                return OperationCount(D1, D1, diagonal)
            case "H":
                return OperationCount(n + 2 * D1, 2 * D1)
            case "solve":
                return OperationCount(2 * D1, 2 * D1, n if unit else 2 * n)
        raise ValueError(f"unknown kind {kind!r}: one of {', '.join(CostKind.__args__)}")


def freedom_names(names: Sequence[str], nv: Sequence[int] | np.ndarray) -> list[str]:
    """Name every freedom of the named joints: ``joint``, or ``joint[0]``, ``joint[1]`` ..."""
    return [
        name if count == 1 else f"{name}[{d}]"
        for name, count in zip(names, nv, strict=True)
        for d in range(count)
    ]


def _frozen(array: np.ndarray) -> np.ndarray:
    """Copy in memory that nobody can make writeable again: kernels trust it."""
    return np.frombuffer(array.tobytes(), dtype=array.dtype) if array.size else array[:0].copy()


def _complaint(parent: np.ndarray, row: int) -> str:
    """Say why parent[row] cannot be."""
    received = f"parent[{row}] = {parent[row]}"
    if parent[row] < -1:
        return f"{received}: expected -1 for the base or the number of an earlier row"
    return (
        f"{received}: a parent must come before its child (-1 <= parent[k] < k); "
        "Tree.renumber gives any acyclic parent array such a numbering"
    )


def require_tree(tree) -> None:
    """Raise TypeError unless tree is a Tree."""
    if not isinstance(tree, Tree):
        raise TypeError(not_a_tree(tree))
