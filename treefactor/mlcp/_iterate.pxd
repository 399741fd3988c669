"""The state of pivoting; see _iterate.pyx."""

from ._kkt cimport Kkt
from ..tree._pattern cimport Pattern

cdef enum:                       # what a row may be: lambda = 0, gap = 0, lambda = upper
    OFF = 0
    ON = 1
    FULL = 2

cdef inline double tight() noexcept nogil:
    """The least delta."""
    return 1e-6

cdef class State:
    cdef Kkt kkt
    cdef Pattern pattern
    cdef readonly Py_ssize_t n, m, equal, pivots, factorizations, iterations
    cdef readonly double size    # of the data: residuals are relative to it
    cdef double delta
    cdef double moved            # terms of H v that cancel each other in the free motion
    cdef double rounding         # of a gap
    cdef bint refined            # lambda of rows that are on is exact
    cdef double accepted         # residual that counts as solved if none is smaller
    cdef const Py_ssize_t *start
    cdef const Py_ssize_t *column
    cdef const double *g
    cdef double *J
    cdef double *H               # padded rows
    cdef double *path
    cdef double *v
    cdef double *Hv
    cdef double *u
    cdef double *step
    cdef double *force
    cdef double *root            # sqrt(H_kk)
    cdef double *free            # H^-1 g
    cdef double *b
    cdef double *impulse         # lambda
    cdef double *gap
    cdef double *other           # gap of u
    cdef double *last            # change of lambda by the last multiplier step
    cdef double *scale
    cdef double *upper           # bounds of lambda, infinity without
    cdef double *pull            # upper of a row with leverage and a finite bound, otherwise 0
    cdef unsigned char *on       # OFF, ON or FULL
    cdef tuple kept, loaded
    cdef dict vectors

    cdef void take(self, const double *H, const double *J, const double *b,
                   const double *upper) noexcept nogil
    cdef double length(self, Py_ssize_t i, const double *J) noexcept nogil
    cdef void weigh(self) noexcept nogil
    cdef double row(self, Py_ssize_t i, const double *x) noexcept nogil
    cdef void add_row(self, Py_ssize_t i, double a, double *y) noexcept nogil
    cdef void gaps(self, const double *x, double *gap) noexcept nogil
    cdef void h_times(self, const double *x, double *y) noexcept nogil
    cdef void begin(self, const double *impulse, const unsigned char *on, bint trusted) noexcept nogil
    cdef void loosen(self, double delta) noexcept nogil
    cdef bint update(self) noexcept nogil
    cdef bint moderate(self) noexcept nogil
    cdef bint correct(self) noexcept nogil
    cdef void put(self, Py_ssize_t i, unsigned char state) noexcept nogil
    cdef bint refactor(self) noexcept nogil
    cdef void newton(self) noexcept nogil
    cdef bint agrees(self) noexcept nogil
    cdef unsigned char aim(self, Py_ssize_t i, const double *gap) noexcept nogil
    cdef double natural(self, Py_ssize_t i) noexcept nogil
    cdef void jump(self) noexcept nogil
    cdef double refine(self, double target) noexcept nogil
    cdef double measure(self) noexcept nogil
