"""Integrate motions in time: accelerations, steps and storing in one loop, 8 motions side by side."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .._functions._arrays cimport Leading, describe_contiguous
from .._functions._compiled_function cimport MOST_ARRAYS
from .._util._fast_arrays cimport all_finite
from ..model._configurations cimport ConfigurationKernels, configuration_kernels, configurations_of
from ..tree._operands cimport ALIGNED, LANES, Operand, align, load_from
from ..tree._pattern cimport FACTORIZED, active
from ._dynamics_functions cimport ForwardDynamics
from ._model_function cimport ModelFunction
from ._recursions cimport Mechanism, bodies_of

import numpy as np

from .._util.validation import as_count
from ..exceptions import NonFiniteError, NotPositiveDefiniteError
from ..quantities.functions import forward_dynamics

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
MOST_STEPS = 2**40               # so that sizes of results are numbers of 64 bits


def count_of_steps(steps):
    """Return a number of steps, or None; raise the error that names the argument."""
    if steps is not None:
        steps = as_count(steps, "steps")
        if steps > MOST_STEPS:
            raise ValueError(f"steps must be at most {MOST_STEPS}, got {steps}")
    return steps


cdef class Simulation:
    """Accelerations of one model, and steps of its states; subclasses implement `accelerate`.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    forward_dynamics : callable
        Of the model, q, v, tau and perhaps fext; raises the error that names a joint.
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

    cdef Py_ssize_t state_size(self, int lanes, Py_ssize_t forces) noexcept nogil:
        """Return the doubles of a state with `forces` entries of fext, and of its workspace."""
        return lanes * (2 * self.nq + 7 * self.nv + forces + self.after_a) + self.workspace_size(lanes)

    cdef void carve(self, State *s, int lanes, Py_ssize_t forces, double *memory) noexcept nogil:
        """Set the pointers of a state that lies in memory."""
        cdef Py_ssize_t w
        s.forces = forces
        s.lanes, s.width = lanes, 1 if lanes == 1 else LANES
        w = s.width
        s.v = w * self.nq
        s.tau = s.v + w * self.nv
        s.fext = s.tau + w * self.nv
        s.a = s.fext + w * forces
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
        if s.failure != NULL and s.failure.step < 0:
            self.find_failure(s)
        for b in range(s.lanes // s.width):
            x = s.x + b * s.to_block
            k.spread_nan(self.nq + 2 * self.nv + s.forces, x, self.nv, x + s.a)

    cdef void find_failure(self, State *s) noexcept nogil:
        """Keep the step of an acceleration that is not finite though q, v, tau and fext are; these if wanted.

        There is one motion, which all lanes repeat.
        """
        cdef Py_ssize_t size = self.nq + 2 * self.nv + s.forces, e
        if all_finite(self.nv * s.width, s.x + s.a) or not all_finite(size * s.width, s.x):
            return
        s.failure.step = s.step
        if s.failure.state != NULL:
            for e in range(size):
                s.failure.state[e] = s.x[e * s.width]

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


cdef class Recursive(Simulation):
    """Simulation whose accelerations come from the recursions: `forward_dynamics` by the factor.

    Parameters
    ----------
    model : Model
    """

    cdef ForwardDynamics forward

    def __init__(self, model):
        self.forward = ForwardDynamics(self.bodies)
        self.has_one = not self.bodies.pattern.shape.tasks
        self.forward_dynamics = forward_dynamics

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return self.bodies.gathered_size() + ALIGNED + self.forward.workspace_size(lanes)

    cdef void accelerate(self, State *s) noexcept nogil:
        cdef Mechanism m = self.bodies.mechanism(s.block, s.work)
        cdef Py_ssize_t failed[LANES]
        cdef const double *x[4]
        cdef double *a = s.x + s.a
        cdef Py_ssize_t k
        cdef int lane
        x[0], x[1], x[2], x[3] = s.x, s.x + s.v, s.x + s.tau, s.x + s.fext if s.forces else NULL
        for lane in range(s.lanes):
            failed[lane] = FACTORIZED
        self.forward.compute(&m, s.lanes, x, &a, failed, align(s.work + self.bodies.gathered_size()))
        for lane in range(s.lanes):
            if failed[lane] != FACTORIZED:
                for k in range(self.nv):
                    a[k * s.lanes + lane] = NAN


cdef class Rollout(ModelFunction):
    """States after every step of motions, 8 side by side; or after a single step.

    Parameters
    ----------
    model : Model
    simulation : Simulation
    method : str
    steps : int or None
        None: of a single step only the state after it is a result.
    each : bool
        Whether forces differ from step to step.
    """

    def __init__(self, model, Simulation simulation not None, method, steps=None, bint each=False):
        cdef bint whole = steps is not None
        cdef tuple time = (steps,) if each else (), states = (steps + 1,) if whole else ()
        cdef int k
        self.simulation, self.method = simulation, METHODS.index(method)
        self.whole, self.steps = whole, steps if whole else 1
        self.names = ("q0", "v0", "tau", "fext", "h") if whole else ("q", "v", "tau", "fext", "h")
        self.add_configuration()
        self.add_vector()
        self.add_input((*time, self.bodies.nv), whole and not each)
        self.add_input((*time, self.bodies.m.joints, 6), True)
        self.input[TAU].series = self.input[FEXT].series = each
        self.add_number(True)
        self.add_result((*states, self.bodies.nq))
        self.add_result((*states, self.bodies.nv))
        for k in range(2):
            self.result[k].in_place, self.result[k].series = not whole, whole
        for k in range(H + 1):                       # of any data
            describe_contiguous(&self.input[k], &self.steps, &self.single[k])
        for k in range(2):
            describe_contiguous(&self.result[k], &self.steps, &self.single[Q + k])
            self.single[Q + k].to_next = self.result[k].size * sizeof(double)
        self.gather, self.takes_long = tuple, whole

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        cdef Failure failure
        cdef int done
        failure.state = NULL
        if not (all_finite(1, x[H]) and self.bodies.is_configuration(x[Q0], 1)):
            return False
        done = self.integrate(x, out, NULL)
        if done == 0:                                # once more, as few motions diverge, or fail
            done = self.integrate(x, out, &failure)
        return done == 1

    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t *failed,
                           Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
        cdef Operand x[ARRAYS]
        cdef int lanes = self.simulation.widest
        cdef double *memory
        memcpy(x, operands, (H + 1) * sizeof(Operand))
        x[TAU].size = self.bodies.nv                 # if absent, too
        memcpy(&x[Q], &self.single[Q], 2 * sizeof(Operand))
        x[Q].data, x[V].data = to[0], to[1]
        while lanes > LANES * (stop - first) and lanes > LANES:
            lanes = next_width(lanes)
        memory = <double *> malloc(
            (self.simulation.state_size(lanes, x[FEXT].size) + ALIGNED) * sizeof(double))
        if memory == NULL:
            return False
        self.run_groups(lanes, batch, x, first, stop, align(memory), NULL)
        free(memory)
        return True

    cpdef tuple run_alone(self, model, tuple arrays):
        """Return the states of a motion with an infinite acceleration; raise the error of a bad pivot."""
        cdef const double *x[MOST_ARRAYS]
        cdef double *y[2]
        cdef PyObject *given[MOST_ARRAYS]
        cdef double numbers[MOST_ARRAYS]
        cdef Failure failure
        cdef cnp.ndarray state = np.empty(self.bodies.nq + 2 * self.bodies.nv + 6 * self.bodies.m.joints)
        cdef Leading none
        cdef tuple results
        cdef int k, done
        none.axes = 0
        results = self.new_results(&none)
        for k in range(self.inputs):
            given[k] = <PyObject *> arrays[k]
        self.find_arguments(given, numbers, x)
        for k in range(2):
            y[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> results[k])
        failure.state = <double *> state.data
        with nogil:
            done = self.integrate(x, y, &failure)
        if done < 0:
            raise MemoryError("cannot allocate a workspace")
        if done == 0 and failure.step >= 0:
            self.raise_pivot(model, failure.step, state, x[FEXT] != NULL)
        return results

    cdef object raise_pivot(self, model, Py_ssize_t step, state, bint has_forces):
        """Raise the error that names the joint and the step, if a pivot is why a motion is not finite."""
        cdef Py_ssize_t nq = self.bodies.nq, nv = self.bodies.nv
        parts = [state[:nq], state[nq:nq + nv], state[nq + nv:nq + 2 * nv]]
        if has_forces:
            parts.append(state[nq + 2 * nv:nq + 2 * nv + 6 * self.bodies.m.joints].reshape(-1, 6))
        try:
            self.simulation.forward_dynamics(model, *parts)
        except NotPositiveDefiniteError as error:
            message = f"step {step}: {error}" if self.whole else str(error)
            raise NotPositiveDefiniteError(message, row=error.row, name=error.name) from None
        except NonFiniteError:   # the motion diverges
            pass

    cdef int integrate(self, const double **x, double **out, Failure *failure) noexcept nogil:
        """Integrate one motion; return 1 if its results are valid, -1 if out of memory, else 0.

        Valid are finite states, and where a failure is looked for also those of a motion that diverges
        without one, from finite arguments. Others are written only if the state of a failure is wanted.
        """
        cdef Operand operands[ARRAYS]
        cdef Py_ssize_t states = self.steps + 1 if self.whole else 1, size
        cdef int lanes = 1 if self.simulation.has_one else LANES, done = 1, k
        cdef double *memory
        for k in range(H + 1):
            operands[k] = self.single[k]
            operands[k].data = <const char *> x[k]
        if x[FEXT] == NULL:
            operands[FEXT].size = 0
        if failure != NULL:
            failure.step = -1
        size = states * (self.bodies.nq + self.bodies.nv) + ALIGNED
        memory = <double *> malloc(
            (size + self.simulation.state_size(lanes, operands[FEXT].size)) * sizeof(double))
        if memory == NULL:
            return -1
        operands[Q], operands[V] = self.single[Q], self.single[V]
        operands[Q].data, operands[V].data = <char *> memory, <char *> (memory + states * self.bodies.nq)
        self.run_groups(lanes, 1, operands, 0, 1, align(memory + size - ALIGNED), failure)
        for k in range(2):
            done = done and all_finite(operands[Q + k].size, <const double *> (
                operands[Q + k].data + (states - 1) * operands[Q + k].to_step))
        if failure != NULL and failure.step < 0:
            done = 1
            for k in range(H):
                done = done and (x[k] == NULL or all_finite(self.input[k].size, x[k]))
        for k in range(2 if done or failure != NULL and failure.state != NULL else 0):
            memcpy(out[k], operands[Q + k].data, operands[Q + k].to_next)
        free(memory)
        return done

    cdef void run_groups(self, int lanes, Py_ssize_t batch, const Operand *x, Py_ssize_t first,
                         Py_ssize_t stop, double *memory, Failure *failure) noexcept nogil:
        """Integrate the blocks first .. stop-1 of 8 motions, at most `lanes` at once."""
        cdef State s
        cdef Py_ssize_t count
        s.lanes, s.failure = 0, failure
        while first < stop:
            while lanes > LANES * (stop - first):
                lanes = next_width(lanes)
            if lanes != s.lanes:
                self.simulation.carve(&s, lanes, x[FEXT].size, memory)
                self.simulation.prepare(&s)
            count = min(<Py_ssize_t> lanes, batch - LANES * first)
            self.run_group(x, &s, LANES * first, count)
            first += max(1, lanes // LANES)

    cdef void begin_group(self, const Operand *x, State *s, Py_ssize_t first,
                          Py_ssize_t count) noexcept nogil:
        """Fetch the initial states, store them if wanted, and spoil those that are not configurations."""
        cdef Py_ssize_t b, lane
        cdef double *at
        fetch(s, 0, &x[Q0], 0, first, count)
        fetch(s, s.v, &x[V0], 0, first, count)
        if self.steps:
            fetch(s, s.tau, &x[TAU], 0, first, count)
            fetch(s, s.fext, &x[FEXT], 0, first, count)
        if self.whole:
            put(s, 0, &x[Q], 0, first, count)
            put(s, s.v, &x[V], 0, first, count)
        for b in range(s.lanes // s.width):
            at = s.x + b * s.to_block
            for lane in range(s.width):
                if self.bodies.nv and not self.bodies.is_configuration(at + lane, s.width):
                    at[s.v + lane] = NAN

    cdef void run_group(self, const Operand *x, State *s, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        """Integrate `count` motions, at most s.lanes, from the first one on."""
        cdef double h = (<const double *> x[H].data)[0]
        cdef Py_ssize_t t
        s.block = first // LANES
        self.begin_group(x, s, first, count)
        for t in range(self.steps):
            s.step = t
            if t and x[TAU].to_step:
                fetch(s, s.tau, &x[TAU], t, first, count)
            if t and x[FEXT].to_step:
                fetch(s, s.fext, &x[FEXT], t, first, count)
            prefetch(&x[TAU], t + 1, first, count, 0)
            prefetch(&x[Q], t + self.whole, first, count, 1)
            prefetch(&x[V], t + self.whole, first, count, 1)
            if self.method == RK4:
                self.simulation.step_rk4(s, h)
            else:
                self.simulation.step_euler(s, h)
            put(s, 0, &x[Q], t + self.whole, first, count)
            put(s, s.v, &x[V], t + self.whole, first, count)


cdef class Step(Rollout):
    """State after one step, by the recursions."""

    def __init__(self, model, method):
        Rollout.__init__(self, model, Recursive(model), method)


cdef class Trajectory(Rollout):
    """States after every step, by the recursions; of steps or count, the number of forces, one is there."""

    def __init__(self, model, steps, method, Py_ssize_t count):
        cdef bint each = steps is None
        Rollout.__init__(self, model, Recursive(model), method, count if each else steps, each)


cdef inline int next_width(int lanes) noexcept nogil:
    """Return the next smaller number of configurations that the interpreter of programs supports."""
    return 16 if lanes == 64 else LANES


cdef inline void fetch(const State *s, Py_ssize_t at, const Operand *series, Py_ssize_t step,
                       Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Copy vectors of a step to doubles `at` of the blocks; an absent argument has zeros, or no entries.

    Unused lanes repeat the first one of their block.
    """
    cdef const char *source = series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t b
    if series.data == NULL:
        for b in range(s.lanes // s.width):
            memset(s.x + b * s.to_block + at, 0, series.size * s.width * sizeof(double))
        return
    if s.lanes == 1:
        memcpy(s.x + at, source, series.size * sizeof(double))
        return
    for b in range(s.lanes // LANES):
        load_from(series, source, <int> min(count, <Py_ssize_t> LANES), s.x + b * s.to_block + at)
        source += LANES * series.to_next
        count -= LANES


cdef inline void prefetch(const Operand *series, Py_ssize_t step, Py_ssize_t first, Py_ssize_t count,
                          int write) noexcept nogil:
    """Fetch the vectors of a step into the cache, if every step has its own; they may not exist."""
    cdef const char *x = series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t k
    if series.to_step:
        for k in range(count):
            prefetch_bytes(x + k * series.to_next, series.size * sizeof(double), write)


cdef inline void put(const State *s, Py_ssize_t at, const Operand *series, Py_ssize_t step, Py_ssize_t first,
                     Py_ssize_t count) noexcept nogil:
    """Copy vectors of a step from doubles `at` of the blocks to a result."""
    cdef char *target = <char *> series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t b
    if s.lanes == 1:
        memcpy(target, s.x + at, series.size * sizeof(double))
        return
    for b in range(s.lanes // LANES):
        active.lanes.store(series.size, <int> min(count, <Py_ssize_t> LANES), s.x + b * s.to_block + at,
                           target, series.to_next)
        target += LANES * series.to_next
        count -= LANES
