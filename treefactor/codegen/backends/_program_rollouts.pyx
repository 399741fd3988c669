"""Integrate motions whose accelerations a generated function computes."""

from libc.string cimport memcpy

from ...dynamics._rollouts cimport Simulation, State
from ...tree._operands cimport LANES
from ._results cimport Results
from ._routine cimport DOUBLE, WIDTHS, Routine, Width, kernels

import numpy as np


cdef class ProgramSimulation(Simulation):
    """Simulation whose accelerations come from a routine of q, v and tau.

    Parameters
    ----------
    model : Model
    forward_dynamics : callable
        See `Simulation`.
    routine : Routine
    results : Results
    """

    cdef Routine routine
    cdef Results results
    cdef bint in_place           # the workspace is the state: a follows tau as results follow arguments

    def __init__(self, model, forward_dynamics, Routine routine not None, Results results not None):
        cdef Py_ssize_t after = routine.inputs + self.nv
        self.routine, self.results, self.forward_dynamics = routine, results, forward_dynamics
        self.widest = kernels.width[DOUBLE][routine.widest].lanes
        follows = np.array_equal(results.slots.ravel(), np.arange(routine.inputs, after))
        self.in_place = routine.keeps_arguments and follows and (results.signs == 1.0).all()
        if self.in_place:
            self.after_a = routine.slots - after

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return 0 if self.in_place else self.routine.slots * lanes

    cdef void prepare(self, State *s) noexcept nogil:
        if self.in_place:
            s.work = s.x
        self.routine.prepare(width_of(s.lanes), <char *> s.work)

    cdef void accelerate(self, State *s) noexcept nogil:
        cdef Py_ssize_t b, e, lane, inputs = self.routine.inputs
        cdef const double *from_slot
        cdef double *x
        cdef double sign
        if self.in_place:
            self.routine.evaluate(width_of(s.lanes), <char *> s.work)
            return
        if s.lanes == s.width:
            memcpy(s.work, s.x, inputs * s.width * sizeof(double))
        else:
            for b in range(s.lanes // LANES):
                for e in range(inputs):
                    memcpy(s.work + e * s.lanes + b * LANES, s.x + b * s.to_block + e * LANES,
                           LANES * sizeof(double))
        self.routine.evaluate(width_of(s.lanes), <char *> s.work)
        for b in range(s.lanes // s.width):
            x = s.x + b * s.to_block + s.a
            for e in range(self.nv):
                from_slot, sign = s.work + self.results.slot[e] * s.lanes + b * s.width, self.results.sign[e]
                for lane in range(s.width):
                    x[e * s.width + lane] = sign * from_slot[lane]


cdef inline const Width *width_of(int lanes) noexcept nogil:
    """Return the kernels for a number of lanes."""
    cdef int k = WIDTHS - 1
    while kernels.width[DOUBLE][k].lanes < lanes:
        k -= 1
    return &kernels.width[DOUBLE][k]


cdef class CalledSimulation(Simulation):
    """Simulation whose accelerations come from a routine in Python.

    Parameters
    ----------
    model : Model
    forward_dynamics : callable
        See `Simulation`.
    routine : object
        With the method `batch` of Routine.
    results : Results
    """

    cdef object routine
    cdef Results results

    def __init__(self, model, forward_dynamics, routine, Results results not None):
        self.routine, self.results, self.forward_dynamics = routine, results, forward_dynamics

    cdef void accelerate(self, State *s) noexcept nogil:
        with gil:
            self.call(s)

    cdef object call(self, State *s):
        """Compute the accelerations with the GIL held."""
        cdef Py_ssize_t inputs = self.nq + 2 * self.nv
        x = np.asarray(<double[:inputs, :s.width]> s.x).T
        a = np.empty((s.width, self.nv))
        self.routine.batch(np.split(x, (self.nq, self.nq + self.nv), axis=1), a, self.results, 0, s.width)
        if self.nv:
            np.asarray(<double[:self.nv, :s.width]> (s.x + s.a))[:] = a.T
