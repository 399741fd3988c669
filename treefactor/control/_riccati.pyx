"""Run Riccati sweeps along motions, and motions with the gains that they give, on validated arrays."""

cimport numpy as cnp
from libc.math cimport INFINITY, NAN, fabs
from libc.stdint cimport int8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ..dynamics._model_function cimport ModelFunction
from ..dynamics._rollouts cimport Simulation, State
from ..model._configurations cimport CIRCLE, LINEAR, Configurations, Coordinates, configuration_kernels
from ..tree._operands cimport ALIGNED, LANES, align
from ..tree._pattern cimport FACTORIZED, active
from ._costs cimport CostDerivatives, Terms, gather

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/control/riccati.h"
    #include "kernels/common/choose.h"
    CHOOSE(RiccatiTable, riccati)

    /* Fetch bytes into the cache; they may not exist. */
    static inline void prefetch(const void *x, ptrdiff_t size)
    {
        for (ptrdiff_t at = 0; at < size; at += 64) __builtin_prefetch((const char *)x + at);
    }
    """
    ctypedef struct Series:
        const double *data
        Py_ssize_t to_problem, to_stage

    ctypedef struct Sweep:
        Py_ssize_t n, nu, steps
        double h
        const Coordinates *curved
        Py_ssize_t curved_count
        Series by_q, by_v, by_u, step_by_q, step_by_v, gradient, diagonal, hessian, gaps, u
        Py_ssize_t first, size
        const double *lower
        const double *upper
        const double *regularization
        double *gains
        double *feedforward
        double *slope
        double *pull
        int8_t *failed

    ctypedef void (*SweepKernel)(const Sweep *, const Py_ssize_t *problem, Py_ssize_t first, Py_ssize_t stop,
                                 double *scratch) noexcept nogil

    ctypedef struct RiccatiTable:
        Py_ssize_t side
        SweepKernel one
        SweepKernel lanes
        Py_ssize_t (*one_scratch)(const Sweep *) noexcept nogil
        Py_ssize_t (*lanes_scratch)(const Sweep *) noexcept nogil
        void (*control)(Py_ssize_t nu, Py_ssize_t states, const double *K, const double *x, const double *k,
                        const double *length, double *u) noexcept nogil
        void (*control_of_one)(Py_ssize_t nu, Py_ssize_t states, const double *K, const double *x,
                               const double *k, const double *length, double *u) noexcept nogil

    void prefetch(const void *x, Py_ssize_t size) nogil
    const RiccatiTable *riccati_for(const char *name) nogil

cdef const RiccatiTable *kernels = riccati_for(active.name)
SIDE = kernels.side
cdef enum:
    MOST_STAGES = 12             # whose derivatives are computed before a sweep goes on,
    CACHED = 1 << 15             # and their numbers, which stay in the cache


cdef void describe(Series *series, cnp.ndarray x, bint lanes) noexcept:
    """Describe an array (B, T, ...) of contiguous problems, or (T, ..., 8) of problems side by side."""
    series.data, series.to_problem, series.to_stage = NULL, 0, 0
    if x is not None:
        series.data = <const double *> x.data
        series.to_problem = 0 if lanes else x.strides[0] // <Py_ssize_t> sizeof(double)
        series.to_stage = x.strides[0 if lanes else 1] // <Py_ssize_t> sizeof(double)


cdef class Sweeps:
    """Sweeps along motions of one model.

    Parameters
    ----------
    configurations : Configurations
        Of the model.
    controls : int
        Numbers of a control.

    Attributes
    ----------
    entries : int
        Of the derivatives of a step of configurations: those of the blocks of rotations.
    """

    cdef Coordinates *curved
    cdef Py_ssize_t curved_count, n, nu
    cdef readonly Py_ssize_t entries

    def __cinit__(self, Configurations configurations not None, Py_ssize_t controls, *_):
        cdef Py_ssize_t k
        self.n, self.nu = configurations.nv, controls
        self.curved = <Coordinates *> malloc(max(<Py_ssize_t> 1, configurations.count) * sizeof(Coordinates))
        if self.curved == NULL:
            raise MemoryError
        for k in range(configurations.count):
            if configurations.runs[k].group != LINEAR and configurations.runs[k].group != CIRCLE:
                self.curved[self.curved_count] = configurations.runs[k]
                self.entries += self.curved[self.curved_count].nv ** 2
                self.curved_count += 1

    def __dealloc__(self):
        free(self.curved)

    cdef int set_problems(self, Sweep *s, double h, tuple limits, tuple gaps, cnp.ndarray regularization,
                          tuple results) except -1:
        """Set all but the derivatives of a sweep."""
        cdef cnp.ndarray gains, feedforward, slope, failed, lower, upper, pull
        gains, feedforward, slope, failed = results
        s.n, s.nu, s.steps, s.h = self.n, self.nu, gains.shape[1], h
        s.curved, s.curved_count = self.curved, self.curved_count
        describe(&s.u, None if limits is None else limits[0], False)
        describe(&s.gaps, None if gaps is None else gaps[0], False)
        if gaps is not None:
            pull = gaps[1]
            s.pull = <double *> pull.data
        if limits is not None:
            lower, upper = limits[1], limits[2]
            s.lower, s.upper = <const double *> lower.data, <const double *> upper.data
        s.regularization = <const double *> regularization.data
        s.gains, s.feedforward = <double *> gains.data, <double *> feedforward.data
        s.slope, s.failed = <double *> slope.data, <int8_t *> failed.data
        return 0

    def run(self, double h, tuple dynamics not None, tuple transport not None, tuple costs not None,
            tuple limits, tuple gaps, cnp.ndarray regularization not None, tuple results not None,
            bint lanes):
        """Sweep problems one after the other, or as many as stand side by side at once.

        Parameters
        ----------
        h : float
        dynamics : tuple of ndarray
            Derivatives of accelerations by q, v and controls: (B, T, nv, nv) twice and (B, T, nv, nu); in
            lanes (T, nv, nv, 8) and so on.
        transport : tuple of ndarray
            Of a step of q by q and by v: (B, T, entries) twice; read if there are ``entries``.
        costs : tuple
            Gradients (B, T + 1, m), diagonals (B, T + 1, m) and Hessians (B, T + 1, l, l), and the first
            entry of (u, q, v) of these.
        limits : tuple of ndarray, or None
            Controls (B, T, nu), and their lower and upper limits (nu,).
        gaps : tuple of ndarray, or None
            Between the ends of steps and the next states, and C-contiguous what receives V times them:
            (B, T, 2 nv) twice.
        regularization : ndarray, shape (B,)
        results : tuple of ndarray
            C-contiguous gains (B, T, nu, 2 nv), feedforward (B, T, nu), slopes (B, 2), and whether a pivot
            was not positive, int8 (B,).
        lanes : bool
        """
        cdef Sweep s
        cdef Py_ssize_t problem[LANES]
        cdef Py_ssize_t b, k, count = len(regularization)
        cdef SweepKernel kernel = kernels.lanes if lanes else kernels.one
        cdef double *memory
        self.set_problems(&s, h, limits, gaps, regularization, results)
        describe(&s.by_q, dynamics[0], lanes)
        describe(&s.by_v, dynamics[1], lanes)
        describe(&s.by_u, dynamics[2], lanes)
        describe(&s.step_by_q, transport[0], lanes)
        describe(&s.step_by_v, transport[1], lanes)
        describe(&s.gradient, costs[0], lanes)
        describe(&s.diagonal, costs[1], lanes)
        describe(&s.hessian, costs[2], lanes)
        s.first, s.size = costs[3], costs[2].shape[2 - lanes]
        memory = <double *> malloc(
            64 + (kernels.lanes_scratch(&s) if lanes else kernels.one_scratch(&s)) * sizeof(double))
        if memory == NULL:
            raise MemoryError
        for b in range(1 if lanes else count):
            for k in range(kernels.side):
                problem[k] = min(b + k, count - 1)
            kernel(&s, problem, 0, s.steps, align(memory))
        free(memory)


ctypedef struct Layout:          # first entries in what belongs to a stage
    Py_ssize_t by_v, by_u, step_by_q, step_by_v, gradient, diagonal, hessian, record

ctypedef struct Motions:         # of all problems
    const double *q
    const double *v
    const double *u
    const double *gaps           # NULL: there are none
    const double *gradient       # of functions of the user, of some problems; NULL: there are none
    const double *hessian


cdef class BackwardPasses(Sweeps):
    """Derivatives along motions, and sweeps: of 8 problems side by side, or of one whose stages are.

    Parameters
    ----------
    configurations : Configurations
        Of the model.
    controls : int
        Numbers of a control.
    derivatives : ForwardDynamicsDerivatives
    terms : Terms
    actuation : tuple of ndarray, or None
        Forces are the sums of factors times controls: rows, columns (intp) and factors (float64). None: they
        are the controls.
    custom : bool
        Whether there are derivatives of functions of the user.
    """

    cdef ModelFunction derivatives
    cdef Terms terms
    cdef Py_ssize_t nq, first, size, stages
    cdef Py_ssize_t actuators    # entries of the actuation
    cdef const Py_ssize_t *row
    cdef const Py_ssize_t *column
    cdef const double *factor
    cdef tuple actuation
    cdef Layout at

    def __init__(self, Configurations configurations, Py_ssize_t controls,
                 ModelFunction derivatives not None, Terms terms not None, tuple actuation, bint custom):
        cdef Py_ssize_t n = self.n, nu = self.nu, m = nu + 2 * n
        cdef cnp.ndarray rows, columns, factors
        self.derivatives, self.terms, self.actuation = derivatives, terms, actuation
        self.nq, self.first, self.size = configurations.nq, terms.first, terms.size
        if custom:
            self.first, self.size = 0, m
        if actuation is not None:
            rows, columns, factors = actuation
            self.actuators, self.row = len(rows), <const Py_ssize_t *> rows.data
            self.column, self.factor = <const Py_ssize_t *> columns.data, <const double *> factors.data
        self.at.by_v, self.at.by_u = n * n, 2 * n * n
        self.at.step_by_q = self.at.by_u + n * nu
        self.at.step_by_v = self.at.step_by_q + self.entries
        self.at.gradient = self.at.step_by_v + self.entries
        self.at.diagonal = self.at.gradient + m
        self.at.hessian = self.at.diagonal + m
        self.at.record = self.at.hessian + self.size * self.size
        self.stages = max(1, min(MOST_STAGES, CACHED // (LANES * self.at.record)))

    cdef Py_ssize_t fill_size(self) noexcept nogil:
        """Return the doubles that `fill` needs, aligned to 64 bytes."""
        cdef Py_ssize_t n = self.n
        cdef Py_ssize_t dynamics = LANES * n * n + self.derivatives.workspace_size(LANES) + ALIGNED
        return LANES * (self.nq + 3 * n + self.nu) + max(dynamics, self.terms.workspace_size())

    cdef void fill(self, const Motions *x, Py_ssize_t steps, double h, const Py_ssize_t *problem,
                   const Py_ssize_t *row, const Py_ssize_t *time, double *to, double *work) noexcept nogil:
        """Write the derivatives of 8 stages, of problems at times, side by side."""
        cdef Py_ssize_t stage[LANES]
        cdef Py_ssize_t k
        cdef bint end = True
        for k in range(LANES):
            stage[k] = min(time[k], steps - 1)
            end = end and time[k] == steps
        if not end:
            self.fill_dynamics(x, steps, h, problem, stage, to, work)
        self.fill_costs(x, steps, problem, row, time, to, work)

    cdef void load_state(self, const Motions *x, Py_ssize_t steps, const Py_ssize_t *problem,
                         const Py_ssize_t *time, double *q, double *v, double *u) noexcept nogil:
        """Fetch states and controls of problems at times, at the end the last controls."""
        cdef Py_ssize_t at[LANES]
        cdef Py_ssize_t k
        for k in range(LANES):
            at[k] = (problem[k] * (steps + 1) + time[k]) * self.nq
        gather(x.q, at, 1, self.nq, q)
        for k in range(LANES):
            at[k] = (problem[k] * (steps + 1) + time[k]) * self.n
        gather(x.v, at, 1, self.n, v)
        for k in range(LANES):
            at[k] = (problem[k] * steps + min(time[k], steps - 1)) * self.nu
        gather(x.u, at, 1, self.nu, u)

    cdef void fill_dynamics(self, const Motions *x, Py_ssize_t steps, double h, const Py_ssize_t *problem,
                            const Py_ssize_t *time, double *to, double *work) noexcept nogil:
        """Write the derivatives of accelerations and of steps of configurations."""
        cdef Py_ssize_t n = self.n, nu = self.nu, k, e, i
        cdef Py_ssize_t failed[LANES]
        cdef Py_ssize_t at[LANES]
        cdef const double *state[4]
        cdef double *result[3]
        cdef double *q = work
        cdef double *v = q + LANES * self.nq
        cdef double *tau = v + LANES * n
        cdef double *next_v = tau + LANES * n
        cdef double *u = next_v + LANES * n
        cdef double *by_tau = u + LANES * nu
        cdef const double *own
        cdef double *by_u = to + LANES * self.at.by_u
        self.load_state(x, steps, problem, time, q, v, u)
        state[0], state[1], state[2], state[3] = q, v, u, NULL
        result[0], result[1], result[2] = to, to + LANES * self.at.by_v, by_u
        if self.actuation is not None:
            self.write_forces(u, tau)
            state[2], result[2] = tau, by_tau
        for k in range(LANES):
            failed[k] = FACTORIZED
        self.derivatives.compute(self.derivatives.model, LANES, state, result, failed,
                                 align(by_tau + LANES * n * n))
        for k in range(LANES):
            if failed[k] != FACTORIZED:
                for e in range(n * n):
                    to[LANES * e + k] = NAN
        if self.actuation is not None:
            self.write_by_controls(by_tau, by_u)
        if self.entries:
            for k in range(LANES):
                at[k] = (problem[k] * (steps + 1) + time[k] + 1) * n
            gather(x.v, at, 1, n, next_v)
            for e in range(LANES * n):
                next_v[e] *= h
            for k in range(LANES if x.gaps != NULL else 0):
                own = x.gaps + (problem[k] * steps + time[k]) * 2 * n + n
                for e in range(n):
                    next_v[LANES * e + k] += h * own[e]
            for i in range(2):
                configuration_kernels.lanes.integrate_derivative(
                    self.curved, self.curved_count, q, next_v, <int> i,
                    to + LANES * (self.at.step_by_v if i else self.at.step_by_q))

    cdef void write_forces(self, const double *u, double *tau) noexcept nogil:
        """tau <- the generalized forces of controls."""
        cdef Py_ssize_t e, k
        memset(tau, 0, LANES * self.n * sizeof(double))
        for e in range(self.actuators):
            for k in range(LANES):
                tau[LANES * self.row[e] + k] += self.factor[e] * u[LANES * self.column[e] + k]

    cdef void write_by_controls(self, const double *by_tau, double *by_u) noexcept nogil:
        """by_u <- derivatives by controls, from those by generalized forces."""
        cdef Py_ssize_t e, i, k
        cdef const double *x
        cdef double *y
        memset(by_u, 0, LANES * self.n * self.nu * sizeof(double))
        for i in range(self.n):
            for e in range(self.actuators):
                x = by_tau + LANES * (i * self.n + self.row[e])
                y = by_u + LANES * (i * self.nu + self.column[e])
                for k in range(LANES):
                    y[k] += self.factor[e] * x[k]

    cdef void fill_costs(self, const Motions *x, Py_ssize_t steps, const Py_ssize_t *problem,
                         const Py_ssize_t *row, const Py_ssize_t *time, double *to,
                         double *work) noexcept nogil:
        """Write the derivatives of the costs."""
        cdef Py_ssize_t m = self.nu + 2 * self.n, size = self.size * self.size, k, e
        cdef CostDerivatives costs
        cdef double *q = work
        cdef double *v = q + LANES * self.nq
        cdef double *u = v + LANES * self.n
        cdef const double *own
        costs.g, costs.diagonal = to + LANES * self.at.gradient, to + LANES * self.at.diagonal
        costs.H, costs.first, costs.size = to + LANES * self.at.hessian, self.first, self.size
        memset(costs.g, 0, LANES * (2 * m + size) * sizeof(double))
        self.load_state(x, steps, problem, time, q, v, u)
        self.terms.add_derivatives(problem, time, q, v, u, &costs, align(u + LANES * self.nu))
        if x.gradient == NULL:
            return
        for k in range(LANES):
            own = x.gradient + (row[k] * (steps + 1) + time[k]) * m
            for e in range(m):
                costs.g[LANES * e + k] += own[e]
            own = x.hessian + (row[k] * (steps + 1) + time[k]) * size
            for e in range(size):
                costs.H[LANES * e + k] += own[e]

    cdef void set_stages(self, Sweep *s, const double *data, Py_ssize_t entry) noexcept nogil:
        """Set the derivatives of a sweep: records of stages from data on, of entries 1 or 8 apart."""
        cdef Series *all[8]
        cdef Py_ssize_t first[8]
        cdef int k
        all[0], all[1], all[2], all[3] = &s.by_q, &s.by_v, &s.by_u, &s.step_by_q
        all[4], all[5], all[6], all[7] = &s.step_by_v, &s.gradient, &s.diagonal, &s.hessian
        first[0], first[1], first[2], first[3] = 0, self.at.by_v, self.at.by_u, self.at.step_by_q
        first[4], first[5] = self.at.step_by_v, self.at.gradient
        first[6], first[7] = self.at.diagonal, self.at.hessian
        for k in range(8):
            all[k].data, all[k].to_problem = data + entry * first[k], 0
            all[k].to_stage = entry * self.at.record

    def improve(self, double h, tuple motion not None, tuple custom, tuple limits, tuple gaps,
                cnp.ndarray problem not None, cnp.ndarray regularization not None, tuple results not None,
                double factor, double largest, Py_ssize_t first, Py_ssize_t stop):
        """Find the gains of the problems problem[first .. stop-1]; the others change no bit of them.

        Where a pivot is not positive, the regularization grows until all are.

        Parameters
        ----------
        h : float
        motion : tuple of ndarray
            C-contiguous q (B, T + 1, nq), v (B, T + 1, nv) and u (B, T, nu).
        custom : tuple of ndarray, or None
            C-contiguous gradients (A, T + 1, m) and Hessians (A, T + 1, m, m) of these problems.
        limits : tuple of ndarray, or None
            Lower and upper ones of the controls, (nu,).
        gaps : tuple of ndarray, or None
            Of all problems: those of `run`.
        problem : ndarray of intp, shape (A,)
        regularization : ndarray, shape (B,)
        results : tuple of ndarray
            Of all problems: those of `run`. Slopes are NaN where no regularization was large enough.
        factor, largest : float
            By which it grows, and where that ends.
        """
        cdef Sweep s
        cdef Motions x
        cdef Py_ssize_t count, size, side = LANES // 2
        cdef cnp.ndarray q = motion[0], v = motion[1], u = motion[2], gradient, hessian, gap
        cdef double *memory
        x.q, x.v, x.u = <const double *> q.data, <const double *> v.data, <const double *> u.data
        x.gaps, x.gradient, x.hessian = NULL, NULL, NULL
        if gaps is not None:
            gap = gaps[0]
            x.gaps = <const double *> gap.data
        if custom is not None:
            gradient, hessian = custom
            x.gradient, x.hessian = <const double *> gradient.data, <const double *> hessian.data
        self.set_problems(&s, h, None if limits is None else (u, *limits), gaps, regularization, results)
        s.first, s.size = self.first, self.size
        size = LANES * self.at.record * (self.stages + 1) + (s.steps + 1) * self.at.record + self.fill_size()
        size += max(kernels.one_scratch(&s), LANES // kernels.side * (kernels.lanes_scratch(&s) + ALIGNED))
        memory = <double *> malloc(64 + (size + 4 * ALIGNED) * sizeof(double))
        if memory == NULL:
            raise MemoryError
        with nogil:
            while first < stop:
                count = min(<Py_ssize_t> LANES, stop - first)
                if count > side:
                    self.improve_block(&s, &x, <const Py_ssize_t *> problem.data, first, count, factor,
                                       largest, align(memory))
                else:
                    count = 1
                    self.improve_one(&s, &x, (<const Py_ssize_t *> problem.data)[first], first, factor,
                                     largest, align(memory))
                first += count
        free(memory)

    cdef bint is_unsolved(self, const Sweep *s, Py_ssize_t problem, double factor,
                          double largest) noexcept nogil:
        """Return whether a problem must be swept again, with more regularization."""
        cdef double *mu = <double *> s.regularization + problem
        cdef double fall = s.slope[2 * problem]
        if not s.failed[problem] and -INFINITY < fall < INFINITY:
            return False
        mu[0] *= factor
        s.slope[2 * problem] = s.slope[2 * problem + 1] = NAN
        return mu[0] < largest

    cdef void improve_one(self, Sweep *s, const Motions *x, Py_ssize_t problem, Py_ssize_t row, double factor,
                          double largest, double *memory) noexcept nogil:
        """Find the gains of one problem: derivatives of 8 stages side by side, then the sweep."""
        cdef Py_ssize_t record = self.at.record, t = 0, k, count
        cdef Py_ssize_t problems[LANES]
        cdef Py_ssize_t rows[LANES]
        cdef Py_ssize_t time[LANES]
        cdef double *stages = memory
        cdef double *block = align(stages + (s.steps + 1) * record)
        cdef double *work = align(block + LANES * record)
        while t <= s.steps:
            count = min(<Py_ssize_t> LANES, s.steps + 1 - t)
            for k in range(LANES):
                problems[k], rows[k], time[k] = problem, row, min(t + k, s.steps)
            self.fill(x, s.steps, s.h, problems, rows, time, block, work)
            active.lanes.store(record, <int> count, block, <char *> (stages + t * record),
                               record * <Py_ssize_t> sizeof(double))
            t += LANES
        self.set_stages(s, stages, 1)
        while True:
            kernels.one(s, problems, 0, s.steps, work)
            if not self.is_unsolved(s, problem, factor, largest):
                break

    cdef void improve_block(self, Sweep *s, const Motions *x, const Py_ssize_t *problem, Py_ssize_t first,
                            Py_ssize_t count, double factor, double largest, double *memory) noexcept nogil:
        """Find the gains of up to 8 problems: derivatives of some stages of all, then sweeps over these."""
        cdef Py_ssize_t record = self.at.record, begin, end, t, k, j, scratch
        cdef Py_ssize_t problems[LANES]
        cdef Py_ssize_t rows[LANES]
        cdef Py_ssize_t time[LANES]
        cdef bint open_[LANES]
        cdef bint again = True, needed
        cdef double *stages = memory
        cdef double *work = align(stages + LANES * (self.stages + 1) * record)
        cdef double *sweeps = align(work + self.fill_size())
        scratch = (kernels.lanes_scratch(s) + ALIGNED - 1) // ALIGNED * ALIGNED
        for k in range(LANES):
            rows[k] = first + min(k, count - 1)
            problems[k], open_[k] = problem[rows[k]], k < count
        while again:
            end = s.steps
            while end > 0:
                begin = max(<Py_ssize_t> 0, end - self.stages)
                for t in range(begin, end + (end == s.steps)):
                    for k in range(LANES):
                        time[k] = t
                    self.fill(x, s.steps, s.h, problems, rows, time, stages + (t - begin) * LANES * record,
                              work)
                k = 0
                while k < count:
                    needed = False
                    for j in range(k, min(k + kernels.side, count)):
                        needed = needed or open_[j]
                    if needed:
                        self.set_stages(s, stages - begin * LANES * record + k, LANES)
                        kernels.lanes(s, problems + k, begin, end, sweeps + k // kernels.side * scratch)
                    k += kernels.side
                end = begin
            again = False
            for k in range(count):
                if open_[k]:
                    open_[k] = self.is_unsolved(s, problems[k], factor, largest)
                    again = again or open_[k]


cdef class FeedbackRollouts:
    """Motions with controls that depend on the deviation from other motions, 8 side by side.

    Parameters
    ----------
    simulation : Simulation
        In double precision.
    rows, columns, factors : ndarray
        Forces are the sums of factors times controls: intp, intp and float64 of the same length.
    controls : int
    terms : Terms
        Of the costs.
    """

    cdef Simulation simulation
    cdef Terms terms
    cdef cnp.ndarray rows, columns, factors
    cdef Py_ssize_t nu

    def __init__(self, Simulation simulation not None, cnp.ndarray rows not None,
                 cnp.ndarray columns not None, cnp.ndarray factors not None, Py_ssize_t controls,
                 Terms terms not None):
        self.simulation, self.nu, self.terms = simulation, controls, terms
        self.rows, self.columns, self.factors = rows, columns, factors

    def run(self, double h, tuple reference not None, tuple law not None, cnp.ndarray problem not None,
            cnp.ndarray length not None, tuple limits, tuple results not None, Py_ssize_t first,
            Py_ssize_t stop):
        """Compute motions first .. stop-1: of some problems with every step length, which vary fastest.

        Parameters
        ----------
        h : float
        reference : tuple of ndarray
            C-contiguous q (B, T + 1, nq), v (B, T + 1, nv) and u (B, T, nu).
        law : tuple of ndarray
            C-contiguous gains (B, T, nu, 2 nv), feedforward (B, T, nu), and gaps (B, T, 2 nv) or None: a step
            of length s leaves 1 - s of them.
        problem : ndarray of intp, shape (A,)
            In ascending order.
        length : ndarray, shape (S,)
        limits : tuple of ndarray, or None
            Lower and upper ones of the controls, (nu,).
        results : tuple of ndarray
            C-contiguous q, v and u as those of the reference, for A S motions, and their costs (A S,).
        """
        cdef Simulation simulation = self.simulation
        cdef Py_ssize_t nq = simulation.nq, nv = simulation.nv, nu = self.nu, steps = law[0].shape[1]
        cdef Py_ssize_t size = LANES * (nq + 4 * nv + nu * (2 * nv + 2) + 1) + 16, k, r, e, t, entries
        cdef Py_ssize_t chosen[LANES]
        cdef Py_ssize_t to[LANES]
        cdef cnp.ndarray q0 = reference[0], v0 = reference[1], u0 = reference[2]
        cdef cnp.ndarray gains = law[0], forward = law[1], gaps = law[2], low, high
        cdef const double *lower = NULL
        cdef const double *upper = NULL
        cdef cnp.ndarray q1 = results[0], v1 = results[1], u1 = results[2], cost = results[3]
        cdef const Py_ssize_t *row = <const Py_ssize_t *> self.rows.data
        cdef const Py_ssize_t *column = <const Py_ssize_t *> self.columns.data
        cdef const double *factor = <const double *> self.factors.data
        cdef Py_ssize_t count, tried = len(length)
        cdef double *memory
        cdef double *work
        cdef double *q
        cdef double *dx
        cdef double *K
        cdef double *forced
        cdef double *u
        cdef double *lengths
        cdef double *gap
        cdef const double *all_gaps = NULL
        cdef double *x
        cdef double *v
        cdef double *tau
        cdef State s
        size += self.terms.motion_size()
        memory = <double *> malloc(simulation.state_size(LANES, 0) + size * sizeof(double) + 192)
        if memory == NULL:
            raise MemoryError
        if limits is not None:
            low, high = limits
            lower, upper = <const double *> low.data, <const double *> high.data
        if gaps is not None:
            all_gaps = <const double *> gaps.data
        entries = self.rows.shape[0]
        with nogil:
            q = align(memory)
            dx = q + LANES * nq
            K = dx + LANES * 2 * nv
            forced = K + LANES * 2 * nv * nu
            u = forced + LANES * nu
            lengths = u + LANES * nu
            gap = lengths + LANES
            s.lanes, s.failure, s.step, s.block = 0, NULL, 0, 0
            work = align(gap + LANES * 2 * nv)
            simulation.carve(&s, LANES, 0, <char *> align(work + self.terms.motion_size()))
            simulation.prepare(&s)
            x, v, tau = <double *> s.x, <double *> (s.x + s.v), <double *> (s.x + s.tau)
            while first < stop:
                count = min(<Py_ssize_t> LANES, stop - first)
                for k in range(LANES):
                    r = min(first + k, stop - 1)
                    to[k], chosen[k] = r, (<Py_ssize_t *> problem.data)[r // tried]
                    lengths[k] = (<double *> length.data)[r % tried]
                gather(<double *> q0.data, chosen, (steps + 1) * nq, nq, x)
                gather(<double *> v0.data, chosen, (steps + 1) * nv, nv, v)
                scatter(x, nq, <double *> q1.data, to, (steps + 1) * nq)
                scatter(v, nv, <double *> v1.data, to, (steps + 1) * nv)
                for t in range(steps):
                    gather(<double *> q0.data + t * nq, chosen, (steps + 1) * nq, nq, q)
                    gather(<double *> v0.data + t * nv, chosen, (steps + 1) * nv, nv, dx + LANES * nv)
                    gather(<double *> u0.data + t * nu, chosen, steps * nu, nu, u)
                    configuration_kernels.lanes.difference(simulation.runs, simulation.count, q, x, dx)
                    for e in range(LANES * nv):
                        dx[LANES * nv + e] = v[e] - dx[LANES * nv + e]
                    if chosen[0] == chosen[LANES - 1]:           # rising, so that all are the same
                        r = chosen[0] * steps + t
                        kernels.control_of_one(nu, 2 * nv, <double *> gains.data + r * nu * 2 * nv, dx,
                                               <double *> forward.data + r * nu, lengths, u)
                    else:
                        gather(<double *> forward.data + t * nu, chosen, steps * nu, nu, forced)
                        gather(<double *> gains.data + t * nu * 2 * nv, chosen, steps * nu * 2 * nv,
                               nu * 2 * nv, K)
                        for k in range(LANES):
                            prefetch(<double *> gains.data + (chosen[k] * steps + t + 1) * nu * 2 * nv,
                                     nu * 2 * nv * <Py_ssize_t> sizeof(double))
                        kernels.control(nu, 2 * nv, K, dx, forced, lengths, u)
                    if lower != NULL:
                        for e in range(LANES * nu):
                            r = e // LANES
                            u[e] = lower[r] if u[e] < lower[r] else upper[r] if u[e] > upper[r] else u[e]
                    scatter(u, nu, <double *> u1.data + t * nu, to, steps * nu)
                    memset(tau, 0, LANES * nv * sizeof(double))
                    for r in range(entries):
                        for k in range(LANES):
                            tau[LANES * row[r] + k] += factor[r] * u[LANES * column[r] + k]
                    simulation.step_euler(&s, h)
                    if all_gaps != NULL:
                        gather(all_gaps + t * 2 * nv, chosen, steps * 2 * nv, 2 * nv, gap)
                        leave(simulation, gap, lengths, x, q, v)
                    scatter(x, nq, <double *> q1.data + (t + 1) * nq, to, (steps + 1) * nq)
                    scatter(v, nv, <double *> v1.data + (t + 1) * nv, to, (steps + 1) * nv)
                for k in range(count):
                    r = first + k
                    (<double *> cost.data)[r] = self.terms.value_of(
                        chosen[k], steps, <double *> q1.data + r * (steps + 1) * nq,
                        <double *> v1.data + r * (steps + 1) * nv, <double *> u1.data + r * steps * nu, work)
                first += LANES
        free(memory)


def first_enough(cnp.ndarray cost not None, cnp.ndarray length not None, cnp.ndarray before not None,
                 cnp.ndarray slope not None, cnp.ndarray pulled, double enough, double ascent, double flat):
    """Return the first step length of every problem that lowers its cost enough, -1 where none does.

    Parameters
    ----------
    cost : ndarray, shape (A S,)
        Of all problems with every length, which vary fastest.
    length : ndarray, shape (S,)
    before : ndarray, shape (A,)
    slope : ndarray, shape (A, 2)
        Costs shall fall by s slope_0 - s s / 2 slope_1.
    pulled : ndarray, shape (A S,), or None
        Added to the first slope, and twice to the second one.
    enough, ascent, flat : float
        Least part of an expected fall, largest part of an expected rise, and the slope below which rounding
        decides.

    Returns
    -------
    ndarray of intp, shape (A,)
    """
    cdef Py_ssize_t tried = len(length), k, j
    cdef cnp.ndarray best = np.full(len(before), -1, np.intp)
    cdef double linear, quadratic, expected, fall, s
    for k in range(len(best)):
        for j in range(tried):
            s = (<double *> length.data)[j]
            linear, quadratic = (<double *> slope.data)[2 * k], (<double *> slope.data)[2 * k + 1]
            if pulled is not None:
                linear += (<double *> pulled.data)[k * tried + j]
                quadratic += 2.0 * (<double *> pulled.data)[k * tried + j]
            expected = s * linear - 0.5 * s * s * quadratic
            fall = (<double *> before.data)[k] - (<double *> cost.data)[k * tried + j]
            if -INFINITY < fall < INFINITY and (
                    fall > (ascent if expected < 0.0 else enough) * expected or fabs(linear) < flat):
                (<Py_ssize_t *> best.data)[k] = j
                break
    return best


cdef inline void leave(Simulation simulation, double *gap, const double *length, double *x, double *q,
                       double *v) noexcept nogil:
    """Move states x, v to where they leave the rest of gaps; q is overwritten."""
    cdef Py_ssize_t e, nv = simulation.nv
    cdef bint full = True
    for e in range(LANES):
        full &= length[e] == 1.0
    if full:
        return
    for e in range(LANES * 2 * nv):
        gap[e] *= length[e % LANES] - 1.0
    configuration_kernels.lanes.integrate(simulation.runs, simulation.count, x, gap, 1.0, q)
    memcpy(x, q, LANES * simulation.nq * sizeof(double))
    for e in range(LANES * nv):
        v[e] += gap[LANES * nv + e]


cdef inline void scatter(const double *x, Py_ssize_t size, double *rows, const Py_ssize_t *to,
                         Py_ssize_t to_row) noexcept nogil:
    """Copy lanes to rows that follow each other; the last lanes may repeat a row."""
    cdef int count = <int> (to[LANES - 1] - to[0] + 1)
    active.lanes.store(size, count, x, <char *> (rows + to[0] * to_row), to_row * sizeof(double))
