"""Represent a kinematic tree by its parent array: depths, operation counts, and the sparsity pattern of H.

Rows are numbered from 0 and the base is -1. Row k of the packed layout holds H(k, i) for the ancestors
i of k, root first, and ends with the diagonal: the columns of an ancestor's row are a prefix of its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .._util.messages import not_a_tree
from .._util.validation import Sealed, as_real, require_sound
from ..exceptions import InvalidTreeError, ShapeError
from . import _parents, _pattern, packing  # type: ignore[attr-defined]  # compiled
from .operation_count import CostKind, OperationCount, count, sum_exactly
from .packing import LAYOUTS as LAYOUTS
from .parent_arrays import complaint, frozen, indices

FREEDOMS = 10**6  # more freedoms than any joint has; sums of them stay exact


class Tree(Sealed):
    """Kinematic tree of a mechanism, with one node for each freedom.

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
        If an entry is not an integer, or row k breaks ``-1 <= parent[k] < k``.

    Notes
    -----
    Immutable.

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
        parent = indices(parent, "parent")
        n = parent.size
        if names is not None:
            names = tuple(map(str, names))
            if len(names) != n:
                raise ShapeError(
                    f"names must have {n} entries, one for each node; got {len(names)}", (len(names),), (n,)
                )
        depth, bad = _parents.depths(parent)
        if bad >= 0:
            raise InvalidTreeError(complaint(parent, bad), row=bad)
        start = np.zeros(n + 1, dtype=np.intp)
        np.cumsum(depth, out=start[1:])
        self._fill(parent, depth, start, names)

    def _fill(
        self, parent: np.ndarray, depth: np.ndarray, start: np.ndarray, names: tuple[str, ...] | None
    ) -> None:
        """Store valid parents, depths, starts of rows, and names."""
        self.__dict__.update(
            parent=frozen(parent),
            depth=frozen(depth),
            row_start=frozen(start),
            names=names,
            n=parent.size,
            nnz=int(start[-1]),
        )

    @classmethod
    def from_one_based(cls, lam: Sequence[int] | np.ndarray, names: Sequence[str] | None = None) -> Tree:
        """Make a tree from the papers' array, which numbers nodes from 1 and the base 0."""
        return cls(indices(lam, "lam") - 1, names)

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
        parent, nv = indices(parent, "parent"), indices(nv, "nv")
        if nv.shape != parent.shape:
            raise ShapeError(
                f"nv must have {parent.size} entries, one for each joint; got {nv.size}",
                nv.shape,
                parent.shape,
            )
        odd = np.flatnonzero((nv < 0) | (nv > FREEDOMS))
        if odd.size:
            joint = int(odd[0])
            raise InvalidTreeError(
                f"nv[{joint}] must be from 0 to {FREEDOMS} freedoms, got {nv[joint]}", row=joint
            )
        _, bad = _parents.depths(parent)
        if bad >= 0:
            raise InvalidTreeError(complaint(parent, bad), row=bad)
        if names is not None and len(names) != parent.size:
            raise ShapeError(
                f"names must have {parent.size} entries, one for each joint; got {len(names)}",
                (len(names),),
                parent.shape,
            )
        return cls._of_joints(parent, nv, names)

    @classmethod
    def _of_joints(cls, parent: np.ndarray, nv: np.ndarray, names: Sequence[str] | None) -> Tree:
        """Return the tree of the freedoms of joints: valid vectors of indices, and names of the joints."""
        tree = object.__new__(cls)
        named = None if names is None else tuple(freedom_names(names, nv.tolist()))
        parent, depth, start = _parents.expand(parent, nv)
        tree._fill(parent, depth, start, named)
        return tree

    @classmethod
    def from_pattern(cls, mask, names: Sequence[str] | None = None) -> Tree:
        """Return the smallest tree whose pattern contains a given one: factorization along it makes no fill.

        Parameters
        ----------
        mask : array_like or SciPy sparse, shape (n, n)
            Symmetric pattern; true or non-zero where H may be non-zero.

        Raises
        ------
        ShapeError
            If it is not square, or the indices of a sparse matrix do not fit its shape.
        DtypeError
            If an array does not hold real numbers.

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
            raise ShapeError(f"mask must have shape (n, n), got {mask.shape}", mask.shape)
        pattern = csr_array(mask)
        pattern.data = pattern.data != 0
        pattern = csr_array(pattern + pattern.T)
        start, column = (np.ascontiguousarray(a, dtype=np.intp) for a in (pattern.indptr, pattern.indices))
        return cls(_parents.elimination_tree(start, column, pattern.shape[0]), names)

    @staticmethod
    def renumber(parent: Sequence[int] | np.ndarray) -> tuple[Tree, np.ndarray]:
        """Renumber any acyclic parent array depth first, so that parents come before their children.

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
            If a parent is out of range or the nodes form a cycle; the message names one of them.
        """
        parent = indices(parent, "parent")
        n = parent.size
        outside = np.flatnonzero((parent < -1) | (parent >= n))
        if outside.size:
            row = int(outside[0])
            raise InvalidTreeError(
                f"parent[{row}] = {parent[row]}: expected -1 for the base, or a node below {n}", row=row
            )
        order = _parents.depth_first(parent)
        if order.size < n:
            row = _parents.cycle_node(parent)
            raise InvalidTreeError(f"node {row} is its own ancestor: the parent array has a cycle", row=row)
        new_number = np.empty(n + 1, dtype=np.intp)
        new_number[order] = np.arange(n)
        new_number[n] = -1  # entry of parent -1
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
        """Entries below the diagonal: the sum of ``depth - 1``."""
        return self.nnz - self.n

    @cached_property
    def D2(self) -> int:
        """Multiply-adds of a factorization: the sum of ``depth (depth - 1) / 2``."""
        return sum_exactly(self.depth * (self.depth - 1) // 2)

    @property
    def density(self) -> float:
        """Share of non-zeros in H; 1 for the empty tree."""
        return (self.n + 2 * self.D1) / self.n**2 if self.n else 1.0

    @cached_property
    def order(self) -> np.ndarray:
        """Nodes depth first, so that subtrees are contiguous, shape (n,), read-only."""
        return frozen(_parents.depth_first(self.parent))

    @cached_property
    def columns(self) -> np.ndarray:
        """Column of every entry of the packed layout, shape (nnz,), read-only.

        Row k stands at ``row_start[k]:row_start[k + 1]``: the ancestors of k, root first, then k.
        """
        return frozen(_parents.columns(self.parent, self.row_start))

    @cached_property
    def rows(self) -> np.ndarray:
        """Row of every entry of the packed layout, shape (nnz,), read-only."""
        return frozen(np.repeat(np.arange(self.n), self.depth))

    @cached_property
    def pattern(self) -> _pattern.Pattern:
        """Symbolic factorization in the form that kernels take."""
        return _pattern.Pattern(self)

    def ancestors(self, k: int) -> np.ndarray:
        """Return the ancestors of node k, root first, k excluded."""
        if not 0 <= k < self.n:
            raise IndexError(f"k must be a node from 0 to {self.n - 1}, got {k}")
        return self.columns[self.row_start[k] : self.row_start[k + 1] - 1]

    def name(self, k: int) -> str | None:
        """Return the name of node k, or None in a tree without names."""
        if not 0 <= k < self.n:
            raise IndexError(f"k must be a node from 0 to {self.n - 1}, got {k}")
        return None if self.names is None else self.names[k]

    def mask(self) -> np.ndarray:
        """Return the pattern of H: a boolean (n, n) array, true where a node is an ancestor of the other."""
        mask = np.zeros((self.n, self.n), dtype=bool)
        mask[self.rows, self.columns] = True
        mask[self.columns, self.rows] = True
        return mask

    def pack(self, H, layout: str = "packed", triangle: str = "lower", dtype=np.float64) -> np.ndarray:
        """Pack H into rows; reads only the pattern in the declared triangle.

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
        return packing.pack(self, H, layout, triangle, dtype)

    def unpack(self, packed, layout: str = "packed") -> np.ndarray:
        """Return dense symmetric (..., n, n) matrices of packed rows or lanes, padding matrices included."""
        return packing.unpack(self, packed, layout)

    def pack_pair(self, matrix) -> np.ndarray:
        """Pack a matrix with the pattern of H on both sides of the diagonal, which may be unsymmetric.

        Parameters
        ----------
        matrix : array_like, shape (..., n, n)

        Returns
        -------
        ndarray, shape (..., 2 nnz - n)
            First the rows of the lower triangle as `pack` orders them, then the entries above the diagonal,
            transposed, in the same order: as `coriolis_matrix` and `rnea_derivatives` write them.

        Raises
        ------
        ShapeError
        """
        return packing.pack_pair(self, matrix)

    def unpack_pair(self, packed, layout: str = "packed") -> np.ndarray:
        """Return dense (..., n, n) matrices of what `pack_pair` packs, or of lanes (blocks, 2 nnz - n, 8).

        Entries outside the pattern of H are zero. Of lanes, all matrices are returned, the last block's
        padding included.
        """
        return packing.unpack_pair(self, packed, layout)

    def csc(self, packed):
        """Return symmetric H as a `scipy.sparse.csc_array`, from the packed rows (nnz,) of one matrix."""
        from .sparse import symmetric

        packed = as_real(packed, "packed")
        if self.batch_of(packed, "packed"):
            raise ShapeError(
                f"packed must have shape ({self.nnz},), one matrix; got {packed.shape}", packed.shape
            )
        return symmetric(self, packed)

    def from_lanes(self, lanes: np.ndarray) -> np.ndarray:
        """Return the packed rows (blocks * lanes, nnz) of matrices in lanes (blocks, nnz, lanes)."""
        return packing.from_lanes(lanes)

    def batch_of(self, H: np.ndarray, layout: str) -> tuple[int, ...]:
        """Return the leading axes of an array of matrices in one of LAYOUTS, or raise ShapeError."""
        return packing.batch_of(self, H, layout)

    def cost(self, kind: CostKind, unit: bool = True) -> OperationCount:
        """Return the exact operation count of one algorithm on this tree.

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
        return count(self, kind, unit)


def freedom_names(names: Sequence[str], nv: Sequence[int] | np.ndarray) -> list[str]:
    """Return a name for every freedom of named joints: ``joint``, or ``joint[0]``, ``joint[1]`` ..."""
    return [
        name if count == 1 else f"{name}[{d}]"
        for name, count in zip(names, nv, strict=True)
        for d in range(count)
    ]


def require_tree(tree) -> None:
    """Raise TypeError unless tree is a Tree."""
    if not isinstance(tree, Tree):
        raise TypeError(not_a_tree(tree))
