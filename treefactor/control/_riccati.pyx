"""Run Riccati sweeps along motions, and motions with the gains that they give, on validated arrays."""

cimport numpy as cnp
from libc.stdint cimport int8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ..dynamics._rollouts cimport Simulation, State
from ..model._configurations cimport CIRCLE, LINEAR, Configurations, Coordinates, configuration_kernels
from ..tree._operands cimport LANES, align
from ..tree._pattern cimport active

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/control/riccati.h"
    #include "kernels/common/choose.h"
    CHOOSE(RiccatiTable, riccati)
    """
    ctypedef struct Series:
        const double *data
        Py_ssize_t to_problem, to_stage

    ctypedef struct Sweep:
        Py_ssize_t n, nu, steps
        double h
        const Coordinates *curved
        Py_ssize_t curved_count
        Series by_q, by_v, by_u, step_by_q, step_by_v, gradient, diagonal, hessian_q, hessian, gaps, u
        const double *lower
        const double *upper
        const double *regularization
        double *gains
        double *feedforward
        double *slope
        double *pull
        int8_t *failed

    ctypedef struct RiccatiTable:
        Py_ssize_t side
        void (*one)(const Sweep *, const Py_ssize_t *problem, double *scratch) noexcept nogil
        void (*lanes)(const Sweep *, const Py_ssize_t *problem, double *scratch) noexcept nogil
        Py_ssize_t (*one_scratch)(const Sweep *) noexcept nogil
        Py_ssize_t (*lanes_scratch)(const Sweep *) noexcept nogil
        void (*control)(Py_ssize_t nu, Py_ssize_t states, const double *K, const double *x, const double *k,
                        const double *length, double *u) noexcept nogil
        void (*add_squares)(Py_ssize_t rows, Py_ssize_t n, const double *J, const double *L,
                            const double *weight, const double *r, double *work, double *g, double *H,
                            Py_ssize_t ld) noexcept nogil

    const RiccatiTable *riccati_for(const char *name) nogil

cdef const RiccatiTable *kernels = riccati_for(active.name)
SIDE = kernels.side
cdef enum:
    MOST_SIDE = 8


cdef int describe(Series *series, cnp.ndarray x) except -1:
    """Describe an array (B or 1, T or 1, ...) whose stages are contiguous; None is absent."""
    series.data, series.to_problem, series.to_stage = NULL, 0, 0
    if x is not None:
        series.data = <const double *> x.data
        if x.shape[0] > 1:
            series.to_problem = x.strides[0] // <Py_ssize_t> sizeof(double)
        if x.shape[1] > 1:
            series.to_stage = x.strides[1] // <Py_ssize_t> sizeof(double)
    return 0


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
    curved : bool
        Whether steps of configurations have derivatives other than unit matrices.
    """

    cdef Coordinates *blocks
    cdef Py_ssize_t count, n, nu

    def __cinit__(self, Configurations configurations not None, Py_ssize_t controls):
        cdef Py_ssize_t k
        self.n, self.nu = configurations.nv, controls
        self.blocks = <Coordinates *> malloc(max(<Py_ssize_t> 1, configurations.count) * sizeof(Coordinates))
        if self.blocks == NULL:
            raise MemoryError
        for k in range(configurations.count):
            if configurations.runs[k].group != LINEAR and configurations.runs[k].group != CIRCLE:
                self.blocks[self.count] = configurations.runs[k]
                self.count += 1

    def __dealloc__(self):
        free(self.blocks)

    @property
    def curved(self):
        return self.count > 0

    def run(self, double h, tuple dynamics not None, tuple transport not None, tuple costs not None,
            tuple limits, tuple gaps, cnp.ndarray regularization not None, tuple results not None, bint lanes,
            Py_ssize_t first, Py_ssize_t stop):
        """Sweep blocks first .. stop-1 of problems: as many of them as stand side by side, or one.

        Parameters
        ----------
        h : float
        dynamics : tuple of ndarray
            Derivatives of accelerations by q, v and controls: (B, T, nv, nv) twice and (B, T, nv, nu).
        transport : tuple of ndarray
            Of a step of q by q and by v: (B, T, nv, nv) twice; read if ``curved``.
        costs : tuple of ndarray
            Gradients (B, T + 1, m), diagonals (B or 1, T + 1, m), Hessians by q (B, T + 1, nv, nv), and by
            (u, q, v) (B, T + 1, m, m) or None.
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
        cdef Py_ssize_t problem[MOST_SIDE]
        cdef Py_ssize_t b, k, size, side = kernels.side if lanes else 1
        cdef double *memory
        cdef double *scratch
        cdef cnp.ndarray gains, feedforward, slope, failed, lower, upper, pull
        gains, feedforward, slope, failed = results
        s.n, s.nu, s.steps, s.h = self.n, self.nu, gains.shape[1], h
        s.curved, s.curved_count = self.blocks, self.count
        describe(&s.by_q, dynamics[0])
        describe(&s.by_v, dynamics[1])
        describe(&s.by_u, dynamics[2])
        describe(&s.step_by_q, transport[0] if self.count else None)
        describe(&s.step_by_v, transport[1] if self.count else None)
        describe(&s.gradient, costs[0])
        describe(&s.diagonal, costs[1])
        describe(&s.hessian_q, costs[2])
        describe(&s.hessian, costs[3])
        describe(&s.u, None if limits is None else limits[0])
        describe(&s.gaps, None if gaps is None else gaps[0])
        if gaps is not None:
            pull = gaps[1]
            s.pull = <double *> pull.data
        if limits is not None:
            lower, upper = limits[1], limits[2]
            s.lower, s.upper = <const double *> lower.data, <const double *> upper.data
        s.regularization = <const double *> regularization.data
        s.gains, s.feedforward = <double *> gains.data, <double *> feedforward.data
        s.slope, s.failed = <double *> slope.data, <int8_t *> failed.data
        size = kernels.lanes_scratch(&s) if lanes else kernels.one_scratch(&s)
        memory = <double *> malloc(64 + size * sizeof(double))
        if memory == NULL:
            raise MemoryError
        with nogil:
            scratch = align(memory)
            for b in range(first, stop):
                for k in range(side):
                    problem[k] = min(b * side + k, gains.shape[0] - 1)
                if lanes:
                    kernels.lanes(&s, problem, scratch)
                else:
                    kernels.one(&s, problem, scratch)
        free(memory)


cdef class FeedbackRollouts:
    """Motions with controls that depend on the deviation from other motions, 8 side by side.

    Parameters
    ----------
    simulation : Simulation
        In double precision.
    rows, columns, factors : ndarray
        Forces are the sums of factors times controls: intp, intp and float64 of the same length.
    controls : int
    """

    cdef Simulation simulation
    cdef cnp.ndarray rows, columns, factors
    cdef Py_ssize_t nu

    def __init__(self, Simulation simulation not None, cnp.ndarray rows not None,
                 cnp.ndarray columns not None, cnp.ndarray factors not None, Py_ssize_t controls):
        self.simulation, self.nu = simulation, controls
        self.rows, self.columns, self.factors = rows, columns, factors

    def run(self, double h, tuple reference not None, tuple law not None, cnp.ndarray problem not None,
            cnp.ndarray length not None, tuple limits, tuple results not None, Py_ssize_t first,
            Py_ssize_t stop):
        """Compute motions first .. stop-1: of reference problem[k] with the step length[k], from its start.

        Parameters
        ----------
        h : float
        reference : tuple of ndarray
            C-contiguous q (B, T + 1, nq), v (B, T + 1, nv) and u (B, T, nu).
        law : tuple of ndarray
            C-contiguous gains (B, T, nu, 2 nv), feedforward (B, T, nu), and gaps (B, T, 2 nv) or None: a step
            of length s leaves 1 - s of them.
        problem, length : ndarray, shape (R,)
            intp and float64.
        limits : tuple of ndarray, or None
            Lower and upper ones of the controls, (nu,).
        results : tuple of ndarray
            C-contiguous q, v and u as those of the reference, for R motions.
        """
        cdef Simulation simulation = self.simulation
        cdef Py_ssize_t nq = simulation.nq, nv = simulation.nv, nu = self.nu, steps = law[0].shape[1]
        cdef Py_ssize_t size = LANES * (nq + 4 * nv + nu * (2 * nv + 2) + 1) + 8, k, r, e, t, entries
        cdef Py_ssize_t chosen[LANES]
        cdef Py_ssize_t to[LANES]
        cdef cnp.ndarray q0 = reference[0], v0 = reference[1], u0 = reference[2]
        cdef cnp.ndarray gains = law[0], forward = law[1], gaps = law[2], low, high
        cdef const double *lower = NULL
        cdef const double *upper = NULL
        cdef cnp.ndarray q1 = results[0], v1 = results[1], u1 = results[2]
        cdef const Py_ssize_t *row = <const Py_ssize_t *> self.rows.data
        cdef const Py_ssize_t *column = <const Py_ssize_t *> self.columns.data
        cdef const double *factor = <const double *> self.factors.data
        cdef double *memory = <double *> malloc(simulation.state_size(LANES, 0) + size * sizeof(double) + 128)
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
            simulation.carve(&s, LANES, 0, <char *> align(gap + LANES * 2 * nv))
            simulation.prepare(&s)
            x, v, tau = <double *> s.x, <double *> (s.x + s.v), <double *> (s.x + s.tau)
            while first < stop:
                for k in range(LANES):
                    r = min(first + k, stop - 1)
                    to[k], chosen[k] = r, (<Py_ssize_t *> problem.data)[r]
                    lengths[k] = (<double *> length.data)[r]
                gather(<double *> q0.data, chosen, (steps + 1) * nq, nq, x)
                gather(<double *> v0.data, chosen, (steps + 1) * nv, nv, v)
                scatter(x, nq, <double *> q1.data, to, (steps + 1) * nq)
                scatter(v, nv, <double *> v1.data, to, (steps + 1) * nv)
                for t in range(steps):
                    gather(<double *> q0.data + t * nq, chosen, (steps + 1) * nq, nq, q)
                    gather(<double *> v0.data + t * nv, chosen, (steps + 1) * nv, nv, dx + LANES * nv)
                    gather(<double *> u0.data + t * nu, chosen, steps * nu, nu, u)
                    gather(<double *> forward.data + t * nu, chosen, steps * nu, nu, forced)
                    gather(<double *> gains.data + t * nu * 2 * nv, chosen, steps * nu * 2 * nv,
                           nu * 2 * nv, K)
                    configuration_kernels.lanes.difference(simulation.runs, simulation.count, q, x, dx)
                    for e in range(LANES * nv):
                        dx[LANES * nv + e] = v[e] - dx[LANES * nv + e]
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
                first += LANES
        free(memory)


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


cdef inline void gather(const double *rows, const Py_ssize_t *chosen, Py_ssize_t to_row, Py_ssize_t size,
                        double *x) noexcept nogil:
    """Copy rows to lanes: those at equal distances by the kernel of the layout."""
    cdef Py_ssize_t step = chosen[1] - chosen[0], k, e
    cdef bint regular = True
    for k in range(2, LANES):
        regular &= chosen[k] - chosen[k - 1] == step
    if regular:
        step *= to_row * <Py_ssize_t> sizeof(double)
        active.lanes.load(size, LANES, <const char *> (rows + chosen[0] * to_row), step, x)
        return
    for k in range(LANES):
        for e in range(size):
            x[LANES * e + k] = rows[chosen[k] * to_row + e]


cdef inline void scatter(const double *x, Py_ssize_t size, double *rows, const Py_ssize_t *to,
                         Py_ssize_t to_row) noexcept nogil:
    """Copy lanes to rows that follow each other; the last lanes may repeat a row."""
    cdef int count = <int> (to[LANES - 1] - to[0] + 1)
    active.lanes.store(size, count, x, <char *> (rows + to[0] * to_row), to_row * sizeof(double))


def add_values(cnp.ndarray r not None, cnp.ndarray weight not None, cnp.ndarray time not None,
               cnp.ndarray cost not None):
    """Add half the weighted squares of residuals r (B, T + 1, k) to costs (B,).

    weight (k,) and time (T + 1,) multiply; float64, C-contiguous.
    """
    cdef const double *x = <const double *> r.data
    cdef const double *w = <const double *> weight.data
    cdef Py_ssize_t b, t, e, size = r.shape[2]
    cdef double total, sum
    with nogil:
        for b in range(r.shape[0]):
            total = 0.0
            for t in range(r.shape[1]):
                if (<const double *> time.data)[t] != 0.0:
                    sum = 0.0
                    for e in range(size):
                        sum += w[e] * x[e] * x[e]
                    total += (<const double *> time.data)[t] * sum
                x += size
            (<double *> cost.data)[b] += 0.5 * total


def add_squares(cnp.ndarray r not None, cnp.ndarray J not None, cnp.ndarray L, cnp.ndarray weight not None,
                cnp.ndarray time not None, cnp.ndarray gradient not None, cnp.ndarray hessian not None,
                Py_ssize_t first, Py_ssize_t first_of_hessian):
    """Add the gradients and Hessians, by Gauss and Newton, of what `add_values` adds.

    r (B, T + 1, k) has the derivatives L J, with J (B, T + 1, k, c) and L (B, T + 1, k, k) or None, by the
    entries from ``first`` on of gradients (B, T + 1, m) and from ``first_of_hessian`` on of Hessians
    (B, T + 1, l, l).
    """
    cdef Py_ssize_t rows = r.shape[2], n = J.shape[3], m = gradient.shape[2], ld = hessian.shape[3], t, k, e
    cdef double *work = <double *> malloc((2 * rows * n + rows) * sizeof(double))
    cdef double *scaled = work + 2 * rows * n
    cdef const double *square = NULL if L is None else <const double *> L.data
    cdef double w
    if work == NULL:
        raise MemoryError
    with nogil:
        for e in range(r.shape[0] * r.shape[1]):
            t = e % r.shape[1]
            w = (<const double *> time.data)[t]
            if w == 0.0:
                continue
            for k in range(rows):
                scaled[k] = w * (<const double *> weight.data)[k]
            kernels.add_squares(
                rows, n, <const double *> J.data + e * rows * n,
                NULL if square == NULL else square + e * rows * rows, scaled,
                <const double *> r.data + e * rows, work, <double *> gradient.data + e * m + first,
                <double *> hessian.data + e * ld * ld + first_of_hessian * (ld + 1), ld)
    free(work)
