"""Kernels of equations with constraint rows, and their workspace."""

from ..tree._operands cimport ALIGNED
from ..tree._pattern cimport Shape

cdef extern from "kernels/constraints/bordered.h" nogil:
    ctypedef struct BorderedKernels:
        Py_ssize_t columns
        Py_ssize_t (*workspace_size)(Py_ssize_t n, Py_ssize_t m) noexcept nogil
        void (*invert)(const Shape *, const Py_ssize_t *at, const double *L, const double *inverse,
                       Py_ssize_t m, const double *J, double *S, double *share,
                       double *workspace) noexcept nogil
        void (*multiply)(Py_ssize_t size, Py_ssize_t columns, const double *S, const double *B,
                         double *X) noexcept nogil
        void (*apply)(Py_ssize_t size, const double *S, const double *b, double *x) noexcept nogil
        void (*solve)(const Shape *, const Py_ssize_t *at, const double *L, const double *inverse,
                      Py_ssize_t m, const double *J, const double *b, double *x, double *share,
                      double *workspace) noexcept nogil

    ctypedef struct Bordered:
        const char *name
        BorderedKernels one
        BorderedKernels lanes


cdef inline double *take(double **end, Py_ssize_t count) noexcept nogil:
    """Return the next `count` doubles, and go on behind them in steps of 64 bytes."""
    cdef double *start = end[0]
    end[0] += (count + ALIGNED - 1) // ALIGNED * ALIGNED
    return start
