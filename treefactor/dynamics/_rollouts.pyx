"""Integrate motions in time: accelerations, steps and storing in one loop, 8 motions side by side."""

cimport numpy as cnp
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .._util._fast_arrays cimport all_finite
from ..model._configurations cimport ConfigurationKernels, configuration_kernels, configurations_of
from ..tree._operands cimport ALIGNED, LANES, align
from ..tree._pattern cimport FACTORIZED, active
from ._dynamics_functions cimport ForwardDynamics
from ._recursions cimport Mechanism, bodies_of

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/rollouts/stage_table.h"
    #include "kernels/common/choose.h"
    CHOOSE(StageTable, stages)

    /* Fetch `size` bytes into the cache; stores follow if `write` is 1. */
    static inline void prefetch_bytes(const char *x, ptrdiff_t size, int write)
    {
        for (ptrdiff_t at = 0; at < size; at += 64)
            if (write) __builtin_prefetch(x + at, 1); else __builtin_prefetch(x + at);
        if (write) __builtin_prefetch(x + size - 1, 1); else __builtin_prefetch(x + size - 1);
    }
    """
    void prefetch_bytes(const char *x, Py_ssize_t size, int write) nogil
    const StageTable *stages_for(const char *name) nogil

cdef const StageTable *stages = stages_for(active.name)
METHODS = ("semi_implicit_euler", "rk4")  # order of the pxd


cdef class Simulation:
    """Integrate the motions of one model; subclasses implement `accelerate`.

    Parameters
    ----------
    model : Model
    """

    def __cinit__(self, model, *_):
        self.bodies, self.configurations = bodies_of(model), configurations_of(model)
        self.runs, self.count = self.configurations.runs, self.configurations.count
        self.nq, self.nv = self.bodies.nq, self.bodies.nv
        self.widest, self.has_one = LANES, True

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        """Return the doubles that `accelerate` needs for so many configurations."""
        return 0

    cdef void prepare(self, State *s) noexcept nogil:
        """Initialize a new workspace."""

    cdef void accelerate(self, State *s) noexcept nogil:
        """Compute the accelerations a of all configurations from their q, v, tau and fext."""

    cdef Py_ssize_t state_size(self, int lanes) noexcept nogil:
        """Return the doubles of a state with its workspace, alignment excluded."""
        return lanes * (2 * self.nq + 7 * self.nv + self.forces + self.after_a) + self.workspace_size(lanes)

    cdef void carve(self, State *s, int lanes, double *memory) noexcept nogil:
        """Set the pointers of a state that lies in memory."""
        cdef Py_ssize_t w
        s.lanes, s.width = lanes, 1 if lanes == 1 else LANES
        w = s.width
        s.v = w * self.nq
        s.tau = s.v + w * self.nv
        s.fext = s.tau + w * self.nv
        s.a = s.fext + w * self.forces
        s.q0 = s.a + w * (self.nv + self.after_a)
        s.v0 = s.q0 + w * self.nq
        s.sum_a = s.v0 + w * self.nv
        s.sum_v = s.sum_a + w * self.nv
        s.u = s.sum_v + w * self.nv
        s.to_block = s.u + w * self.nv
        s.x = memory
        s.work = memory + s.to_block * (lanes // w)

    cdef void evaluate(self, State *s) noexcept nogil:
        """Compute a, NaN for configurations of which anything is not finite."""
        cdef const StageKernels *k = &stages.one if s.lanes == 1 else &stages.lanes
        cdef Py_ssize_t b
        cdef double *x
        self.accelerate(s)
        for b in range(s.lanes // s.width):
            x = s.x + b * s.to_block
            k.spread_nan(self.nq + 2 * self.nv + self.forces, x, self.nv, x + s.a)

    cdef void step_euler(self, State *s, double h) noexcept nogil:
        """v <- v + h a, q <- q exp(h v)."""
        cdef const StageKernels *k = &stages.one if s.lanes == 1 else &stages.lanes
        cdef const ConfigurationKernels *c = &configuration_kernels.one if s.lanes == 1 \
            else &configuration_kernels.lanes
        cdef Py_ssize_t b
        cdef double *x
        self.evaluate(s)
        for b in range(s.lanes // s.width):
            x = s.x + b * s.to_block
            k.add(self.nv, x + s.a, h, x + s.v, x + s.v)
            c.integrate(self.runs, self.count, x, x + s.v, h, x)

    cdef void step_rk4(self, State *s, double h) noexcept nogil:
        """Classical Runge-Kutta for v, and Munthe-Kaas' form of it for q, whose stages are exponentials of u.

            u2 = h/2 v1    u3 = h/2 v2 + h^2/8 [v1, v2]    u4 = h v3
            u = h/6 (v1 + 2 v2 + 2 v3 + v4) + h^2/12 [v1, v4]
        """
        cdef const StageKernels *k = &stages.one if s.lanes == 1 else &stages.lanes
        cdef const ConfigurationKernels *c = &configuration_kernels.one if s.lanes == 1 \
            else &configuration_kernels.lanes
        cdef Py_ssize_t b, n = self.nv, w = s.width
        cdef int stage
        cdef double weight, length
        cdef double *x
        for stage in range(4):
            self.evaluate(s)
            weight, length = 2.0 if 0 < stage < 3 else 1.0, h if stage == 2 else 0.5 * h
            for b in range(s.lanes // s.width):
                x = s.x + b * s.to_block
                if stage == 0:
                    memcpy(x + s.q0, x, (self.nq + n) * w * sizeof(double))
                    memset(x + s.sum_a, 0, 2 * n * w * sizeof(double))
                k.add(n, x + s.a, weight, x + s.sum_a, x + s.sum_a)
                k.add(n, x + s.v, weight, x + s.sum_v, x + s.sum_v)
                if stage < 3:
                    memcpy(x + s.u, x + s.v, n * w * sizeof(double))
                    if stage == 1:
                        k.add_commutator(self.runs, self.count, x + s.v0, x + s.v, 0.25 * h, x + s.u)
                    c.integrate(self.runs, self.count, x + s.q0, x + s.u, length, x)
                    k.add(n, x + s.a, length, x + s.v0, x + s.v)
                else:
                    k.add_commutator(self.runs, self.count, x + s.v0, x + s.v, 0.5 * h, x + s.sum_v)
                    c.integrate(self.runs, self.count, x + s.q0, x + s.sum_v, h / 6.0, x)
                    k.add(n, x + s.sum_a, h / 6.0, x + s.v0, x + s.v)

    cdef void begin_group(self, const Motion *m, State *s, Py_ssize_t first,
                          Py_ssize_t count) noexcept nogil:
        """Load the initial states, store them if wanted, and spoil those that are not configurations."""
        cdef Py_ssize_t b, lane
        cdef double *x
        load(s, 0, self.nq, &m.q0, 0, first, count)
        load(s, s.v, self.nv, &m.v0, 0, first, count)
        load(s, s.tau, self.nv, &m.tau, 0, first, count)
        load(s, s.fext, self.forces, &m.fext, 0, first, count)
        if m.whole:
            store(s, 0, &m.q, 0, first, count)
            store(s, s.v, &m.v, 0, first, count)
        for b in range(s.lanes // s.width):
            x = s.x + b * s.to_block
            for lane in range(s.width):
                if self.nv and not self.bodies.is_configuration(x + lane, s.width):
                    x[s.v + lane] = NAN

    cdef void run_group(self, const Motion *m, State *s, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        """Integrate `count` configurations, at most s.lanes, from the first one on."""
        cdef Py_ssize_t t
        s.block = first // LANES
        self.begin_group(m, s, first, count)
        for t in range(m.steps):
            if t and m.tau.to_step:
                load(s, s.tau, self.nv, &m.tau, t, first, count)
            if t and m.fext.to_step:
                load(s, s.fext, self.forces, &m.fext, t, first, count)
            prefetch(&m.tau, t + 1, first, count, 0)
            prefetch(&m.q, t + m.whole, first, count, 1)
            prefetch(&m.v, t + m.whole, first, count, 1)
            if m.method == RK4:
                self.step_rk4(s, m.h)
            else:
                self.step_euler(s, m.h)
            store(s, 0, &m.q, t + m.whole, first, count)
            store(s, s.v, &m.v, t + m.whole, first, count)

    cdef bint run_blocks(self, const Motion *m, Py_ssize_t batch, Py_ssize_t first,
                         Py_ssize_t stop) noexcept nogil:
        """Integrate the blocks first .. stop-1 of 8 configurations; return False if out of memory."""
        cdef State s
        cdef int lanes = self.widest
        cdef Py_ssize_t count
        cdef double *raw
        while lanes > LANES * (stop - first) and lanes > LANES:
            lanes = next_width(lanes)
        raw = <double *> malloc((self.state_size(lanes) + ALIGNED) * sizeof(double))
        if raw == NULL:
            return False
        s.lanes = 0
        while first < stop:
            while lanes > LANES * (stop - first):
                lanes = next_width(lanes)
            if lanes != s.lanes:
                self.carve(&s, lanes, align(raw))
                self.prepare(&s)
            count = min(<Py_ssize_t> lanes, batch - LANES * first)
            self.run_group(m, &s, LANES * first, count)
            first += lanes // LANES
        free(raw)
        return True

    cdef int run_one(self, const Motion *m, bint always) noexcept nogil:
        """Integrate one configuration; return 1 if its last state is finite, -1 if out of memory, else 0.

        A rotation in q0 without unit length gives 0, too. The results, which are contiguous, are written
        ``always`` or only with 1.
        """
        cdef State s
        cdef Motion own = m[0]
        cdef Py_ssize_t states = m.steps + 1 if m.whole else 1, last = states - 1
        cdef Py_ssize_t n = states * (self.nq + self.nv) + ALIGNED
        cdef double *raw
        cdef double *q
        cdef double *v
        cdef bint done
        if not self.bodies.is_configuration(<const double *> m.q0.data, 1) and not always:
            return 0
        raw = <double *> malloc((self.state_size(1) + n + ALIGNED) * sizeof(double))
        if raw == NULL:
            return -1
        q, v = raw, raw + states * self.nq
        own.q.data, own.v.data = <char *> q, <char *> v
        own.q.to_step = self.nq * sizeof(double) if m.whole else 0
        own.v.to_step = self.nv * sizeof(double) if m.whole else 0
        if self.has_one:
            self.carve(&s, 1, align(raw + n))
            self.prepare(&s)
            self.run_group(&own, &s, 0, 1)
        elif not self.run_blocks(&own, 1, 0, 1):
            free(raw)
            return -1
        done = all_finite(self.nq, q + last * self.nq) and all_finite(self.nv, v + last * self.nv)
        if done or always:
            memcpy(m.q.data, q, states * self.nq * sizeof(double))
            memcpy(m.v.data, v, states * self.nv * sizeof(double))
        free(raw)
        return done

    def commutator(self, x, y):
        """Return [x, y] of two velocities, zero for joints of one freedom."""
        cdef cnp.ndarray first = np.ascontiguousarray(x, np.float64)
        cdef cnp.ndarray second = np.ascontiguousarray(y, np.float64)
        cdef cnp.ndarray found = np.zeros(self.nv)
        stages.one.add_commutator(self.runs, self.count, <const double *> first.data,
                                  <const double *> second.data, 1.0, <double *> found.data)
        return found

    def batch(self, int method, double h, Py_ssize_t steps, bint whole, arrays, Py_ssize_t first,
              Py_ssize_t stop):
        """Integrate the blocks first .. stop-1 of 8 configurations.

        Arrays are q0, v0, tau and fext of shape (batch, steps, size), with 1 for an axis that all share; tau
        and fext may be None. Then q and v, of shape (batch, steps + whole, size), which receive the
        results. The entries of each vector are contiguous.
        """
        cdef Motion m
        cdef Py_ssize_t batch = arrays[4].shape[0]
        cdef bint done
        describe_motion(method, h, steps, whole, arrays, &m)
        with nogil:
            done = self.run_blocks(&m, batch, first, stop)
        if not done:
            raise MemoryError("cannot allocate a workspace")

    def one(self, int method, double h, Py_ssize_t steps, bint whole, arrays):
        """Integrate one configuration, arrays as of `batch`; return whether the last state is finite."""
        cdef Motion m
        cdef int done
        describe_motion(method, h, steps, whole, arrays, &m)
        with nogil:
            done = self.run_one(&m, True)
        if done < 0:
            raise MemoryError("cannot allocate a workspace")
        return done == 1


cdef inline int next_width(int lanes) noexcept nogil:
    """Return the next smaller number of configurations that the interpreter of programs supports."""
    return 16 if lanes == 64 else LANES


cdef inline void load(const State *s, Py_ssize_t at, Py_ssize_t size, const Series *series, Py_ssize_t step,
                      Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Load vectors of a step to doubles `at` of the blocks, zeros for an absent argument.

    Unused lanes repeat the first one of their block.
    """
    cdef const char *source = series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t b
    if series.data == NULL:
        for b in range(s.lanes // s.width):
            memset(s.x + b * s.to_block + at, 0, size * s.width * sizeof(double))
        return
    if s.lanes == 1:
        memcpy(s.x + at, source, size * sizeof(double))
        return
    for b in range(s.lanes // LANES):
        if count < LANES:
            active.lanes.load(size, LANES, source, 0, s.x + b * s.to_block + at)
        active.lanes.load(size, <int> min(count, <Py_ssize_t> LANES), source, series.to_next,
                          s.x + b * s.to_block + at)
        source += LANES * series.to_next
        count -= LANES


cdef inline void prefetch(const Series *series, Py_ssize_t step, Py_ssize_t first, Py_ssize_t count,
                          int write) noexcept nogil:
    """Fetch the vectors of a step into the cache, if every step has its own; they may not exist."""
    cdef const char *x = series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t k
    if series.to_step:
        for k in range(count):
            prefetch_bytes(x + k * series.to_next, series.size * sizeof(double), write)


cdef inline void store(const State *s, Py_ssize_t at, const Series *series, Py_ssize_t step, Py_ssize_t first,
                       Py_ssize_t count) noexcept nogil:
    """Store vectors of a step from doubles `at` of the blocks."""
    cdef char *target = series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t b
    if s.lanes == 1:
        memcpy(target, s.x + at, series.size * sizeof(double))
        return
    for b in range(s.lanes // LANES):
        active.lanes.store(series.size, <int> min(count, <Py_ssize_t> LANES), s.x + b * s.to_block + at,
                           target, series.to_next)
        target += LANES * series.to_next
        count -= LANES


cdef void describe(cnp.ndarray x, Series *series) noexcept:
    """Describe an array (batch, steps, size), with 1 for an axis that all share; None is absent."""
    series.data, series.size, series.to_next, series.to_step = NULL, 0, 0, 0
    if x is not None:
        series.data, series.size = <char *> x.data, x.shape[2]
        series.to_next = 0 if x.shape[0] == 1 else x.strides[0]
        series.to_step = 0 if x.shape[1] == 1 else x.strides[1]


cdef int describe_motion(int method, double h, Py_ssize_t steps, bint whole, arrays, Motion *m) except -1:
    """Describe a motion and its arrays, in the order of `Simulation.batch`."""
    m.method, m.h, m.steps, m.whole = method, h, steps, whole
    describe(arrays[0], &m.q0)
    describe(arrays[1], &m.v0)
    describe(arrays[2], &m.tau)
    describe(arrays[3], &m.fext)
    describe(arrays[4], &m.q)
    describe(arrays[5], &m.v)
    return 0


cdef class Recursive(Simulation):
    """Simulation whose accelerations come from the recursions: `forward_dynamics` by the factor.

    Parameters
    ----------
    model : Model
    with_fext : bool
        Whether there are external forces.
    """

    cdef ForwardDynamics forward

    def __init__(self, model, bint with_fext=False):
        self.forward = ForwardDynamics(self.bodies)
        self.forces = 6 * self.bodies.m.joints if with_fext else 0
        self.has_one = not self.bodies.pattern.shape.tasks

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return self.bodies.gathered_size() + ALIGNED + self.forward.workspace_size(lanes)

    cdef void accelerate(self, State *s) noexcept nogil:
        cdef Mechanism m = self.bodies.mechanism(s.block, s.work)
        cdef Py_ssize_t failed[LANES]
        cdef const double *x[4]
        cdef double *a = s.x + s.a
        cdef Py_ssize_t k
        cdef int lane
        x[0], x[1], x[2], x[3] = s.x, s.x + s.v, s.x + s.tau, s.x + s.fext if self.forces else NULL
        for lane in range(s.lanes):
            failed[lane] = FACTORIZED
        self.forward.compute(&m, s.lanes, x, &a, failed, align(s.work + self.bodies.gathered_size()))
        for lane in range(s.lanes):
            if failed[lane] != FACTORIZED:
                for k in range(self.nv):
                    a[k * s.lanes + lane] = NAN
