"""Make defensive copies of a Problem's input arrays: a matrix along a tree, sparse rows, vectors.

Rows of constraints are (start, column, entries), intp and float64: row r has its entries, columns rising, at
start[r] .. start[r + 1] - 1. The caller has checked shapes and dtypes, nothing else.
"""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from ..tree._pattern cimport Pattern, Shape
from .._util._fast_arrays cimport all_finite, is_plain_vector

import numpy as np

cnp.import_array()


def copy_plain_vector(object x, Py_ssize_t n):
    """Copy a finite, contiguous float64 vector (n,); return None for anything else."""
    cdef cnp.ndarray copy
    if not is_plain_vector(x, n) or not all_finite(n, <const double *> (<cnp.ndarray> x).data):
        return None
    copy = cnp.PyArray_SimpleNew(1, <cnp.npy_intp *> &n, cnp.NPY_DOUBLE)
    memcpy(copy.data, (<cnp.ndarray> x).data, n * sizeof(double))
    return copy


cdef inline bint is_plain_mask(object a, Py_ssize_t m) noexcept:
    """Return whether a is a contiguous bool vector of length m."""
    return (
        cnp.PyArray_CheckExact(a)
        and cnp.PyArray_NDIM(<cnp.ndarray> a) == 1
        and cnp.PyArray_TYPE(<cnp.ndarray> a) == cnp.NPY_BOOL
        and cnp.PyArray_DIM(<cnp.ndarray> a, 0) == m
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> a)
    )


def copy_warm_start(object gamma_c, object gamma, object active, Py_ssize_t p, Py_ssize_t m):
    """Stack finite impulses (p,) and (m,), contiguous float64, and statuses (m,); None for anything else."""
    if not is_plain_vector(gamma_c, p) or not is_plain_vector(gamma, m) or not is_plain_mask(active, m):
        return None
    cdef const double *first = <const double *> (<cnp.ndarray> gamma_c).data
    cdef const double *rest = <const double *> (<cnp.ndarray> gamma).data
    if not all_finite(p, first) or not all_finite(m, rest):
        return None
    cdef Py_ssize_t count = p + m
    cdef cnp.ndarray impulse = cnp.PyArray_SimpleNew(1, <cnp.npy_intp *> &count, cnp.NPY_DOUBLE)
    cdef cnp.ndarray on = cnp.PyArray_SimpleNew(1, <cnp.npy_intp *> &count, cnp.NPY_BOOL)
    memcpy(impulse.data, first, p * sizeof(double))
    memcpy(impulse.data + p * sizeof(double), rest, m * sizeof(double))
    memset(on.data, 1, p)
    memcpy(on.data + p, (<cnp.ndarray> active).data, m)
    return impulse, on


def find_not_finite(const double[::1] x):
    """Return the index of the first entry that is not finite, or -1."""
    cdef Py_ssize_t e
    if x.shape[0] == 0 or all_finite(x.shape[0], &x[0]):
        return -1
    for e in range(x.shape[0]):
        if not fabs(x[e]) <= DBL_MAX:
            return e


def pack(Pattern pattern not None, const double[:, :] H):
    """Pack the rows of the lower triangle."""
    cdef const Shape *t = &pattern.shape
    cdef Py_ssize_t k, e
    packed = np.empty(t.start[t.n])
    cdef double[::1] X = packed
    for k in range(t.n):
        for e in range(t.start[k], t.start[k + 1]):
            X[e] = H[k, t.column[e]]
    return packed


def multiply_out(Pattern pattern not None, double[::1] X, const double[::1] D):
    """Compute X = L^T D L in place of the packed rows of L: undo the eliminations, the last one first."""
    #   H_ij += L_ki D_k L_kj  for ancestors j <= i of k,  H_kj = D_k L_kj
    cdef const Shape *t = &pattern.shape
    cdef Py_ssize_t k, i, p, q
    cdef double a
    for k in range(t.n):
        for p in range(t.start[k], t.start[k + 1] - 1):
            i = t.column[p]
            a = D[k] * X[p]
            for q in range(t.start[k], p + 1):
                X[t.start[i] + q - t.start[k]] += a * X[q]
        for p in range(t.start[k], t.start[k + 1]):
            X[p] *= D[k]


def are_sorted_rows(const Py_ssize_t[::1] start, const Py_ssize_t[::1] column, Py_ssize_t n):
    """Return whether these are rows with n columns, sorted as the module describes."""
    cdef Py_ssize_t r, e, m = start.shape[0] - 1, last
    if m < 0 or start[0] != 0 or start[m] != column.shape[0]:
        return False
    for r in range(m):
        if not 0 <= start[r] <= start[r + 1] <= start[m]:
            return False
        last = -1
        for e in range(start[r], start[r + 1]):
            if column[e] <= last:
                return False
            last = column[e]
        if last >= n:
            return False
    return True


def rows_of_dense(const double[:, :] J):
    """Return the rows of a dense matrix without its zeros."""
    cdef Py_ssize_t m = J.shape[0], n = J.shape[1], r, j, e = 0
    start, column = np.empty(m + 1, dtype=np.intp), np.empty(m * n, dtype=np.intp)
    entries = np.empty(m * n)
    cdef Py_ssize_t[::1] first = start, at = column
    cdef double[::1] entry = entries
    for r in range(m):
        first[r] = e
        for j in range(n):
            if J[r, j] != 0.0:
                at[e], entry[e] = j, J[r, j]
                e += 1
    first[m] = e
    return start, column[:e].copy(), entries[:e].copy()


def rows_of_columns(Py_ssize_t m, const Py_ssize_t[::1] start, const Py_ssize_t[::1] row,
                    const double[::1] entries):
    """Convert compressed columns of a matrix with m rows to rows; duplicate entries stay."""
    cdef Py_ssize_t n = start.shape[0] - 1, r, j, e, at
    first, column, copies = np.zeros(m + 1, np.intp), np.empty(row.shape[0], np.intp), np.empty(row.shape[0])
    cdef Py_ssize_t[::1] begin = first, of = column, left = np.zeros(m, dtype=np.intp)
    cdef double[::1] entry = copies
    for e in range(row.shape[0]):
        begin[row[e] + 1] += 1
    for r in range(m):
        begin[r + 1] += begin[r]
    for j in range(n):
        for e in range(start[j], start[j + 1]):
            at = begin[row[e]] + left[row[e]]
            left[row[e]] += 1
            of[at], entry[at] = j, entries[e]
    return first, column, copies
