"""Validate the arguments of a Problem: H as packed rows, constraints as stacked sorted sparse rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._util.validation import as_real, as_vector, require_finite, require_sound
from ..exceptions import DtypeError, NonFiniteError, ShapeError
from ..linalg.factorization import Factor
from ..tolerances import CANCELLED
from ..tree.tree import Tree
from . import _input_copies
from .symbolic_kkt import SymbolicKkt

NO_ROWS = np.zeros(1, np.intp), np.empty(0, np.intp), np.empty(0)

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # start, column, entries


class SortedRows(NamedTuple):
    """Rows that this package made and does not change: columns ascend, entries are finite; not validated.

    `known` is a symbolic analysis that probably fits.
    """

    start: np.ndarray
    column: np.ndarray
    entries: np.ndarray
    known: SymbolicKkt | None = None


def vector(values, size: int, name: str) -> np.ndarray:
    """Copy a finite vector."""
    copy = _input_copies.copy_plain_vector(values, size)
    return as_vector(values, size, name).copy() if copy is None else copy


def packed_rows(H, tree: Tree, layout: str) -> np.ndarray:
    """Copy H as packed rows."""
    if isinstance(H, Factor):
        return _multiplied_out(H, tree)
    if hasattr(H, "tocsr"):
        packed = tree.pack(H)
    else:
        H = as_real(H, "H")
        expected = (tree.n, tree.n) if layout == "dense" else (tree.nnz,)
        if H.shape != expected:
            raise ShapeError(f"H must have shape {expected}, got {H.shape}", H.shape, expected)
        packed = _input_copies.pack(tree.pattern, H) if layout == "dense" else H.copy()
    entry = _input_copies.find_not_finite(packed)
    if entry >= 0:
        row, column = int(tree.rows[entry]), int(tree.columns[entry])
        raise NonFiniteError(f"H is not finite: H[{row}, {column}]", row=row)
    return packed


def _multiplied_out(H: Factor, tree: Tree) -> np.ndarray:
    """Multiply a Factor out: L^T D L as packed rows."""
    if H.tree != tree:
        raise ShapeError("expected a Factor of the same tree as the problem, got one of another tree")
    H._require_single("Problem")
    H._require_usable()
    packed, own = H._packed().copy(), tree.row_start[1:] - 1
    D = np.ones(tree.n)
    if H.kind == "LTDL":
        D, packed[own] = packed[own], 1.0
    _input_copies.multiply_out(tree.pattern, packed, D)
    return packed


def stacked(C, c, D, d, n: int) -> tuple[Rows, np.ndarray, int]:
    """Stack the constraints: rows of [C; D], [c; d], and the number of rows of C."""
    upper, c = rows(C, c, n, "C", "c")
    lower, d = rows(D, d, n, "D", "d")
    if not len(c):
        return lower, d, 0
    start = np.concatenate((upper[0], lower[0][1:] + upper[0][-1]))
    column, entries = (np.concatenate(pair) for pair in zip(upper[1:], lower[1:], strict=True))
    return (start, column, entries), np.concatenate((c, d)), len(c)


def without_noise(stack: Rows, terms, n: int) -> Rows:
    """Set entries to zero that the terms, one for every row or entry, show to be rounding errors."""
    start, column, entries = stack
    count, terms = len(start) - 1, as_real(terms, "terms")
    if terms.shape not in ((count,), (count, n)):
        raise ShapeError(
            f"terms must have shape ({count},) or ({count}, {n}): rows of C, then of D; got {terms.shape}",
            terms.shape,
            (count,),
        )
    require_finite(terms, "terms")
    if (terms < 0.0).any():
        raise ValueError(f"terms must not be negative, got {terms.min()}")
    row = np.repeat(np.arange(count), np.diff(start))
    least = CANCELLED * (terms[row] if terms.ndim == 1 else terms[row, column])
    return start, column, np.where(np.abs(entries) > least, entries, 0.0)


def rows(J, b, n: int, matrix: str, right: str) -> tuple[Rows, np.ndarray]:
    """Copy a constraint matrix as sorted rows, and its right side."""
    if (J is None) != (b is None):
        raise ShapeError(
            f"expected both {matrix} and {right}, or neither: got only {matrix if b is None else right}"
        )
    if J is None:
        return NO_ROWS, NO_ROWS[2]
    if isinstance(J, SortedRows):
        return (J.start, J.column, J.entries), b
    sparse = hasattr(J, "tocsr")
    if not sparse:
        J = as_real(J, matrix)
        J = J.reshape(0, n) if J.shape == (0,) else J
    elif J.dtype.kind not in "fiub":
        raise DtypeError(f"{matrix} must hold real numbers, got dtype {J.dtype}", J.dtype)
    if J.ndim != 2 or J.shape[1] != n:
        raise ShapeError(f"{matrix} must have shape (rows, {n}), got {J.shape}", J.shape, ("rows", n))
    m = J.shape[0]
    sorted_rows = by_rows(J, matrix) if sparse else _input_copies.rows_of_dense(J)
    entry = _input_copies.find_not_finite(sorted_rows[2])
    if entry >= 0:
        row = int(np.searchsorted(sorted_rows[0], entry, "right")) - 1
        raise NonFiniteError(f"{matrix} is not finite in row {row}", row=row)
    copy = _input_copies.copy_plain_vector(b, m)
    return sorted_rows, right_side(b, m, right) if copy is None else copy


def by_rows(J, name: str) -> Rows:
    """Copy a SciPy sparse matrix as sorted rows."""
    if J.format not in ("csr", "csc"):
        require_sound(J, name)
        J = J.tocsr()
    lines, length = J.shape if J.format == "csr" else J.shape[::-1]
    start, index = np.array(J.indptr, np.intp), np.array(J.indices, np.intp)
    entries = np.array(J.data, float)
    if (
        start.size != lines + 1
        or entries.size != index.size
        or not _input_copies.are_sorted_rows(start, index, length)
    ):
        return _canonical(J, name)
    return (
        (start, index, entries)
        if J.format == "csr"
        else _input_copies.rows_of_columns(length, start, index, entries)
    )


def _canonical(J, name: str) -> Rows:
    """Copy a sparse matrix whose entries are not sorted, or repeated, as sorted rows."""
    from scipy.sparse import csr_array

    require_sound(J, name)
    J = csr_array(J, dtype=np.float64, copy=True)
    J.sum_duplicates()
    return J.indptr.astype(np.intp), J.indices.astype(np.intp), J.data


def right_side(b, m: int, name: str) -> np.ndarray:
    """Copy d, which may hold -inf, or a finite c."""
    b = as_real(b, name)
    if b.shape != (m,):
        raise ShapeError(f"{name} must have shape ({m},), got {b.shape}", b.shape, (m,))
    require_finite(np.where(b == -np.inf, 0.0, b) if name == "d" else b, name)
    return b.copy()


def bounds(upper, m: int) -> np.ndarray:
    """Copy bounds, which must be from 0 to inf."""
    upper = as_real(upper, "upper")
    if upper.shape != (m,):
        raise ShapeError(f"upper must have shape ({m},), got {upper.shape}", upper.shape, (m,))
    if not (upper >= 0.0).all():
        if np.isnan(upper).any():
            raise NonFiniteError("upper holds a NaN", row=int(np.isnan(upper).argmax()))
        raise ValueError(f"upper must not be negative, got {upper.min()}")
    return upper.copy()
