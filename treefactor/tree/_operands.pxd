"""Describe NumPy arrays to kernels, and load them 8 configurations at a time."""

cimport numpy as cnp
from libc.stdint cimport uintptr_t

from .._util._fast_arrays cimport is_real
from ._pattern cimport active

cdef enum:
    LANES = 8                    # configurations that one call of a kernel with lanes computes
    ALIGNED = 8                  # doubles of 64 bytes


ctypedef struct Operand:
    const char *data             # NULL: the argument is absent
    Py_ssize_t size              # entries of one configuration, or of a step of a series
    Py_ssize_t to_next           # bytes to the next configuration
    Py_ssize_t to_entry          # bytes from entry to entry
    Py_ssize_t to_step           # of a series: bytes from step to step


cdef inline double *align(double *x) noexcept nogil:
    """Return the first address from x on that is a multiple of 64 bytes."""
    return <double *> ((<uintptr_t> x + 63) & ~<uintptr_t> 63)


cdef inline void describe_vector(const void *x, Py_ssize_t size, Operand *operand) noexcept nogil:
    """Describe contiguous entries that all configurations share; NULL is absent."""
    operand.data, operand.size = <const char *> x, 0 if x == NULL else size
    operand.to_next, operand.to_entry, operand.to_step = 0, sizeof(double), 0


cdef inline void describe(cnp.ndarray x, Operand *operand) noexcept:
    """Describe validated rows of shape (batch, size), or (1, size) that all share; None is absent.

    A series has shape (batch, steps, size).
    """
    describe_vector(NULL, 0, operand)
    if x is not None:
        operand.data, operand.size = x.data, x.shape[x.ndim - 1]
        operand.to_next = 0 if x.shape[0] == 1 else x.strides[0]
        operand.to_entry = x.strides[x.ndim - 1]
        if x.ndim == 3:
            operand.to_step = x.strides[1]


cdef inline bint is_dense(const Operand *operand, Py_ssize_t number_bytes=sizeof(double)) noexcept nogil:
    """Return whether the entries of all configurations follow each other."""
    return operand.to_entry == number_bytes and operand.to_next == operand.size * number_bytes


cdef inline bint read_operand(object x, Py_ssize_t size, Py_ssize_t *batch, Operand *operand) noexcept:
    """Describe an array (batch, size) or (size,); false if it has another type, shape or batch size.

    ``batch`` is -1 until an array sets it.
    """
    cdef cnp.ndarray a
    if not is_real(x):
        return False
    a = x
    if not 1 <= a.ndim <= 2 or a.shape[a.ndim - 1] != size or a.strides[a.ndim - 1] != sizeof(double):
        return False
    describe_vector(a.data, size, operand)
    if a.ndim == 1:
        return True
    if batch[0] >= 0 and batch[0] != a.shape[0]:
        return False
    batch[0], operand.to_next = a.shape[0], a.strides[0]
    return True


cdef inline bint read_matrix_operand(object x, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t *batch,
                                     Operand *operand) noexcept:
    """Describe an array (batch, rows, columns) or (rows, columns) as `read_operand` does."""
    cdef cnp.ndarray a
    if not is_real(x):
        return False
    a = x
    if not (2 <= a.ndim <= 3 and a.shape[a.ndim - 2] == rows and a.shape[a.ndim - 1] == columns
            and a.strides[a.ndim - 1] == sizeof(double)
            and a.strides[a.ndim - 2] == columns * <Py_ssize_t> sizeof(double)):
        return False
    describe_vector(a.data, rows * columns, operand)
    if a.ndim == 2:
        return True
    if batch[0] >= 0 and batch[0] != a.shape[0]:
        return False
    batch[0], operand.to_next = a.shape[0], a.strides[0]
    return True


cdef inline void load(const Operand *operand, Py_ssize_t b, int count, double *X) noexcept nogil:
    """X <- configurations of block b; lanes beyond ``count`` repeat the first one."""
    if operand.data != NULL:
        load_from(operand, operand.data + b * LANES * operand.to_next, count, X)


cdef inline void load_from(const Operand *operand, const char *source, int count, double *X) noexcept nogil:
    """X <- configurations from `source` on, which lie as those of an operand do."""
    if operand.to_entry != sizeof(double):
        active.lanes.load_apart(operand.size, count, source, operand.to_next, operand.to_entry, X)
        return
    if count < LANES:
        active.lanes.load(operand.size, LANES, source, 0, X)
    active.lanes.load(operand.size, count, source, operand.to_next, X)


cdef inline bint overlap(const void *a, Py_ssize_t n, const void *b, Py_ssize_t m) noexcept nogil:
    """Return whether arrays of n and m bytes share memory; NULL shares none."""
    return b != NULL and <const char *> a < <const char *> b + m and <const char *> b < <const char *> a + n
