"""C interface of the kernels of configurations: their structs, and the class that calls them."""

cimport numpy as cnp
from numpy.random cimport bitgen_t

from ..tree._operands cimport Operand

cdef extern from "kernels/configurations/joints.h" nogil:
    ctypedef enum Group:
        LINEAR
        CIRCLE
        SPHERE
        PLANE
        SPACE

    ctypedef struct Coordinates:
        Py_ssize_t group, q, v, nq, nv

    ctypedef struct ConfigurationKernels:
        void (*integrate)(const Coordinates *, Py_ssize_t count, const double *q, const double *v, double h,
                          double *result) noexcept nogil
        void (*difference)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                           double *result) noexcept nogil
        void (*interpolate)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                            const double *u, double *result) noexcept nogil
        void (*squared_distance)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                                 double *result) noexcept nogil
        void (*distance)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                         double *result) noexcept nogil
        void (*is_same)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                        const double *tolerance, double *result) noexcept nogil
        void (*integrate_derivative)(const Coordinates *, Py_ssize_t count, const double *q, const double *v,
                                     int argument, double *blocks) noexcept nogil
        void (*difference_derivative)(const Coordinates *, Py_ssize_t count, const double *q0,
                                      const double *q1,
                                      int argument, double *blocks) noexcept nogil
        void (*normalize)(const Coordinates *, Py_ssize_t count, const double *q,
                          double *result) noexcept nogil
        void (*add_doubt)(const Coordinates *, Py_ssize_t count, const double *x, Py_ssize_t entries,
                          double tolerance, double *doubt) noexcept nogil

    ctypedef struct ConfigurationTable:
        const char *name
        ConfigurationKernels one
        ConfigurationKernels lanes
        bint (*all_finite)(Py_ssize_t count, const double *x) noexcept nogil

cdef const ConfigurationTable *configuration_kernels

cdef enum:                       # operations, and the arrays that they read
    INTEGRATE                    # q, v
    DIFFERENCE                   # q0, q1
    INTERPOLATE                  # q0, q1, u
    SQUARED_DISTANCE             # q0, q1
    DISTANCE                     # q0, q1
    IS_SAME                      # q0, q1, tolerance in the place of u
    NORMALIZE                    # q
    INTEGRATE_BY_Q               # q, v
    INTEGRATE_BY_V               # q, v
    DIFFERENCE_BY_Q0             # q0, q1
    DIFFERENCE_BY_Q1             # q0, q1

ctypedef struct Steps:           # entry e of a configuration at x[e]; with lanes at x[e * lanes + lane]
    const double *first
    const double *second
    const double *u
    double *out


cdef inline bint takes_number(int op) noexcept nogil:
    """Return whether an operation reads a number u for every configuration."""
    return op == INTERPOLATE or op == IS_SAME


cdef class Configurations:
    cdef const Coordinates *runs           # successive linear joints are one
    cdef const Coordinates *joint          # one for every joint with entries of its own
    cdef readonly Py_ssize_t count, joints, nq, nv
    cdef Py_ssize_t entries                # of the blocks of derivatives
    cdef bint linear                       # no rotations: entries add up
    cdef readonly object rest              # the neutral configuration
    cdef tuple limits              # finite limits of the model, once they are known
    cdef tuple source                      # last random generator, its C interface and its lock
    cdef object kept

    cdef Py_ssize_t size(self, int op, int which) noexcept nogil
    cdef int axes(self, int op, cnp.npy_intp *shape) noexcept nogil
    cdef void compute(self, int op, int lanes, const Steps *steps) noexcept nogil
    cdef void draw(self, bitgen_t *bits, const double *low, const double *span, Py_ssize_t count,
                   double *q) noexcept
    cdef bint is_sound(self, int op, const Steps *steps, double *doubt) noexcept nogil
    cdef void find_doubt(self, int op, const Steps *steps, double *doubt) noexcept nogil
    cdef void add_lengths(self, int op, const Steps *steps, double *doubt) noexcept nogil
    cdef bint has_lengths(self, int op, const Steps *steps) noexcept nogil
    cdef bint run_one(self, int op, const Steps *steps) noexcept nogil
    cdef bint run_matrix(self, int op, const Steps *steps) noexcept nogil
    cdef void write_matrix(self, int op, const double *blocks, Py_ssize_t step, double *matrix) noexcept nogil
    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *operands, char *out,
                         Py_ssize_t to_next, Py_ssize_t first, Py_ssize_t stop) noexcept nogil
    cdef bint add_up(self, int op, Py_ssize_t batch, const Operand *operands, cnp.ndarray out) noexcept


cpdef Configurations configurations_of(model)
