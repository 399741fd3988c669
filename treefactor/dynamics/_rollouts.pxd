"""C interface of rollouts, and of simulations, which compute accelerations and steps for them."""

cimport cython

from ..model._configurations cimport Configurations, Coordinates
from ..tree._operands cimport Operand
from ._model_function cimport ModelFunction
from ._recursions cimport Bodies

cdef extern from "kernels/rollouts/stage_table.h" nogil:
    ctypedef struct StageKernels:
        void (*add)(Py_ssize_t n, const void *x, double h, const void *y, void *result) noexcept nogil
        void (*add_commutator)(const Coordinates *, Py_ssize_t count, const void *x, const void *y, double h,
                               void *u) noexcept nogil
        void (*spread_nan)(Py_ssize_t m, const void *x, Py_ssize_t n, void *y) noexcept nogil

    ctypedef struct StageTable:
        const char *name
        StageKernels one
        StageKernels lanes
        StageKernels single

cdef enum:                       # methods
    SEMI_IMPLICIT_EULER
    RK4

cdef enum:                       # arguments of a rollout, and its results
    Q0, V0, TAU, FEXT, H, Q, V, ARRAYS

ctypedef struct Failure:         # of one motion
    Py_ssize_t step              # -1, or the first one with a finite state whose acceleration is not finite
    char *state                  # q, v, tau and fext of that acceleration; NULL: not wanted

cdef enum:
    MOST_WIDTHS = 4

ctypedef struct State:           # `to_block` bytes for every block of `width` configurations side by side
    int lanes, width             # configurations; 1, or 8 per block, 16 of float32
    Py_ssize_t entry             # bytes of an entry of a block
    Py_ssize_t to_block
    char *x                      # of every block: q, v, tau, fext, then
    Py_ssize_t v, tau, fext, a   # first bytes of v ... in a block; a is the acceleration
    Py_ssize_t q0, v0, sum_a, sum_v, u     # of RK4: start of the step, sums over the stages, scratch
    char *work                   # of `accelerate`
    Py_ssize_t forces            # entries of fext
    Py_ssize_t block             # of 8 configurations of the batch: the first one
    Py_ssize_t step
    Failure *failure             # of a single motion; NULL: not looked for


cdef class Simulation:
    cdef Bodies bodies
    cdef Configurations configurations
    cdef const Coordinates *runs           # of the configurations
    cdef Py_ssize_t count
    cdef Py_ssize_t nq, nv
    cdef int kind                          # type number of NumPy of all numbers
    cdef Py_ssize_t bytes                  # of a number
    cdef readonly int width                # configurations side by side in a block: 8, or 16 of float32
    cdef int widths[MOST_WIDTHS]           # how many `accelerate` supports: the most first, a block last
    cdef bint has_one                      # whether it supports a single one, too
    cdef object forward_dynamics           # of model, q, v, tau and perhaps fext; its errors name joints
    cdef Py_ssize_t after_a                # entries after a that `accelerate` writes

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil
    cdef void prepare(self, State *s) noexcept nogil
    cdef void accelerate(self, State *s) noexcept nogil
    cdef void load(self, const Operand *source, const char *first, int count, char *to) noexcept nogil
    cdef void store(self, const char *entries, Py_ssize_t size, int count, char *to,
                    Py_ssize_t to_next) noexcept nogil
    cdef const StageKernels *stage_kernels(self, const State *s) noexcept nogil
    cdef void move(self, const State *s, const char *q, const char *v, double h, char *to) noexcept nogil
    cdef int narrower(self, int lanes) noexcept nogil
    cdef Py_ssize_t state_size(self, int lanes, Py_ssize_t forces) noexcept nogil
    cdef void carve(self, State *s, int lanes, Py_ssize_t forces, char *memory) noexcept nogil
    cdef void evaluate(self, State *s) noexcept nogil
    cdef void find_failure(self, State *s) noexcept nogil
    cdef void step_euler(self, State *s, double h) noexcept nogil
    cdef void move_euler(self, State *s, double h) noexcept nogil
    cdef void step_rk4(self, State *s, double h) noexcept nogil


cdef class Rollout(ModelFunction):
    cdef Simulation simulation
    cdef int method
    cdef Py_ssize_t steps
    cdef bint whole              # whether results begin with the initial state
    cdef Operand single[ARRAYS]  # arguments and results of one motion, without their data

    @cython.final
    cdef object raise_pivot(self, model, Py_ssize_t step, state, bint has_forces)
    @cython.final
    cdef bint is_configuration(self, const char *q, int step) noexcept nogil
    @cython.final
    cdef int integrate(self, const double **x, double **out, Failure *failure) noexcept nogil
    @cython.final
    cdef void run_groups(self, int lanes, Py_ssize_t batch, const Operand *x, Py_ssize_t first,
                         Py_ssize_t stop, char *memory, Failure *failure) noexcept nogil
    @cython.final
    cdef void begin_group(self, const Operand *x, State *s, Py_ssize_t first,
                          Py_ssize_t count) noexcept nogil
    @cython.final
    cdef void run_group(self, const Operand *x, State *s, Py_ssize_t first, Py_ssize_t count) noexcept nogil
