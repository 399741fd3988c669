"""Evaluate costs of motions and their derivatives, at 8 states side by side."""

cimport numpy as cnp
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from ..kinematics._request cimport Request, request_kernels
from ..model._configurations cimport CIRCLE, LINEAR, Configurations, Coordinates, configuration_kernels
from ..tree._operands cimport LANES, align
from ..tree._pattern cimport active

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/control/costs.h"
    #include "kernels/common/choose.h"
    CHOOSE(CostTable, costs)
    """
    ctypedef struct ResidualDerivatives:
        const double *J[2]
        Py_ssize_t columns[2]
        const double *L
        const Py_ssize_t *column

    ctypedef struct CostTable:
        void (*add_value)(Py_ssize_t n, const double *weight, const double *scale, const double *r,
                          double *cost) noexcept nogil
        void (*pose_residual)(const double *pose, const double *target, double *r, double *L) noexcept nogil
        void (*excess)(Py_ssize_t n, const Py_ssize_t *entry, const double *lower, const double *upper,
                       const double *q, double *r) noexcept nogil
        void (*add_entries)(Py_ssize_t n, const double *weight, const double *scale, const double *r,
                            Py_ssize_t first, const CostDerivatives *) noexcept nogil
        void (*add_excess)(Py_ssize_t n, const double *weight, const double *scale, const double *r,
                           const Py_ssize_t *entry, const CostDerivatives *) noexcept nogil
        void (*add_squares)(Py_ssize_t n, const ResidualDerivatives *, const double *weight,
                            const double *scale, const double *r, double *work,
                            const CostDerivatives *) noexcept nogil

    const CostTable *costs_for(const char *name) nogil

cdef const CostTable *kernels = costs_for(active.name)
KINDS = {"configuration": CONFIGURATION, "velocity": VELOCITY, "control": CONTROL, "excess": EXCESS,
         "pose": POSE, "measured": MEASURED}

cdef class Terms:
    """Costs of one model as data: weighted squares of residuals.

    Parameters
    ----------
    configurations : Configurations
        Of the model.
    controls : int
        Numbers of a control.
    terms : list of dict
        Entries of the struct Term by name. Arrays are C-contiguous; ``target`` is an array (B or 1, times or
        1, ...) or None, ``columns`` two arrays of intp, entries of (u, q, v).
    requests : list of (Request, Request)
        Compute the results that terms read, for values and for derivatives.

    Attributes
    ----------
    count : int
    first, size : int
        Entries of (u, q, v) by which Hessians are not diagonal.
    """

    def __init__(self, Configurations configurations not None, Py_ssize_t controls, list terms not None,
                 list requests not None):
        cdef Term *t
        cdef Py_ssize_t k, n = configurations.nv
        cdef bint full = False
        if self.term != NULL:
            raise RuntimeError("Terms are made once")
        self.configurations = configurations
        self.nq, self.nv, self.nu, self.count = configurations.nq, n, controls, len(terms)
        self.term = <Term *> calloc(max(1, len(terms)), sizeof(Term))
        self.curved = <Coordinates *> malloc(max(1, configurations.count) * sizeof(Coordinates))
        if self.term == NULL or self.curved == NULL:
            raise MemoryError
        for k in range(configurations.count):
            if configurations.runs[k].group != LINEAR and configurations.runs[k].group != CIRCLE:
                self.curved[self.curved_count] = configurations.runs[k]
                self.entries += self.curved[self.curved_count].nv ** 2
                self.curved_count += 1
        self.order = np.arange(controls + 2 * n)
        self.kept = []
        for k in range(2):
            self.add_passes(k, [pair[k] for pair in requests])
        self.most_row, self.most_size, self.most_columns = 12, max(n, controls, 6), 6
        for k in range(len(terms)):
            t = self.term + k
            self.describe(t, terms[k])
            self.most_row = max(self.most_row, t.row)
            self.most_columns = max(self.most_columns, t.columns[0] + t.columns[1])
            full |= t.columns[1] > 0
        self.first, self.size = controls, 2 * n if full else n

    cdef int add_passes(self, int which, list requests) except -1:
        """Fill the structs of requests, and keep these."""
        cdef Request request
        cdef cnp.ndarray computed
        cdef list sizes = []
        cdef Py_ssize_t k
        self.passes[which] = <Pass *> malloc(max(1, len(requests)) * sizeof(Pass))
        if self.passes[which] == NULL:
            raise MemoryError
        self.pass_count = len(requests)
        for k in range(self.pass_count):
            request = requests[k]
            self.passes[which][k].plan, self.passes[which][k].first = &request.plan, len(sizes)
            sizes += [request.result[r].computed for r in range(request.results)]
            self.passes[which][k].stop = len(sizes)
        computed = np.array(sizes, np.intp)
        self.results[which], self.computed[which] = len(sizes), <const Py_ssize_t *> computed.data
        self.kept += [requests, computed]
        return 0

    cdef int describe(self, Term *t, dict own) except -1:
        """Fill the struct of one term, and keep the arrays that it points to."""
        cdef cnp.ndarray weight = own["weight"], time = own["time"], target = own.get("target"), array
        cdef Py_ssize_t k
        t.kind, t.size = own["kind"], weight.shape[0]
        t.weight, t.time = <const double *> weight.data, <const double *> time.data
        self.kept += [weight, time, target]
        if target is not None:
            t.target, t.last = <const double *> target.data, target.shape[1] - 1
            t.row = target.size // (target.shape[0] * target.shape[1])
            t.to_time = t.row if target.shape[1] > 1 else 0
            t.to_problem = t.row * target.shape[1] if target.shape[0] > 1 else 0
        for name, pointer in (("lower", 0), ("upper", 1)):
            array = own.get(name)
            self.kept.append(array)
            if array is not None and pointer == 0:
                t.lower = <const double *> array.data
            elif array is not None:
                t.upper = <const double *> array.data
        t.jacobian = -1, -1
        if "entry" in own:
            array = own["entry"]
            self.kept.append(array)
            t.entry = <const Py_ssize_t *> array.data
        if "item" in own:
            t.item, t.jacobian = own["item"], own["jacobian"]
            for k in range(2):
                t.columns[k] = len(own["columns"][k])
            array = np.concatenate(own["columns"]).astype(np.intp)
            self.kept.append(array)
            t.column = <const Py_ssize_t *> array.data
        return 0

    def __dealloc__(self):
        free(self.term)
        free(self.curved)
        free(self.passes[0])
        free(self.passes[1])

    cdef Py_ssize_t workspace_size(self) noexcept nogil:
        """Return the doubles that the other methods need, aligned to 64 bytes."""
        cdef Py_ssize_t size, largest = 0, k
        cdef int which
        for which in range(2):
            size = self.results[which] + 8
            for k in range(self.results[which]):
                size += LANES * self.computed[which][k]
            for k in range(self.pass_count):
                size += request_kernels.lanes.workspace_size(self.passes[which][k].plan)
            largest = max(largest, size)
        return largest + LANES * (self.most_row + self.most_size + 37 + self.entries + 6 * self.most_columns)

    cdef bint scale(self, const Term *t, const Py_ssize_t *time, double *scale) noexcept nogil:
        """scale <- the factors of 8 times; return whether one is not 0."""
        cdef bint counts = False
        cdef int k
        for k in range(LANES):
            scale[k] = t.time[time[k]]
            counts |= scale[k] != 0.0
        return counts

    cdef bint count_at(self, Py_ssize_t time) noexcept nogil:
        """Return whether there are costs at a time."""
        cdef const Term *t
        for t in self.term[:self.count]:
            if t.time[time] != 0.0:
                return True
        return False

    cdef double **measure(self, int which, const Py_ssize_t *time, const double *q, const double *v,
                          double *work) noexcept nogil:
        """Return the results that values or derivatives need at some of 8 times."""
        cdef double **x = <double **> work
        cdef double scale[LANES]
        cdef bint needed = False
        cdef Py_ssize_t k
        cdef const Pass *one
        work += (self.results[which] + 7) // 8 * 8
        for k in range(self.count):
            if self.term[k].kind >= POSE and self.scale(self.term + k, time, scale):
                needed = True
        if needed:
            for k in range(self.results[which]):
                x[k] = work
                work += LANES * self.computed[which][k]
            for one in self.passes[which][:self.pass_count]:
                request_kernels.lanes.compute(one.plan, q, v, NULL, x + one.first, work)
        return x

    cdef const double *residual(self, const Term *t, int which, const Py_ssize_t *problem,
                                const Py_ssize_t *time, const double *q, const double *v, const double *u,
                                double **x, double *target, double *r, double *L) noexcept nogil:
        """Return the residual, and fetch its target; L <- the derivative of a logarithm, unless NULL."""
        cdef const double *value = v if t.kind == VELOCITY else u
        cdef Py_ssize_t at[LANES]
        cdef Py_ssize_t k, e
        if t.kind == EXCESS:
            kernels.excess(t.size, t.entry, t.lower, t.upper, q, r)
            return r
        for k in range(LANES):
            at[k] = problem[k] * t.to_problem + min(time[k], t.last) * t.to_time
        gather(t.target, at, 1, t.row, target)
        if t.kind == CONFIGURATION:
            configuration_kernels.lanes.difference(self.configurations.runs, self.configurations.count,
                                                   target, q, r)
            return r
        if t.kind == POSE:
            kernels.pose_residual(x[t.item[which]], target, r, L)
            return r
        if t.kind == MEASURED:
            value = x[t.item[which]]
        for e in range(LANES * t.size):
            r[e] = value[e] - target[e]
        return r

    cdef void add_values(self, const Py_ssize_t *problem, const Py_ssize_t *time, const double *q,
                         const double *v, const double *u, double *cost, double *work) noexcept nogil:
        """Add the costs of 8 states, of problems at times; u is not read at the end."""
        cdef double *target = work
        cdef double *r = target + LANES * self.most_row
        cdef double *scale = r + LANES * self.most_size
        cdef double **x
        cdef const Term *t
        x = self.measure(0, time, q, v, scale + LANES)
        for t in self.term[:self.count]:
            if self.scale(t, time, scale):
                self.residual(t, 0, problem, time, q, v, u, x, target, r, NULL)
                kernels.add_value(t.size, t.weight, scale, r, cost)

    cdef Py_ssize_t motion_size(self) noexcept nogil:
        """Return the doubles that `value_of` needs, aligned to 64 bytes."""
        return LANES * (self.nq + self.nv + self.nu + 1) + self.workspace_size()

    cdef double value_of(self, Py_ssize_t problem, Py_ssize_t steps, const double *q, const double *v,
                         const double *u, double *work) noexcept nogil:
        """Return the cost of one motion, by 8 of its states at a time: the bits are those of `add_values`."""
        cdef double *own_v = work + LANES * self.nq
        cdef double *own_u = own_v + LANES * self.nv
        cdef double *cost = own_u + LANES * self.nu
        cdef double sum = 0.0
        cdef Py_ssize_t problems[LANES]
        cdef Py_ssize_t time[LANES]
        cdef Py_ssize_t before[LANES]
        cdef Py_ssize_t first = 0, k
        while first <= steps:
            for k in range(LANES):
                problems[k], time[k] = problem, min(first + k, steps)
                before[k] = min(time[k], steps - 1)
            gather(q, time, self.nq, self.nq, work)
            gather(v, time, self.nv, self.nv, own_v)
            gather(u, before, self.nu, self.nu, own_u)
            memset(cost, 0, LANES * sizeof(double))
            self.add_values(problems, time, work, own_v, own_u, cost, cost + LANES)
            for k in range(min(<Py_ssize_t> LANES, steps + 1 - first)):
                sum += cost[k]
            first += LANES
        return sum

    cdef void add_derivatives(self, const Py_ssize_t *problem, const Py_ssize_t *time, const double *q,
                              const double *v, const double *u, const CostDerivatives *to,
                              double *work) noexcept nogil:
        """Add the gradients and Hessians of 8 states, of problems at times."""
        cdef double *target = work
        cdef double *r = target + LANES * self.most_row
        cdef double *L = r + LANES * self.most_size
        cdef double *scale = L + LANES * 36
        cdef double *blocks = scale + LANES
        cdef double *squares = blocks + LANES * self.entries
        cdef double **x
        cdef ResidualDerivatives D
        cdef const Term *t
        cdef Py_ssize_t nu = self.nu, k
        x = self.measure(1, time, q, v, squares + LANES * 6 * self.most_columns)
        for t in self.term[:self.count]:
            if not self.scale(t, time, scale):
                continue
            self.residual(t, 1, problem, time, q, v, u, x, target, r, L)
            if t.kind == CONTROL:
                kernels.add_entries(t.size, t.weight, scale, r, 0, to)
            elif t.kind == VELOCITY:
                kernels.add_entries(t.size, t.weight, scale, r, nu + self.nv, to)
            elif t.kind == EXCESS:
                kernels.add_excess(t.size, t.weight, scale, r, t.entry + t.size, to)
            elif t.kind == CONFIGURATION:
                self.add_configurations(t, q, target, r, scale, blocks, squares, to)
            else:
                for k in range(2):
                    D.J[k] = NULL if t.jacobian[k] < 0 else x[t.jacobian[k]]
                    D.columns[k] = t.columns[k]
                D.L, D.column = L if t.kind == POSE else NULL, t.column
                kernels.add_squares(t.size, &D, t.weight, scale, r, squares, to)

    cdef void add_configurations(self, const Term *t, const double *q, const double *target, const double *r,
                                 const double *scale, double *blocks, double *squares,
                                 const CostDerivatives *to) noexcept nogil:
        """Add the derivatives of differences of configurations."""
        cdef const Coordinates *run
        cdef const Py_ssize_t *order = <const Py_ssize_t *> (<cnp.ndarray> self.order).data
        cdef ResidualDerivatives D
        D.L, D.J[1], D.columns[1] = NULL, NULL, 0
        configuration_kernels.lanes.difference_derivative(self.curved, self.curved_count, target, q, 1,
                                                          blocks)
        for run in self.configurations.runs[:self.configurations.count]:
            if run.group == LINEAR or run.group == CIRCLE:
                kernels.add_entries(run.nv, t.weight + run.v, scale, r + LANES * run.v, self.nu + run.v, to)
                continue
            D.J[0], D.columns[0], D.column = blocks, run.nv, order + self.nu + run.v
            kernels.add_squares(run.nv, &D, t.weight + run.v, scale, r + LANES * run.v, squares, to)
            blocks += LANES * run.nv * run.nv

    def derivatives_of(self, cnp.ndarray q not None, cnp.ndarray v not None, cnp.ndarray u not None,
                       Py_ssize_t problem):
        """Return gradients (T + 1, m), and Hessians (T + 1, m, m) above their diagonals, along one motion.

        q (T + 1, nq), v (T + 1, nv) and u (T, nu) are C-contiguous.
        """
        cdef Py_ssize_t m = self.nu + 2 * self.nv, steps = u.shape[0], size = self.size, first, t, i, j, k
        cdef Py_ssize_t own[LANES]
        cdef Py_ssize_t time[LANES]
        cdef Py_ssize_t before[LANES]
        cdef CostDerivatives to
        cdef cnp.ndarray work = np.zeros(self.workspace_size() + LANES * (self.nq + self.nv + self.nu) + 16)
        cdef cnp.ndarray gradient = np.zeros((steps + 1, m)), hessian = np.zeros((steps + 1, m, m))
        cdef cnp.ndarray sums = np.zeros(LANES * (2 * m + size * size) + 8)
        cdef double *x = align(<double *> work.data)
        cdef double *g = <double *> gradient.data
        cdef double *H = <double *> hessian.data
        to.g = align(<double *> sums.data)
        to.diagonal, to.H = to.g + LANES * m, to.g + LANES * 2 * m
        to.first, to.size = self.first, size
        for first in range(0, steps + 1, LANES):
            memset(to.g, 0, LANES * (2 * m + size * size) * sizeof(double))
            for k in range(LANES):
                t = min(first + k, steps)
                own[k], time[k], before[k] = problem, t, min(t, steps - 1)
            gather(<const double *> q.data, time, self.nq, self.nq, x)
            gather(<const double *> v.data, time, self.nv, self.nv, x + LANES * self.nq)
            gather(<const double *> u.data, before, self.nu, self.nu, x + LANES * (self.nq + self.nv))
            self.add_derivatives(own, time, x, x + LANES * self.nq, x + LANES * (self.nq + self.nv), &to,
                                 align(x + LANES * (self.nq + self.nv + self.nu)))
            for k in range(min(LANES, steps + 1 - first)):
                t = first + k
                for i in range(m):
                    g[t * m + i], H[(t * m + i) * m + i] = to.g[LANES * i + k], to.diagonal[LANES * i + k]
                for i in range(size):
                    for j in range(i, size):
                        H[(t * m + self.first + i) * m + self.first + j] += to.H[LANES * (i * size + j) + k]
        return gradient, hessian

    def add_values_of(self, cnp.ndarray q not None, cnp.ndarray v not None, cnp.ndarray u not None,
                      cnp.ndarray problem not None, cnp.ndarray cost not None, Py_ssize_t first,
                      Py_ssize_t stop):
        """Add the costs of motions first .. stop-1 of some problems, over all times.

        Parameters
        ----------
        q, v, u : ndarray
            C-contiguous, (A, T + 1, nq), (A, T + 1, nv) and (A, T, nu).
        problem : ndarray of intp, shape (A,)
            Whose targets count.
        cost : ndarray, shape (A,)
        """
        cdef Py_ssize_t steps = u.shape[1], k
        cdef double *memory = <double *> malloc(64 + self.motion_size() * sizeof(double))
        if memory == NULL:
            raise MemoryError
        with nogil:
            for k in range(first, stop):
                (<double *> cost.data)[k] += self.value_of(
                    (<const Py_ssize_t *> problem.data)[k], steps,
                    <const double *> q.data + k * (steps + 1) * self.nq,
                    <const double *> v.data + k * (steps + 1) * self.nv,
                    <const double *> u.data + k * steps * self.nu, align(memory))
        free(memory)
