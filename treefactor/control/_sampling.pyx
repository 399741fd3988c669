"""Draw controls, roll out motions and sum up their costs, samples side by side, on validated arrays."""

cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ..dynamics._rollouts cimport Simulation, State
from ..tree._operands cimport LANES, align
from ..tree._pattern cimport active
from ._costs cimport Terms

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/control/sampling.h"
    #include "kernels/common/counters.h"
    #include "kernels/common/choose.h"
    CHOOSE(SamplingTable, sampling)
    """
    ctypedef struct Spline:
        Py_ssize_t knots, nu, order
        const Py_ssize_t *first
        const double *weight
        const double *lower
        const double *upper
        const double *mix

    ctypedef struct SamplingTable:
        void (*draw)(const Spline *, uint64_t key, uint64_t first, const double *nominal, const double *scale,
                     double *x, double *work) noexcept nogil
        void (*control)(const Spline *, Py_ssize_t t, const double *knots, double *u) noexcept nogil
        void (*apply)(Py_ssize_t n, Py_ssize_t entries, const Py_ssize_t *row, const Py_ssize_t *column,
                      const double *factor, const double *u, double *forces) noexcept nogil
        void (*add_doubt)(Py_ssize_t n, const double *x, double *cost) noexcept nogil
        void (*average)(Py_ssize_t blocks, Py_ssize_t entries, const double *weight, const double *x,
                        double *result) noexcept nogil

    const SamplingTable *sampling_for(const char *name) nogil
    uint64_t random_bits(uint64_t key, uint64_t counter) nogil

cdef extern from "kernels/common/subnormals.h" nogil:
    uint64_t flush_subnormals()
    void restore_subnormals(uint64_t state)

cdef const SamplingTable *kernels = sampling_for(active.name)


cdef class Splines:
    """Knots of controls, and the controls of all steps, of which each is a sum of successive knots.

    Parameters
    ----------
    first : ndarray of intp, shape (steps,)
    weight : ndarray, shape (steps, order)
    lower, upper : ndarray, shape (nu,)
        Of the controls, infinite where there are none. All arrays are C-contiguous, and kept.
    mix : ndarray, shape (nu, nu), or None
        Multiplies the scaled normal numbers of every knot.
    knots : int
    """

    cdef Spline spline
    cdef Py_ssize_t steps
    cdef tuple kept

    def __init__(self, cnp.ndarray first not None, cnp.ndarray weight not None, cnp.ndarray lower not None,
                 cnp.ndarray upper not None, cnp.ndarray mix, Py_ssize_t knots):
        self.kept = first, weight, lower, upper, mix
        self.spline.mix = <const double *> NULL if mix is None else <const double *> mix.data
        self.spline.knots, self.spline.nu = knots, lower.shape[0]
        self.spline.order, self.steps = weight.shape[1], weight.shape[0]
        self.spline.first, self.spline.weight = <const Py_ssize_t *> first.data, <const double *> weight.data
        self.spline.lower, self.spline.upper = <const double *> lower.data, <const double *> upper.data

    def draw(self, object seed, object call, cnp.ndarray nominal not None, cnp.ndarray scale not None,
             cnp.ndarray knots not None, Py_ssize_t first, Py_ssize_t stop):
        """Draw the knots of blocks first .. stop-1, which have 8 samples, of all problems after each other.

        nominal and scale: C-contiguous (B, knots, nu); knots: aligned (B, blocks, knots, nu, 8).
        """
        cdef uint64_t key = random_bits(<uint64_t> seed, <uint64_t> call)
        cdef Py_ssize_t blocks = knots.shape[1], size = self.spline.knots * self.spline.nu, k
        cdef double *memory = <double *> malloc(LANES * (self.spline.nu + 1) * sizeof(double))
        if memory == NULL:
            raise MemoryError
        with nogil:
            for k in range(first, stop):
                kernels.draw(&self.spline, key, LANES * (k % blocks),
                             <const double *> nominal.data + k // blocks * size,
                             <const double *> scale.data + k // blocks * size,
                             <double *> knots.data + k * size * LANES, align(memory))
        free(memory)

    def controls(self, cnp.ndarray knots not None):
        """Return the controls (N, steps, nu) of C-contiguous knots (N, knots, nu)."""
        cdef Py_ssize_t nu = self.spline.nu, size = self.spline.knots * nu, rows = knots.shape[0], n, t
        cdef cnp.ndarray u = np.empty((rows, self.steps, nu))
        cdef Py_ssize_t to_row = size * sizeof(double), to_step = nu * sizeof(double)
        cdef double *memory = <double *> malloc(LANES * (size + nu + 1) * sizeof(double))
        cdef double *lanes
        cdef double *own
        cdef int count
        if memory == NULL:
            raise MemoryError
        with nogil:
            lanes = align(memory)
            own = lanes + LANES * size
            n = 0
            while n < rows:
                count = <int> min(<Py_ssize_t> LANES, rows - n)
                active.lanes.load(size, count, <const char *> knots.data + n * to_row, to_row, lanes)
                for t in range(self.steps):
                    kernels.control(&self.spline, t, lanes, own)
                    active.lanes.store(nu, count, own, u.data + (n * self.steps + t) * to_step,
                                       self.steps * to_step)
                n += LANES
        free(memory)
        return u

    def average(self, cnp.ndarray weight not None, cnp.ndarray knots not None, cnp.ndarray result not None):
        """Fill the sums of weights times the knots of samples.

        weight: aligned (B, blocks, 8); knots: aligned (B, blocks, knots, nu, 8); result: C-contiguous
        (B, knots, nu).
        """
        cdef Py_ssize_t blocks = knots.shape[1], size = self.spline.knots * self.spline.nu, b
        with nogil:
            for b in range(knots.shape[0]):
                kernels.average(blocks, size, <const double *> weight.data + b * blocks * LANES,
                                <const double *> knots.data + b * blocks * size * LANES,
                                <double *> result.data + b * size)


cdef struct Work:                # of a group of samples
    State state
    double *u                    # controls, and the generalized forces of 8 samples
    double *force
    double *x                    # q and v of 8 samples, if their type is float32
    double *scratch              # of the costs
    Py_ssize_t problem


cdef class SampledRollouts:
    """Motions by controls between knots, samples side by side, and their costs.

    Parameters
    ----------
    splines : Splines
    terms : Terms
        Costs as data.
    rows, columns, factors : ndarray
        Generalized forces are the sums of factors times controls: intp, intp and float64 of the same length,
        rows in ascending order.
    dt : float
        Length of a step.
    substeps : int
    """

    cdef Splines splines
    cdef Terms terms
    cdef cnp.ndarray rows, columns, factors
    cdef double h
    cdef Py_ssize_t substeps

    def __init__(self, Splines splines not None, Terms terms not None, cnp.ndarray rows not None,
                 cnp.ndarray columns not None, cnp.ndarray factors not None, double dt, Py_ssize_t substeps):
        self.splines, self.terms = splines, terms
        self.rows, self.columns, self.factors = rows, columns, factors
        self.h, self.substeps = dt / substeps, substeps

    def run(self, Simulation simulation not None, cnp.ndarray q0 not None, cnp.ndarray v0 not None,
            cnp.ndarray knots not None, cnp.ndarray cost not None, cnp.ndarray places not None,
            cnp.ndarray q not None, cnp.ndarray v not None, Py_ssize_t first, Py_ssize_t stop):
        """Compute the motions of units first .. stop-1, which have `simulation.width` samples of a problem.

        Parameters
        ----------
        simulation : Simulation
        q0, v0 : ndarray, shapes (B, nq) and (B, nv)
            C-contiguous float64.
        knots : ndarray, shape (B, blocks, knots, nu, 8)
            Aligned; whole units.
        cost : ndarray, shape (B, samples)
            Filled; NaN of motions that are not finite.
        places : ndarray of intp, shape (steps + 1,)
            Of each state in the results, or -1.
        q, v : ndarray, shapes (B, samples, times, nq) and (B, samples, times, nv)
            C-contiguous, of the type of the simulation; filled.
        """
        cdef Py_ssize_t samples = cost.shape[1], width = simulation.width, problem, unit, lanes, left
        cdef Py_ssize_t units = (samples + width - 1) // width
        cdef Work w
        cdef char *memory = <char *> malloc(self.work_size(simulation))
        cdef char *rest
        cdef uint64_t before = 0
        cdef bint single = simulation.kind == cnp.NPY_FLOAT
        if memory == NULL:
            raise MemoryError
        with nogil:
            if single:
                before = flush_subnormals()
            self.carve(simulation, memory, &w)
            while first < stop:
                problem, unit = first // units, first % units
                left, lanes = min(stop - first, units - unit), simulation.widths[0]
                while lanes > width * left and lanes > width:
                    lanes = simulation.narrower(<int> lanes)
                if lanes != w.state.lanes:
                    rest = <char *> align(w.scratch + self.terms.workspace_size())
                    simulation.carve(&w.state, <int> lanes, 0, rest)
                    simulation.prepare(&w.state)
                w.problem = problem
                begin(simulation, &w.state, <const double *> q0.data + problem * simulation.nq,
                      <const double *> v0.data + problem * simulation.nv)
                self.run_group(simulation, &w, knots, cost, <const Py_ssize_t *> places.data, q, v,
                               unit * width)
                first += lanes // width
            if single:
                restore_subnormals(before)
        free(memory)

    cdef Py_ssize_t work_size(self, Simulation simulation) noexcept nogil:
        """Return the bytes of the workspace of a group."""
        cdef Py_ssize_t lanes = self.splines.spline.nu + 2 * simulation.nv + simulation.nq
        cdef Py_ssize_t doubles = LANES * (lanes + 3) + self.terms.workspace_size()
        return doubles * sizeof(double) + simulation.state_size(simulation.widths[0], 0)

    cdef void carve(self, Simulation simulation, char *memory, Work *w) noexcept nogil:
        """Set the pointers of a workspace but those of its state."""
        w.u = align(<double *> memory)
        w.force = w.u + LANES * self.splines.spline.nu
        w.x = w.force + LANES * simulation.nv
        w.scratch = w.x + LANES * (simulation.nq + simulation.nv)
        w.state.lanes, w.state.failure, w.state.step, w.state.block = 0, NULL, 0, 0

    cdef void run_group(self, Simulation simulation, Work *w, cnp.ndarray knots, cnp.ndarray cost,
                        const Py_ssize_t *places, cnp.ndarray q, cnp.ndarray v,
                        Py_ssize_t sample) noexcept nogil:
        """Roll out a group of samples, from the given one on; fill their costs, and the states at places."""
        cdef Py_ssize_t samples = cost.shape[1], steps = self.splines.steps, size, t, _k, r, half
        cdef Py_ssize_t halves = w.state.lanes // LANES
        cdef double sums[32 * LANES]
        cdef const double *own
        cdef double *total
        cdef bint counts
        size = self.splines.spline.knots * self.splines.spline.nu * LANES
        own = <const double *> knots.data + (w.problem * knots.shape[1] + sample // LANES) * size
        total = align(sums)
        memset(total, 0, w.state.lanes * sizeof(double))
        if places[0] >= 0:
            self.store(simulation, w, sample, samples, places[0], q, v)
        for t in range(steps):
            counts = self.terms.count_at(t)
            for half in range(halves):
                kernels.control(&self.splines.spline, t, own + half * size, w.u)
                self.apply(simulation, w, half)
                if counts:
                    self.add_costs(simulation, w, half, t, total + half * LANES)
            for _k in range(self.substeps):
                simulation.accelerate(&w.state)      # a state that is not finite stays so until the end
                simulation.move_euler(&w.state, self.h)
            if places[t + 1] >= 0:
                self.store(simulation, w, sample, samples, places[t + 1], q, v)
        for half in range(halves):
            self.add_costs(simulation, w, half, steps, total + half * LANES)
            kernels.add_doubt(simulation.nq, positions(simulation, w, half), total + half * LANES)
            kernels.add_doubt(simulation.nv, velocities(simulation, w, half), total + half * LANES)
        for r in range(min(w.state.lanes, samples - sample)):
            (<double *> cost.data)[w.problem * samples + sample + r] = total[r]

    cdef void apply(self, Simulation simulation, Work *w, Py_ssize_t half) noexcept nogil:
        """Write the generalized forces of the controls of 8 samples into the state."""
        cdef State *s = &w.state
        cdef double *force = w.force
        if simulation.kind == cnp.NPY_DOUBLE:
            force = <double *> (s.x + half * s.to_block + s.tau)
        kernels.apply(simulation.nv, self.rows.shape[0], <const Py_ssize_t *> self.rows.data,
                      <const Py_ssize_t *> self.columns.data, <const double *> self.factors.data, w.u, force)
        if simulation.kind == cnp.NPY_FLOAT:
            narrow(s, s.tau, half, simulation.nv, force)

    cdef void add_costs(self, Simulation simulation, Work *w, Py_ssize_t half, Py_ssize_t t,
                        double *cost) noexcept nogil:
        """Add the costs of 8 samples at time t, after `apply` unless it is the last one."""
        cdef Py_ssize_t problem[LANES]
        cdef Py_ssize_t time[LANES]
        cdef int k
        for k in range(LANES):
            problem[k], time[k] = w.problem, t
        self.terms.add_values(problem, time, positions(simulation, w, half), velocities(simulation, w, half),
                              w.u, cost, w.scratch)

    cdef void store(self, Simulation simulation, Work *w, Py_ssize_t sample, Py_ssize_t samples,
                    Py_ssize_t place, cnp.ndarray q, cnp.ndarray v) noexcept nogil:
        """Copy the states of a group to a place of the results."""
        cdef Py_ssize_t times = q.shape[2], nq = simulation.nq, nv = simulation.nv
        cdef Py_ssize_t number = simulation.bytes, b, at, count
        cdef const char *x
        for b in range(w.state.lanes // w.state.width):
            x = w.state.x + b * w.state.to_block
            at = sample + b * w.state.width
            count = min(<Py_ssize_t> w.state.width, samples - at)
            if count <= 0:
                return
            at = (w.problem * samples + at) * times + place
            simulation.store(x, nq, <int> count, q.data + at * nq * number, times * nq * number)
            simulation.store(x + w.state.v, nv, <int> count, v.data + at * nv * number, times * nv * number)


cdef inline void begin(Simulation simulation, State *s, const double *q, const double *v) noexcept nogil:
    """Give all samples of a state the same q and v."""
    cdef Py_ssize_t b, e, k
    cdef char *x
    for b in range(s.lanes // s.width):
        x = s.x + b * s.to_block
        for e in range(simulation.nq + simulation.nv):
            for k in range(s.width):
                if simulation.kind == cnp.NPY_FLOAT:
                    (<float *> x)[e * s.width + k] = <float> (q[e] if e < simulation.nq
                                                              else v[e - simulation.nq])
                else:
                    (<double *> x)[e * s.width + k] = q[e] if e < simulation.nq else v[e - simulation.nq]


cdef inline void narrow(State *s, Py_ssize_t at, Py_ssize_t half, Py_ssize_t count,
                        const double *x) noexcept nogil:
    """Copy entries of 8 samples as float32 to bytes `at` of a block, of which they are the given half."""
    cdef Py_ssize_t halves = s.width // LANES, e, k
    cdef float *numbers = <float *> (s.x + half // halves * s.to_block + at) + half % halves * LANES
    for e in range(count):
        for k in range(LANES):
            numbers[e * s.width + k] = <float> x[e * LANES + k]


cdef inline const double *from_state(Simulation simulation, const State *s, Py_ssize_t at, Py_ssize_t half,
                                     Py_ssize_t count, double *copy) noexcept nogil:
    """Return entries of 8 samples at bytes `at` of the blocks: those of float32 as a copy."""
    cdef Py_ssize_t halves = s.width // LANES, e, k
    cdef const char *x = s.x + half // halves * s.to_block + at
    cdef const float *numbers = <const float *> x + half % halves * LANES
    if simulation.kind == cnp.NPY_DOUBLE:
        return <const double *> x
    for e in range(count):
        for k in range(LANES):
            copy[e * LANES + k] = numbers[e * s.width + k]
    return copy


cdef inline const double *positions(Simulation simulation, Work *w, Py_ssize_t half) noexcept nogil:
    """Return q of 8 samples."""
    return from_state(simulation, &w.state, 0, half, simulation.nq, w.x)


cdef inline const double *velocities(Simulation simulation, Work *w, Py_ssize_t half) noexcept nogil:
    """Return v of 8 samples."""
    return from_state(simulation, &w.state, w.state.v, half, simulation.nv, w.x + LANES * simulation.nq)
