"""Declare Simulation, which integrates motions in time; subclasses compute the accelerations."""

from ..model._configurations cimport Configurations, Coordinates
from ._recursions cimport Bodies

cdef extern from "kernels/rollouts/stage_table.h" nogil:
    ctypedef struct StageKernels:
        void (*add)(Py_ssize_t n, const double *x, double h, const double *y, double *result) noexcept nogil
        void (*add_commutator)(const Coordinates *, Py_ssize_t count, const double *x, const double *y,
                               double h, double *u) noexcept nogil
        void (*spread_nan)(Py_ssize_t m, const double *x, Py_ssize_t n, double *y) noexcept nogil

    ctypedef struct StageTable:
        const char *name
        StageKernels one
        StageKernels lanes

cdef enum:                       # methods
    SEMI_IMPLICIT_EULER
    RK4

ctypedef struct Series:          # entries of configuration c at step t: data + c to_next + t to_step
    char *data                   # NULL: the argument is absent
    Py_ssize_t size, to_next, to_step

ctypedef struct Motion:
    int method
    double h
    Py_ssize_t steps
    bint whole                   # whether q and v begin with the initial state
    Series q0, v0, tau, fext, q, v

ctypedef struct State:           # `to_block` doubles for every block of `width` configurations side by side
    int lanes, width             # configurations; 1, or 8 per block
    Py_ssize_t to_block
    double *x                    # of every block: q, v, tau, fext, then
    Py_ssize_t v, tau, fext, a   # first doubles of v ... in a block; a is the acceleration
    Py_ssize_t q0, v0, sum_a, sum_v, u     # of RK4: start of the step, sums over the stages, scratch
    double *work                 # of `accelerate`
    Py_ssize_t block             # of 8 configurations of the batch: the first one


cdef class Simulation:
    cdef Bodies bodies
    cdef Configurations configurations
    cdef const Coordinates *runs           # of the configurations
    cdef Py_ssize_t count
    cdef Py_ssize_t nq, nv, forces         # entries of q, v and fext
    cdef int widest                        # most configurations that `accelerate` supports
    cdef bint has_one                      # whether it supports a single one
    cdef Py_ssize_t after_a                # entries after a that `accelerate` writes

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil
    cdef void prepare(self, State *s) noexcept nogil
    cdef void accelerate(self, State *s) noexcept nogil
    cdef Py_ssize_t state_size(self, int lanes) noexcept nogil
    cdef void carve(self, State *s, int lanes, double *memory) noexcept nogil
    cdef void evaluate(self, State *s) noexcept nogil
    cdef void step_euler(self, State *s, double h) noexcept nogil
    cdef void step_rk4(self, State *s, double h) noexcept nogil
    cdef void begin_group(self, const Motion *m, State *s, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    cdef void run_group(self, const Motion *m, State *s, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    cdef bint run_blocks(self, const Motion *m, Py_ssize_t batch, Py_ssize_t first,
                         Py_ssize_t stop) noexcept nogil
    cdef int run_one(self, const Motion *m, bint always) noexcept nogil
