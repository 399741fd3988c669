"""Kernels on the branch-packed rows of one matrix; see _ltdl.pyx."""

from ._pattern cimport Shape

cdef void gather(const Shape *t, const char *H, Py_ssize_t to_row, Py_ssize_t to_column,
                 double *X) noexcept nogil
cdef void add_diagonal(const Shape *t, const double *shift, double *X) noexcept nogil
cdef Py_ssize_t ltdl_factor(const Shape *t, double *X) noexcept nogil
cdef Py_ssize_t ltl_factor(const Shape *t, double *X) noexcept nogil
cdef void apply(const Shape *t, const double *L, bint ltdl, int op, double *x, Py_ssize_t r,
                double *path) noexcept nogil
cdef void h_mul(const Shape *t, const double *H, const double *x, double *y, Py_ssize_t r,
                double *path) noexcept nogil
