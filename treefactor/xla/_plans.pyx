"""Run compiled functions on the buffers of a call: without Python, on any thread, in float64 or float32."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc

from .._functions._arrays cimport describe_contiguous
from .._functions._compiled_function cimport MOST_ARRAYS, CompiledFunction
from ..tree._operands cimport LANES, Operand

import math

import numpy as np

cnp.import_array()

cdef enum:
    BLOCK = 256                  # configurations that are converted at a time


cdef class Plan:
    """Compiled function, and where its arguments and results are among the arrays of a map.

    Parameters
    ----------
    function : CompiledFunction
    arguments : sequence of int, ndarray or None
        For every argument the number of an input of the map, the same vector for all configurations, or None
        for one that is absent.
    results : sequence of int or None
        For every result the number of an output of the map, or None if it is not needed.
    inputs, outputs : tuple of tuples of int
        Shapes of the map's arrays for one configuration.
    """

    def __cinit__(self, CompiledFunction function not None, arguments, results, tuple inputs not None,
                  tuple outputs not None):
        cdef int k
        cdef cnp.ndarray vector
        self.function = function
        self.inputs, self.outputs = len(inputs), len(outputs)
        self.arguments, self.results = len(arguments), len(results)
        self.kept = []
        for k, given in enumerate(arguments):
            self.source[k], self.constant[k] = -1, NULL
            if isinstance(given, np.ndarray):
                vector = np.array(given, dtype=np.float64)
                self.kept.append(vector)
                self.constant[k], self.size[k] = <const double *> vector.data, vector.size
            elif given is not None:
                self.source[k], self.size[k] = given, math.prod(inputs[given])
        for k, given in enumerate(results):
            self.destination[k] = -1 if given is None else given
            self.result_size[k] = math.prod(function.shapes[k])
            self.converts |= given is None

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
        if single and self.function.run_one(x, y):
            return True
        for k in range(self.arguments):
            describe_contiguous(&self.function.input[k], x[k], &operands[k])
            operands[k].to_next = 0 if self.source[k] < 0 else self.size[k] * <Py_ssize_t> sizeof(double)
        return self.function.compute_rows(batch, operands, <char **> y, NULL, 0, (batch + LANES - 1) // LANES)


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
