"""Run compiled functions on the buffers of a call: without Python, on any thread, in float64 or float32."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from .._functions._compiled_function cimport MOST_ARRAYS
from ..dynamics._rollouts cimport Motion, Series, Simulation
from ..tree._operands cimport LANES, Operand, describe_vector

import math

import numpy as np

cnp.import_array()

cdef enum:
    BLOCK = 256                  # configurations that are converted at a time


cdef class Plan:
    """Compiled function, and where its arguments and results are among the arrays of a map.

    Parameters
    ----------
    function : CompiledFunction, or tuple
        Of a Simulation, the number of a method, the length and the number of steps, and whether the results
        begin with the initial state.
    arguments : sequence of int, ndarray or None
        For every argument the number of an input of the map, the same vector for all configurations, or None
        for one that is absent.
    results : sequence of int or None
        For every result the number of an output of the map, or None if it is not needed.
    inputs, outputs : tuple of tuples of int
        Shapes of the map's arrays for one configuration.
    """

    def __cinit__(self, function, arguments, results, tuple inputs not None, tuple outputs not None):
        cdef int k
        cdef cnp.ndarray vector
        if isinstance(function, tuple) and isinstance(function[0], Simulation):
            self.set_motion(function)
        else:
            self.function = function
        self.inputs, self.outputs = len(inputs), len(outputs)
        self.arguments, self.results = len(arguments), len(results)
        self.kept = [function]
        for k, given in enumerate(arguments):
            self.source[k], self.constant[k] = -1, NULL
            if isinstance(given, np.ndarray):
                vector = np.array(given, dtype=np.float64)
                self.kept.append(vector)
                self.constant[k], self.size[k] = <const double *> vector.data, vector.size
            elif given is not None:
                self.source[k], self.size[k] = given, math.prod(inputs[given])
        sizes = self.sizes_of_results()
        for k, given in enumerate(results):
            self.destination[k], self.result_size[k] = -1 if given is None else given, sizes[k]
            self.converts |= given is None

    cdef int set_motion(self, tuple function) except -1:
        """Keep a simulation and its settings."""
        memset(&self.motion, 0, sizeof(Motion))
        self.simulation, self.motion.method, self.motion.h = function[:3]
        self.motion.steps, self.motion.whole = function[3:]
        return 0

    cdef tuple sizes_of_results(self):
        """Return the numbers of entries of the function's results, for one configuration."""
        if self.simulation is not None:
            states = self.motion.steps + 1 if self.motion.whole else 1
            return states * self.simulation.nq, states * self.simulation.nv
        return tuple([math.prod(shape) for shape in self.function.shapes])

    cdef bint run(self, Py_ssize_t batch, bint single, bint narrow, void *const *data) noexcept nogil:
        """Compute all outputs, data[inputs], ..., from the inputs, data[0], ...; false without memory.

        single: there is one configuration, without a batch axis; narrow: the arrays are float32.
        """
        cdef const double *x[MOST_ARRAYS]
        cdef double *y[MOST_ARRAYS]
        cdef int k
        if narrow or self.converts:
            return self.run_blocks(batch, single, narrow, data)
        for k in range(self.arguments):
            x[k] = self.constant[k] if self.source[k] < 0 else <const double *> data[self.source[k]]
        for k in range(self.results):
            y[k] = <double *> data[self.inputs + self.destination[k]]
        return self.compute(batch, single, x, y)

    cdef bint run_blocks(self, Py_ssize_t batch, bint single, bint narrow, void *const *data) noexcept nogil:
        """Compute all outputs as `run` does, a block at a time, through a workspace."""
        cdef Py_ssize_t most = min(<Py_ssize_t> BLOCK, batch), need = 0, block
        cdef double *scratch
        cdef bint done = True
        cdef int k
        for k in range(self.arguments):
            need += most * self.size[k]
        for k in range(self.results):
            need += most * self.result_size[k]
        scratch = <double *> malloc(need * sizeof(double))
        if scratch == NULL:
            return False
        for block in range((batch + most - 1) // most):
            done = done and self.run_block(block * most, min(most, batch - block * most), single, narrow,
                                           data, scratch)
        free(scratch)
        return done

    cdef bint run_block(self, Py_ssize_t first, Py_ssize_t count, bint single, bint narrow, void *const *data,
                        double *end) noexcept nogil:
        """Compute the outputs of some configurations; what is not float64 or not needed stands at end."""
        cdef const double *x[MOST_ARRAYS]
        cdef double *y[MOST_ARRAYS]
        cdef float *to
        cdef int k
        for k in range(self.arguments):
            x[k] = self.constant[k]
            if self.source[k] >= 0 and narrow:
                widen(count * self.size[k], <const float *> data[self.source[k]] + first * self.size[k], end)
                x[k] = end
                end += count * self.size[k]
            elif self.source[k] >= 0:
                x[k] = <const double *> data[self.source[k]] + first * self.size[k]
        for k in range(self.results):
            y[k] = end
            if self.destination[k] >= 0 and not narrow:
                y[k] = <double *> data[self.inputs + self.destination[k]] + first * self.result_size[k]
            end += count * self.result_size[k]
        if not self.compute(count, single, x, y):
            return False
        for k in range(self.results):
            if self.destination[k] >= 0 and narrow:
                to = <float *> data[self.inputs + self.destination[k]] + first * self.result_size[k]
                round_off(count * self.result_size[k], y[k], to)
        return True

    cdef bint compute(self, Py_ssize_t batch, bint single, const double **x, double **y) noexcept nogil:
        """y <- the function of x, for a batch; false without memory."""
        cdef Operand operands[MOST_ARRAYS]
        cdef int k
        if single and self.run_one(x, y):
            return True
        for k in range(self.arguments):
            describe_vector(x[k], self.size[k], &operands[k])
            operands[k].to_next = 0 if self.source[k] < 0 else self.size[k] * <Py_ssize_t> sizeof(double)
        return self.compute_rows(batch, operands, y)

    cdef bint run_one(self, const double **x, double **y) noexcept nogil:
        """Compute one configuration; false, with y unchanged, if the lanes must: its results are NaN, say."""
        cdef Motion motion
        if self.simulation is not None:
            motion = self.motion_of(x, y)
            return self.simulation.run_one(&motion, False) == 1
        return self.function.run_one(x, y)

    cdef void describe(self, int k, void *data, bint is_result, Series *series) noexcept nogil:
        """Describe an argument or a result of a simulation: one vector, or one for every step or state."""
        cdef Py_ssize_t size = self.result_size[k] if is_result else self.size[k], count = 1
        if self.motion.whole and (is_result or k >= 2):
            count = self.motion.steps + is_result
        series.data, series.size = <char *> data, size // count
        series.to_next, series.to_step = size * sizeof(double), 0
        if self.motion.whole and (is_result or k >= 2):
            series.to_step = series.size * sizeof(double)

    cdef Motion motion_of(self, const double **x, double **y) noexcept nogil:
        """Describe the motions whose initial states and forces are x, and whose results are y."""
        cdef Motion found = self.motion
        self.describe(0, <void *> x[0], False, &found.q0)
        self.describe(1, <void *> x[1], False, &found.v0)
        self.describe(2, <void *> x[2], False, &found.tau)
        if x[3] != NULL:
            self.describe(3, <void *> x[3], False, &found.fext)
        self.describe(0, y[0], True, &found.q)
        self.describe(1, y[1], True, &found.v)
        return found

    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, double **y) noexcept nogil:
        """Compute a batch, 8 configurations at a time."""
        cdef Py_ssize_t blocks = (batch + LANES - 1) // LANES
        cdef const double *x[MOST_ARRAYS]
        cdef Motion motion
        cdef int k
        if self.simulation is not None:
            for k in range(self.arguments):
                x[k] = <const double *> operands[k].data
            motion = self.motion_of(x, y)
            return self.simulation.run_blocks(&motion, batch, 0, blocks)
        return self.function.compute_rows(batch, operands, <char **> y, NULL, 0, blocks)


cdef void widen(Py_ssize_t n, const float *x, double *y) noexcept nogil:
    """y <- x"""
    cdef Py_ssize_t k
    for k in range(n):
        y[k] = x[k]


cdef void round_off(Py_ssize_t n, const double *x, float *y) noexcept nogil:
    """y <- x, rounded"""
    cdef Py_ssize_t k
    for k in range(n):
        y[k] = <float> x[k]
