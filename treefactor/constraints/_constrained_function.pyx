"""Compute the dynamics with loops and rigid contacts, and derivatives, of one state or 8 side by side."""

cimport numpy as cnp
from libc.string cimport memcpy, memset

from .._util._fast_arrays cimport all_finite
from ..derivatives._first_order cimport parts_size, write_position_part, write_velocity_part
from .._functions._arrays cimport shape_of
from .._functions._compiled_function cimport MOST_ARRAYS
from ..dynamics._dynamics_functions cimport EquationOfMotion, Frames
from ..dynamics._model_function cimport ModelFunction
from ..dynamics._recursions cimport Mechanism
from ..tree._operands cimport ALIGNED, LANES, Operand, describe_vector
from ..tree._pattern cimport (
    FACTORIZED, Shape, Workspace, active, carve_workspace, clear_workspace,
    workspace_size as factor_workspace_size)
from ._bordered cimport Bordered, BorderedKernels, from_states, take, to_states
from ._row_kernel cimport BY_Q, BY_V, RowKernel

import numpy as np

from . import constrained_results as made
from ._general_derivatives import derivatives_of_states, values_of_states

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/constraints/bordered.h"
    #include "kernels/common/choose.h"
    CHOOSE(Bordered, bordered)
    """
    const Bordered *bordered_for(const char *name) nogil

cdef const Bordered *bordered = bordered_for(active.name)

cdef enum:
    BLOCK = 32                   # states of the general path at a time, whose arrays stay in a cache
cdef double INDEPENDENT = 1e-8   # least share of a row, squared; below, the general path finds the rank


cdef struct Parts:               # of the workspace, entry e of lane l at x[e * lanes + l]
    double *frames
    double *inverse
    double *motion               # generalized forces less bias, then H
    double *H
    double *dq
    double *dv
    double *J
    double *S
    double *b                    # generalized forces less bias, and wanted accelerations of the rows
    double *x                    # accelerations and minus forces
    double *B                    # the same of the derivatives by q and v
    double *X
    double *first                # workspace of the first derivatives of inverse dynamics
    double *share                # of independent rows
    double *factor
    double *rest


cdef struct States:              # of the workspace, one state after the other; without lanes the arrays above
    double *frames
    double *v
    double *x
    double *wanted
    double *J
    double *B
    double *values               # of the state at hand
    double *found
    double *E
    double *logs
    double *work


cdef class ConstrainedDynamics(ModelFunction):
    """Compute accelerations and forces of loops, drives and contacts.

    Parameters
    ----------
    model : Model
    rows : ConstraintRows
        Prepared rows of loops, drives and contacts; with drives their motions are an argument, too.
    stabilization : float

    Notes
    -----
    States whose rows depend on each other, or nearly so, go to the general path, which finds their rank;
    so do drives, and stabilized "6D" contacts.
    """

    cdef RowKernel kernel
    cdef Frames frames
    cdef EquationOfMotion equation
    cdef Py_ssize_t record       # entries of the frames of a state
    cdef object rows, general
    cdef Py_ssize_t count, turns
    cdef double s
    cdef bint driven, differentiates

    def __init__(self, model, rows, double stabilization, *_):
        self.kernel, self.rows, self.count = rows.kernel, rows, rows.count
        self.s, self.turns = stabilization, len(rows.whole)
        self.frames, self.equation = Frames(self.bodies), EquationOfMotion(self.bodies)
        self.record = self.frames.result[0].computed
        self.add_arguments(("q", "v", "tau", "fext"))
        self.may_fail = True
        self.driven = len(rows.loops.targets) > 0
        if self.driven:
            self.add_input((3 * len(rows.loops.targets),))
            self.names += ("drives",)
        self.declare_results()

    def declare_results(self):
        """Declare accelerations and forces."""
        self.gather, self.general = tuple, values_of_states
        self.add_result((self.bodies.nv,))
        self.add_result((self.count,))

    cdef Py_ssize_t columns(self, int lanes) noexcept nogil:
        """Return the columns of B and X, padded."""
        cdef Py_ssize_t unit = (bordered.one if lanes == 1 else bordered.lanes).columns
        return (2 * self.bodies.nv + unit - 1) // unit * unit

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        cdef Parts p
        cdef States s
        return self.divide(lanes, NULL, &p, &s)

    cdef Py_ssize_t divide(self, int lanes, double *work, Parts *p, States *s) noexcept nogil:
        """Divide the workspace, and return its size."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Py_ssize_t n = t.n, m = self.count, size = n + m, nnz = self.bodies.nnz
        cdef Py_ssize_t pair = 2 * nnz - n, r = self.columns(lanes), last
        cdef const BorderedKernels *kernels = &bordered.one if lanes == 1 else &bordered.lanes
        cdef double *end = work
        p.frames = take(&end, lanes * self.record)
        p.inverse, p.motion = take(&end, lanes * n), take(&end, lanes * (n + nnz))
        p.H = p.motion + lanes * n
        p.J, p.S = take(&end, lanes * m * n), take(&end, lanes * size * size)
        p.b, p.x = take(&end, lanes * size), take(&end, lanes * size)
        last = max(self.frames.workspace_size(lanes), self.equation.workspace_size(lanes))
        last = max(last, kernels.workspace_size(n, m))
        p.share = take(&end, lanes)
        p.factor = take(&end, factor_workspace_size(t) if lanes == 1 else lanes * t.scratch)
        p.rest = take(&end, last + ALIGNED)
        s.frames, s.x, s.wanted, s.J = p.frames, p.x, p.b + n, p.J
        if lanes == LANES:
            s.frames, s.v = take(&end, lanes * self.record), take(&end, lanes * n)
            s.x, s.wanted = take(&end, lanes * size), take(&end, lanes * m)
            s.J = take(&end, lanes * m * n)
        s.values, s.found = take(&end, 3 * m), take(&end, 6 * m * n)
        s.logs, s.work = take(&end, 12 * max(self.turns, 1)), take(&end, self.kernel.workspace_size())
        if self.differentiates:
            p.dq, p.dv = take(&end, lanes * pair), take(&end, lanes * pair)
            p.B, p.X = take(&end, lanes * size * r), take(&end, lanes * size * r)
            p.first, s.E = take(&end, parts_size(self.bodies, lanes)), take(&end, n * n)
            s.B = take(&end, lanes * size * r) if lanes == LANES else p.B
        return end - work

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef bint compiled = self.count <= self.bodies.nv and not self.driven
        cdef int lane
        cdef Parts p
        cdef States s
        self.divide(lanes, work, &p, &s)
        memset(p.share, 0, lanes * sizeof(double))
        self.factorize(m, lanes, x, failed, &p)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        if compiled:
            self.find_rows(lanes, x[1], &p, &s)
            self.solve(lanes, &p)
            self.finish(m, lanes, &p, &s, y)
        compiled = compiled and not (self.s != 0.0 and self.turns)     # of rotation vectors
        for lane in range(lanes):
            if failed[lane] == FACTORIZED and not (compiled and p.share[lane] > INDEPENDENT):
                failed[lane] = self.bodies.nv
        if lanes == 1 and failed[0] == self.bodies.nv:
            with gil:
                failed[0] = self.run_general_path(x, y)

    cdef void factorize(self, const Mechanism *m, int lanes, const double **x, Py_ssize_t *failed,
                        Parts *p) noexcept nogil:
        """Compute frames, the factor of H, derivatives of the forces by v, and b <- tau - bias."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Workspace w
        cdef Py_ssize_t k
        self.frames.compute(m, lanes, x, &p.frames, failed, p.rest)
        if self.differentiates:
            write_velocity_part(self.bodies, m, lanes, x[0], x[1], x[3], p.b, p.H, p.dv, p.first)
            for k in range(lanes * t.n):
                p.b[k] = x[2][k] - p.b[k]
        else:
            self.equation.compute(m, lanes, x, &p.motion, failed, p.rest)
            memcpy(p.b, p.motion, lanes * t.n * sizeof(double))
        if lanes == LANES:
            active.lanes.factor(t, p.H, p.H, p.inverse, p.factor, failed)
            return
        w = carve_workspace(t, p.factor)
        clear_workspace(t, &w)
        active.single.load_packed(t, <const char *> p.H, sizeof(double), t.whole, w.X)
        failed[0] = active.single.factor(t, 0, t.supernodes, p.H, t.whole, w.path, w.X, w.D, p.inverse)

    cdef void find_rows(self, int lanes, const double *v, Parts *p, States *s) noexcept nogil:
        """J, wanted accelerations in b, derivatives by v in B <- rows of all states."""
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(lanes), size = n + m, i, k
        cdef const double *by_v = s.found + n
        cdef double *B
        cdef int lane
        if lanes == 1:
            s.v = <double *> v
        else:
            to_states(self.record, p.frames, s.frames)
            to_states(n, v, s.v)
        memset(s.logs, 0, 12 * self.turns * sizeof(double))
        for lane in range(lanes):
            memset(s.found, 0, 6 * m * n * sizeof(double))
            memset(s.values, 0, 3 * m * sizeof(double))
            self.kernel.state_rows(BY_V, 1, s.frames + lane * self.record, s.v + lane * n, NULL,
                                   s.logs, NULL, s.values, s.found, NULL, s.work)
            for i in range(m):
                s.wanted[lane * m + i] = -self.stabilized(s.values + i, m)
                memcpy(s.J + (lane * m + i) * n, by_v + (m + i) * 2 * n, n * sizeof(double))
                if not self.differentiates:
                    continue
                B = s.B + (lane * size + n + i) * r + n
                for k in range(n):
                    B[k] = -self.stabilized(by_v + i * 2 * n + k, m * 2 * n)
        if lanes == LANES:
            from_states(m, s.wanted, p.b + lanes * n)
            from_states(m * n, s.J, p.J)

    cdef inline double stabilized(self, const double *x, Py_ssize_t step) noexcept nogil:
        """Return acceleration + 2 s rate + s^2 residual, which stand `step` apart in opposite order."""
        return x[2 * step] + self.s * (2.0 * x[step] + self.s * x[0])

    cdef void solve(self, int lanes, Parts *p) noexcept nogil:
        """x <- accelerations and forces; share; S <- inverse if it is needed."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef const BorderedKernels *kernels = &bordered.one if lanes == 1 else &bordered.lanes
        cdef const Py_ssize_t *at = t.at if lanes == 1 else t.start
        cdef const double *L = carve_workspace(t, p.factor).X if lanes == 1 else p.H
        if self.differentiates:
            kernels.invert(t, at, L, p.inverse, self.count, p.J, p.S, p.share, p.rest)
            kernels.apply(t.n + self.count, p.S, p.b, p.x)
        else:
            kernels.solve(t, at, L, p.inverse, self.count, p.J, p.b, p.x, p.share, p.rest)

    cdef void finish(self, const Mechanism *m, int lanes, Parts *p, States *s, double **y) noexcept nogil:
        """y <- the results that are accelerations and forces."""
        memcpy(y[0], p.x, lanes * self.bodies.nv * sizeof(double))
        memcpy(y[1], p.x + lanes * self.bodies.nv, lanes * self.count * sizeof(double))

    cdef Py_ssize_t run_general_path(self, const double **x, double **y) except -2:
        """y <- results of one state, whatever the rank of its rows."""
        cdef Operand given[MOST_ARRAYS]
        cdef int k
        for k in range(self.inputs):
            describe_vector(x[k], self.input[k].size, &given[k])
        state = [None if array is None else array[0] for array in self.states_of(given, [0])]
        for k, found in enumerate(self.general(self.rows, state, self.s)):
            if k < self.results:
                found = np.ascontiguousarray(found)
                memcpy(y[k], cnp.PyArray_DATA(<cnp.ndarray> found), self.result[k].size * sizeof(double))
        return FACTORIZED

    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t *failed,
                         Py_ssize_t first, Py_ssize_t stop) except False:
        """Run blocks, then the general path for states whose rows depend on each other, BLOCK at a time."""
        cdef cnp.ndarray status = np.empty(0 if failed != NULL else stop * LANES, dtype=np.intp)
        cdef list chosen = []
        cdef Py_ssize_t k
        failed = failed if failed != NULL else <Py_ssize_t *> status.data
        ModelFunction.run_blocks(self, batch, operands, out, failed, first, stop)
        for k in range(first * LANES, min(stop * LANES, batch)):
            if failed[k] == self.bodies.nv:
                failed[k] = FACTORIZED
                if self.is_state(self.states_of(operands, [k])):
                    chosen.append(k)
        for k in range(0, len(chosen), BLOCK):
            part = chosen[k:k + BLOCK]
            results = self.general(self.rows, self.states_of(operands, part), self.s)
            for shape, to, found in zip(self.shapes, out, results):
                to.reshape(batch, *shape)[part] = found
        return True

    cdef bint is_state(self, list state) noexcept:
        """Return whether the arrays of `states_of` one state are finite, and q a configuration."""
        cdef cnp.ndarray x
        for x in state:
            if x is not None and not all_finite(x.size, <const double *> x.data):
                return False
        x = state[0]
        return self.bodies.is_configuration(<const double *> x.data, 1)

    cdef list states_of(self, const Operand *operands, list chosen):
        """Return the arguments of some states as arrays; None is absent."""
        cdef list arrays = []
        cdef double[:, ::1] rows
        cdef Py_ssize_t k, e, j
        cdef const char *at
        for k in range(self.inputs):
            arrays.append(None)
            if operands[k].data == NULL:
                continue
            found = np.empty((len(chosen), *shape_of(&self.input[k])))
            rows = found.reshape(len(chosen), self.input[k].size)
            for j in range(len(chosen)):
                at = operands[k].data + <Py_ssize_t> chosen[j] * operands[k].to_next
                for e in range(self.input[k].size):
                    rows[j, e] = (<const double *> (at + e * operands[k].to_entry))[0]
            arrays[k] = found
        return arrays


cdef class ConstrainedDerivatives(ConstrainedDynamics):
    """Compute derivatives of constrained forward dynamics.

    Parameters
    ----------
    model, rows, stabilization
        As for `ConstrainedDynamics`.
    with_value : bool
        Whether accelerations and forces are results, too.
    """

    cdef bint with_value

    def __init__(self, model, rows, double stabilization, bint with_value):
        self.with_value, self.differentiates = with_value, True
        ConstrainedDynamics.__init__(self, model, rows, stabilization)

    def declare_results(self):
        """Declare derivatives, and accelerations and forces if they are wanted."""
        cdef Py_ssize_t n = self.bodies.nv
        self.general = derivatives_of_states
        self.gather = (made.ConstrainedDerivativesWithValue if self.with_value
                       else made.ConstrainedDerivatives)._make
        for rows in (n, n, n, self.count, self.count, self.count):
            self.add_result((rows, n))
        if self.with_value:
            self.add_result((n,))
            self.add_result((self.count,))

    cdef void finish(self, const Mechanism *m, int lanes, Parts *p, States *s, double **y) noexcept nogil:
        """y <- S times derivatives of the equations of motion and of the rows."""
        cdef const BorderedKernels *kernels = &bordered.one if lanes == 1 else &bordered.lanes
        write_position_part(self.bodies, m, lanes, p.x, p.dq, p.first)
        self.differentiate_rows(lanes, p, s)
        self.subtract_forces(lanes, p)
        kernels.multiply(self.bodies.nv + self.count, self.columns(lanes), p.S, p.B, p.X)
        self.write_results(lanes, p, y)

    cdef void differentiate_rows(self, int lanes, Parts *p, States *s) noexcept nogil:
        """B <- derivatives by q of the forces of all rows, and of minus the rows."""
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(lanes), size = n + m, i, k
        cdef double *x
        cdef double *B
        cdef int lane, order = 2 if self.s == 0.0 else 0
        if lanes == LANES:
            to_states(size, p.x, s.x)
        for lane in range(lanes):
            memset(s.found, 0, 6 * m * n * sizeof(double))
            memset(s.E, 0, n * n * sizeof(double))
            x, B = s.x + lane * size, s.B + lane * size * r
            self.kernel.state_rows(BY_Q, order, s.frames + lane * self.record, s.v + lane * n, x,
                                   s.logs, x + n, NULL, s.found, s.E, s.work)
            for i in range(n):
                memcpy(B + i * r, s.E + i * n, n * sizeof(double))
                memset(B + i * r + n, 0, (r - n) * sizeof(double))
            for i in range(m):
                for k in range(n):
                    B[(n + i) * r + k] = -self.stabilized(s.found + i * 2 * n + k, m * 2 * n)
        if lanes == LANES:
            from_states(size * r, s.B, p.B)

    cdef void subtract_forces(self, int lanes, Parts *p) noexcept nogil:
        """B <- B less derivatives of inverse dynamics."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Py_ssize_t n = t.n, r = self.columns(lanes), k, i, e, mirror
        cdef int lane
        for k in range(n):
            for e in range(t.start[k], t.start[k + 1]):
                i, mirror = t.column[e], t.start[n] - k + e
                for lane in range(lanes):
                    p.B[(k * r + i) * lanes + lane] -= p.dq[e * lanes + lane]
                    p.B[(k * r + n + i) * lanes + lane] = -p.dv[e * lanes + lane]
                if i == k:
                    continue
                for lane in range(lanes):
                    p.B[(i * r + k) * lanes + lane] -= p.dq[mirror * lanes + lane]
                    p.B[(i * r + n + k) * lanes + lane] = -p.dv[mirror * lanes + lane]

    cdef void write_results(self, int lanes, const Parts *p, double **y) noexcept nogil:
        """y <- columns of X, S and x."""
        cdef Py_ssize_t n = self.bodies.nv, size = n + self.count, r = self.columns(lanes), i, row, first
        cdef size_t bytes = lanes * n * sizeof(double)
        for i in range(size):
            first, row = (0, i) if i < n else (3, i - n)
            memcpy(y[first] + lanes * row * n, p.X + lanes * i * r, bytes)
            memcpy(y[first + 1] + lanes * row * n, p.X + lanes * (i * r + n), bytes)
            memcpy(y[first + 2] + lanes * row * n, p.S + lanes * i * size, bytes)
        if self.with_value:
            memcpy(y[6], p.x, bytes)
            memcpy(y[7], p.x + lanes * n, lanes * self.count * sizeof(double))
