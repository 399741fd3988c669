"""Compiled functions of configurations: steps, distances, derivatives of steps, unit rotations."""

cimport numpy as cnp
from libc.math cimport NAN, fabs
from libc.string cimport memset

from .._functions._compiled_function cimport SPARSE, CompiledFunction
from .._functions._packed cimport add_doubt
from ..model._configurations cimport (
    LINEAR,
    ConfigurationKernels,
    Configurations,
    Coordinates,
    configuration_kernels,
    configurations_of,
    length_entries,
)
from ..tree._operands cimport LANES, Operand, is_dense


cnp.import_array()


cdef inline const ConfigurationKernels *kernels(int lanes) noexcept nogil:
    """Return the kernels for 1 or 8 configurations."""
    return &configuration_kernels.one if lanes == 1 else &configuration_kernels.lanes


cdef class ConfigurationFunction(CompiledFunction):
    """Function of configurations of a model; a number is returned as a Python float."""

    cdef Configurations c

    def __cinit__(self, model, *_):
        self.c = configurations_of(model)

    cdef int add_configuration(self) except -1:
        """Declare the next argument: a configuration, whose rotations have unit length."""
        return self.add_input((self.c.nq,), False, self.c.units)

    cdef object as_number(self, double value):
        return value


cdef class Step(ConfigurationFunction):
    """Function whose result is not finite unless all of its arguments are: one check finds that."""

    cdef bint are_valid(self, Py_ssize_t entries, double **x, double **y) noexcept nogil:
        return (configuration_kernels.all_finite(LANES * self.result[0].size, y[0])
                and (self.units == 0 or CompiledFunction.are_valid(self, 0, x, y)))

    cdef bint is_one_sum(self, Py_ssize_t batch, const Operand *operands, Coordinates *whole) noexcept:
        """Describe contiguous rows as one configuration; false if some joints turn in another way."""
        whole.group, whole.q, whole.v = LINEAR, 0, 0
        whole.nq = whole.nv = batch * self.c.nq
        return self.c.linear and is_dense(&operands[0]) and is_dense(&operands[1])


cdef class Integrate(Step):
    """Configuration reached from q at the velocity v after one second."""

    def __init__(self, model):
        self.names = ("q", "v")
        self.add_configuration()
        self.add_input((self.c.nv,))
        self.add_result((self.c.nq,))
        self.result[0].in_place = True

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        kernels(lanes).integrate(self.c.runs, self.c.count, x[0], x[1], 1.0, y[0])

    cdef bint run_whole(self, Py_ssize_t batch, const Operand *operands, tuple out) noexcept:
        cdef Coordinates whole
        cdef double *y = <double *> cnp.PyArray_DATA(<cnp.ndarray> out[0])
        if not self.is_one_sum(batch, operands, &whole):
            return False
        with nogil:
            configuration_kernels.one.integrate(&whole, 1, <const double *> operands[0].data,
                                                <const double *> operands[1].data, 1.0, y)
            return configuration_kernels.all_finite(whole.nq, y)


cdef class Difference(Step):
    """Velocity that leads from q0 to q1 in one second."""

    def __init__(self, model):
        self.names = ("q0", "q1")
        self.add_configuration()
        self.add_configuration()
        self.add_result((self.c.nv,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        kernels(lanes).difference(self.c.runs, self.c.count, x[0], x[1], y[0])

    cdef bint run_whole(self, Py_ssize_t batch, const Operand *operands, tuple out) noexcept:
        cdef Coordinates whole
        cdef double *y = <double *> cnp.PyArray_DATA(<cnp.ndarray> out[0])
        if not self.is_one_sum(batch, operands, &whole):
            return False
        with nogil:
            configuration_kernels.one.difference(&whole, 1, <const double *> operands[0].data,
                                                 <const double *> operands[1].data, y)
            return configuration_kernels.all_finite(whole.nq, y)


cdef class Interpolate(Step):
    """Configuration at the fraction u between q0 and q1."""

    def __init__(self, model):
        self.names = ("q0", "q1", "u")
        self.add_configuration()
        self.add_configuration()
        self.add_number()
        self.add_result((self.c.nq,))
        self.result[0].in_place = True

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        kernels(lanes).interpolate(self.c.runs, self.c.count, x[0], x[1], x[2], y[0])


cdef class SquaredDistance(Step):
    """Squared lengths of the differences of q0 and q1 of all joints with entries in q."""

    def __init__(self, model):
        self.names = ("q0", "q1")
        self.add_configuration()
        self.add_configuration()
        self.add_result((self.c.joints,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        kernels(lanes).squared_distance(self.c.joint, self.c.joints, x[0], x[1], y[0])


cdef class Distance(Step):
    """Length of the difference of q0 and q1."""

    def __init__(self, model):
        self.names, self.scalar = ("q0", "q1"), True
        self.add_configuration()
        self.add_configuration()
        self.add_result(())

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        kernels(lanes).distance(self.c.runs, self.c.count, x[0], x[1], y[0])


def as_booleans(tuple results):
    """Return whether the only result, an array, differs from zero."""
    return results[0] != 0.0


cdef class IsSameConfiguration(ConfigurationFunction):
    """Whether no entries of q0 and q1 differ by more than a tolerance; false for invalid arguments."""

    def __init__(self, model):
        self.names, self.scalar, self.gather = ("q0", "q1", "tolerance"), True, as_booleans
        self.add_configuration()
        self.add_configuration()
        self.add_number()
        self.add_result(())

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        kernels(lanes).is_same(self.c.runs, self.c.count, x[0], x[1], x[2], y[0])

    cdef void spoil(self, int lane, double **y) noexcept nogil:
        y[0][lane] = 0.0

    cdef object as_number(self, double value):
        return value != 0.0


cdef class Normalize(ConfigurationFunction):
    """q with rotations of unit length; they may have any length but zero, which gives NaN."""

    def __init__(self, model):
        self.names, self.configurations, self.any_length = ("q",), ("q",), True
        self.may_fail, self.writes_last = True, True
        self.add_input((self.c.nq,))
        self.add_result((self.c.nq,))
        self.result[0].in_place = True

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double doubt[LANES]
        cdef int lane
        if lanes == 1 and not self.has_lengths(x[0]):
            failed[0] = 0
            return
        kernels(lanes).normalize(self.c.runs, self.c.count, x[0], y[0])
        if lanes == 1 or configuration_kernels.all_finite(LANES * self.c.nq, y[0]):
            return
        memset(doubt, 0, sizeof(doubt))
        add_doubt(self.c.nq, y[0], doubt)
        for lane in range(LANES):
            if doubt[lane] != 0:
                failed[lane] = 0

    cdef bint has_lengths(self, const double *q) noexcept nogil:
        """Return whether no rotation has length zero."""
        cdef const Coordinates *run
        cdef double length
        cdef Py_ssize_t j, e
        for j in range(self.c.count):
            run = self.c.runs + j
            length = run.group == LINEAR
            for e in range(run.q + run.nq - length_entries(run.group), run.q + run.nq):
                length += fabs(q[e])
            if length == 0:
                return False
        return True

    cdef bint are_valid(self, Py_ssize_t entries, double **x, double **y) noexcept nogil:
        """Return true: `compute` found lanes that are not."""
        return True


cdef class StepDerivatives(ConfigurationFunction):
    """Derivatives of a step by one of its two configurations or velocities, or by both.

    Kernels compute blocks of joints that turn in more than one way; the freedoms of others have the entry 1
    or -1 on the diagonal. In lanes a result has the entries of all blocks, then that one.
    """

    cdef int first               # argument of the first result
    cdef object places           # owner of result.at

    cdef int add_results(self, argument) except -1:
        """Declare the derivative by the argument of that number or name, or by both for None."""
        cdef cnp.ndarray places
        self.first = argument in (1, "ARG1")
        self.places = places = self.c.block_places()
        self.add_result((self.c.nv, self.c.nv), SPARSE, self.c.entries + 1, <const int *> places.data)
        if argument is None:
            self.add_result((self.c.nv, self.c.nv), SPARSE, self.c.entries + 1, <const int *> places.data)
            self.gather = tuple
        return 0

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return self.c.entries if lanes == 1 else 0

    cdef void write_blocks(self, int lanes, int argument, const double **x, double *blocks) noexcept nogil:
        """blocks <- derivatives by an argument, of joints that turn in more than one way."""

    cdef double diagonal(self, int argument) noexcept nogil:
        """Return the entry on the diagonal of the freedoms of all other joints."""
        return 1.0

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end
        cdef int k, lane
        for k in range(self.results):
            if lanes == 1:
                self.write_blocks(1, self.first + k, x, work)
                self.write_matrix(self.diagonal(self.first + k), work, y[k])
                continue
            self.write_blocks(lanes, self.first + k, x, y[k])
            end = y[k] + LANES * self.c.entries
            for lane in range(LANES):
                end[lane], end[LANES + lane] = self.diagonal(self.first + k), 0.0

    cdef void write_matrix(self, double diagonal, const double *blocks, double *matrix) noexcept nogil:
        """matrix <- blocks, and the entry on the diagonal of all other freedoms."""
        cdef Py_ssize_t n = self.c.nv, j, r, c
        cdef const Coordinates *run
        memset(matrix, 0, n * n * sizeof(double))
        for j in range(self.c.count):
            run = self.c.runs + j
            for r in range(run.v, run.v + run.nv):
                if run.group == LINEAR:
                    matrix[r * n + r] = diagonal
                    continue
                for c in range(run.v, run.v + run.nv):
                    matrix[r * n + c] = blocks[0]
                    blocks += 1

    cdef void spoil(self, int lane, double **y) noexcept nogil:
        """y <- NaN in a lane, outside the blocks, too."""
        cdef int k
        CompiledFunction.spoil(self, lane, y)
        for k in range(self.results):
            y[k][self.result[k].computed * LANES + lane] = NAN


cdef class IntegrateDerivatives(StepDerivatives):
    """Derivatives of `Integrate` by q, v or both."""

    def __init__(self, model, argument=None):
        self.names = ("q", "v")
        self.add_configuration()
        self.add_input((self.c.nv,))
        self.add_results(argument)

    cdef void write_blocks(self, int lanes, int argument, const double **x, double *blocks) noexcept nogil:
        kernels(lanes).integrate_derivative(self.c.runs, self.c.count, x[0], x[1], argument, blocks)


cdef class DifferenceDerivatives(StepDerivatives):
    """Derivatives of `Difference` by q0, q1 or both."""

    def __init__(self, model, argument=None):
        self.names = ("q0", "q1")
        self.add_configuration()
        self.add_configuration()
        self.add_results(argument)

    cdef double diagonal(self, int argument) noexcept nogil:
        return 1.0 if argument else -1.0

    cdef void write_blocks(self, int lanes, int argument, const double **x, double *blocks) noexcept nogil:
        kernels(lanes).difference_derivative(self.c.runs, self.c.count, x[0], x[1], argument, blocks)
