"""Compute the dynamics with loops and rigid contacts, and derivatives, of one state or 8 side by side."""

cimport numpy as cnp
from libc.math cimport atan2, fabs
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
from ._bordered cimport Bordered, BorderedKernels, take
from ._row_kernel cimport BY_Q, BY_V, Drive, RowKernel

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
    double *values               # of the rows
    double *derivatives          # of the rows
    double *E                    # derivatives of the forces of the rows
    double *row_work
    double *rest


cdef inline void add_products(int lanes, double sign, const double *a, const double *b,
                              double *y) noexcept nogil:
    """y <- y + sign a b of every state."""
    cdef int lane
    for lane in range(lanes):
        y[lane] += sign * a[lane] * b[lane]


cdef inline bint any_dependent(int lanes, const Parts *p) noexcept nogil:
    """Return whether rows of any state depend on those before them."""
    cdef int lane
    for lane in range(lanes):
        if p.share[lane] < 0.0:
            return True
    return False


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
    States whose rank is hard to tell go to the general path, one by one.
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
        return self.divide(lanes, NULL, &p)

    cdef Py_ssize_t divide(self, int lanes, double *work, Parts *p) noexcept nogil:
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
        p.values, p.derivatives = take(&end, lanes * 3 * m), take(&end, lanes * 6 * m * n)
        p.row_work = take(&end, self.kernel.of(lanes).workspace_size(&self.kernel.c))
        if self.differentiates:
            p.dq, p.dv = take(&end, lanes * pair), take(&end, lanes * pair)
            p.B, p.X = take(&end, lanes * size * r), take(&end, lanes * size * r)
            p.first, p.E = take(&end, first_order_size(self.bodies, lanes)), take(&end, lanes * 2 * n * n)
            p.tau, p.spare = take(&end, lanes * n), take(&end, lanes * nnz)
        return end - work

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef int lane
        cdef Parts p
        self.divide(lanes, work, &p)
        self.factorize(m, lanes, x, failed, &p)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        self.find_rows(lanes, x, &p)
        self.solve(lanes, &p)
        self.finish(m, lanes, x, &p, y)
        for lane in range(lanes):
            if failed[lane] == FACTORIZED and not fabs(p.share[lane]) > CLEAR:
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

    cdef void find_rows(self, int lanes, const double **x, Parts *p) noexcept nogil:
        """J, wanted accelerations in b, derivatives by v in B <- rows."""
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(lanes), i, e
        cdef const double *by_v
        cdef double *B
        memset(p.values, 0, lanes * 3 * m * sizeof(double))
        memset(p.derivatives, 0, lanes * 6 * m * n * sizeof(double))
        self.kernel.of(lanes).rows(&self.kernel.c, BY_V, 1, self.s != 0.0, p.frames, x[1], NULL, 0, NULL,
                                   p.values, p.derivatives, NULL, p.row_work)
        self.prescribe(lanes, x, p)
        for e in range(lanes * m):
            p.b[lanes * n + e] = -self.stabilized(p.values + e, lanes * m)
        for i in range(m):
            by_v, B = p.derivatives + lanes * (2 * i + 1) * n, p.B + lanes * ((n + i) * r + n)
            memcpy(p.J + lanes * i * n, by_v + lanes * m * 2 * n, lanes * n * sizeof(double))
            for e in range(lanes * n if self.differentiates else 0):
                B[e] = -self.stabilized(by_v + e, lanes * m * 2 * n)

    cdef void prescribe(self, int lanes, const double **x, Parts *p) noexcept nogil:
        """Write values of the rows of driven joints, and derivatives of rates; subtract motions of drives."""
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, k, e
        cdef const Drive *drive
        cdef const double *motion
        cdef double *y
        cdef int lane
        for k in range(self.drives):
            drive, motion = self.drive + k, x[4] + lanes * MOTION * k
            for lane in range(lanes):
                y, e = p.values + lanes * drive.row + lane, lanes * drive.q + lane
                if drive.column >= 0:
                    y[0] = atan2(x[0][e + lanes], x[0][e]) if drive.circle else x[0][e]
                    y[lanes * m], y[lanes * 2 * m] = x[1][lanes * drive.column + lane], 0.0
                    p.derivatives[lanes * ((m + drive.row) * 2 * n + n + drive.column) + lane] = 1.0
                y[0] -= motion[lane]
                y[lanes * m] -= motion[lanes + lane]
                y[lanes * 2 * m] -= motion[lanes * 2 + lane]

    cdef inline double stabilized(self, const double *x, Py_ssize_t step) noexcept nogil:
        """Return acceleration + 2 s rate + s^2 residual, which stand `step` apart in opposite order."""
        return x[2 * step] + self.s * (2.0 * x[step] + self.s * x[0])

    cdef void solve(self, int lanes, Parts *p) noexcept nogil:
        """x <- accelerations and forces; share; S <- inverse if it is needed."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef const BorderedKernels *kernels = &bordered.one if lanes == 1 else &bordered.lanes
        cdef const Py_ssize_t *at = t.at if lanes == 1 else t.start
        cdef const double *L = carve_workspace(t, p.factor).X if lanes == 1 else p.H
        cdef Py_ssize_t size = t.n + self.count, e
        cdef int lane
        if self.differentiates:
            kernels.invert(t, at, L, p.inverse, self.count, p.J, p.S, p.share, p.rest)
            kernels.apply(size, p.S, p.b, p.x)
            return
        kernels.solve(t, at, L, p.inverse, self.count, p.J, p.b, p.x, p.share, p.rest)
        if not any_dependent(lanes, p):
            return
        kernels.invert(t, at, L, p.inverse, self.count, p.J, p.S, p.share, p.rest)
        kernels.apply(size, p.S, p.b, p.rest)
        for lane in range(lanes):        # the others keep the bits that they have beside any states
            for e in range(size if p.share[lane] < 0.0 else 0):
                p.x[e * lanes + lane] = p.rest[e * lanes + lane]

    cdef void finish(self, const Mechanism *m, int lanes, const double **x, Parts *p,
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
        """Run blocks, then one by one states whose rank is hard to tell."""
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
        self.gather = made.ConstrainedDerivatives
        if self.with_value:
            self.gather = made.ConstrainedDerivativesWithValue
        for rows in (n, n, n, self.count, self.count, self.count):
            self.add_result((rows, n))
        if self.with_value:
            self.add_result((n,))
            self.add_result((self.count,))

    cdef void finish(self, const Mechanism *m, int lanes, const double **x, Parts *p,
                     double **y) noexcept nogil:
        """y <- S times derivatives of the equations of motion and of the rows."""
        cdef const BorderedKernels *kernels = &bordered.one if lanes == 1 else &bordered.lanes
        write_rnea(self.bodies, m, lanes, NULL, x[1], p.x, x[3], p.tau, p.spare, p.dq, p.dv, p.first)
        self.differentiate_rows(lanes, x, p)
        self.subtract_forces(lanes, p)
        kernels.multiply(self.bodies.nv + self.count, self.columns(lanes), p.S, p.B, p.X)
        if any_dependent(lanes, p):
            self.change_range(m, lanes, x, p)
        self.write_results(lanes, p, y)

    cdef void change_range(self, const Mechanism *mechanism, int lanes, const double **x,
                           Parts *p) noexcept nogil:
        """Add to derivatives of forces by q, in X, that they stay in the range of J where rows are dependent.

        With J z = forces it changes by d(J z), of which J K d(J z) is in the range already.
        """
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(lanes), size = n + m, i, j, k
        cdef Py_ssize_t failed[LANES]
        cdef const double *moved[2]
        cdef double *z = p.b
        cdef double *change = p.derivatives + lanes * m * 2 * n  # of rates
        cdef double *step = p.E                                  # K d(J z)
        cdef int lane
        memset(z, 0, lanes * n * sizeof(double))
        for i in range(n):
            for j in range(m):
                add_products(lanes, 1.0, p.S + lanes * (i * size + n + j), p.x + lanes * (n + j),
                             z + lanes * i)
        moved[0], moved[1] = x[0], z
        self.frames.compute(mechanism, lanes, moved, &p.frames, failed, p.rest)
        memset(p.derivatives, 0, lanes * 6 * m * n * sizeof(double))
        self.kernel.of(lanes).rows(&self.kernel.c, BY_Q, 1, False, p.frames, z, NULL, 0, NULL, NULL,
                                   p.derivatives, NULL, p.row_work)
        memset(step, 0, lanes * n * n * sizeof(double))
        for i in range(n):
            for j in range(m):
                for k in range(n):
                    add_products(lanes, 1.0, p.S + lanes * (i * size + n + j),
                                 change + lanes * (j * 2 * n + k), step + lanes * (i * n + k))
        for j in range(m):
            for i in range(n):
                for k in range(n):
                    add_products(lanes, -1.0, p.J + lanes * (j * n + i), step + lanes * (i * n + k),
                                 change + lanes * (j * 2 * n + k))
            for k in range(n):
                for lane in range(lanes):
                    if p.share[lane] < 0.0:
                        p.X[lanes * ((n + j) * r + k) + lane] += change[lanes * (j * 2 * n + k) + lane]

    cdef void differentiate_rows(self, int lanes, const double **x, Parts *p) noexcept nogil:
        """B <- derivatives by q of the forces of all rows, and of minus the rows.

        Where rows are dependent, those of J^T (J a - wanted) = 0 are added to the rows.
        """
        cdef Py_ssize_t n = self.bodies.nv, m = self.count, r = self.columns(lanes), i, j, k, e
        cdef bint dependent = any_dependent(lanes, p)
        cdef double *error = p.values + lanes * m
        cdef const double *row
        cdef double *B
        cdef int order = 2 if self.s == 0.0 else 0
        memcpy(p.values, p.x + lanes * n, lanes * m * sizeof(double))
        for i in range(m if dependent else 0):
            for e in range(lanes):
                error[lanes * i + e] = -p.b[lanes * (n + i) + e]
            for k in range(n):
                add_products(lanes, 1.0, p.J + lanes * (i * n + k), p.x + lanes * k, error + lanes * i)
        memset(p.derivatives, 0, lanes * 6 * m * n * sizeof(double))
        memset(p.E, 0, lanes * 2 * n * n * sizeof(double))
        self.kernel.of(lanes).rows(&self.kernel.c, BY_Q, order, self.s != 0.0, p.frames, x[1], p.x,
                                   2 if dependent else 1, p.values, NULL, p.derivatives, p.E, p.row_work)
        for i in range(self.drives):
            for e in range(lanes if self.drive[i].column >= 0 else 0):
                p.derivatives[lanes * (self.drive[i].row * 2 * n + self.drive[i].column) + e] = 1.0
        for i in range(n):
            memcpy(p.B + lanes * i * r, p.E + lanes * i * n, lanes * n * sizeof(double))
            memset(p.B + lanes * (i * r + n), 0, lanes * (r - n) * sizeof(double))
        for i in range(m):
            row, B = p.derivatives + lanes * i * 2 * n, p.B + lanes * (n + i) * r
            for e in range(lanes * n):
                B[e] = -self.stabilized(row + e, lanes * m * 2 * n)
            for j in range(n if dependent else 0):
                self.add_errors(lanes, p, p.S + lanes * ((n + i) * (n + m) + j), p.E + lanes * (n + j) * n, B)

    cdef void add_errors(self, int lanes, const Parts *p, const double *share, const double *E,
                         double *B) noexcept nogil:
        """B <- B + share times a row of derivatives of J^T (J a - wanted), where rows are dependent."""
        cdef Py_ssize_t k
        cdef int lane
        for k in range(self.bodies.nv):
            for lane in range(lanes):
                if p.share[lane] < 0.0:
                    B[lanes * k + lane] += share[lane] * E[lanes * k + lane]

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
