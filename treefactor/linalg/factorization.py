"""Factorization of the joint-space inertia matrix: H = L^T D L (LTDL) or H = L^T L (LTL), without fill.

L has the pattern of the lower triangle of H. Pinocchio's U is L^T, MuJoCo's qLD is this L, and the U D U^T
of Shimanovsky is the same factorization; D is the same in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

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
from ..exceptions import (
    DtypeError,
    NonFiniteError,
    NotPositiveDefiniteError,
    PatternError,
    ShapeError,
    TreefactorError,
)
from ..tolerances import PATTERN, SYMMETRY
from ..tree.packing import LAYOUTS
from ..tree.tree import Tree, require_tree
from . import (  # type: ignore[attr-defined]  # compiled
    _batch,
    _factor_methods,
    _single,
)

FACTORIZED, UNTOUCHED = -1, -2  # status of a matrix that did not fail


def factor(
    H,
    tree: Tree,
    kind: str = "LTDL",
    layout: str = "dense",
    shift=None,
    triangle: str = "lower",
    num_threads: int = 1,
    check: bool = False,
    dtype=np.float64,
) -> Factor:
    """Factorize H + diag(shift) along its tree.

    Parameters
    ----------
    H : array_like
        Symmetric positive definite: ``(..., n, n)``, or ``(..., nnz)`` with ``layout="packed"``, or
        ``(blocks, nnz, 8)`` (16 for float32) with ``layout="lanes"`` as `Tree.pack` returns it. Only the
        pattern's entries in the declared triangle are read. Units are those of the joints: kg m^2, kg.
    tree : Tree
    kind : {"LTDL", "LTL"}
        H = L^T D L with a unit diagonal in L, or H = L^T L.
    layout : {"dense", "packed", "lanes"}
    shift : float or array_like, shape (n,) or (..., n), optional
        Added to the diagonal: armature, implicit damping, a proximal term.
    triangle : {"lower", "upper"}
        The triangle of a dense H to read.
    num_threads : int
        Threads over a batch or over the subtrees of a large tree, for this and all later calls of the
        factor; -1 for all cores. They change no bit of the results.
    check : bool
        Raise if a dense H has entries outside the pattern or is not symmetric.
    dtype : {float64, float32}
        Of the factor and of all results; float32 for batches only. Its errors are those of float64 times
        5e8: about 1e-7 times the condition number of H.

    Returns
    -------
    Factor

    Raises
    ------
    ShapeError, DtypeError
        Where an argument does not fit.
    NotPositiveDefiniteError
        Where a single H is not positive definite or not finite; names the row and joint. In a batch the
        other matrices go on, and `Factor.status` names the row.
    PatternError
        With ``check=True``.

    Notes
    -----
    Featherstone (2008), table 6.3; Shimanovsky, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> import treefactor as tf
    >>> tree = tf.Tree([-1, 0, 0])
    >>> H = np.array([[4.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2.0, 0.0, 5.0]])
    >>> f = tf.factor(H, tree)
    >>> L, D = f.L(), f.D()
    >>> np.allclose(L.T @ np.diag(D) @ L, H)
    True
    >>> f.solve([7.0, 3.0, 7.0])
    array([1., 1., 1.])
    """
    require_tree(tree)
    check_choice("layout", layout, LAYOUTS)
    H = as_real(H, "H", as_float(dtype))
    batch = tree.batch_of(H, layout)
    if check and layout == "dense":
        check_pattern(H, tree)
    result = Factor(tree, batch, kind, layout, triangle, num_threads, dtype)
    return result.refactor(H, shift)


class Factor(Sealed, _factor_methods.Calls):
    """The factor of one matrix, or of a batch of them, along one tree; made by `factor`.

    Every operation takes b of shape ``(..., n)`` or ``(..., n, k)`` whose leading axes are those of the
    batch. Without them the same b serves every matrix; a single matrix serves b of shape ``(..., n, k)``
    with any leading axes. Where both readings fit, the leading axes are the batch. Results have the dtype of
    the factor; ``out=`` may be b itself.

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
    Thread-compatible: one for each thread, or shared as long as nothing changes it.

    What changes it is `refactor` and `adopt`. Picklable.
    """

    tree: Tree
    batch: tuple[int, ...]
    kind: str
    dtype: np.dtype
    _layout: str
    _triangle: str
    _upper: bool
    _threads: int
    _kernel: _batch.BatchKernel | _single.SingleKernel

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
        dtype, threads, ltdl = as_float(dtype), thread_count(num_threads), kind == "LTDL"
        if not batch and dtype != np.float64:
            raise DtypeError("float32 is for batches; a single matrix is factorized in float64", dtype)
        kernel = (
            _batch.BatchKernel(tree.pattern, math.prod(batch), ltdl, dtype)
            if batch
            else _single.SingleKernel(tree.pattern, ltdl, threads)
        )
        self._keep(tree=tree, batch=batch, kind=kind, dtype=dtype, _layout=layout, _triangle=triangle)
        self._keep(_upper=triangle == "upper", _threads=threads, _kernel=kernel)
        if not batch or (len(batch) == 1 and threads == 1):
            self._set_fast_path(kernel, layout, self._upper)

    @staticmethod
    def from_ld(L, D, tree: Tree, triangle: str = "lower") -> Factor:
        """Take over the L and D of an H = L^T D L that somebody else factorized.

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
            Where an argument does not fit.
        NotPositiveDefiniteError
            Where the D of a single matrix is not positive; in a batch see `status`.
        NonFiniteError
            Where an entry of the L of a single matrix is not finite; in a batch see `status`.
        """
        require_tree(tree)
        L = as_real(L, "L")
        result = Factor(tree, tree.batch_of(L, "dense"), triangle=triangle)
        return result.adopt(L, as_real(D, "D"))

    def adopt(self, L: np.ndarray, D: np.ndarray) -> Factor:
        """Take over other L and D of the same shapes in the memory of this factor; see `from_ld`."""
        if self.kind != "LTDL":
            raise TreefactorError("only an LTDL factor takes over L and D")
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
            self._refuse_adopted(row, L, D)
        return self

    def _refuse_adopted(self, row: int, L: np.ndarray, D: np.ndarray) -> None:
        """Raise for a row of L and D that cannot be adopted."""
        pivot, name = float(D[row]), self.tree.name(row)
        if not (0.0 < pivot < np.inf and 1.0 / pivot < np.inf):
            raise NotPositiveDefiniteError(f"D[{row}] = {pivot} is not positive", row=row, name=name)
        columns = self.tree.columns[self.tree.row_start[row] : self.tree.row_start[row + 1]]
        entries = L[columns, row] if self._upper else L[row, columns]
        column = int(columns[np.flatnonzero(~np.isfinite(entries))[0]])
        where = (column, row) if self._upper else (row, column)
        raise NonFiniteError(f"L is not finite: entry {where}", row=row)

    def export(self, L: np.ndarray, D: np.ndarray) -> None:
        """Write L (its transpose with ``triangle="upper"``) and D of a single LTDL into float64 arrays.

        Of L, shape (n, n), only the pattern's entries are written.
        """
        self._require_single("export")
        if self.kind != "LTDL":
            raise TreefactorError("only an LTDL factor has a unit L to export")
        n = self.tree.n
        self._kernel.export(as_output(L, (n, n)), self._upper, as_output(D, (n,)))

    def __reduce__(self):
        settings = (self.tree, self.batch, self.kind, self._layout, self._triangle, self._threads, self.dtype)
        return _restored, (settings, self._kernel.state())

    def _refactor(self, H, shift, layout: str | None) -> Factor:
        """What `refactor` does, after all checks."""
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
        self._kernel.forget()  # should this be interrupted
        self._spread(
            lambda first, stop: self._kernel.refactor(flat, layout, self._upper, shift, first, stop),
            self._kernel.blocks,
        )
        return self

    def _spread(self, work: Callable[[int, int], object], count: int, vectors: int | None = None) -> None:
        """Run work(first, stop) over 0 .. count-1; it takes every matrix, or `vectors` times one, in hand."""
        passes = math.prod(self.batch) if vectors is None else vectors
        spread(work, count, self._threads, passes * self.tree.nnz)

    def _require_batch(self, batch: tuple[int, ...], layout: str) -> None:
        """Raise ShapeError unless matrices of that batch fit; lanes may be padded to full blocks."""
        size, lanes = math.prod(self.batch), lane_count(self.dtype)
        padded = layout == "lanes" and self.batch and batch == (-(-size // lanes) * lanes,)
        if batch != self.batch and not padded:
            raise ShapeError(
                f"the factor holds a batch of shape {self.batch}, got {batch}", batch, self.batch
            )

    def _require_success(self, H: np.ndarray | None = None) -> None:
        """Raise if the single matrix could not be factorized."""
        row = self._kernel.status
        if row == FACTORIZED:
            return
        if row == UNTOUCHED:
            raise TreefactorError("nothing is factorized yet: call factor() first")
        name = self.tree.name(row)
        where = f"row {row}" if name is None else f"row {row} ({name})"
        reason = f"H is not positive definite: the pivot of {where} is not positive"
        if H is not None:
            entry = self._non_finite_entry(H)
            if entry is not None:
                i, j = entry
                where = "" if name is None else f" of {self.tree.name(i)}"
                reason = f"H is not finite: entry ({i}, {j}){where}"
                row, name = i, self.tree.name(i)
        raise NotPositiveDefiniteError(reason, row=row, name=name)

    def _non_finite_entry(self, H: np.ndarray) -> tuple[int, int] | None:
        """First entry that was read from H, dense or packed, and is not finite."""
        rows, columns = self.tree.rows, self.tree.columns
        if H.ndim == 2:
            H = H[columns, rows] if self._upper else H[rows, columns]
        bad = np.flatnonzero(~np.isfinite(H))
        if not bad.size:
            return None
        entry = int(rows[bad[0]]), int(columns[bad[0]])
        return entry[::-1] if self._upper else entry

    # ------------------------------------------------------------------------------------- operations

    @property
    def status(self) -> np.ndarray:
        """-1, or the row whose pivot failed: ints of the batch's shape."""
        if not self.batch:
            return np.array(self._kernel.status)
        return self._kernel.status[: math.prod(self.batch)].reshape(self.batch).copy()

    def _apply(self, operation: int, b, out) -> np.ndarray:
        """What the kernels of `operation` make of b, after all checks."""
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
        return np.empty(shape, self.dtype) if out is None else as_output(out, shape, self.dtype)

    def quadratic(self, x) -> np.ndarray | float:
        """x^T H^-1 x, for every vector of x: shape (..., n) gives (...), shape (..., n, k) gives (..., k)."""
        x = as_real(x, "x", self.dtype)
        if not self.batch:
            require_finite(x, "x")
        half = self.half_solve(x)
        _, many = leading_axes(x, self.tree.n, self.batch, "x")
        return np.square(half).sum(axis=-2 if many else -1)

    def delassus(self, J, out=None) -> np.ndarray:
        """Inverse operational-space inertia J H^-1 J^T.

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
        Computed as W^T W with W = D^-1/2 L^-T J^T.
        """
        J = as_real(J, "J", self.dtype)
        if J.ndim < 2 or J.shape[-1] != self.tree.n:
            raise ShapeError(
                f"J must have shape (..., m, {self.tree.n}), got {J.shape}",
                J.shape,
                ("...", "m", self.tree.n),
            )
        if J.ndim > 2 and self.batch and J.shape[:-2] != self.batch:
            raise ShapeError(
                f"J must carry the batch axes {self.batch} or none, got {J.shape}", J.shape, self.batch
            )
        JT = np.swapaxes(J, -1, -2)
        if not self.batch:
            if J.ndim == 2:
                require_finite(J, "J")
            W = self.half_solve(JT)
            shape = (*W.shape[:-2], W.shape[-1], W.shape[-1])
            return np.matmul(np.swapaxes(W, -1, -2), W, out=self._result(shape, out))
        JT = np.ascontiguousarray(flatten(JT, 2))
        result = self._result((*self.batch, JT.shape[-1], JT.shape[-1]), out)
        if np.may_share_memory(result, JT):  # one J for all would be overwritten by the first result
            JT = JT.copy()
        self._fill(result, lambda G, first, stop: self._kernel.delassus(JT, G, first, stop))
        return result

    def _fill(self, result: np.ndarray, work: Callable[[np.ndarray, int, int], object]) -> None:
        """Fill matrices of a batch by a kernel that writes C-contiguous ones."""
        into = result if result.flags.carray else np.empty_like(result, order="C")
        flat = flatten(into, 2)
        self._spread(
            lambda first, stop: work(flat, first, stop), self._kernel.blocks, len(flat) * flat.shape[-1]
        )
        if into is not result:
            np.copyto(result, into)

    def inverse(self, out=None) -> np.ndarray:
        """H^-1, shape (..., n, n), symmetric.

        Notes
        -----
        H^-1 = Z D^-1 Z^T with Z = L^-1, which has the pattern of L.
        """
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
        """Natural logarithm of det H, of the batch's shape."""
        self._require_usable()
        return np.log(self._diagonal()).sum(axis=-1) * (1.0 if self.kind == "LTDL" else 2.0)

    def reconstruct(self) -> np.ndarray:
        """L^T D L (or L^T L) as a dense array, shape (..., n, n)."""
        L = self.L()
        return np.swapaxes(L, -1, -2) @ (self.D()[..., :, None] * L)

    def L(self) -> np.ndarray:
        """Lower triangular factor as a dense array, shape (..., n, n)."""
        self._require_usable()
        L = np.zeros((*self.batch, self.tree.n, self.tree.n), self.dtype)
        L[..., self.tree.rows, self.tree.columns] = self._packed()
        if self.kind == "LTDL":
            L[..., np.arange(self.tree.n), np.arange(self.tree.n)] = 1.0
        return self._blank_failures(L)

    def D(self) -> np.ndarray:
        """Diagonal factor, shape (..., n); ones for LTL."""
        self._require_usable()
        if self.kind == "LTDL":
            return self._diagonal()
        return self._blank_failures(np.ones((*self.batch, self.tree.n), self.dtype))

    def _blank_failures(self, result: np.ndarray) -> np.ndarray:
        """Result with NaN for every matrix of the batch that could not be factorized."""
        result[self.status != FACTORIZED] = np.nan
        return result

    def _diagonal(self) -> np.ndarray:
        """Last entries of the packed rows: D of LTDL, the diagonal of L of LTL."""
        return self._kernel.diagonals().reshape(*self.batch, self.tree.n)

    def _packed(self) -> np.ndarray:
        """Packed rows, shape (..., nnz)."""
        return self._kernel.rows().reshape(*self.batch, self.tree.nnz)

    def _require_usable(self) -> None:
        if not self.batch:
            self._require_success()

    # ------------------------------------------------------------------------------------ SciPy's forms

    def L_csc(self):
        """L of a single matrix as a `scipy.sparse.csc_array`, its pattern that of the tree."""
        from scipy.sparse import csr_array

        self._require_single("L_csc")
        data = self._kernel.rows()
        if self.kind == "LTDL":
            data[self.tree.row_start[1:] - 1] = 1.0
        n = self.tree.n
        return csr_array((data, self.tree.columns.copy(), self.tree.row_start.copy()), shape=(n, n)).tocsc()

    def operator(self):
        """x -> H x of a single matrix as a `scipy.sparse.linalg.LinearOperator`."""
        return self._linear_operator("operator", self.multiply)

    def inverse_operator(self):
        """b -> H^-1 b of a single matrix as a `scipy.sparse.linalg.LinearOperator`; a preconditioner."""
        return self._linear_operator("inverse_operator", self.solve)

    def _linear_operator(self, what: str, apply: Callable):
        from scipy.sparse.linalg import LinearOperator

        self._require_single(what)
        n = self.tree.n

        def matvec(x):  # SciPy hands over (n,) or (n, 1)
            return apply(np.asarray(x).reshape(n))

        return LinearOperator(
            (n, n), matvec=matvec, rmatvec=matvec, matmat=apply, rmatmat=apply, dtype=np.float64
        )

    def _require_single(self, what: str) -> None:
        if self.batch:
            raise ShapeError(
                f"{what} is for a single matrix; this factor holds a batch {self.batch}", self.batch, ()
            )
        self._require_success()


def check_pattern(H: np.ndarray, tree: Tree) -> None:
    """Raise PatternError if any matrix of H is not symmetric or has entries outside the tree's pattern.

    Entries of the pattern that mirror each other but are not finite are left to the factorization.
    """
    mirror = np.swapaxes(H, -1, -2)
    size = np.abs(H)
    scale = np.where(np.isfinite(H), size, 0.0).max(axis=(-2, -1), initial=0.0, keepdims=True)
    equal = (H == mirror) | (np.isnan(H) & np.isnan(mirror))
    with np.errstate(invalid="ignore"):  # inf - inf
        skew = ~equal & ~(np.abs(H - mirror) <= SYMMETRY * scale)
    outside = ~(size <= PATTERN * scale) & ~tree.mask()
    for found, complaint in ((skew, "differs from its mirror"), (outside, "is outside the tree's pattern")):
        if found.any():
            *_, row, column = map(int, np.argwhere(found)[0])
            raise PatternError(f"H[{row}, {column}] {complaint}", row=row, column=column)


def _restored(settings: tuple, state: tuple) -> Factor:
    """Unpickle a factor."""
    result = Factor(*settings)
    result._kernel.restore(*state)
    return result
