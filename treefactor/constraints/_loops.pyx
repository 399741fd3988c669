"""Compute the rows of the loops of a model, and its dynamics with closed loops, on NumPy arrays."""

cimport numpy as cnp
from libc.math cimport M_PI, atan2, remainder
from libc.string cimport memcpy, memset

from ..tree._operands cimport ALIGNED, align
from ..dynamics._dynamics_functions cimport EquationOfMotion, Frames
from ..dynamics._model_function cimport ModelFunction
from ..dynamics._recursions cimport Bodies, Entry
from ..tree._pattern cimport (
    SOLVE_L,
    SOLVE_LT,
    Shape,
    Workspace,
    active,
    carve_workspace,
    clear_workspace,
    workspace_size as factor_workspace_size,
)

import numpy as np

from ..tolerances import CANCELLED

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/constraints/closures.h"
    #include "kernels/common/choose.h"
    CHOOSE(LoopTable, loops)
    """
    ctypedef struct Loop:
        Py_ssize_t body[2]
        Py_ssize_t row, pairs
        Py_ssize_t pair[6]
        Py_ssize_t entry, stop
        double R[18]
        double p[6]

    ctypedef struct Closures:
        Py_ssize_t joints, loops, rows
        const Loop *loop
        const Entry *entry
        const Py_ssize_t *start
        const Py_ssize_t *column
        const Py_ssize_t *first
        const Py_ssize_t *stop
        double rounding

    ctypedef struct LoopKernels:
        void (*rows)(const Closures *, const double *frames, double *residual, double *bias,
                     double *data) noexcept nogil
        Py_ssize_t (*workspace_size)(const Closures *, Py_ssize_t n) noexcept nogil
        void (*close)(const Closures *, const Shape *, const Py_ssize_t *at, const double *L,
                      const double *inverse, const double *data, double *wanted, double *g, double *force,
                      double *workspace) noexcept nogil

    ctypedef struct LoopTable:
        const char *name
        LoopKernels one
        LoopKernels lanes

    const LoopTable *loops_for(const char *name) nogil

cdef const LoopTable *kernels = loops_for(active.name)

cdef Loop empty_loop
LOOP = np.asarray(<Loop[:1]> &empty_loop).dtype
assert LOOP.itemsize == sizeof(Loop)


ctypedef struct Motor:           # prescribes position, velocity and acceleration of one row
    Py_ssize_t row
    Py_ssize_t q                 # entry of q of a joint that is driven; -1: the row is that of a loop
    Py_ssize_t as_cosine_and_sine          # 1: q holds cosine and sine
    Py_ssize_t place             # entry of the row that is 1; the others are 0

cdef Motor no_motor
MOTOR = np.asarray(<Motor[:1]> &no_motor).dtype


cdef class LoopKernel:
    """Rows of the loops of one model; assumes contiguous float64 arrays of the right sizes.

    Parameters
    ----------
    bodies : Bodies
    loops : ndarray of LOOP
    entries : ndarray of ENTRY
    start, column : ndarray of int
        Support of J, compressed by rows.
    first, stop : ndarray of int, shape (nv,)
        Range of rows in which a column of J L^-1 is not zero.
    motors : ndarray of MOTOR
        Drives; the rows of joints that are driven follow those of the loops.
    """

    cdef Bodies bodies
    cdef Closures c
    cdef Py_ssize_t nnz          # entries of J
    cdef Py_ssize_t motors
    cdef const Motor *motor
    cdef object kept

    def __cinit__(self, Bodies bodies not None, cnp.ndarray loops not None, cnp.ndarray entries not None,
                  cnp.ndarray start not None, cnp.ndarray column not None, cnp.ndarray first not None,
                  cnp.ndarray stop not None, cnp.ndarray motors not None):
        self.bodies, self.nnz = bodies, len(column)
        self.c.joints, self.c.loops, self.c.rows = bodies.m.joints, len(loops), len(start) - 1
        self.c.loop = <const Loop *> loops.data
        self.c.entry = <const Entry *> entries.data
        self.c.start = <const Py_ssize_t *> start.data
        self.c.column = <const Py_ssize_t *> column.data
        self.c.first = <const Py_ssize_t *> first.data
        self.c.stop = <const Py_ssize_t *> stop.data
        self.c.rounding = CANCELLED
        self.motors, self.motor = len(motors), <const Motor *> motors.data
        self.kept = (loops, entries, start, column, first, stop, motors)

    def rows(self, cnp.ndarray frames not None, cnp.ndarray q=None, cnp.ndarray motion=None):
        """Compute residuals, second and first derivatives by time alone (count, rows), and J (count, nnz).

        Frames are (count, size); q (count, nq) and motion (count, 3 motors) are read if there are motors.
        Second derivatives, J-dot v less what is prescribed, are at zero acceleration, first at zero velocity.
        """
        cdef Py_ssize_t count = frames.shape[0], size = frames.shape[1], m = self.c.rows, b
        cdef cnp.npy_intp *shape = [count, m]
        cdef cnp.npy_intp *entries = [count, self.nnz]
        cdef cnp.ndarray residual = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_DOUBLE)
        cdef cnp.ndarray bias = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_DOUBLE)
        cdef cnp.ndarray rate = cnp.PyArray_ZEROS(2, shape, cnp.NPY_DOUBLE, 0)
        cdef cnp.ndarray data = cnp.PyArray_SimpleNew(2, entries, cnp.NPY_DOUBLE)
        cdef const double *x = <const double *> NULL if q is None else <const double *> q.data
        cdef const double *prescribed = NULL
        if motion is not None:
            prescribed = <const double *> motion.data
        with nogil:
            for b in range(count):
                kernels.one.rows(
                    &self.c, <const double *> frames.data + b * size, <double *> residual.data + b * m,
                    <double *> bias.data + b * m, <double *> data.data + b * self.nnz
                )
                if self.motors:
                    self.prescribe(
                        1, x + b * self.bodies.nq, prescribed + 3 * b * self.motors,
                        <double *> residual.data + b * m, <double *> bias.data + b * m,
                        <double *> rate.data + b * m, <double *> data.data + b * self.nnz
                    )
        return residual, bias, rate, data

    cdef void prescribe(self, int lanes, const double *q, const double *motion, double *residual,
                        double *bias, double *rate, double *data) noexcept nogil:
        """Add rows of joints that are driven; subtract motions from residuals and their derivatives."""
        cdef Py_ssize_t k, e, lane
        cdef const Motor *motor
        for k in range(self.motors):
            motor = self.motor + k
            for lane in range(lanes):
                e = motor.row * lanes + lane
                if motor.q >= 0:
                    residual[e], bias[e] = self.position(lanes, motor, q + lane), 0.0
                residual[e] -= motion[3 * k * lanes + lane]
                if motor.as_cosine_and_sine:
                    residual[e] = remainder(residual[e], 2 * M_PI)
                rate[e] = -motion[(3 * k + 1) * lanes + lane]
                bias[e] -= motion[(3 * k + 2) * lanes + lane]
            if motor.q >= 0:
                for e in range(self.c.start[motor.row] * lanes, self.c.start[motor.row + 1] * lanes):
                    data[e] = e // lanes - self.c.start[motor.row] == motor.place

    cdef double position(self, int lanes, const Motor *motor, const double *q) noexcept nogil:
        """Return the position of a joint; entries of q are `lanes` apart."""
        if motor.as_cosine_and_sine:
            return atan2(q[(motor.q + 1) * lanes], q[motor.q * lanes])
        return q[motor.q * lanes]

    @property
    def row_count(self):
        """Return the number of rows, of loops and of drives."""
        return self.c.rows


cdef class LoopDynamics(ModelFunction):
    """Compute accelerations and forces of loops and drives.

    Parameters
    ----------
    model : Model
    loops : Loops
        With drives their motions are an argument, too.
    stabilization : float
    """

    cdef LoopKernel kernel
    cdef Frames frames
    cdef EquationOfMotion equation
    cdef double s

    def __init__(self, model, loops, double stabilization):
        self.kernel, self.s = loops.kernel, stabilization
        self.frames, self.equation = Frames(self.bodies), EquationOfMotion(self.bodies)
        self.add_arguments(("q", "v", "tau", "fext"))
        if self.kernel.motors:
            self.names += ("drives",)
            self.add_input((3 * self.kernel.motors,))
        self.gather, self.may_fail = tuple, True
        self.add_result((self.bodies.nv,))
        self.add_result((self.kernel.c.rows,))

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        """Leave trees that are eliminated in parts to the lanes."""
        return not self.pattern.shape.tasks and ModelFunction.run_one(self, x, out)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef const LoopKernels *kernel = &kernels.one if lanes == 1 else &kernels.lanes
        cdef Py_ssize_t size = self.frames.result[0].computed + self.equation.result[0].computed
        size += 3 * self.kernel.c.rows + self.kernel.nnz + 2 * t.n        # D, reciprocals
        size = lanes * size + kernel.workspace_size(&self.kernel.c, t.n)
        size += max(self.frames.workspace_size(lanes), self.equation.workspace_size(lanes))
        size += factor_workspace_size(t) if lanes == 1 else lanes * t.scratch
        return size + 13 * ALIGNED

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef const LoopKernels *kernel = &kernels.one if lanes == 1 else &kernels.lanes
        cdef const Closures *c = &self.kernel.c
        cdef Py_ssize_t n = t.n, m = c.rows, k
        cdef double *frames = work
        cdef double *motion = align(frames + lanes * self.frames.result[0].computed)
        cdef double *H = motion + lanes * n
        cdef double *D = align(motion + lanes * self.equation.result[0].computed)
        cdef double *inverse = align(D + lanes * n)
        cdef double *residual = align(inverse + lanes * n)
        cdef double *wanted = align(residual + lanes * m)
        cdef double *rate = align(wanted + lanes * m)
        cdef double *data = align(rate + lanes * m)
        cdef double *X = align(data + lanes * self.kernel.nnz)    # workspace of the factorization
        cdef Workspace w = carve_workspace(t, X)
        cdef double *rest = align(X + (factor_workspace_size(t) if lanes == 1 else lanes * t.scratch))
        cdef const Py_ssize_t *at = t.at if lanes == 1 else t.start
        self.frames.compute(model, lanes, x, &frames, failed, rest)
        kernel.rows(c, frames, residual, wanted, data)
        memset(rate, 0, lanes * m * sizeof(double))
        if self.kernel.motors:
            self.kernel.prescribe(lanes, x[0], x[4], residual, wanted, rate, data)
        self.set_wanted(lanes, x[1], residual, rate, data, wanted)
        self.equation.compute(model, lanes, x, &motion, failed, rest)
        if lanes == 1:
            clear_workspace(t, &w)
            active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
            failed[0] = active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, D, inverse)
            active.single.apply(t, w.X, D, inverse, 1, SOLVE_LT, motion, w.path)
            kernel.close(c, t, at, w.X, inverse, data, wanted, motion, y[1], rest)
        else:
            active.lanes.factor(t, H, H, inverse, X, failed)
            active.lanes.apply(t, H, inverse, 1, SOLVE_LT, motion, 1)
            kernel.close(c, t, at, H, inverse, data, wanted, motion, y[1], rest)
        for k in range(n * lanes):
            motion[k] *= inverse[k]
        if lanes == 1:
            active.single.apply(t, w.X, D, inverse, 1, SOLVE_L, motion, w.path)
        else:
            active.lanes.apply(t, H, inverse, 1, SOLVE_L, motion, 1)
        memcpy(y[0], motion, n * lanes * sizeof(double))

    cdef void set_wanted(self, int lanes, const double *v, const double *residual, const double *rate,
                         const double *data, double *wanted) noexcept nogil:
        """Replace J-dot v by J a = -J-dot v - 2 s (J v + rate) - s^2 residual."""
        cdef const Closures *c = &self.kernel.c
        cdef Py_ssize_t r, e, lane
        cdef double speed
        for r in range(c.rows):
            for lane in range(lanes):
                speed = rate[r * lanes + lane]
                if self.s != 0.0:
                    for e in range(c.start[r], c.start[r + 1]):
                        speed += data[e * lanes + lane] * v[c.column[e] * lanes + lane]
                e = r * lanes + lane
                wanted[e] = -wanted[e] - self.s * (2.0 * speed + self.s * residual[e])
