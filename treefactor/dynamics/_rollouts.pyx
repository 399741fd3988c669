"""Integrate motions in time: accelerations, steps and storing in one loop, 8 motions side by side."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .._functions._arrays cimport Leading, describe_contiguous
from .._functions._compiled_function cimport MOST_ARRAYS
from .._util._fast_arrays cimport all_finite
from .._functions._packed cimport are_unit_vectors
from ..model._configurations cimport configuration_kernels, configurations_of
from ..tree._operands cimport ALIGNED, LANES, Operand, align, load_from
from ..tree._pattern cimport FACTORIZED, active
from ._dynamics_functions cimport ForwardDynamics
from ._model_function cimport ModelFunction
from ._recursions cimport Mechanism, bodies_of

import numpy as np

from .._util.validation import as_count
from ..exceptions import NonFiniteError, NotPositiveDefiniteError
from ..quantities.functions import forward_dynamics
from ..tolerances import UNIT_SQUARE

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

cdef extern from "kernels/common/subnormals.h" nogil:
    uint64_t flush_subnormals()
    void restore_subnormals(uint64_t state)

cdef enum:
    ALIGNMENT = 64               # of states, in bytes

cdef double unit_square = UNIT_SQUARE
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
        self.kind, self.bytes, self.width, self.has_one = cnp.NPY_DOUBLE, sizeof(double), LANES, True
        self.widths[0] = self.width

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        """Return the bytes that `accelerate` needs for so many configurations."""
        return 0

    cdef void prepare(self, State *s) noexcept nogil:
        """Initialize a new workspace."""

    cdef void accelerate(self, State *s) noexcept nogil:
        """Compute the accelerations a of all configurations from their q, v, tau and fext."""

    cdef void load(self, const Operand *source, const char *first, int count, char *to) noexcept nogil:
        """Copy configurations from an address on, which lie as those of an operand do, to a block."""
        load_from(source, first, count, <double *> to)

    cdef void store(self, const char *entries, Py_ssize_t size, int count, char *to,
                    Py_ssize_t to_next) noexcept nogil:
        """Copy `size` entries of the configurations of a block to rows `to_next` bytes apart."""
        active.lanes.store(size, count, <const double *> entries, to, to_next)

    cdef const StageKernels *stage_kernels(self, const State *s) noexcept nogil:
        """Return the kernels of stages for the blocks of a state."""
        if self.kind == cnp.NPY_FLOAT:
            return &stages.single
        return &stages.one if s.lanes == 1 else &stages.lanes

    cdef void move(self, const State *s, const char *q, const char *v, double h, char *to) noexcept nogil:
        """Integrate the configurations q of a block over h v."""
        if self.kind == cnp.NPY_FLOAT:
            configuration_kernels.integrate_single(self.runs, self.count, q, v, h, to)
        elif s.lanes == 1:
            configuration_kernels.one.integrate(self.runs, self.count, q, v, h, to)
        else:
            configuration_kernels.lanes.integrate(self.runs, self.count, q, v, h, to)

    cdef int narrower(self, int lanes) noexcept nogil:
        """Return the largest number of configurations that `accelerate` supports below another one."""
        cdef int k = 0
        while self.widths[k] >= lanes:
            k += 1
        return self.widths[k]

    cdef Py_ssize_t state_size(self, int lanes, Py_ssize_t forces) noexcept nogil:
        """Return the bytes of a state with `forces` entries of fext, and of its workspace."""
        cdef Py_ssize_t entries = 2 * self.nq + 7 * self.nv + forces + self.after_a
        return lanes * entries * self.bytes + self.workspace_size(lanes)

    cdef void carve(self, State *s, int lanes, Py_ssize_t forces, char *memory) noexcept nogil:
        """Set the pointers of a state that lies in memory."""
        cdef Py_ssize_t w
        s.forces = forces
        s.lanes, s.width = lanes, 1 if lanes == 1 else self.width
        s.entry = w = s.width * self.bytes
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
        s.work = memory + s.to_block * (lanes // s.width)

    cdef void evaluate(self, State *s) noexcept nogil:
        """Compute a, NaN for configurations of which anything is not finite."""
        cdef const StageKernels *k = self.stage_kernels(s)
        cdef Py_ssize_t b
        cdef char *x
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
        if are_finite(self.kind, self.nv * s.width, s.x + s.a) \
                or not are_finite(self.kind, size * s.width, s.x):
            return
        s.failure.step = s.step
        if s.failure.state != NULL:
            for e in range(size):
                memcpy(s.failure.state + e * self.bytes, s.x + e * s.entry, self.bytes)

    cdef void step_euler(self, State *s, double h) noexcept nogil:
        """v <- v + h a, q <- q exp(h v)."""
        self.evaluate(s)
        self.move_euler(s, h)

    cdef void move_euler(self, State *s, double h) noexcept nogil:
        """v <- v + h a, q <- q exp(h v), with a that is known."""
        cdef const StageKernels *k = self.stage_kernels(s)
        cdef Py_ssize_t b
        cdef char *x
        for b in range(s.lanes // s.width):
            x = s.x + b * s.to_block
            k.add(self.nv, x + s.a, h, x + s.v, x + s.v)
            self.move(s, x, x + s.v, h, x)

    cdef void step_rk4(self, State *s, double h) noexcept nogil:
        """Classical Runge-Kutta for v, and Munthe-Kaas' form of it for q, whose stages are exponentials of u.

            u2 = h/2 v1    u3 = h/2 v2 + h^2/8 [v1, v2]    u4 = h v3
            u = h/6 (v1 + 2 v2 + 2 v3 + v4) + h^2/12 [v1, v4]
        """
        cdef const StageKernels *k = self.stage_kernels(s)
        cdef Py_ssize_t b, n = self.nv
        cdef int stage
        cdef double weight, length
        cdef char *x
        for stage in range(4):
            self.evaluate(s)
            weight, length = 2.0 if 0 < stage < 3 else 1.0, h if stage == 2 else 0.5 * h
            for b in range(s.lanes // s.width):
                x = s.x + b * s.to_block
                if stage == 0:
                    memcpy(x + s.q0, x, (self.nq + n) * s.entry)
                    memset(x + s.sum_a, 0, 2 * n * s.entry)
                k.add(n, x + s.a, weight, x + s.sum_a, x + s.sum_a)
                k.add(n, x + s.v, weight, x + s.sum_v, x + s.sum_v)
                if stage < 3:
                    memcpy(x + s.u, x + s.v, n * s.entry)
                    if stage == 1:
                        k.add_commutator(self.runs, self.count, x + s.v0, x + s.v, 0.25 * h, x + s.u)
                    self.move(s, x + s.q0, x + s.u, length, x)
                    k.add(n, x + s.a, length, x + s.v0, x + s.v)
                else:
                    k.add_commutator(self.runs, self.count, x + s.v0, x + s.v, 0.5 * h, x + s.sum_v)
                    self.move(s, x + s.q0, x + s.sum_v, h / 6.0, x)
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
        cdef Py_ssize_t doubles = self.bodies.gathered_size() + ALIGNED + self.forward.workspace_size(lanes)
        return doubles * sizeof(double)

    cdef void accelerate(self, State *s) noexcept nogil:
        cdef double *work = <double *> s.work
        cdef Mechanism m = self.bodies.mechanism(s.block, work)
        cdef Py_ssize_t failed[LANES]
        cdef const double *x[4]
        cdef double *a = <double *> (s.x + s.a)
        cdef Py_ssize_t k
        cdef int lane
        x[0], x[1] = <const double *> s.x, <const double *> (s.x + s.v)
        x[2], x[3] = <const double *> (s.x + s.tau), <const double *> (s.x + s.fext) if s.forces else NULL
        for lane in range(s.lanes):
            failed[lane] = FACTORIZED
        self.forward.compute(&m, s.lanes, x, &a, failed, align(work + self.bodies.gathered_size()))
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
        self.simulation, self.method, self.kind = simulation, METHODS.index(method), simulation.kind
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
            self.single[Q + k].to_next = self.result[k].size * simulation.bytes
        self.gather, self.takes_long = tuple, whole

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        cdef Failure failure
        cdef int done
        failure.state = NULL
        if not (all_finite(1, x[H]) and self.is_configuration(<const char *> x[Q0], 1)):
            return False
        done = self.integrate(x, out, NULL)
        if done == 0:                                # once more, as few motions diverge, or fail
            done = self.integrate(x, out, &failure)
        return done == 1

    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t *failed,
                           Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
        cdef Operand x[ARRAYS]
        cdef int lanes = self.simulation.widths[0]
        cdef char *memory
        memcpy(x, operands, (H + 1) * sizeof(Operand))
        x[TAU].size = self.bodies.nv                 # if absent, too
        memcpy(&x[Q], &self.single[Q], 2 * sizeof(Operand))
        x[Q].data, x[V].data = to[0], to[1]
        while lanes > LANES * (stop - first) and lanes > self.simulation.width:
            lanes = self.simulation.narrower(lanes)
        memory = <char *> malloc(self.simulation.state_size(lanes, x[FEXT].size) + ALIGNMENT)
        if memory == NULL:
            return False
        self.run_groups(lanes, batch, x, first, stop, <char *> align(<double *> memory), NULL)
        free(memory)
        return True

    cpdef tuple run_alone(self, model, tuple arrays):
        """Return the states of a motion with an infinite acceleration; raise the error of a bad pivot."""
        cdef const double *x[MOST_ARRAYS]
        cdef double *y[2]
        cdef PyObject *given[MOST_ARRAYS]
        cdef double numbers[MOST_ARRAYS]
        cdef Failure failure
        cdef cnp.ndarray state = np.empty(
            self.bodies.nq + 2 * self.bodies.nv + 6 * self.bodies.m.joints, self.dtype)
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
        failure.state = state.data
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
        cdef int lanes = 1 if self.simulation.has_one else self.simulation.width, done = 1, k
        cdef char *memory
        cdef char *rest
        for k in range(H + 1):
            operands[k] = self.single[k]
            operands[k].data = <const char *> x[k]
        if x[FEXT] == NULL:
            operands[FEXT].size = 0
        if failure != NULL:
            failure.step = -1
        size = self.single[Q].to_next + self.single[V].to_next + ALIGNMENT
        memory = <char *> malloc(size + self.simulation.state_size(lanes, operands[FEXT].size))
        if memory == NULL:
            return -1
        operands[Q], operands[V] = self.single[Q], self.single[V]
        operands[Q].data, operands[V].data = memory, memory + self.single[Q].to_next
        rest = <char *> align(<double *> (memory + size - ALIGNMENT))
        self.run_groups(lanes, 1, operands, 0, 1, rest, failure)
        for k in range(2):
            done = done and are_finite(self.kind, operands[Q + k].size, operands[Q + k].data
                                       + (states - 1) * operands[Q + k].to_step)
        if failure != NULL and failure.step < 0:
            done = 1
            for k in range(H):
                done = done and (x[k] == NULL or are_finite(self.kind, self.input[k].size, x[k]))
        for k in range(2 if done or failure != NULL and failure.state != NULL else 0):
            memcpy(out[k], operands[Q + k].data, operands[Q + k].to_next)
        free(memory)
        return done

    cdef void run_groups(self, int lanes, Py_ssize_t batch, const Operand *x, Py_ssize_t first,
                         Py_ssize_t stop, char *memory, Failure *failure) noexcept nogil:
        """Integrate the blocks first .. stop-1 of 8 motions, at most `lanes` at once."""
        cdef State s
        cdef Py_ssize_t count
        cdef uint64_t before = flush_subnormals() if self.kind == cnp.NPY_FLOAT else 0
        s.lanes, s.failure = 0, failure
        while first < stop:
            while lanes > LANES * (stop - first) and lanes > self.simulation.width:
                lanes = self.simulation.narrower(lanes)
            if lanes != s.lanes:
                self.simulation.carve(&s, lanes, x[FEXT].size, memory)
                self.simulation.prepare(&s)
            count = min(<Py_ssize_t> lanes, min(batch, LANES * stop) - LANES * first)
            self.run_group(x, &s, LANES * first, count)
            first += max(1, lanes // LANES)
        if self.kind == cnp.NPY_FLOAT:
            restore_subnormals(before)

    cdef bint is_configuration(self, const char *q, int step) noexcept nogil:
        """Return whether all quaternions and (cos, sin) have unit length; entries of q are `step` apart."""
        if self.kind == cnp.NPY_FLOAT:
            return are_unit_vectors(self.bodies.units, self.bodies.unit, <const float *> q, step, unit_square)
        return self.bodies.is_configuration(<const double *> q, step)

    cdef void begin_group(self, const Operand *x, State *s, Py_ssize_t first,
                          Py_ssize_t count) noexcept nogil:
        """Fetch the initial states, store them if wanted, and spoil those that are not configurations."""
        cdef Py_ssize_t b, lane
        cdef char *at
        fetch(self.simulation, s, 0, &x[Q0], 0, first, count)
        fetch(self.simulation, s, s.v, &x[V0], 0, first, count)
        if self.steps:
            fetch(self.simulation, s, s.tau, &x[TAU], 0, first, count)
            fetch(self.simulation, s, s.fext, &x[FEXT], 0, first, count)
        if self.whole:
            put(self.simulation, s, 0, &x[Q], 0, first, count)
            put(self.simulation, s, s.v, &x[V], 0, first, count)
        for b in range(s.lanes // s.width if self.bodies.units else 0):
            for lane in range(s.width):
                at = s.x + b * s.to_block + lane * self.simulation.bytes
                if self.is_configuration(at, s.width):
                    continue
                if self.kind == cnp.NPY_FLOAT:
                    (<float *> (at + s.v))[0] = NAN
                else:
                    (<double *> (at + s.v))[0] = NAN

    cdef void run_group(self, const Operand *x, State *s, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        """Integrate `count` motions, at most s.lanes, from the first one on."""
        cdef double h = (<const double *> x[H].data)[0]
        cdef Py_ssize_t t
        s.block = first // LANES
        self.begin_group(x, s, first, count)
        for t in range(self.steps):
            s.step = t
            if t and x[TAU].to_step:
                fetch(self.simulation, s, s.tau, &x[TAU], t, first, count)
            if t and x[FEXT].to_step:
                fetch(self.simulation, s, s.fext, &x[FEXT], t, first, count)
            prefetch(&x[TAU], t + 1, first, count, self.simulation.bytes, 0)
            prefetch(&x[Q], t + self.whole, first, count, self.simulation.bytes, 1)
            prefetch(&x[V], t + self.whole, first, count, self.simulation.bytes, 1)
            if self.method == RK4:
                self.simulation.step_rk4(s, h)
            else:
                self.simulation.step_euler(s, h)
            put(self.simulation, s, 0, &x[Q], t + self.whole, first, count)
            put(self.simulation, s, s.v, &x[V], t + self.whole, first, count)


cdef class Step(Rollout):
    """State after one step, by the recursions."""

    def __init__(self, model, method):
        Rollout.__init__(self, model, Recursive(model), method)


cdef class Trajectory(Rollout):
    """States after every step, by the recursions; of steps or count, the number of forces, one is there."""

    def __init__(self, model, steps, method, Py_ssize_t count):
        cdef bint each = steps is None
        Rollout.__init__(self, model, Recursive(model), method, count if each else steps, each)


cdef inline bint are_finite(int kind, Py_ssize_t n, const void *x) noexcept nogil:
    """Return whether no entry is NaN or infinite."""
    cdef float nothing = 0
    cdef Py_ssize_t k
    if kind == cnp.NPY_DOUBLE:
        return all_finite(n, <const double *> x)
    for k in range(n):
        nothing += 0 * (<const float *> x)[k]
    return nothing == 0


cdef inline void fetch(Simulation simulation, const State *s, Py_ssize_t at, const Operand *series,
                       Py_ssize_t step, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Copy vectors of a step to bytes `at` of the blocks; an absent argument has zeros, or no entries.

    Unused lanes repeat the first one of their block.
    """
    cdef const char *source = series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t b
    if series.data == NULL:
        for b in range(s.lanes // s.width):
            memset(s.x + b * s.to_block + at, 0, series.size * s.entry)
        return
    if s.lanes == 1:
        memcpy(s.x + at, source, series.size * s.entry)
        return
    for b in range(s.lanes // s.width):
        simulation.load(series, source, <int> min(count, <Py_ssize_t> s.width), s.x + b * s.to_block + at)
        source += s.width * series.to_next
        count -= s.width


cdef inline void prefetch(const Operand *series, Py_ssize_t step, Py_ssize_t first, Py_ssize_t count,
                          Py_ssize_t number_bytes, int write) noexcept nogil:
    """Fetch the vectors of a step into the cache, if every step has its own; they may not exist."""
    cdef const char *x = series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t k
    if series.to_step:
        for k in range(count):
            prefetch_bytes(x + k * series.to_next, series.size * number_bytes, write)


cdef inline void put(Simulation simulation, const State *s, Py_ssize_t at, const Operand *series,
                     Py_ssize_t step, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Copy vectors of a step from bytes `at` of the blocks to a result."""
    cdef char *target = <char *> series.data + first * series.to_next + step * series.to_step
    cdef Py_ssize_t b
    if s.lanes == 1:
        memcpy(target, s.x + at, series.size * s.entry)
        return
    for b in range(s.lanes // s.width):
        simulation.store(s.x + b * s.to_block + at, series.size, <int> min(count, <Py_ssize_t> s.width),
                         target, series.to_next)
        target += s.width * series.to_next
        count -= s.width
