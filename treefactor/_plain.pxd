"""Arrays that need no gate: recognized through NumPy's C interface, in nanoseconds."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport fabs


cdef inline bint is_plain_vector(object a, Py_ssize_t n) noexcept:
    """Whether a is an aligned contiguous float64 vector of length n."""
    return (
        cnp.PyArray_CheckExact(a)
        and cnp.PyArray_NDIM(<cnp.ndarray> a) == 1
        and cnp.PyArray_TYPE(<cnp.ndarray> a) == cnp.NPY_DOUBLE
        and cnp.PyArray_DIM(<cnp.ndarray> a, 0) == n
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> a)
    )


cdef inline bint is_plain_matrix(object a, Py_ssize_t n, Py_ssize_t m) noexcept:
    """Whether a is an aligned contiguous float64 matrix (n, m)."""
    return (
        cnp.PyArray_CheckExact(a)
        and cnp.PyArray_NDIM(<cnp.ndarray> a) == 2
        and cnp.PyArray_TYPE(<cnp.ndarray> a) == cnp.NPY_DOUBLE
        and cnp.PyArray_DIM(<cnp.ndarray> a, 0) == n
        and cnp.PyArray_DIM(<cnp.ndarray> a, 1) == m
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> a)
    )


cdef inline bint all_finite(Py_ssize_t n, const double *x) noexcept nogil:
    cdef Py_ssize_t c
    cdef int bad = 0
    for c in range(n):
        bad |= not fabs(x[c]) <= DBL_MAX
    return not bad
