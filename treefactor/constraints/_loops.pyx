"""Compute the rows of the loops of a model, and its dynamics with closed loops, on NumPy arrays."""

cimport numpy as cnp
from libc.math cimport NAN, M_PI, atan2, remainder
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ..tree._operands cimport ALIGNED, LANES, Operand, align, describe, load
from ..dynamics._dynamics_functions cimport EquationOfMotion, Frames
from ..dynamics._recursions cimport Bodies, Entry
from ..tree._pattern cimport (
    FACTORIZED,
    SOLVE_L,
    SOLVE_LT,
    Shape,
    Workspace,
    active,
    carve_workspace,
    clear_workspace,
    workspace_size as factor_workspace_size,
)
from .._functions._packed cimport add_doubt
from .._util._fast_arrays cimport all_finite, is_plain_vector

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


ctypedef struct Arguments:       # entry e of a configuration at x[e]; with lanes at x[e * lanes + lane]
    const double *q
    const double *v
    const double *x              # tau
    const double *fext
    double *out


cdef class LoopKernel:
    """Loops of one model; assumes contiguous float64 arrays of the right sizes.

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
    cdef Frames frames
    cdef EquationOfMotion equation
    cdef Closures c
    cdef Py_ssize_t nnz          # entries of J
    cdef Py_ssize_t motors
    cdef const Motor *motor
    cdef object kept

    def __cinit__(self, Bodies bodies not None, cnp.ndarray loops not None, cnp.ndarray entries not None,
                  cnp.ndarray start not None, cnp.ndarray column not None, cnp.ndarray first not None,
                  cnp.ndarray stop not None, cnp.ndarray motors not None):
        self.bodies, self.nnz = bodies, len(column)
        self.frames, self.equation = Frames(bodies), EquationOfMotion(bodies)
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
        cdef const double *x = NULL if q is None else <const double *> q.data
        cdef const double *prescribed = NULL if motion is None else <const double *> motion.data
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

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        """Count the doubles of workspace that `compute` needs."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Py_ssize_t kernel = (kernels.one if lanes == 1 else kernels.lanes).workspace_size(&self.c, t.n)
        cdef Py_ssize_t size = self.frames.result[0].computed + self.equation.result[0].computed
        size += 3 * self.c.rows + self.nnz + 2 * t.n              # D, reciprocals
        size = lanes * size + kernel
        size += max(self.frames.workspace_size(lanes), self.equation.workspace_size(lanes))
        size += factor_workspace_size(t) if lanes == 1 else lanes * t.scratch
        return size + 13 * ALIGNED

    cdef void compute(self, int lanes, const Arguments *given, const double *prescribed, double stabilization,
                      double *force, Py_ssize_t *failed, double *work) noexcept nogil:
        """Compute accelerations given.out and forces of 1 or 8 states.

        failed[lane] <- freedom with a bad pivot, or -1.
        """
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef const LoopKernels *kernel = &kernels.one if lanes == 1 else &kernels.lanes
        cdef Py_ssize_t n = t.n, m = self.c.rows, k, lane
        cdef double *frames = align(work)
        cdef double *motion = align(frames + lanes * self.frames.result[0].computed)
        cdef double *H = motion + lanes * n
        cdef double *D = align(motion + lanes * self.equation.result[0].computed)
        cdef double *inverse = align(D + lanes * n)
        cdef double *residual = align(inverse + lanes * n)
        cdef double *wanted = align(residual + lanes * m)
        cdef double *rate = align(wanted + lanes * m)
        cdef double *data = align(rate + lanes * m)
        cdef double *X = align(data + lanes * self.nnz)           # workspace of the factorization
        cdef Workspace w = carve_workspace(t, X)
        cdef double *workspace = align(X + (factor_workspace_size(t) if lanes == 1 else lanes * t.scratch))
        cdef const Py_ssize_t *at = t.at if lanes == 1 else t.start
        cdef const double *state[4]
        state[0], state[1], state[2], state[3] = given.q, given.v, given.x, given.fext
        for lane in range(lanes):
            failed[lane] = FACTORIZED
        self.frames.compute(&self.bodies.m, lanes, state, &frames, failed, workspace)
        kernel.rows(&self.c, frames, residual, wanted, data)
        memset(rate, 0, lanes * m * sizeof(double))
        if self.motors:
            self.prescribe(lanes, given.q, prescribed, residual, wanted, rate, data)
        self.set_wanted(lanes, given.v, stabilization, residual, rate, data, wanted)
        self.equation.compute(&self.bodies.m, lanes, state, &motion, failed, workspace)
        if lanes == 1:
            clear_workspace(t, &w)
            active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
            failed[0] = active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, D, inverse)
            active.single.apply(t, w.X, D, inverse, 1, SOLVE_LT, motion, w.path)
            kernel.close(&self.c, t, at, w.X, inverse, data, wanted, motion, force, workspace)
        else:
            active.lanes.factor(t, H, H, inverse, X, failed)
            active.lanes.apply(t, H, inverse, 1, SOLVE_LT, motion, 1)
            kernel.close(&self.c, t, at, H, inverse, data, wanted, motion, force, workspace)
        for k in range(n):
            for lane in range(lanes):
                motion[k * lanes + lane] *= inverse[k * lanes + lane]
        if lanes == 1:
            active.single.apply(t, w.X, D, inverse, 1, SOLVE_L, motion, w.path)
        else:
            active.lanes.apply(t, H, inverse, 1, SOLVE_L, motion, 1)
        for k in range(n * lanes):
            given.out[k] = motion[k]

    cdef void set_wanted(self, int lanes, const double *v, double s, const double *residual,
                         const double *rate, const double *data, double *wanted) noexcept nogil:
        """Replace J-dot v by J a = -J-dot v - 2 s (J v + rate) - s^2 residual."""
        cdef Py_ssize_t r, e, lane
        cdef double speed
        for r in range(self.c.rows):
            for lane in range(lanes):
                speed = rate[r * lanes + lane]
                if s != 0.0:
                    for e in range(self.c.start[r], self.c.start[r + 1]):
                        speed += data[e * lanes + lane] * v[self.c.column[e] * lanes + lane]
                e = r * lanes + lane
                wanted[e] = -wanted[e] - s * (2.0 * speed + s * residual[e])

    cdef object single_state(self, object q, object v, object tau, double stabilization, object motion):
        """Compute acceleration and forces of plain vectors; None if the general path must handle the call."""
        cdef cnp.npy_intp n = self.bodies.nv, m = self.c.rows
        cdef cnp.ndarray a, force
        cdef Arguments given
        cdef Py_ssize_t failed, prescribed = 3 * self.motors
        cdef const double *wanted = NULL
        cdef double *workspace
        if self.motors:
            if not is_plain_vector(motion, prescribed):
                return None
            wanted = <const double *> cnp.PyArray_DATA(<cnp.ndarray> motion)
            if not all_finite(prescribed, wanted):
                return None
        if not (is_plain_vector(q, self.bodies.nq) and is_plain_vector(v, n) and is_plain_vector(tau, n)):
            return None
        given.q = <const double *> cnp.PyArray_DATA(<cnp.ndarray> q)
        given.v = <const double *> cnp.PyArray_DATA(<cnp.ndarray> v)
        given.x = <const double *> cnp.PyArray_DATA(<cnp.ndarray> tau)
        given.fext = NULL
        if self.bodies.pattern.shape.tasks or not (
            all_finite(self.bodies.nq, given.q) and all_finite(n, given.v) and all_finite(n, given.x)
            and self.bodies.is_configuration(given.q, 1)
        ):
            return None
        a, force = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_DOUBLE), cnp.PyArray_SimpleNew(1, &m, cnp.NPY_DOUBLE)
        given.out = <double *> a.data
        workspace = <double *> malloc(self.workspace_size(1) * sizeof(double))
        if workspace == NULL:
            raise MemoryError("not enough memory for one state")
        with nogil:
            self.compute(1, &given, wanted, stabilization, <double *> force.data, &failed, workspace)
        free(workspace)
        return (a, force) if failed == FACTORIZED else None

    def batch(self, Py_ssize_t count, operands, double stabilization, cnp.ndarray a not None,
              cnp.ndarray force not None):
        """Compute accelerations (count, nv) and forces (count, rows), NaN for states that fail.

        Operands are q, v, tau, fext and the motion of the motors: (count, size), or (1, size) for all alike;
        fext may be None, and so may the motion without motors.
        """
        cdef Py_ssize_t failed[LANES]
        cdef Py_ssize_t n = self.bodies.nv, m = self.c.rows, need = self.workspace_size(LANES), b, j
        cdef int part
        cdef Operand given[5]
        cdef double *x[7]
        cdef Arguments block
        cdef double *workspace
        need += LANES * (n + m)
        for j in range(5):
            describe(operands[j], &given[j])
            need += LANES * given[j].size
        workspace = <double *> malloc(need * sizeof(double))
        if workspace == NULL:
            raise MemoryError(f"not enough memory for {need} numbers")
        x[0] = align(workspace)
        for j in range(4):
            x[j + 1] = x[j] + LANES * given[j].size
        x[5] = x[4] + LANES * n
        x[6] = x[5] + LANES * m
        block.q, block.v, block.x, block.out = x[0], x[1], x[2], x[4]
        block.fext = NULL if given[3].data == NULL else x[3]
        with nogil:
            for b in range((count + LANES - 1) // LANES):
                part = <int> min(<Py_ssize_t> LANES, count - b * LANES)
                for j in range(4):
                    load(&given[j], b, part, x[j])
                load(&given[4], b, part, x[6])
                self.compute(LANES, &block, x[6], stabilization, x[5], failed, x[6] + LANES * given[4].size)
                self.refuse(failed, given, x)
                active.lanes.store(n, part, x[4], a.data + b * LANES * n * sizeof(double), n * sizeof(double))
                active.lanes.store(
                    m, part, x[5], force.data + b * LANES * m * sizeof(double), m * sizeof(double)
                )
        free(workspace)

    cdef void refuse(self, const Py_ssize_t *failed, const Operand *given, double **x) noexcept nogil:
        """Set accelerations x[4] and forces x[5] to NaN for states that failed or are invalid."""
        cdef double doubt[LANES]
        cdef Py_ssize_t lane, e, j
        memset(doubt, 0, sizeof(doubt))
        for j in range(4):
            add_doubt(given[j].size, x[j], doubt)
        if self.bodies.nv:
            add_doubt(given[4].size, x[6], doubt)
        for lane in range(LANES):
            if (failed[lane] != FACTORIZED or doubt[lane] != 0
                    or not self.bodies.is_configuration(x[0] + lane, LANES)):
                for e in range(self.bodies.nv + self.c.rows):
                    x[4][e * LANES + lane] = NAN


def single_state(LoopKernel closing not None, q, v, tau, double stabilization, motion=None):
    """Compute acceleration and forces of plain vectors; None if the general path must handle the call."""
    return closing.single_state(q, v, tau, stabilization, motion)
