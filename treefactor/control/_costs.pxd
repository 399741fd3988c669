"""C interface of the costs of motions, evaluated at 8 states side by side, and copies of rows to lanes."""

from libc.string cimport memcpy

from ..kinematics._request cimport Plan
from ..model._configurations cimport Configurations, Coordinates
from ..tree._operands cimport LANES
from ..tree._pattern cimport active

cdef extern from "kernels/control/costs.h" nogil:
    ctypedef struct CostDerivatives:
        double *g
        double *diagonal
        double *H
        Py_ssize_t first, size

ctypedef enum Kind:              # of residuals
    CONFIGURATION
    VELOCITY
    CONTROL
    EXCESS
    POSE
    MEASURED                     # a result of a request

ctypedef struct Term:
    Kind kind
    Py_ssize_t size
    const double *weight         # size
    const double *time           # factors of all times
    const double *target         # NULL: none
    Py_ssize_t row, last         # entries of a target; its last time
    Py_ssize_t to_problem, to_time       # entries to the next one, 0 if they share it
    const Py_ssize_t *entry      # of EXCESS: entries of q, then of (u, q, v)
    const double *lower
    const double *upper
    Py_ssize_t item[2]           # of POSE and MEASURED: result of the two requests
    Py_ssize_t jacobian[2]       # results of the second one, -1: there is none
    Py_ssize_t columns[2]
    const Py_ssize_t *column     # of both, entries of (u, q, v)

ctypedef struct Pass:            # a request
    const Plan *plan
    Py_ssize_t first, stop       # results that it computes


cdef class Terms:
    cdef Term *term
    cdef readonly Py_ssize_t count, first, size          # of Hessians, see CostDerivatives
    cdef Py_ssize_t nq, nv, nu
    cdef Pass *passes[2]                                 # of values, and of derivatives
    cdef Py_ssize_t pass_count
    cdef Py_ssize_t results[2]
    cdef const Py_ssize_t *computed[2]                   # entries of every result
    cdef Configurations configurations
    cdef Coordinates *curved
    cdef Py_ssize_t curved_count, most_row, most_size, most_columns, entries
    cdef object kept, order

    cdef int add_passes(self, int which, list requests) except -1
    cdef int describe(self, Term *t, dict own) except -1

    cdef Py_ssize_t workspace_size(self) noexcept nogil
    cdef bint count_at(self, Py_ssize_t time) noexcept nogil
    cdef void add_values(self, const Py_ssize_t *problem, const Py_ssize_t *time, const double *q,
                         const double *v, const double *u, double *cost, double *work) noexcept nogil
    cdef Py_ssize_t motion_size(self) noexcept nogil
    cdef double value_of(self, Py_ssize_t problem, Py_ssize_t steps, const double *q, const double *v,
                         const double *u, double *work) noexcept nogil
    cdef void add_derivatives(self, const Py_ssize_t *problem, const Py_ssize_t *time, const double *q,
                              const double *v, const double *u, const CostDerivatives *to,
                              double *work) noexcept nogil
    cdef bint scale(self, const Term *t, const Py_ssize_t *time, double *scale) noexcept nogil
    cdef double **measure(self, int which, const Py_ssize_t *time, const double *q, const double *v,
                          double *work) noexcept nogil
    cdef void add_configurations(self, const Term *t, const double *q, const double *target, const double *r,
                                 const double *scale, double *blocks, double *squares,
                                 const CostDerivatives *to) noexcept nogil
    cdef const double *residual(self, const Term *t, int which, const Py_ssize_t *problem,
                                const Py_ssize_t *time, const double *q, const double *v, const double *u,
                                double **x, double *target, double *r, double *L) noexcept nogil


cdef enum:
    PIECE = 16                   # entries of rows that are copied together


cdef inline void gather(const double *rows, const Py_ssize_t *chosen, Py_ssize_t to_row, Py_ssize_t size,
                        double *x) noexcept nogil:
    """Copy 8 rows to lanes, by the kernel of the layout: those at different distances piece by piece."""
    cdef double piece[LANES * PIECE]
    cdef Py_ssize_t step = chosen[1] - chosen[0], k, first = 0, count
    cdef bint regular = True
    for k in range(2, LANES):
        regular &= chosen[k] - chosen[k - 1] == step
    if regular:
        step *= to_row * <Py_ssize_t> sizeof(double)
        active.lanes.load(size, LANES, <const char *> (rows + chosen[0] * to_row), step, x)
        return
    while first < size:
        count = min(<Py_ssize_t> PIECE, size - first)
        for k in range(LANES):
            memcpy(piece + k * PIECE, rows + chosen[k] * to_row + first, count * sizeof(double))
        active.lanes.load(count, LANES, <const char *> piece, PIECE * <Py_ssize_t> sizeof(double),
                          x + LANES * first)
        first += count
