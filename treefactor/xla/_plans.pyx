"""Run compiled functions on the buffers of a call: without Python, on any thread, in float64 or float32."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from .._functions._arrays cimport describe_contiguous
from .._functions._compiled_function cimport MOST_ARRAYS, CompiledFunction
from ..codegen.backends._results cimport Results, StridedOutput, Target
from ..codegen.backends._routine cimport Routine
from ..tree._operands cimport LANES, Operand, describe_vector

import math

import numpy as np

cnp.import_array()

cdef enum:
    BLOCK = 256                  # configurations that are converted, or whose results are divided, at a time


cdef class Plan:
    """Where the arguments and results of a function are among the arrays of a map; subclasses compute it.

    Parameters
    ----------
    arguments : sequence of int, ndarray or None
        For every argument the number of an input of the map, the same vector for all configurations, or None
        for one that is absent.
    results : sequence of int or None
        For every result the number of an output of the map, or None if it is not needed.
    shapes : sequence of tuples of int
        Of the results.
    inputs, outputs : tuple of tuples of int
        Shapes of the map's arrays for one configuration.
    """

    def __init__(self, arguments, results, shapes, tuple inputs not None, tuple outputs not None):
        cdef int k
        cdef cnp.ndarray vector
        self.inputs, self.outputs = len(inputs), len(outputs)
        self.arguments, self.results = len(arguments), len(results)
        self.kept = []
        for k, given in enumerate(arguments):
            self.source[k], self.constant[k] = -1, NULL
            if isinstance(given, np.ndarray):
                vector = np.array(given, dtype=np.float64)
                self.kept.append(vector)
                self.constant[k], self.size[k] = vector.data, vector.size
            elif given is not None:
                self.source[k], self.size[k] = given, math.prod(inputs[given])
        for k, given in enumerate(results):
            self.destination[k] = -1 if given is None else given
            self.result_size[k] = math.prod(shapes[k])
            self.omits |= given is None

    cdef bint run(self, Py_ssize_t batch, bint single, bint narrow, void *const *data) noexcept nogil:
        """Compute all outputs, data[inputs], ..., from the inputs, data[0], ...; false without memory.

        single: there is one configuration, without a batch axis; narrow: the arrays are float32.
        """
        cdef const char *x[MOST_ARRAYS]
        cdef char *y[MOST_ARRAYS]
        cdef int k
        if narrow != self.single_precision or self.omits:
            return self.run_blocks(batch, single, narrow, data)
        for k in range(self.arguments):
            x[k] = self.constant[k] if self.source[k] < 0 else <const char *> data[self.source[k]]
        for k in range(self.results):
            y[k] = <char *> data[self.inputs + self.destination[k]]
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
        cdef const char *x[MOST_ARRAYS]
        cdef char *y[MOST_ARRAYS]
        cdef float *to
        cdef int k
        for k in range(self.arguments):
            x[k] = self.constant[k]
            if self.source[k] >= 0 and narrow:
                widen(count * self.size[k], <const float *> data[self.source[k]] + first * self.size[k], end)
                x[k] = <const char *> end
                end += count * self.size[k]
            elif self.source[k] >= 0:
                x[k] = <const char *> (<const double *> data[self.source[k]] + first * self.size[k])
        for k in range(self.results):
            y[k] = <char *> end
            if self.destination[k] >= 0 and not narrow:
                y[k] = <char *> (<double *> data[self.inputs + self.destination[k]]
                                 + first * self.result_size[k])
            end += count * self.result_size[k]
        if not self.compute(count, single, x, y):
            return False
        for k in range(self.results):
            if self.destination[k] >= 0 and narrow:
                to = <float *> data[self.inputs + self.destination[k]] + first * self.result_size[k]
                round_off(count * self.result_size[k], <const double *> y[k], to)
        return True

    cdef bint compute(self, Py_ssize_t batch, bint single, const char **x, char **y) noexcept nogil:
        """y <- the function of x, for a batch, in its own precision; false without memory."""
        return False


cdef class FunctionPlan(Plan):
    """Plan of a function of the package, a CompiledFunction in float64; see `Plan`."""

    def __init__(self, CompiledFunction function not None, arguments, results, inputs, outputs):
        super().__init__(arguments, results, function.shapes, inputs, outputs)
        self.function = function

    cdef bint compute(self, Py_ssize_t batch, bint single, const char **x, char **y) noexcept nogil:
        cdef Operand operands[MOST_ARRAYS]
        cdef int k
        if single and self.function.run_one(<const double **> x, <double **> y):
            return True
        for k in range(self.arguments):
            describe_contiguous(&self.function.input[k], <const double *> x[k], &operands[k])
            operands[k].to_next = 0 if self.source[k] < 0 else self.size[k] * <Py_ssize_t> sizeof(double)
        return self.function.compute_rows(batch, operands, y, NULL, 0, (batch + LANES - 1) // LANES)


cdef class RoutinePlan(Plan):
    """Plan of a function of a program, whose arguments and results are those of the map; see `Plan`.

    Parameters
    ----------
    routine : Routine
    whole : Results
        All results, one after the other.
    parts : tuple of Results
        One by one.
    inputs, outputs : tuple of tuples of int
    """

    def __init__(self, Routine routine not None, Results whole not None, tuple parts not None, inputs,
                 outputs):
        super().__init__(range(len(inputs)), range(len(outputs)), outputs, inputs, outputs)
        self.routine, self.whole, self.parts = routine, whole, parts
        self.single_precision, self.number_bytes = routine.kind == cnp.NPY_FLOAT, routine.bytes
        for k in range(self.results):
            self.target[k] = (<Results> parts[k]).at(NULL)

    cdef bint compute(self, Py_ssize_t batch, bint single, const char **x, char **y) noexcept nogil:
        cdef Operand operands[MOST_ARRAYS]
        cdef Target targets[MOST_ARRAYS]
        cdef int k
        if single:
            for k in range(self.results):
                targets[k], targets[k].data = self.target[k], y[k]
            if self.routine.run_single(x, targets, self.results):
                return True
        for k in range(self.arguments):
            describe_vector(x[k], self.size[k], &operands[k])
            operands[k].to_entry, operands[k].to_next = self.number_bytes, self.size[k] * self.number_bytes
        if self.results == 1:
            return self.run_rows(batch, operands, y[0])
        return self.run_parts(batch, operands, y)

    cdef bint run_rows(self, Py_ssize_t batch, const Operand *operands, char *y) noexcept nogil:
        """y <- the rows of all results, one after the other."""
        cdef StridedOutput rows
        rows.data, rows.to_entry, rows.to_lane = y, self.number_bytes, self.whole.size * self.number_bytes
        rows.group, rows.to_group, rows.grouped = self.whole.group, self.whole.group * rows.to_lane, False
        return self.routine.run(operands, &rows, self.whole, 0, batch)

    cdef bint run_parts(self, Py_ssize_t batch, Operand *operands, char **y) noexcept nogil:
        """y <- each result, from a block of rows of all results at a time."""
        cdef Py_ssize_t most = min(<Py_ssize_t> BLOCK, batch), block, count
        cdef Py_ssize_t size = self.whole.size * self.number_bytes
        cdef char *rows = <char *> malloc(most * size)
        cdef bint done = rows != NULL
        cdef int k
        for block in range((batch + most - 1) // most):
            count = min(most, batch - block * most)
            done = done and self.run_rows(count, operands, rows)
            if done:
                self.divide_rows(rows, block * most, count, y)
            for k in range(self.arguments):
                operands[k].data += count * operands[k].to_next
        free(rows)
        return done

    cdef void divide_rows(self, const char *rows, Py_ssize_t first, Py_ssize_t count,
                          char **y) noexcept nogil:
        """y <- each result of configurations from the first on, from rows of all results."""
        cdef Py_ssize_t size = self.whole.size * self.number_bytes, bytes_each, row
        cdef int k
        for k in range(self.results):
            bytes_each = self.result_size[k] * self.number_bytes
            for row in range(count):
                memcpy(y[k] + (first + row) * bytes_each, rows + row * size, bytes_each)
            rows += bytes_each


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
