"""Compute the dynamics with loops and rigid contacts, and derivatives, of one state or 8 side by side."""

cimport numpy as cnp
from libc.math cimport atan2
from libc.string cimport memcpy, memset

from ..derivatives._first_order cimport first_order_size, write_equation_of_motion, write_rnea
from .._functions._arrays cimport shape_of
from .._functions._compiled_function cimport MOST_ARRAYS, MOST_RESULTS
from ..dynamics._dynamics_functions cimport EquationOfMotion, Frames
from ..dynamics._model_function cimport ModelFunction
from ..dynamics._recursions cimport Mechanism
from ..tree._operands cimport ALIGNED, LANES, Operand
from ..tree._pattern cimport (
    FACTORIZED, Shape, Workspace, active, carve_workspace, clear_workspace,
    workspace_size as factor_workspace_size)
from ._bordered cimport Bordered, BorderedKernels, from_states, take, to_states
from ._moving_frames cimport Drive
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
    MOTION = 3                   # position, velocity and acceleration of a drive
cdef double CLEAR = 1e-8         # least share of a row, squared, that surely depends on no others


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
    double *tau                  # of inverse dynamics, and H, where derivatives alone are wanted
    double *spare
    double *share                # of independent rows; negative where others depend on them
    double *factor
    double *rest


cdef struct States:              # of the workspace, one state after the other; without lanes the arrays above
    double *frames
    double *q
    double *v
    double *motion               # of drives
    double *x
    double *wanted
    double *J
    double *B
    double *values               # of the state at hand
    double *found
    double *E
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
    States whose rows depend on each other are computed one by one. Those whose rank is hard to tell go to the
    general path.
    """

    cdef RowKernel kernel
    cdef Frames frames
    cdef EquationOfMotion equation
    cdef Py_ssize_t record       # entries of the frames of a state
    cdef object rows, general
    cdef Py_ssize_t count, drives
    cdef const Drive *drive
    cdef double s
    cdef bint differentiates

    def __init__(self, model, rows, double stabilization, *_):
        self.kernel, self.rows, self.count = rows.kernel, rows, rows.count
        self.s = stabilization
        self.frames, self.equation = Frames(self.bodies), EquationOfMotion(self.bodies)
        self.record = self.frames.result[0].computed
        self.add_arguments(("q", "v", "tau", "fext"))
        self.may_fail = True
        self.drives, self.drive = len(rows.drives), <const Drive *> cnp.PyArray_DATA(rows.drives)
        if self.drives:
            self.add_input((MOTION * self.drives,))
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
            s.q = take(&end, lanes * self.bodies.nq if self.drives else 0)
            s.motion = take(&end, lanes * MOTION * self.drives)
            s.x, s.wanted = take(&end, lanes * size), take(&end, lanes * m)
            s.J = take(&end, lanes * m * n)
        s.values, s.found = take(&end, 3 * m), take(&end, 6 * m * n)
        s.work = take(&end, self.kernel.workspace_size())
        if self.differentiates:
            p.dq, p.dv = take(&end, lanes * pair), take(&end, lanes * pair)
            p.B, p.X = take(&end, lanes * size * r), take(&end, lanes * size * r)
            p.first, s.E = take(&end, first_order_size(self.bodies, lanes)), take(&end, n * n)
            p.tau, p.spare = take(&end, lanes * n), take(&end, lanes * nnz)
            s.B = take(&end, lanes * size * r) if lanes == LANES else p.B
        return end - work

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef bint compiled = lanes == 1 or self.count <= self.bodies.nv      # or some depend on each other
        cdef int lane
        cdef double share
        cdef Parts p
        cdef States s
        self.divide(lanes, work, &p, &s)
        memset(p.share, 0, lanes * sizeof(double))
        self.factorize(m, lanes, x, failed, &p)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        if compiled:
            self.find_rows(lanes, x, &p, &s)
            self.solve(lanes, &p)
            self.finish(m, lanes, x, &p, &s, y)
        for lane in range(lanes):
            share = -p.share[lane] if lanes == 1 and p.share[lane] < 0.0 else p.share[lane]
            if failed[lane] == FACTORIZED and not share > CLEAR:
                failed[lane] = self.bodies.nv
        if lanes == 1 and failed[0] == self.bodies.nv:
            with gil:
                failed[0] = self.run_general_path(x, y)

    cdef void factorize(self, const Mechanism *m, int lanes, const double **x, Py_ssize_t *failed,
                        Parts *p) noexcept nogil:
        """Compute frames, the factor of H, and b <- tau - bias."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Workspace w
        cdef Py_ssize_t k
        self.frames.compute(m, lanes, x, &p.frames, failed, p.rest)
        if self.differentiates:
            write_equation_of_motion(self.bodies, m, lanes, x[0], x[1], x[3], p.b, p.H, p.first)
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

    cdef void find_rows(self, int lanes, const double **x, Parts *p, States *s) noexcept nogil:
        """J, wanted accelerations in b, derivatives by v in B <- rows of all states."""
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(lanes), size = n + m, i, k
        cdef const double *by_v = s.found + n
        cdef double *B
        cdef int lane
        if lanes == 1:
            s.q, s.v, s.motion = <double *> x[0], <double *> x[1], <double *> x[4] if self.drives else NULL
        else:
            to_states(self.record, p.frames, s.frames)
            to_states(n, x[1], s.v)
            if self.drives:
                to_states(self.bodies.nq, x[0], s.q)
                to_states(MOTION * self.drives, x[4], s.motion)
        for lane in range(lanes):
            memset(s.found, 0, 6 * m * n * sizeof(double))
            memset(s.values, 0, 3 * m * sizeof(double))
            self.kernel.state_rows(BY_V, 1, self.s != 0.0, s.frames + lane * self.record, s.v + lane * n,
                                   NULL, NULL, s.values, s.found, NULL, s.work)
            self.prescribe(s.q + lane * self.bodies.nq, s.v + lane * n,
                           s.motion + lane * MOTION * self.drives, s)
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

    cdef void prescribe(self, const double *q, const double *v, const double *motion,
                        States *s) noexcept nogil:
        """Write values of the rows of driven joints, and derivatives of rates; subtract motions of drives."""
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, k
        cdef const Drive *drive
        cdef double *y
        for k in range(self.drives):
            drive, y = self.drive + k, s.values + self.drive[k].row
            if drive.column >= 0:
                y[0] = atan2(q[drive.q + 1], q[drive.q]) if drive.circle else q[drive.q]
                y[m], y[2 * m] = v[drive.column], 0.0
                s.found[(m + drive.row) * 2 * n + n + drive.column] = 1.0
            y[0] -= motion[MOTION * k]
            y[m] -= motion[MOTION * k + 1]
            y[2 * m] -= motion[MOTION * k + 2]

    cdef inline double stabilized(self, const double *x, Py_ssize_t step) noexcept nogil:
        """Return acceleration + 2 s rate + s^2 residual, which stand `step` apart in opposite order."""
        return x[2 * step] + self.s * (2.0 * x[step] + self.s * x[0])

    cdef void solve(self, int lanes, Parts *p) noexcept nogil:
        """x <- accelerations and forces; share; S <- inverse if it is needed."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef const BorderedKernels *kernels = &bordered.one if lanes == 1 else &bordered.lanes
        cdef const Py_ssize_t *at = t.at if lanes == 1 else t.start
        cdef const double *L = carve_workspace(t, p.factor).X if lanes == 1 else p.H
        if not self.differentiates:
            kernels.solve(t, at, L, p.inverse, self.count, p.J, p.b, p.x, p.share, p.rest)
        if self.differentiates or (lanes == 1 and p.share[0] < 0.0):
            kernels.invert(t, at, L, p.inverse, self.count, p.J, p.S, p.share, p.rest)
            kernels.apply(t.n + self.count, p.S, p.b, p.x)

    cdef void finish(self, const Mechanism *m, int lanes, const double **x, Parts *p, States *s,
                     double **y) noexcept nogil:
        """y <- the results that are accelerations and forces."""
        memcpy(y[0], p.x, lanes * self.bodies.nv * sizeof(double))
        memcpy(y[1], p.x + lanes * self.bodies.nv, lanes * self.count * sizeof(double))

    cdef Py_ssize_t run_general_path(self, const double **x, double **y) except -2:
        """y <- results of one state, whatever the rank of its rows."""
        cdef list state = []
        cdef cnp.ndarray array
        cdef int k
        for k in range(self.inputs):
            state.append(None)
            if x[k] != NULL:
                array = state[k] = np.empty(shape_of(&self.input[k]))
                memcpy(array.data, x[k], self.input[k].size * sizeof(double))
        for k, result in enumerate(self.general(self.rows, state, self.s)):
            if k < self.results:
                array = np.ascontiguousarray(result)
                memcpy(y[k], array.data, self.result[k].size * sizeof(double))
        return FACTORIZED

    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t *failed,
                         Py_ssize_t first, Py_ssize_t stop) except False:
        """Run blocks, then one by one states whose rows depend on each other."""
        cdef cnp.ndarray status = np.empty(0 if failed != NULL else stop * LANES, dtype=np.intp)
        cdef cnp.ndarray copies = np.empty(self.entries_of_inputs())
        cdef double *to[MOST_RESULTS]
        cdef int i
        failed = failed if failed != NULL else <Py_ssize_t *> status.data
        ModelFunction.run_blocks(self, batch, operands, out, failed, first, stop)
        for i in range(self.results):
            to[i] = <double *> cnp.PyArray_DATA(<cnp.ndarray> out[i])
        with nogil:
            self.run_others(operands, to, failed, first * LANES, min(stop * LANES, batch),
                            <double *> copies.data)
        return True

    cdef Py_ssize_t entries_of_inputs(self) noexcept:
        """Return the entries of all arguments of a state."""
        cdef Py_ssize_t size = 0
        cdef int i
        for i in range(self.inputs):
            size += self.input[i].size
        return size

    cdef void run_others(self, const Operand *operands, double **to, Py_ssize_t *failed, Py_ssize_t first,
                         Py_ssize_t stop, double *copies) noexcept nogil:
        """Compute those states, of which failed is nv, one by one; the others are done."""
        cdef const double *x[MOST_ARRAYS]
        cdef double *y[MOST_RESULTS]
        cdef double *end
        cdef const char *at
        cdef Py_ssize_t k, e
        cdef int i
        for k in range(first, stop):
            if failed[k] != self.bodies.nv:
                continue
            failed[k], end = FACTORIZED, copies
            for i in range(self.inputs):
                at = operands[i].data + k * operands[i].to_next
                x[i] = <const double *> at if operands[i].data != NULL else NULL
                if operands[i].data == NULL or operands[i].to_entry == sizeof(double):
                    continue
                x[i] = end
                for e in range(operands[i].size):
                    end[e] = (<const double *> (at + e * operands[i].to_entry))[0]
                end += operands[i].size
            for i in range(self.results):
                y[i] = to[i] + k * self.result[i].size
            self.run_one(x, y)           # leaves NaN where the state is not finite


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

    cdef void finish(self, const Mechanism *m, int lanes, const double **x, Parts *p, States *s,
                     double **y) noexcept nogil:
        """y <- S times derivatives of the equations of motion and of the rows."""
        cdef const BorderedKernels *kernels = &bordered.one if lanes == 1 else &bordered.lanes
        cdef bint dependent = lanes == 1 and p.share[0] < 0.0
        write_rnea(self.bodies, m, lanes, NULL, x[1], p.x, x[3], p.tau, p.spare, p.dq, p.dv, p.first)
        self.differentiate_rows(lanes, p, s)
        self.subtract_forces(lanes, p)
        if dependent:
            self.change_errors(p, s)
        kernels.multiply(self.bodies.nv + self.count, self.columns(lanes), p.S, p.B, p.X)
        if dependent:
            self.change_range(m, x, p, s)
        self.write_results(lanes, p, y)

    cdef void change_errors(self, Parts *p, States *s) noexcept nogil:
        """Add to derivatives of rows by q, in B, those of J^T (J a - wanted) = 0, for one state."""
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(1), size = n + m, i, j, k
        cdef double *error = s.values
        cdef double share
        memset(s.E, 0, n * n * sizeof(double))
        for i in range(m):
            error[i] = -p.b[n + i]
            for k in range(n):
                error[i] += p.J[i * n + k] * p.x[k]
        self.kernel.state_rows(BY_Q, 0, False, s.frames, s.v, p.x, error, NULL, NULL, s.E, s.work)
        for i in range(n, size):
            for j in range(n):
                share = p.S[i * size + j]
                for k in range(n):
                    p.B[i * r + k] += share * s.E[j * n + k]

    cdef void change_range(self, const Mechanism *mechanism, const double **x, Parts *p,
                           States *s) noexcept nogil:
        """Add to derivatives of forces by q, in X, that they stay in the range of J, for one state.

        With J z = forces it changes by d(J z), of which J K d(J z) is in the range already.
        """
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(1), size = n + m, i, k, j
        cdef const double *moved[2]
        cdef double *z = p.b
        cdef double *change
        cdef Py_ssize_t failed = FACTORIZED
        for i in range(n):
            z[i] = 0.0
            for j in range(m):
                z[i] += p.S[i * size + n + j] * p.x[n + j]
        moved[0], moved[1] = x[0], z
        self.frames.compute(mechanism, 1, moved, &p.frames, &failed, p.rest)
        memset(s.found, 0, 6 * m * n * sizeof(double))
        self.kernel.state_rows(BY_Q, 1, False, p.frames, z, NULL, NULL, NULL, s.found, NULL, s.work)
        change = s.found + m * 2 * n         # of rates
        for i in range(n):
            for k in range(n):
                s.E[i * n + k] = 0.0
                for j in range(m):
                    s.E[i * n + k] += p.S[i * size + n + j] * change[j * 2 * n + k]
        for j in range(m):
            for k in range(n):
                for i in range(n):
                    change[j * 2 * n + k] -= p.J[j * n + i] * s.E[i * n + k]
                p.X[(n + j) * r + k] += change[j * 2 * n + k]

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
            self.kernel.state_rows(BY_Q, order, self.s != 0.0, s.frames + lane * self.record, s.v + lane * n,
                                   x, x + n, NULL, s.found, s.E, s.work)
            for i in range(self.drives):
                if self.drive[i].column >= 0:
                    s.found[self.drive[i].row * 2 * n + self.drive[i].column] = 1.0
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
