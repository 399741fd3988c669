"""Declarations of the solver's iterate; see _iterate.pyx."""

from ._kkt cimport Kkt
from ..tree._pattern cimport Pattern

cdef extern from "kernels/linalg/rows.h" nogil:
    ctypedef struct SparseRows:
        Py_ssize_t count
        const Py_ssize_t *start
        const Py_ssize_t *column
        const double *entry

    double row_times(const SparseRows *J, Py_ssize_t i, const double *x)
    void rows_times(const SparseRows *J, const double *x, const double *b, double *y)
    void add_rows(const SparseRows *J, const double *a, double *y)

cdef enum:                       # row status: lambda = 0, gap = 0, lambda = upper
    OFF = 0
    ON = 1
    FULL = 2

cdef enum:                       # status of a solution, as in problem.py
    SOLVED_ = 0
    INFEASIBLE_ = 1
    LIMIT_ = 2
    INVALID_ = 3

cdef inline void approach(Py_ssize_t n, double t, const double *to, double *x) noexcept nogil:
    """Compute x += t (to - x)."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] += t * (to[k] - x[k])

cdef inline double least_delta() noexcept nogil:
    """Return the smallest delta that the solver uses."""
    return 1e-6

cdef class Iterate:
    cdef Kkt kkt
    cdef Pattern pattern
    cdef readonly Py_ssize_t n, m, equal, pivots, factorizations, iterations
    cdef readonly double size    # size of the data, to which residuals are relative
    cdef double delta
    cdef double stiffness        # 1 / delta
    cdef double noise            # rounding error of the lambda of refined rows
    cdef double wide             # rounding error of the lambda of other rows
    cdef double free_terms       # terms of H v that cancel each other in the free motion
    cdef double rounding         # rounding error of a gap
    cdef bint refined            # lambda of rows that are on is exact
    cdef double accepted         # residual that counts as solved if none is smaller
    cdef SparseRows rows         # scaled rows J
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
    cdef double *v_free          # H^-1 g
    cdef double *b
    cdef double *impulse         # lambda
    cdef double *gap
    cdef double *gap_u           # gap of u
    cdef double *weight          # weights of the rows in a sum
    cdef double *change          # change of lambda by the last multiplier step
    cdef double *scale
    cdef double *upper           # upper bounds of lambda, infinity without one
    cdef double *finite_upper    # upper of a row with leverage and a finite bound, otherwise 0
    cdef unsigned char *status   # OFF, ON or FULL
    cdef Py_ssize_t capacity     # rows that there is memory for
    cdef Py_ssize_t J_capacity   # entries of these
    cdef object kept             # owner of H
    cdef tuple loaded
    cdef dict vectors

    cdef fit(self, Py_ssize_t m, const Py_ssize_t *start, const Py_ssize_t *column)
    cdef take_rows(self)
    cdef double *vector(self, str name) except NULL

    cdef void load_values(self, const double *H, const double *g, const double *free, const double *J,
                          const double *b, const double *upper, Py_ssize_t equal) noexcept nogil
    cdef void scale_rows(self, const double *H, const double *J, const double *b,
                         const double *upper) noexcept nogil
    cdef double row_size(self, Py_ssize_t i, const double *J) noexcept nogil
    cdef void set_tolerances(self) noexcept nogil
    cdef void gaps(self, const double *x, double *gap) noexcept nogil
    cdef void h_times(self, const double *x, double *y) noexcept nogil
    cdef void begin(self, const double *impulse, const unsigned char *on, bint trusted) noexcept nogil
    cdef void set_delta(self, double delta) noexcept nogil
    cdef void set_noise(self) noexcept nogil
    cdef bint update_statuses(self) noexcept nogil
    cdef bint impulses_are_moderate(self) noexcept nogil
    cdef bint correct_statuses(self) noexcept nogil
    cdef void set_status(self, Py_ssize_t i, unsigned char status) noexcept nogil
    cdef bint refactor(self) noexcept nogil
    cdef void newton_point(self) noexcept nogil
    cdef void newton_momentum(self, double *momentum) noexcept nogil
    cdef bint statuses_agree(self) noexcept nogil
    cdef double natural_residual(self) noexcept nogil
    cdef void proximal_direction(self, const double *force) noexcept nogil
    cdef void accept(self) noexcept nogil
    cdef double refine(self, double target) noexcept nogil
    cdef double compute_residual(self) noexcept nogil
