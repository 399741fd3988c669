"""Take time steps of one world in compiled code, without the GIL, while its near contacts stay the same."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.string cimport memcmp, memcpy, memset

from .._util._fast_arrays cimport all_finite
from ..dynamics._dynamics_functions cimport Bias, EquationOfMotion, Frames
from ..dynamics._recursions cimport Bodies
from ..linalg._multi_rhs cimport h_mul
from ..linalg._single cimport InputMatrix, SingleKernel
from ..mlcp._active_set cimport ActiveSetSolver
from ..mlcp._iterate cimport FULL, ON, SOLVED_
from ..tree._pattern cimport MULTIPLY, SOLVE, Pattern, Workspace, active, carve_workspace, workspace_size
from ._contacts cimport ContactKernel
from ._joint_integration cimport CONVERGED, IMPROVES, ROUNDS, JointIntegrator, midpoint_status
from ._unilateral_rows cimport Near, RowResults, UnilateralRows, sum_normals

import numpy as np

from .._util.validation import aligned

cnp.import_array()


cdef class CompiledSteps:
    """Steps of a model without loops and drives, whose near contacts are those of its last step.

    Each has the bits of `Stepper.step`. A step that needs other rows or fails is left to `Stepper.step`.

    Parameters
    ----------
    bodies : Bodies
    pattern : Pattern
    contacts : ContactKernel
    rows : UnilateralRows
    integrator : JointIntegrator
    solver : ActiveSetSolver
        For the rows of the last step.
    near : tuple of ndarray
        Numbers of near contacts, the starts and columns of their rows.
    size : int
        Entries of all rows of the last step.
    h, margin, target : float
        Step; margin of contacts; residual at which the solver stops.
    limit : int
        Linear systems that the solver may solve in a step.
    implicit : bool
        Forces that depend on the velocity act by the midpoint rule, as in `FreeMotion`.
    """

    cdef Bodies bodies
    cdef Frames find_frames
    cdef EquationOfMotion find_motion
    cdef Bias find_bias
    cdef Pattern pattern
    cdef ContactKernel contacts
    cdef UnilateralRows rows
    cdef JointIntegrator integrator
    cdef ActiveSetSolver solver
    cdef SingleKernel factor
    cdef InputMatrix packed_H
    cdef Workspace padded
    cdef double h, margin, target
    cdef Py_ssize_t limit, n
    cdef bint implicit
    cdef Near near
    cdef RowResults results
    cdef Py_ssize_t *number      # of near contacts of this step
    cdef double *gap
    cdef double *axes
    cdef double *points
    cdef double *data
    cdef double *places
    cdef double *frames
    cdef double *motion          # forces, then packed rows of H
    cdef double *momentum
    cdef double *free
    cdef double *turned          # velocity without impulses
    cdef double *middle          # mean velocity of the step
    cdef double *a
    cdef list kept

    def __cinit__(self, Bodies bodies not None, Pattern pattern not None, ContactKernel contacts not None,
                  UnilateralRows rows not None, JointIntegrator integrator not None,
                  ActiveSetSolver solver not None, tuple near not None, Py_ssize_t size, double h,
                  double margin, double target, Py_ssize_t limit, bint implicit):
        self.bodies, self.pattern, self.contacts, self.rows = bodies, pattern, contacts, rows
        self.integrator, self.solver, self.n = integrator, solver, bodies.nv
        self.find_frames, self.find_motion = Frames(bodies), EquationOfMotion(bodies)
        self.find_bias = Bias(bodies)
        for function in (self.find_frames, self.find_motion, self.find_bias):
            function.close()
        self.h, self.margin, self.target, self.limit = h, margin, target, limit
        self.implicit = implicit
        self.factor, self.kept = SingleKernel(pattern, True), [near]
        which, start, column = near
        self.near.count, self.near.size = len(which), len(column)
        self.near.number, self.near.start = self.integers(which), self.integers(start)
        self.near.column = self.integers(column)
        self.allocate_motion()
        self.allocate_rows(solver.m, size)

    cdef allocate_motion(self):
        """Allocate kinematics, momenta and H, and gaps of all contacts."""
        cdef Py_ssize_t count = self.contacts.count
        self.frames = self.doubles(self.find_frames.result[0].computed)
        self.motion = self.doubles(self.find_motion.result[0].computed)
        self.momentum, self.free = self.doubles(self.n), self.doubles(self.n)
        self.turned = self.doubles(self.n)
        self.middle, self.a = self.doubles(self.n), self.doubles(self.n)
        self.padded = carve_workspace(&self.pattern.shape, self.doubles(workspace_size(&self.pattern.shape)))
        self.packed_H.data, self.packed_H.dense = <const char *> (self.motion + self.n), False
        self.packed_H.to_entry = sizeof(double)
        self.number, self.gap = self.integers(np.empty(count, np.intp)), self.doubles(count)
        self.axes, self.points = self.doubles(9 * count), self.doubles(10 * count)
        self.places = self.doubles(8 * self.contacts.points)
        self.near.gap = self.gap

    cdef allocate_rows(self, Py_ssize_t rows, Py_ssize_t size):
        """Allocate the rows of near contacts, and those of the problem."""
        cdef RowResults *r = &self.results
        self.data = self.doubles(4 * self.near.size)
        self.near.data, self.near.errors = self.data, self.data + 3 * self.near.size
        r.start, r.column = self.integers(np.empty(rows + 1, np.intp)), self.integers(np.empty(size, np.intp))
        r.key, r.of = self.integers(np.empty(rows, np.intp)), self.integers(np.empty(rows, np.intp))
        r.entries, r.d, r.gap = self.doubles(size), self.doubles(rows), self.doubles(rows)
        r.along, r.upper = self.doubles(3 * rows), self.doubles(rows) if self.rows.boxed else NULL

    cdef double *doubles(self, Py_ssize_t size):
        """Return memory for numbers, zeros, which this object keeps."""
        cdef cnp.ndarray made = aligned((size,))
        self.kept.append(made)
        return <double *> made.data

    cdef Py_ssize_t *integers(self, cnp.ndarray made):
        """Keep an array of integers; return its memory."""
        self.kept.append(made)
        return <Py_ssize_t *> made.data

    def advance(self, cnp.ndarray q not None, cnp.ndarray v not None, cnp.ndarray tau not None,
                Py_ssize_t first, Py_ssize_t stop, cnp.ndarray gamma not None, cnp.ndarray on not None,
                cnp.ndarray pressed not None):
        """Compute the states after row `first` of q and v, at most to row `stop`; return the last row.

        Impulses `gamma`, row status `on` and normal impulses `pressed` of the last step are overwritten.
        Rows of tau are contiguous, all other arrays are.
        """
        cdef Py_ssize_t k = first, nq = self.bodies.nq, apart = tau.strides[0]
        cdef double *x = <double *> q.data
        cdef double *y = <double *> v.data
        cdef const char *forces = <const char *> tau.data
        cdef double *impulse = <double *> gamma.data
        cdef unsigned char *status = <unsigned char *> on.data
        cdef double *normal = <double *> pressed.data
        with nogil:
            while k < stop and self.step(x + nq * k, y + self.n * k, <const double *> (forces + apart * k),
                                         impulse, status, normal, x + nq * (k + 1), y + self.n * (k + 1)):
                k += 1
        return k

    cdef bint step(self, const double *q, const double *v, const double *tau, double *gamma,
                   unsigned char *on, double *pressed, double *q_new, double *v_new) noexcept nogil:
        """Take one step; return False, with only q_new and v_new changed, where it is left to Python."""
        cdef const double *x[4]
        cdef double *H = self.motion + self.n
        x[0], x[1], x[2], x[3] = q, v, tau, NULL
        if not (self.find_frames.run_one(x, &self.frames) and self.contacts_stay()):
            return False
        self.rows.combine(&self.near, q, pressed, &self.results)
        if not (self.find_motion.run_one(x, &self.motion)
                and all_finite(self.pattern.shape.start[self.n], H)):
            return False
        if self.factor.eliminate(&self.packed_H, NULL) >= 0 or not self.compute_momentum(q, v, tau):
            return False
        self.solve_h(self.momentum, self.free)
        self.solver.load_values(H, self.momentum, self.free, self.results.entries, self.results.d,
                                self.results.upper, 0)
        if not (all_finite(self.solver.m, gamma)
                and self.solver.solve(gamma, on, False, self.target, self.limit) == SOLVED_):
            return False
        memcpy(q_new, q, self.bodies.nq * sizeof(double))
        memcpy(v_new, self.solver.v, self.n * sizeof(double))
        self.integrator.advance_state(q_new, v_new, self.h)
        if not (all_finite(self.bodies.nq, q_new) and all_finite(self.n, v_new)):
            return False
        self.keep_impulses(gamma, on, pressed)
        return True

    cdef bint contacts_stay(self) noexcept nogil:
        """Compute gaps and rows of near contacts; return False where these are not those of the last step."""
        cdef Py_ssize_t near = 0
        if self.contacts.count:
            near = self.contacts.find_candidates(self.frames, self.margin, self.places, self.number)
            near = self.contacts.measure_candidates(self.frames, self.margin, near, self.number, self.gap,
                                                    self.axes, self.points)
        if near != self.near.count or memcmp(self.number, self.near.number, near * sizeof(Py_ssize_t)):
            return False
        self.contacts.fill_all(self.frames, near, self.number, self.near.start, self.axes, self.points,
                               self.gap, self.data, self.near.size)
        return True

    cdef bint compute_momentum(self, const double *q, const double *v, const double *tau) noexcept nogil:
        """Compute the momentum after the step without impulses; return whether it is finite."""
        cdef Py_ssize_t k
        if self.implicit:
            if not self.take_midpoint(q, v, tau):
                return False
            memcpy(self.momentum, self.turned, self.n * sizeof(double))
            self.factor.apply_one(MULTIPLY, self.momentum, self.padded.path)
            for k in range(self.n):
                self.momentum[k] = self.momentum[k] + self.h * tau[k]
        else:
            memset(self.turned, 0, self.n * sizeof(double))
            self.integrator.add_velocity_rates(v, self.turned)
            for k in range(self.n):
                self.turned[k] = v[k] + self.h * self.turned[k]
            active.single.load_packed(&self.pattern.shape, self.packed_H.data, sizeof(double), 0,
                                      self.padded.X)
            h_mul(&self.pattern.shape, self.padded.X, self.turned, self.momentum, 1, self.padded.path)
            for k in range(self.n):
                self.momentum[k] = self.momentum[k] + self.h * self.motion[k]
        return all_finite(self.n, self.momentum)

    cdef bint take_midpoint(self, const double *q, const double *v, const double *tau) noexcept nogil:
        """Compute the velocity after the step without tau and impulses; return whether that converges."""
        cdef double error = 0.0, before, scale = 0.0
        cdef Py_ssize_t k
        cdef int count, status = CONVERGED
        cdef const double *x[3]
        x[0], x[1], x[2] = q, self.middle, NULL
        memcpy(self.turned, v, self.n * sizeof(double))
        memcpy(self.middle, v, self.n * sizeof(double))
        for k in range(self.n):
            self.a[k] = tau[k] - self.motion[k]
        for count in range(ROUNDS if self.n else 0):
            if count and not self.find_bias.run_one(x, &self.a):
                return False
            self.solve_h(self.a, self.a)
            before = error if count > 1 else INFINITY
            error = self.integrator.improve(self.n, v, self.a, self.h, self.middle, self.turned, &scale)
            status = midpoint_status(count, error, before, scale)
            if status != IMPROVES:
                break
        return status == CONVERGED

    cdef void solve_h(self, const double *b, double *x) noexcept nogil:
        """Compute x = H^-1 b; x may be b."""
        if x != b:
            memcpy(x, b, self.n * sizeof(double))
        self.factor.apply_one(SOLVE, x, self.padded.path)

    cdef void keep_impulses(self, double *gamma, unsigned char *on, double *pressed) noexcept nogil:
        """Copy impulses and row status of the solution, and sum normal impulses if friction is a box."""
        cdef const RowResults *r = &self.results
        cdef Py_ssize_t i
        for i in range(self.solver.m):
            gamma[i] = self.solver.impulse[i] * self.solver.scale[i]
            if r.upper != NULL and (self.solver.status[i] == FULL or gamma[i] > r.upper[i]):
                gamma[i] = r.upper[i]
            on[i] = self.solver.status[i] == ON
        if r.upper == NULL:
            return
        memset(pressed, 0, self.contacts.count * sizeof(double))
        sum_normals(r.row - self.rows.limited.shape[0], r.of, r.along, gamma, self.near.count,
                    self.near.number, self.near.start, self.near.column, self.momentum, self.rows.noise,
                    pressed)
