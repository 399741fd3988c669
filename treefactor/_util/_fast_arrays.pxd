"""Fast-path array checks through NumPy's C API: no Python call, a few nanoseconds each."""

cimport numpy as cnp
from libc.stdint cimport uintptr_t


cdef inline bint is_plain_vector(object a, Py_ssize_t n) noexcept:
    """Return whether a is an aligned contiguous float64 vector of length n."""
    return (
        cnp.PyArray_CheckExact(a)
        and cnp.PyArray_NDIM(<cnp.ndarray> a) == 1
        and cnp.PyArray_TYPE(<cnp.ndarray> a) == cnp.NPY_DOUBLE
        and cnp.PyArray_DIM(<cnp.ndarray> a, 0) == n
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> a)
    )


cdef inline bint is_plain_matrix(object a, Py_ssize_t n, Py_ssize_t m) noexcept:
    """Return whether a is an aligned contiguous float64 matrix (n, m)."""
    return (
        cnp.PyArray_CheckExact(a)
        and cnp.PyArray_NDIM(<cnp.ndarray> a) == 2
        and cnp.PyArray_TYPE(<cnp.ndarray> a) == cnp.NPY_DOUBLE
        and cnp.PyArray_DIM(<cnp.ndarray> a, 0) == n
        and cnp.PyArray_DIM(<cnp.ndarray> a, 1) == m
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> a)
    )


cdef inline bint is_array(object x, int axes, int kind) noexcept:
    """Return whether x is an array of that many axes, of aligned elements of this kind, of any strides."""
    return (
        cnp.PyArray_CheckExact(x)
        and cnp.PyArray_NDIM(<cnp.ndarray> x) == axes
        and cnp.PyArray_TYPE(<cnp.ndarray> x) == kind
        and cnp.PyArray_ISBEHAVED_RO(<cnp.ndarray> x)
    )


cdef inline bint is_real(object x) noexcept:
    """Return whether x is an array of aligned native float64, of any strides."""
    return cnp.PyArray_CheckExact(x) and is_array(x, cnp.PyArray_NDIM(<cnp.ndarray> x), cnp.NPY_DOUBLE)


cdef inline bint is_result(object out, cnp.ndarray like) noexcept:
    """Return whether out is a writeable contiguous array of the shape and kind of another one."""
    return (
        is_array(out, like.ndim, cnp.PyArray_TYPE(like))
        and cnp.PyArray_ISCARRAY(<cnp.ndarray> out)
        and cnp.PyArray_SAMESHAPE(<cnp.ndarray> out, like)
    )


cdef inline void find_extent(cnp.ndarray a, Py_ssize_t *first, Py_ssize_t *last) noexcept:
    """Move first and last to the lowest and highest entry in memory, as offsets from entry 0."""
    cdef Py_ssize_t step
    cdef int k
    for k in range(a.ndim):
        step = (a.shape[k] - 1) * a.strides[k]
        if step < 0:
            first[0] += step
        else:
            last[0] += step


cdef inline bint may_overlap(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Return whether the extents of two arrays that are not empty overlap."""
    cdef Py_ssize_t a_first = 0, a_last = 0, b_first = 0, b_last = 0
    find_extent(a, &a_first, &a_last)
    find_extent(b, &b_first, &b_last)
    return (<uintptr_t> a.data + a_first < <uintptr_t> b.data + b_last + cnp.PyArray_ITEMSIZE(b)
            and <uintptr_t> b.data + b_first < <uintptr_t> a.data + a_last + cnp.PyArray_ITEMSIZE(a))


cdef inline bint all_finite(Py_ssize_t n, const double *x) noexcept nogil:
    """Return whether no entry is NaN or infinite: 0 x is 0 for others only."""
    cdef Py_ssize_t k, whole = n & ~3
    cdef double a = 0, b = 0, c = 0, d = 0       # independent sums, which fill registers
    for k in range(0, whole, 4):
        a += 0 * x[k]
        b += 0 * x[k + 1]
        c += 0 * x[k + 2]
        d += 0 * x[k + 3]
    for k in range(whole, n):
        a += 0 * x[k]
    return a + b + c + d == 0
