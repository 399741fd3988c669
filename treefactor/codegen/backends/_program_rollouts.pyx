"""Integrate motions whose accelerations a generated function computes."""

cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from ...dynamics._rollouts cimport Simulation, State
from ...tree._operands cimport Operand
from ._results cimport Results
from ._routine cimport DOUBLE, SINGLE, WIDTHS, Routine, Width, kernels

import numpy as np


cdef class GeneratedSimulation(Simulation):
    """Simulation in the precision of a generated function.

    Parameters
    ----------
    model : Model
    forward_dynamics : callable
        See `Simulation`.
    routine : object
        With the method `batch` of Routine.
    results : Results
    """

    cdef Results results
    cdef const Width *of_block
    cdef object tables           # owner of the following two
    cdef const int32_t *entry    # 0, 1, 2 ...: the state holds its entries in order
    cdef const double *sign      # 1, 1, 1 ...

    def __init__(self, model, forward_dynamics, routine, Results results not None):
        cdef Py_ssize_t size = max(self.nq, self.nv)
        cdef cnp.ndarray entry = np.arange(size, dtype=np.int32), sign = np.ones(size)
        self.results, self.forward_dynamics, self.kind = results, forward_dynamics, results.kind
        self.tables, self.entry, self.sign = (entry, sign), <const int32_t *> entry.data, <double *> sign.data
        self.has_one, self.bytes = self.kind == cnp.NPY_DOUBLE, results.dtype.itemsize
        self.of_block = &kernels.width[DOUBLE if self.has_one else SINGLE][WIDTHS - 2]
        self.width = self.widths[0] = self.of_block.lanes

    cdef void load(self, const Operand *source, const char *first, int count, char *to) noexcept nogil:
        if self.kind == cnp.NPY_DOUBLE:
            Simulation.load(self, source, first, count, to)
        else:
            self.of_block.load(source.size, count, first, source.to_next, source.to_entry, to, 0)

    cdef void store(self, const char *entries, Py_ssize_t size, int count, char *to,
                    Py_ssize_t to_next) noexcept nogil:
        if self.kind == cnp.NPY_DOUBLE:
            Simulation.store(self, entries, size, count, to, to_next)
        else:
            self.of_block.store(size, count, self.entry, self.sign, entries, 0, to, to_next, self.bytes)


cdef class ProgramSimulation(GeneratedSimulation):
    """Simulation whose accelerations come from a routine of q, v and tau.

    Parameters
    ----------
    model, forward_dynamics, results
        See `GeneratedSimulation`.
    routine : Routine
    """

    cdef Routine routine
    cdef bint in_place           # the workspace is the state: a follows tau as results follow arguments

    def __init__(self, model, forward_dynamics, Routine routine not None, Results results not None):
        cdef Py_ssize_t after = routine.inputs + self.nv
        cdef int k
        super().__init__(model, forward_dynamics, routine, results)
        self.routine = routine
        follows = np.array_equal(results.slots.ravel(), np.arange(routine.inputs, after))
        self.in_place = routine.keeps_arguments and follows and (results.signs == 1.0).all()
        if self.in_place:
            self.after_a = routine.slots - after
        for k in range(routine.widest, WIDTHS - 1):
            self.widths[k - routine.widest] = routine.width[k].lanes

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return 0 if self.in_place else self.routine.slots * lanes * self.bytes

    cdef void prepare(self, State *s) noexcept nogil:
        if self.in_place:
            s.work = s.x
        self.routine.prepare(self.width_of(s.lanes), s.work)

    cdef void accelerate(self, State *s) noexcept nogil:
        cdef Py_ssize_t b, e, inputs = self.routine.inputs, step = s.lanes * self.bytes
        if self.in_place:
            self.routine.evaluate(self.width_of(s.lanes), s.work)
            return
        for b in range(s.lanes // s.width):
            for e in range(inputs):
                memcpy(s.work + e * step + b * s.entry, s.x + b * s.to_block + e * s.entry, s.entry)
        self.routine.evaluate(self.width_of(s.lanes), s.work)
        for b in range(s.lanes // s.width):
            self.collect(s.work + b * s.entry, step, s.width, s.x + b * s.to_block + s.a)

    cdef void collect(self, const char *work, Py_ssize_t to_slot, int width, char *a) noexcept nogil:
        """a <- the results of a block, whose first lane stands at ``work``."""
        cdef Py_ssize_t e
        cdef int lane
        cdef const char *source
        for e in range(self.nv):
            source = work + self.results.slot[e] * to_slot
            for lane in range(width):
                if self.kind == cnp.NPY_FLOAT:
                    (<float *> a)[e * width + lane] = \
                        <float> self.results.sign[e] * (<const float *> source)[lane]
                else:
                    (<double *> a)[e * width + lane] = self.results.sign[e] * (<const double *> source)[lane]

    cdef const Width *width_of(self, int lanes) noexcept nogil:
        """Return the kernels for a number of lanes."""
        cdef int k = WIDTHS - 1
        while self.routine.width[k].lanes < lanes:
            k -= 1
        return &self.routine.width[k]


cdef class CalledSimulation(GeneratedSimulation):
    """Simulation whose accelerations come from a routine in Python."""

    cdef object routine

    def __init__(self, model, forward_dynamics, routine, Results results not None):
        super().__init__(model, forward_dynamics, routine, results)
        self.routine = routine

    cdef void accelerate(self, State *s) noexcept nogil:
        with gil:
            self.call(s)

    cdef object call(self, State *s):
        """Compute the accelerations with the GIL held."""
        cdef Py_ssize_t inputs = self.nq + 2 * self.nv
        state = np.frombuffer(<char[:inputs * s.entry]> s.x, self.results.dtype).reshape(inputs, s.width)
        parts = np.split(state.T, (self.nq, self.nq + self.nv), axis=1)
        a = np.empty((s.width, self.nv), state.dtype)
        self.routine.batch(parts, a, self.results, 0, s.width)
        memory = np.ascontiguousarray(a.T)
        memcpy(s.x + s.a, cnp.PyArray_DATA(memory), self.nv * s.entry)
