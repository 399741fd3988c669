"""Declare the kernels of J H^-1 J^T to modules that have the numbers of a factor."""

from ..tree._pattern cimport Shape


ctypedef struct Memory:          # workspaces of the kernels
    double *X
    void *group
    Py_ssize_t *list


cdef Py_ssize_t memory_size(Py_ssize_t n, Py_ssize_t m) noexcept nogil
cdef Memory carve_memory(Py_ssize_t n, Py_ssize_t m, double *memory) noexcept nogil
cdef Memory allocate_memory(Py_ssize_t n, Py_ssize_t m) except *
cdef Py_ssize_t multiply(const Shape *t, const double *L, const double *inverse, bint ltdl, Py_ssize_t m,
                         const double *J, double *G, const Memory *w, bint invert,
                         double damping) noexcept nogil
cdef void invert_lanes(Py_ssize_t m, double damping, double *G, double *X,
                       Py_ssize_t *failed) noexcept nogil
cdef void multiply_inverse(Py_ssize_t n, Py_ssize_t m, const double *K, Py_ssize_t stride, const double *A,
                           double *B) noexcept nogil
cdef void multiply_inverse_lanes(Py_ssize_t n, Py_ssize_t m, const double *K, const double *A,
                                 const double *squares, double *B) noexcept nogil
cdef void project(Py_ssize_t n, Py_ssize_t m, const double *B, const double *J, double *N) noexcept nogil
