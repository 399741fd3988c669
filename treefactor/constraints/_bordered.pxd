"""Kernels of equations with constraint rows, and arrays of 8 states."""

from ..tree._operands cimport ALIGNED, LANES
from ..tree._pattern cimport Shape, active

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


cdef inline void to_states(Py_ssize_t count, const double *x, double *y) noexcept nogil:
    """y <- 8 states one after the other."""
    active.lanes.store(count, LANES, x, <char *> y, count * sizeof(double))


cdef inline void from_states(Py_ssize_t count, const double *x, double *y) noexcept nogil:
    """y <- 8 states side by side."""
    active.lanes.load(count, LANES, <const char *> x, count * sizeof(double), y)


cdef inline double *take(double **end, Py_ssize_t count) noexcept nogil:
    """Return the next `count` doubles, and go on behind them in steps of 64 bytes."""
    cdef double *start = end[0]
    end[0] += (count + ALIGNED - 1) // ALIGNED * ALIGNED
    return start
