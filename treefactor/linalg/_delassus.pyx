"""Compute J H^-1 J^T and its inverse from a factor: kernels on NumPy arrays."""

cimport numpy as cnp
from libc.stdlib cimport free
from libc.string cimport memset

from ._batch_input cimport allocate
from ._factor_methods cimport Calls
from ._single cimport SHORT, SingleKernel
from ..tree._pattern cimport FACTORIZED, Shape, active
from .._util._fast_arrays cimport all_finite, is_array, is_plain_matrix, may_overlap
from .._util._result_arrays cimport new_result

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/linalg/delassus.h"
    #include "kernels/common/choose.h"
    extern const DelassusTable delassus_baseline;
    #if defined(__x86_64__) && defined(__GNUC__)
    extern const DelassusTable delassus_avx2, delassus_avx512;
    #endif
    CHOOSE(DelassusTable, delassus)
    """
    ctypedef struct Group:
        pass

    ctypedef struct DelassusTable:
        const char *name
        void (*delassus)(const Shape *, const Py_ssize_t *at, const double *L, const double *inverse,
                         int ltdl,
                         Py_ssize_t m, const double *J, double *G, double *X, Group *group,
                         Py_ssize_t *list) noexcept nogil
        void (*invert)(Py_ssize_t m, double damping, double *G, double *X, Py_ssize_t *failed) noexcept nogil
        void (*invert_lanes)(Py_ssize_t m, double damping, double *G, double *X,
                             Py_ssize_t *failed) noexcept nogil
        void (*multiply)(Py_ssize_t n, Py_ssize_t m, const double *K, Py_ssize_t stride, const double *A,
                         double *B) noexcept nogil
        void (*multiply_lanes)(Py_ssize_t n, Py_ssize_t m, const double *K, const double *A,
                               const double *squares, double *B) noexcept nogil
        void (*project)(Py_ssize_t n, Py_ssize_t m, const double *B, const double *J,
                        double *N) noexcept nogil

    const DelassusTable *delassus_for(const char *name) nogil

cdef const DelassusTable *kernels = delassus_for(active.name)

cdef enum:
    LANES = 8


cdef Py_ssize_t memory_size(Py_ssize_t n, Py_ssize_t m) noexcept nogil:
    """Return the doubles of the workspaces for J of shape (m, n); numbers and pointers are no larger."""
    return m * n + m + (m * sizeof(Group)) // sizeof(double) + m * n + 2 * n


cdef Memory carve_memory(Py_ssize_t n, Py_ssize_t m, double *memory) noexcept nogil:
    """Return workspaces for J of shape (m, n)."""
    cdef Memory w
    w.X = memory
    w.group = w.X + m * n + m
    w.list = <Py_ssize_t *> (<Group *> w.group + m)
    return w


cdef Memory allocate_memory(Py_ssize_t n, Py_ssize_t m) except *:
    """Return workspaces for J of shape (m, n); free X."""
    return carve_memory(n, m, <double *> allocate(memory_size(n, m) * sizeof(double)))


cdef Py_ssize_t multiply(const Shape *t, const double *L, const double *inverse, bint ltdl, Py_ssize_t m,
                         const double *J, double *G, const Memory *w, bint invert,
                         double damping) noexcept nogil:
    """G <- J H^-1 J^T, or the inverse of it and the damping; return -1 or the row that depends on others.

    L are the padded rows of the factor of H, inverse the reciprocals of its diagonal.
    """
    cdef Py_ssize_t failed = -1
    kernels.delassus(t, t.at, L, inverse, ltdl, m, J, G, w.X, <Group *> w.group, w.list)
    if invert:
        kernels.invert(m, damping, G, w.X, &failed)
    return failed


cdef void invert_lanes(Py_ssize_t m, double damping, double *G, double *X,
                       Py_ssize_t *failed) noexcept nogil:
    """G <- (G + damping I)^-1 of 8 matrices side by side; X: workspace of m entries."""
    kernels.invert_lanes(m, damping, G, X, failed)


cdef void multiply_inverse(Py_ssize_t n, Py_ssize_t m, const double *K, Py_ssize_t stride, const double *A,
                           double *B) noexcept nogil:
    """B <- K A, for K of shape (n, m) with rows `stride` entries apart and A of shape (m, m)."""
    kernels.multiply(n, m, K, stride, A, B)


cdef void multiply_inverse_lanes(Py_ssize_t n, Py_ssize_t m, const double *K, const double *A,
                                 const double *squares, double *B) noexcept nogil:
    """B <- K A of 8 matrices side by side, their row k times the root of squares[k]."""
    kernels.multiply_lanes(n, m, K, A, squares, B)


cdef void project(Py_ssize_t n, Py_ssize_t m, const double *B, const double *J, double *N) noexcept nogil:
    """N <- 1 - B J, for B of shape (n, m) and J of shape (m, n)."""
    kernels.project(n, m, B, J, N)


def nullspace(cnp.ndarray B not None, cnp.ndarray J not None):
    """Return 1 - B J of float64, C-contiguous: B is (..., n, m), J has the same leading axes or none."""
    cdef int axes = B.ndim, k
    cdef Py_ssize_t n = B.shape[axes - 2], m = B.shape[axes - 1], count = 1, b
    cdef Py_ssize_t to_next = m * n if J.ndim > 2 else 0
    cdef const double *from_B = <const double *> B.data
    cdef const double *from_J = <const double *> J.data
    cdef cnp.npy_intp shape[64]      # NumPy has no arrays of more axes
    cdef cnp.ndarray N
    cdef double *to_N
    for k in range(axes - 2):
        shape[k] = B.shape[k]
        count *= B.shape[k]
    shape[axes - 2] = shape[axes - 1] = n
    N = new_result(axes, shape)
    to_N = <double *> N.data
    with nogil:
        for b in range(count):
            kernels.project(n, m, from_B + b * n * m, from_J + b * to_next, to_N + b * n * n)
    return N


cdef Py_ssize_t compute(SingleKernel f, Py_ssize_t m, const double *J, double *G, const Memory *w,
                        bint invert, double damping) noexcept nogil:
    """Call `multiply` with the factor that a kernel keeps."""
    return multiply(&f.pattern.shape, f.w.X, f.w.inverse, f.ltdl, m, J, G, w, invert, damping)


def fast(Calls factor not None, J, out, bint invert=False, double damping=0.0):
    """Return the result for one matrix and contiguous J; None for the general path, or if not finite."""
    cdef SingleKernel f
    cdef cnp.npy_intp shape[2]
    cdef Py_ssize_t n, m, k, failed
    cdef Memory w
    cdef double *G
    if type(factor._kernel) is not SingleKernel or not is_array(J, 2, cnp.NPY_DOUBLE):
        return None
    f = <SingleKernel> factor._kernel
    n, m = f.pattern.shape.n, cnp.PyArray_DIM(<cnp.ndarray> J, 0)
    if f.status != FACTORIZED or m == 0 or n == 0 or not is_plain_matrix(J, m, n):
        return None
    if out is None:
        shape[0] = shape[1] = m
        out = new_result(2, shape)
    elif (not is_plain_matrix(out, m, m) or not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)
          or may_overlap(out, J)):
        return None
    G = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
    w = allocate_memory(n, m)
    if m * n <= SHORT:
        failed = compute(f, m, <const double *> cnp.PyArray_DATA(<cnp.ndarray> J), G, &w, invert, damping)
    else:
        with nogil:
            failed = compute(f, m, <const double *> cnp.PyArray_DATA(<cnp.ndarray> J), G, &w, invert, damping)
    free(w.X)
    if failed >= 0:
        return None
    for k in range(m):           # an entry of J that is not finite makes its row and this entry not finite
        if not all_finite(1, G + k * m + k):
            return None
    return out


def single(SingleKernel f not None, cnp.ndarray J not None, cnp.ndarray G not None):
    """G[b] <- J[b] H^-1 J[b]^T, for J of shape (count, m, n), C-contiguous, apart from G."""
    cdef Py_ssize_t m = J.shape[1], n = J.shape[2], b, count = J.shape[0]
    cdef Memory w = allocate_memory(n, m)
    cdef const double *from_J = <const double *> J.data
    cdef double *to_G = <double *> G.data
    with nogil:
        for b in range(count):
            compute(f, m, from_J + b * m * n, to_G + b * m * m, &w, False, 0.0)
    free(w.X)


def invert(cnp.ndarray G not None, double damping, cnp.ndarray failed not None, Py_ssize_t first,
           Py_ssize_t stop):
    """G[b] <- (G[b] + damping I)^-1 of float64, for blocks of 8; failed: rows that depend on others, or -1.

    G is (batch, m, m), failed has the size of the batch in full blocks; both C-contiguous.
    """
    cdef Py_ssize_t m = G.shape[1], b, size = m * m * sizeof(double), batch = G.shape[0]
    cdef double *X = <double *> allocate((m * m + m) * LANES * sizeof(double))
    cdef double *own = X + m * LANES
    cdef Py_ssize_t *rows = <Py_ssize_t *> failed.data
    cdef char *at
    cdef int count
    memset(X, 0, (m * m + m) * LANES * sizeof(double))
    with nogil:
        for b in range(first, stop):
            at = G.data + b * LANES * size
            count = <int> min(LANES, batch - b * LANES)
            active.lanes.load(m * m, count, at, size, own)
            kernels.invert_lanes(m, damping, own, X, rows + b * LANES)
            active.lanes.store(m * m, count, own, at, size)
    free(X)
