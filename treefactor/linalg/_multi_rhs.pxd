"""Declare the kernels for one matrix and many vectors; see _multi_rhs.pyx."""

from ..tree._pattern cimport Shape

cdef void apply(const Shape *t, const double *L, const double *D, const double *inverse, bint ltdl, int op,
                double *x, Py_ssize_t r) noexcept nogil
cdef void h_mul(const Shape *t, const double *H, const double *x, double *y, Py_ssize_t r,
                double *path) noexcept nogil
