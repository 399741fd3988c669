"""Factor K = [H J^T; J -E] in the solver's order (`KKT`) and Tasora's (`Corner`); rows switch on and off."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from .._util.validation import Sealed, as_count, as_number, as_vector, shape_of
from ..exceptions import NotPositiveDefiniteError
from ..linalg.factorization import factor
from ..mlcp._fronts import Fronts
from ..mlcp._kkt import Kkt
from ..mlcp._stacked_rows import rows
from ..mlcp.symbolic_kkt import REMEMBERED, analyse, positions
from ..tree.tree import Tree, require_tree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["KKT", "REMEMBERED", "Corner", "analyse", "positions", "shown"]


class KKT(Sealed):
    """Factor L D L^T of K whose rows can be switched; each row is eliminated before its first freedom.

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
        Rows that are on; none at the beginning.

    Raises
    ------
    NotPositiveDefiniteError
        From `refactor`, where H is not positive definite; names the row and joint.
    ShapeError, DtypeError, NonFiniteError, ValueError, TypeError, IndexError
        If an argument has the wrong shape, type or value.
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
        """Number of entries of L, its diagonal included."""
        return self.fronts.nnz

    @property
    def touched(self) -> int:
        """Number of entries that the last factorization computed."""
        return self.kernel.touched

    def switch(self, which) -> KKT:
        """Switch rows on or off and recompute only the fronts on their paths to the root."""
        for row in np.atleast_1d(which):
            row = _row(row, self.on)
            self._on[row] = not self.on[row]
            self.kernel.switch(row)
        return self.refactor()

    def refactor(self) -> KKT:
        """Recompute the fronts that switched rows have changed."""
        row = self.kernel.factor(self.on.view(np.uint8), 1.0 / self.delta)
        if row >= 0:
            raise NotPositiveDefiniteError(
                f"H is not positive definite: the pivot of row {row} is not positive",
                row,
                self.tree.name(row),
            )
        return self

    def solve(self, f: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve H v + J^T y = f and, for the rows that are on, J v - delta y = b; return v and y."""
        on, f, b = self.on, as_vector(f, self.tree.n, "f"), as_vector(b, len(self.on), "b")
        v = f + self.J.T @ np.where(on, b / self.delta, 0.0)
        self.kernel.apply_inverse(v)
        return v, np.where(on, (self.J @ v - b) / self.delta, 0.0)

    def schur(self) -> np.ndarray:
        """Multiply L and D out: H + J_on^T J_on / delta as a dense (n, n) array."""
        L, D, position = self.kernel.dense()
        return ((L * D) @ L.T)[np.ix_(position, position)]


class Corner(Sealed):
    """Factor of K in Tasora's order: H first, then all constraint rows, whose block fills.

    A row that is switched restarts the elimination of this block at that row.

    Parameters
    ----------
    As for `KKT`.

    Attributes
    ----------
    nnz, on, touched
        As for `KKT`; the last counts entries of that block.

    Notes
    -----
    Tasora, Manconi, Silvestri, section on the incremental LDL^T. The last block is -(E + J H^-1 J^T); a row
    that is off has E = 1e20.
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
        """Eliminate row, row + 1, ..., of the last block."""
        from scipy.linalg import cholesky

        L, rest = self.L, slice(row, None)
        E = np.where(self.on[rest], self.delta, self.OFF)
        S = self.A[rest, rest] + np.diag(E) - L[rest, :row] @ L[rest, :row].T
        L[rest, rest] = cholesky(S, lower=True)
        left = len(L) - row
        self._keep(touched=left * (left + 1) // 2)
        return self


def shown(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def _checked(tree: Tree, H, J, delta: float) -> tuple:
    """Validate the arguments; return H as a vector, J as a csr_array with sorted rows, and delta."""
    from scipy.sparse import csr_array

    require_tree(tree)
    H = np.ascontiguousarray(as_vector(H, tree.nnz, "H"))
    (start, column, entries), _ = rows(J, np.zeros(shape_of(J)[0] if shape_of(J) else 0), tree.n, "J", "b")
    J, delta = csr_array((entries, column, start), (len(start) - 1, tree.n)), as_number(delta, "delta")
    if delta <= 0.0:
        raise ValueError(f"delta must be positive, got {delta}")
    return H, J, delta


def _row(row, on: np.ndarray) -> int:
    """Validate the number of a constraint."""
    row = as_count(row, "row")
    if row >= len(on):
        raise IndexError(f"there are {len(on)} rows, got {row}")
    return row


def _ancestry(tree: Tree, J):
    """Rows of L of the constraints after all of H: their supports and the ancestors of these."""
    from scipy.sparse import csr_array

    ones = csr_array((np.ones(tree.nnz, np.int64), tree.columns, tree.row_start), shape=(tree.n, tree.n))
    pattern = csr_array((np.ones(J.nnz, np.int64), J.indices, J.indptr), shape=J.shape)
    return csr_array(pattern @ ones)


def _corner_nnz(coupled) -> int:
    """Count the entries of the last block's L: every freedom couples the rows that it carries."""
    m, freedoms = coupled.shape[0], coupled.T.tocsr()
    diagonal = SimpleNamespace(row_start=np.arange(m + 1), columns=np.arange(m))
    start, column = freedoms.indptr.astype(np.intp), freedoms.indices.astype(np.intp)
    return Fronts(np.arange(m), diagonal, start, column).nnz - len(column) - freedoms.shape[0]
