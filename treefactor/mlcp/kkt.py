"""The order of elimination of K = [H J^T; J -E] and its exact fill."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .._util.validation import Sealed, as_count, as_number, as_vector
from ..exceptions import NotPositiveDefiniteError
from ..linalg.factorization import factor
from ..tree.tree import Tree, require_tree
from ._fronts import Fronts, distinct, patterns, recall
from ._kkt import Kkt
from ._ordering import alike, minimum_degree, ties
from ._stacked_rows import rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def positions(tree: Tree, start: np.ndarray, column: np.ndarray) -> np.ndarray:
    """When every freedom is eliminated: leaf to root, the trees that constraints tie by minimum degree.

    Parameters
    ----------
    tree : Tree
    start, column : ndarray of int
        Constraint r has its entries in column[start[r]:start[r + 1]].
    """
    depth_first, n = tree.order, tree.n
    first = np.flatnonzero(tree.parent[depth_first] < 0)  # of every tree, by depth-first place
    count, size = len(first), np.diff(first, append=n)
    root = np.repeat(np.arange(count), size)
    which = np.empty(n, dtype=np.intp)
    which[depth_first] = root
    rank = np.zeros(count, dtype=np.intp)
    member, rows = ties(start, which[column], count)
    if len(member):
        number, places = alike(member, rows, count)
        turn = np.full(places + 1, -1, dtype=np.intp)
        turn[minimum_degree(places, rows, number[member])] = np.arange(places)
        rank = turn[number]
    sequence = count - 1 - np.argsort(rank[::-1], kind="stable")
    end = np.empty(count, dtype=np.intp)
    end[sequence] = np.cumsum(size[sequence])
    position = np.empty(n, dtype=np.intp)
    position[depth_first] = (end + first)[root] - 1 - np.arange(n)
    return position


@dataclass(frozen=True, eq=False)
class Pattern:
    """What problems with one pattern share.

    Attributes
    ----------
    fronts : Fronts
        Of K.
    idle : list
        Workspaces that nobody works in.
    """

    fronts: Fronts
    idle: list = field(default_factory=list)


REMEMBERED = 16
_patterns: list[Pattern] = []  # the latest first


def analyse(tree: Tree, start: np.ndarray, column: np.ndarray) -> Pattern:
    """The pattern of K; the last few are remembered."""
    start, column = np.ascontiguousarray(start, np.intp), np.ascontiguousarray(column, np.intp)
    known = _patterns[:]
    at = recall([pattern.fronts for pattern in known], tree, start, column)
    if at >= 0:
        return known[at]
    once = distinct(start, column)
    fresh = Pattern(Fronts(positions(tree, *once), tree, start, column, once))
    _patterns.insert(0, fresh)
    del _patterns[REMEMBERED:]
    return fresh


class KKT(Sealed):
    """L D L^T = K for rows that are switched on and off, every row before the first freedom of its support.

    Parameters
    ----------
    tree : Tree
    H : ndarray, shape (nnz,)
        Packed rows.
    J : csr_array, shape (m, n)
        Constraints.
    delta : float
        E of a row that is on; 1 / E of one that is off is 0.

    Attributes
    ----------
    on : ndarray of bool, shape (m,)
        Rows that are on; none at first.

    Raises
    ------
    NotPositiveDefiniteError
        From `refactor`, where H is not positive definite; names the row and joint.
    ShapeError, DtypeError, NonFiniteError, ValueError, TypeError, IndexError
        Where an argument does not fit.
    """

    tree: Tree
    J: csr_array
    delta: float
    fronts: Fronts
    kernel: Kkt
    on: np.ndarray
    _on: np.ndarray

    def __init__(self, tree: Tree, H: np.ndarray, J, delta: float = 1e-6):
        H, J, delta = _checked(tree, H, J, delta)
        fronts = analyse(tree, J.indptr, J.indices).fronts
        kernel, on = Kkt(fronts), np.zeros(J.shape[0], dtype=bool)
        kernel.take(H, J.data)
        self._keep(tree=tree, J=J, delta=delta, fronts=fronts, kernel=kernel, on=shown(on), _on=on)
        self.refactor()

    @property
    def nnz(self) -> int:
        """Entries of L with its diagonal."""
        return self.fronts.nnz

    @property
    def touched(self) -> int:
        """Entries that the last factorization computed anew."""
        return self.kernel.touched

    def switch(self, which) -> KKT:
        """Switch rows on or off and make anew the fronts from theirs to the root, and no others."""
        for row in np.atleast_1d(which):
            row = _row(row, self.on)
            self._on[row] = not self.on[row]
            self.kernel.switch(row)
        return self.refactor()

    def refactor(self) -> KKT:
        """Make anew what rows that were switched have changed."""
        row = self.kernel.factor(self.on.view(np.uint8), 1.0 / self.delta)
        if row >= 0:
            raise NotPositiveDefiniteError(
                f"H is not positive definite: the pivot of row {row} is not positive",
                row,
                self.tree.name(row),
            )
        return self

    def solve(self, f: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v and -gamma with H v - J^T gamma = f and, for the rows that are on, J v + delta gamma = b."""
        on, f, b = self.on, as_vector(f, self.tree.n, "f"), as_vector(b, len(self.on), "b")
        v = f + self.J.T @ np.where(on, b / self.delta, 0.0)
        self.kernel.apply_inverse(v)
        return v, np.where(on, (self.J @ v - b) / self.delta, 0.0)

    def schur(self) -> np.ndarray:
        """H + J_on^T J_on / delta, multiplied out from its L and D: a dense (n, n) array."""
        L, D, position = self.kernel.dense()
        return ((L * D) @ L.T)[np.ix_(position, position)]


class Corner(Sealed):
    """K as the paper lays it out: H first, then all rows, whose corner fills.

    A row that is switched restarts the elimination of the corner at that row.

    Parameters
    ----------
    As for `KKT`.

    Attributes
    ----------
    nnz, on, touched
        As for `KKT`; the last counts entries of the corner.

    Notes
    -----
    Tasora, Manconi, Silvestri, section on the incremental LDL^T. The corner is -(E + J H^-1 J^T); a row that
    is off has E = 1e20.
    """

    OFF = 1e20
    tree: Tree
    delta: float
    A: np.ndarray
    L: np.ndarray
    on: np.ndarray
    _on: np.ndarray
    nnz: int
    touched: int

    def __init__(self, tree: Tree, H: np.ndarray, J, delta: float = 1e-6):
        H, J, delta = _checked(tree, H, J, delta)
        half = factor(H, tree, layout="packed").half_solve(J.toarray().T)
        A, on, coupled = half.T @ half, np.zeros(J.shape[0], dtype=bool), _ancestry(tree, J)
        self._keep(tree=tree, delta=delta, A=A, L=np.zeros_like(A), on=shown(on), _on=on)
        self._keep(nnz=tree.nnz + coupled.nnz + _corner_nnz(coupled))
        self.restart(0)

    def switch(self, row: int) -> Corner:
        """Switch a row on or off and redo the elimination from there."""
        row = _row(row, self.on)
        self._on[row] = not self.on[row]
        return self.restart(row)

    def restart(self, row: int) -> Corner:
        """Eliminate row, row + 1, ..., of the corner."""
        from scipy.linalg import cholesky

        L, rest = self.L, slice(row, None)
        E = np.where(self.on[rest], self.delta, self.OFF)
        S = self.A[rest, rest] + np.diag(E) - L[rest, :row] @ L[rest, :row].T
        L[rest, rest] = cholesky(S, lower=True)
        left = len(L) - row
        self._keep(touched=left * (left + 1) // 2)
        return self


def shown(array: np.ndarray) -> np.ndarray:
    """View of an array that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view


def _checked(tree: Tree, H, J, delta: float) -> tuple:
    """H as a vector, J as a csr_array with sorted rows, and delta."""
    from scipy.sparse import csr_array

    require_tree(tree)
    H = np.ascontiguousarray(as_vector(H, tree.nnz, "H"))
    (start, column, entries), _ = rows(J, np.zeros(np.shape(J)[0] if np.ndim(J) else 0), tree.n, "J", "b")
    J, delta = csr_array((entries, column, start), (len(start) - 1, tree.n)), as_number(delta, "delta")
    if delta <= 0.0:
        raise ValueError(f"delta must be positive, got {delta}")
    return H, J, delta


def _row(row, on: np.ndarray) -> int:
    """The number of a constraint."""
    row = as_count(row, "row")
    if row >= len(on):
        raise IndexError(f"there are {len(on)} rows, got {row}")
    return row


def _ancestry(tree: Tree, J):
    """Rows of L of the constraints behind all of H: their supports and whatever carries these."""
    from scipy.sparse import csr_array

    ones = csr_array((np.ones(tree.nnz, np.int64), tree.columns, tree.row_start), shape=(tree.n, tree.n))
    pattern = csr_array((np.ones(J.nnz, np.int64), J.indices, J.indptr), shape=J.shape)
    return csr_array(pattern @ ones)


def _corner_nnz(coupled) -> int:
    """Entries of the corner's L: every freedom couples the rows that it carries."""
    m, freedoms = coupled.shape[0], coupled.T.tocsr()
    rows = np.arange(m)
    _, length, _ = patterns(
        rows, np.arange(m + 1), rows, freedoms.indptr.astype(np.intp), freedoms.indices.astype(np.intp)
    )
    return m + int(length.sum())
