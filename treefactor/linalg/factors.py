"""Keep and apply the factor of one matrix or of a batch: the class Factor."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .._util._explained_calls import explain
from .._util.threads import spread
from .._util.validation import (
    Sealed,
    as_float,
    as_output,
    as_real,
    as_shift,
    check_choice,
    flatten,
    lane_count,
    leading_axes,
    require_finite,
    thread_count,
)
from ..exceptions import DtypeError, ShapeError, TreefactorError
from ..tree.packing import LAYOUTS
from ..tree.tree import Tree, require_tree
from . import (  # type: ignore[attr-defined]  # compiled
    _batch,
    _factor_methods,
    _single,
)
from .delassus import delassus_of_factor
from .failures import not_adoptable, not_positive_definite
from .scipy_forms import l_csc, linear_operator

FACTORIZED, UNTOUCHED = -1, -2  # status of a matrix that did not fail


class Factor(Sealed, _factor_methods.Calls):
    """Factor of one matrix, or of each matrix of a batch, along one tree; `factor` makes it.

    Every operation takes b of shape ``(..., n)`` or ``(..., n, k)`` whose leading axes are those of the
    batch. Without them the same b serves every matrix; a single matrix serves b of shape ``(..., n, k)``
    with any leading axes. Where both readings fit, the leading axes are the batch. Results have the dtype of
    the factor; ``out=`` may be b itself.

    The base class ``Calls`` of ``_factor_methods.pyx`` has the methods with a fast path: `refactor`, `solve`,
    `solve_l`, `solve_lt`, `half_solve`, `multiply`, `multiply_l`, `multiply_lt` and `inverse`.

    Attributes
    ----------
    tree : Tree
    kind : str
        "LTDL" or "LTL".
    batch : tuple of int
        Leading axes of H; () for a single matrix.
    dtype : dtype
        float64 or float32.

    Notes
    -----
    Thread-compatible.

    `refactor` and `adopt` change it. Picklable.
    """

    _fill_call = "refactor(H)"  # call that messages propose for an empty factor

    def __init__(
        self,
        tree: Tree,
        batch: tuple[int, ...] = (),
        kind: str = "LTDL",
        layout: str = "dense",
        triangle: str = "lower",
        num_threads: int = 1,
        dtype=np.float64,
    ):
        require_tree(tree)
        check_choice("kind", kind, ("LTDL", "LTL"))
        check_choice("triangle", triangle, ("lower", "upper"))
        check_choice("layout", layout, LAYOUTS)
        dtype, threads, ltdl = as_float(dtype), thread_count(num_threads), kind == "LTDL"
        if not batch and dtype != np.float64:
            raise DtypeError(
                "dtype of a single matrix must be float64, got float32: float32 is for batches", dtype
            )
        kernel = (
            _batch.BatchKernel(tree.pattern, math.prod(batch), ltdl, dtype)
            if batch
            else _single.SingleKernel(tree.pattern, ltdl, threads)
        )
        self._prepare(tree, tuple(batch), kind, dtype, kernel, layout, triangle, threads)

    @staticmethod
    def from_ld(L, D, tree: Tree, triangle: str = "lower") -> Factor:
        """Make a factor of the L and D of an H = L^T D L that another library factorized.

        Parameters
        ----------
        L : array_like, shape (..., n, n)
            Unit lower triangular; with ``triangle="upper"`` its transpose, as Pinocchio's ``data.U``. Only
            the pattern's entries are read.
        D : array_like, shape (..., n)
            Positive.

        Raises
        ------
        ShapeError, DtypeError
            If an argument has the wrong type or shape.
        NotPositiveDefiniteError
            If the D of a single matrix is not positive; in a batch see `status`.
        NonFiniteError
            If an entry of the L of a single matrix is not finite; in a batch see `status`.
        """
        require_tree(tree)
        L = as_real(L, "L")
        result = Factor(tree, tree.batch_of(L, "dense"), triangle=triangle)
        return result.adopt(L, as_real(D, "D"))

    def adopt(self, L: np.ndarray, D: np.ndarray) -> Factor:
        """Replace L and D by others of the same shapes, in the memory of this factor; see `from_ld`."""
        if self.kind != "LTDL":
            raise TreefactorError(f"adopt needs a factor of kind 'LTDL', this one has kind {self.kind!r}")
        L, D = as_real(L, "L", self.dtype), as_real(D, "D", self.dtype)
        self._require_batch(self.tree.batch_of(L, "dense"), "dense")
        shape = (*self.batch, self.tree.n)
        if D.shape != shape:
            raise ShapeError(f"D must have shape {shape}, got {D.shape}", D.shape, shape)
        if self.batch:
            self._kernel.adopt(flatten(L, 2), self._upper, flatten(D, 1))
            return self
        self._kernel.adopt(L, self._upper, D)
        row = self._kernel.status
        if row >= 0:
            raise not_adoptable(self.tree, row, L, D, self._upper)
        return self

    def export(self, L: np.ndarray, D: np.ndarray) -> None:
        """Write L (its transpose with ``triangle="upper"``) and D of a single LTDL into float64 arrays.

        Of L, shape (n, n), only the pattern's entries are written.
        """
        self._require_single("export")
        if self.kind != "LTDL":
            raise TreefactorError(f"export needs a factor of kind 'LTDL', this one has kind {self.kind!r}")
        n = self.tree.n
        self._kernel.export(as_output(L, (n, n)), self._upper, as_output(D, (n,)))

    def __reduce__(self):
        settings = (self.tree, self.batch, self.kind, self._layout, self._triangle, self._threads, self.dtype)
        return _restored, (settings, self._kernel.state())

    def _refactor(self, H, shift, layout: str | None) -> Factor:
        """Validate the arguments of `refactor`, and factorize: its general path."""
        layout = self._layout if layout is None else layout
        check_choice("layout", layout, LAYOUTS)
        H = as_real(H, "H", self.dtype)
        self._require_batch(self.tree.batch_of(H, layout), layout)
        if shift is not None:
            shift = as_shift(shift, self.tree.n, self.batch, self.dtype)
        if not self.batch:
            if self._kernel.refactor(H, layout, self._upper, shift) != FACTORIZED:
                self._require_success(H)
            return self
        flat = H if layout == "lanes" else flatten(H, 2 if layout == "dense" else 1)
        self._kernel.forget()  # stays if this is interrupted
        self._spread(
            lambda first, stop: self._kernel.refactor(flat, layout, self._upper, shift, first, stop),
            self._kernel.blocks,
        )
        return self

    def _spread(self, work: Callable[[int, int], object], count: int, vectors: int | None = None) -> None:
        """Run work(first, stop) over 0 .. count-1; it reads every matrix once, or one `vectors` times."""
        passes = math.prod(self.batch) if vectors is None else vectors
        spread(work, count, self._threads, passes * self.tree.nnz)

    def _require_batch(self, batch: tuple[int, ...], layout: str) -> None:
        """Raise ShapeError unless the batch is that of this factor; lanes may be padded to full blocks."""
        size, lanes = math.prod(self.batch), lane_count(self.dtype)
        padded = layout == "lanes" and self.batch and batch == (-(-size // lanes) * lanes,)
        if batch != self.batch and not padded:
            raise ShapeError(
                f"H must have the batch axes {self.batch} of the factor, got {batch}", batch, self.batch
            )

    def _require_success(self, H: np.ndarray | None = None) -> None:
        """Raise if the single matrix could not be factorized."""
        row = self._kernel.status
        if row == FACTORIZED:
            return
        if row == UNTOUCHED:
            raise TreefactorError(
                f"the factor is empty or its factorization was interrupted: call {self._fill_call} first"
            )
        raise not_positive_definite(self.tree, row, H, self._upper)

    @property
    def status(self) -> np.ndarray:
        """Result of every factorization, of the batch's shape: -1, or the row whose pivot failed."""
        if not self.batch:
            return np.array(self._kernel.status)
        return self._kernel.status[: math.prod(self.batch)].reshape(self.batch).copy()

    def _apply(self, operation: int, b, out) -> np.ndarray:
        """Validate b and out, and apply an operation of the kernels: its general path."""
        self._require_usable()
        b = as_real(b, "b", self.dtype)
        lead, many = leading_axes(b, self.tree.n, self.batch, "b")
        if not lead:
            require_finite(b, "b")
        shape = (*lead, *b.shape[b.ndim - 1 - many :])
        result = self._result(shape, out)
        # the kernel works in place on a C-contiguous array
        in_place = result.flags.carray
        work = np.asarray(result) if in_place else np.empty(shape, self.dtype)
        np.copyto(work, b)
        columns = work.reshape(math.prod(lead), self.tree.n, shape[-1] if many else 1)
        self._spread(
            lambda first, stop: self._kernel.apply(operation, columns, first, stop),
            self._kernel.blocks if self.batch else len(columns),
            len(columns) * columns.shape[2],
        )
        if not in_place:
            np.copyto(result, work)
        return result

    def _result(self, shape: tuple[int, ...], out) -> np.ndarray:
        """Return out after validation, or a new array."""
        return np.empty(shape, self.dtype) if out is None else as_output(out, shape, self.dtype)

    def quadratic(self, x) -> np.ndarray | float:
        """Return x^T H^-1 x for every vector of x: (..., n) gives (...), (..., n, k) gives (..., k)."""
        x = as_real(x, "x", self.dtype)
        if not self.batch:
            require_finite(x, "x")
        half = self.half_solve(x)
        _, many = leading_axes(x, self.tree.n, self.batch, "x")
        return np.square(half).sum(axis=-2 if many else -1)

    def delassus(self, J, out=None) -> np.ndarray:
        """Return the inverse operational-space inertia J H^-1 J^T.

        Parameters
        ----------
        J : array_like, shape (..., m, n)
            Jacobian; its leading axes are those of the batch, or absent.

        Returns
        -------
        ndarray, shape (..., m, m)
            Symmetric.

        Notes
        -----
        Computed as X^T D^-1 X with X = L^-T J^T, on the support of every row of J alone.
        """
        return delassus_of_factor(self, J, out)

    def _fill(self, result: np.ndarray, work: Callable[[np.ndarray, int, int], object]) -> None:
        """Fill matrices of a batch by a kernel that writes C-contiguous ones."""
        into = result if result.flags.carray else np.empty_like(result, order="C")
        flat = flatten(into, 2)
        self._spread(
            lambda first, stop: work(flat, first, stop), self._kernel.blocks, len(flat) * flat.shape[-1]
        )
        if into is not result:
            np.copyto(result, into)

    def _inverse(self, out) -> np.ndarray:
        """Validate out, and return H^-1: the general path of `inverse`."""
        n = self.tree.n
        result = self._result((*self.batch, n, n), out)
        if self.batch:
            self._fill(result, self._kernel.invert)
            return result
        self._require_success()
        Y = result if result.flags.carray else np.empty((n, n))
        self._kernel.invert(Y)
        if Y is not result:
            result[...] = Y
        return result

    def logdet(self) -> np.ndarray | float:
        """Return the natural logarithm of det H, of the batch's shape."""
        self._require_usable()
        return np.log(self._diagonal()).sum(axis=-1) * (1.0 if self.kind == "LTDL" else 2.0)

    def reconstruct(self) -> np.ndarray:
        """Return L^T D L (or L^T L) as a dense array, shape (..., n, n)."""
        L = self.L()
        return np.swapaxes(L, -1, -2) @ (self.D()[..., :, None] * L)

    def L(self) -> np.ndarray:
        """Return the lower triangular factor as a dense array, shape (..., n, n)."""
        self._require_usable()
        L = np.zeros((*self.batch, self.tree.n, self.tree.n), self.dtype)
        L[..., self.tree.rows, self.tree.columns] = self._packed()
        if self.kind == "LTDL":
            L[..., np.arange(self.tree.n), np.arange(self.tree.n)] = 1.0
        return self._blank_failures(L)

    def D(self) -> np.ndarray:
        """Return the diagonal factor, shape (..., n); ones for LTL."""
        self._require_usable()
        if self.kind == "LTDL":
            return self._diagonal()
        return self._blank_failures(np.ones((*self.batch, self.tree.n), self.dtype))

    def _blank_failures(self, result: np.ndarray) -> np.ndarray:
        """Write NaN into the results of matrices whose factorization failed; return the result."""
        result[self.status != FACTORIZED] = np.nan
        return result

    def _diagonal(self) -> np.ndarray:
        """Return the last entries of the packed rows: D of LTDL, the diagonal of L of LTL."""
        return self._kernel.diagonals().reshape(*self.batch, self.tree.n)

    def _packed(self) -> np.ndarray:
        """Return the packed rows, shape (..., nnz)."""
        return self._kernel.rows().reshape(*self.batch, self.tree.nnz)

    def _require_usable(self) -> None:
        """Raise if this is a single matrix without a factor."""
        if not self.batch:
            self._require_success()

    def L_csc(self):
        """Return L of a single matrix as a `scipy.sparse.csc_array` with the pattern of the tree."""
        self._require_single("L_csc")
        return l_csc(self.tree, self._kernel.rows(), self.kind == "LTDL")

    def operator(self):
        """Return x -> H x of a single matrix as a `scipy.sparse.linalg.LinearOperator`."""
        self._require_single("operator")
        return linear_operator(self.tree.n, self.multiply)

    def inverse_operator(self):
        """Return b -> H^-1 b of a single matrix, a preconditioner, as a SciPy LinearOperator."""
        self._require_single("inverse_operator")
        return linear_operator(self.tree.n, self.solve)

    def _require_single(self, what: str) -> None:
        """Raise unless this is the factor of a single matrix."""
        if self.batch:
            raise ShapeError(
                f"{what} needs the factor of a single matrix, this one holds a batch of shape {self.batch}",
                self.batch,
                (),
            )
        self._require_success()


def _restored(settings: tuple, state: tuple) -> Factor:
    """Return a factor of its pickled settings and state."""
    result = Factor(*settings)
    result._kernel.restore(*state)
    return result


explain([Factor])
