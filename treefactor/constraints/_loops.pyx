"""Compute the rows of the loops of a model, and its dynamics with closed loops, on NumPy arrays."""

cimport numpy as cnp
from libc.math cimport NAN
from libc.stdlib cimport free, malloc

from ..dynamics._operands cimport ALIGNED, LANES, Operand, align, describe, load
from ..dynamics._recursions cimport FRAMES, MOTION, Arguments, Bodies, Entry
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
from .._util._fast_arrays cimport all_finite, is_plain_vector

import numpy as np

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
    """

    cdef Bodies bodies
    cdef Closures c
    cdef Py_ssize_t nnz          # entries of J
    cdef object kept

    def __cinit__(self, Bodies bodies not None, cnp.ndarray loops not None, cnp.ndarray entries not None,
                  cnp.ndarray start not None, cnp.ndarray column not None, cnp.ndarray first not None,
                  cnp.ndarray stop not None):
        self.bodies, self.nnz = bodies, len(column)
        self.c.joints, self.c.loops, self.c.rows = bodies.m.joints, len(loops), len(start) - 1
        self.c.loop = <const Loop *> loops.data
        self.c.entry = <const Entry *> entries.data
        self.c.start = <const Py_ssize_t *> start.data
        self.c.column = <const Py_ssize_t *> column.data
        self.c.first = <const Py_ssize_t *> first.data
        self.c.stop = <const Py_ssize_t *> stop.data
        self.kept = (loops, entries, start, column, first, stop)

    def rows(self, cnp.ndarray frames not None):
        """Compute residuals and J-dot v (count, rows), and J (count, nnz), from frames (count, size)."""
        cdef Py_ssize_t count = frames.shape[0], size = frames.shape[1], m = self.c.rows, b
        cdef cnp.ndarray residual = np.empty((count, m)), bias = np.empty((count, m))
        cdef cnp.ndarray data = np.empty((count, self.nnz))
        with nogil:
            for b in range(count):
                kernels.one.rows(
                    &self.c, <const double *> frames.data + b * size, <double *> residual.data + b * m,
                    <double *> bias.data + b * m, <double *> data.data + b * self.nnz
                )
        return residual, bias, data

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        """Count the doubles of workspace that `compute` needs."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Py_ssize_t kernel = (kernels.one if lanes == 1 else kernels.lanes).workspace_size(&self.c, t.n)
        cdef Py_ssize_t size = self.bodies.size(FRAMES) + self.bodies.size(MOTION) + 2 * self.c.rows
        size += self.nnz + 2 * t.n                                # D, reciprocals
        size = lanes * size + kernel
        size += max(self.bodies.workspace_size(FRAMES, lanes), self.bodies.workspace_size(MOTION, lanes))
        size += factor_workspace_size(t) if lanes == 1 else lanes * t.scratch
        return size + 12 * ALIGNED

    cdef void compute(self, int lanes, const Arguments *given, double stabilization, double *force,
                      Py_ssize_t *failed, double *work) noexcept nogil:
        """Compute accelerations given.out and forces of 1 or 8 states; `failed` as in `Bodies.compute`."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef const LoopKernels *kernel = &kernels.one if lanes == 1 else &kernels.lanes
        cdef Py_ssize_t n = t.n, m = self.c.rows, k, lane
        cdef double *frames = align(work)
        cdef double *motion = align(frames + lanes * self.bodies.size(FRAMES))
        cdef double *H = motion + lanes * n
        cdef double *D = align(motion + lanes * self.bodies.size(MOTION))
        cdef double *inverse = align(D + lanes * n)
        cdef double *residual = align(inverse + lanes * n)
        cdef double *wanted = align(residual + lanes * m)
        cdef double *data = align(wanted + lanes * m)
        cdef double *X = align(data + lanes * self.nnz)           # workspace of the factorization
        cdef Workspace w = carve_workspace(t, X)
        cdef double *workspace = align(X + (factor_workspace_size(t) if lanes == 1 else lanes * t.scratch))
        cdef const Py_ssize_t *at = t.at if lanes == 1 else t.start
        cdef Arguments inner = given[0]
        inner.out = frames
        self.bodies.compute(FRAMES, lanes, &inner, failed, workspace)
        kernel.rows(&self.c, frames, residual, wanted, data)
        self.set_wanted(lanes, given.v, stabilization, residual, data, wanted)
        inner.out = motion
        self.bodies.compute(MOTION, lanes, &inner, failed, workspace)
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
                         const double *data, double *wanted) noexcept nogil:
        """Replace J-dot v by J a = -J-dot v - 2 s J v - s^2 residual."""
        cdef Py_ssize_t r, e, lane
        cdef double speed
        for r in range(self.c.rows):
            for lane in range(lanes):
                speed = 0.0
                if s != 0.0:
                    for e in range(self.c.start[r], self.c.start[r + 1]):
                        speed += data[e * lanes + lane] * v[self.c.column[e] * lanes + lane]
                e = r * lanes + lane
                wanted[e] = -wanted[e] - s * (2.0 * speed + s * residual[e])

    cdef object one(self, object q, object v, object tau, double stabilization):
        """Compute acceleration and forces of plain vectors; None if the general path must handle the call."""
        cdef cnp.npy_intp n = self.bodies.nv, m = self.c.rows
        cdef cnp.ndarray a, force
        cdef Arguments given
        cdef Py_ssize_t failed
        cdef double *workspace
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
            self.compute(1, &given, stabilization, <double *> force.data, &failed, workspace)
        free(workspace)
        return (a, force) if failed == FACTORIZED else None

    def batch(self, Py_ssize_t count, operands, double stabilization, cnp.ndarray a not None,
              cnp.ndarray force not None):
        """Compute accelerations (count, nv) and forces (count, rows), NaN for states that fail.

        Operands are q, v, tau and fext: (count, size), or (1, size) for all alike; fext may be None.
        """
        cdef Py_ssize_t failed[LANES]
        cdef Py_ssize_t n = self.bodies.nv, m = self.c.rows, need = self.workspace_size(LANES), b, j
        cdef int part
        cdef Operand given[4]
        cdef double *x[6]
        cdef Arguments block
        cdef double *workspace
        need += LANES * (n + m)
        for j in range(4):
            describe(operands[j], &given[j])
            need += LANES * given[j].size
        workspace = <double *> malloc(need * sizeof(double))
        if workspace == NULL:
            raise MemoryError(f"not enough memory for {need} numbers")
        x[0] = align(workspace)
        for j in range(4):
            x[j + 1] = x[j] + LANES * given[j].size
        x[5] = x[4] + LANES * n
        block.q, block.v, block.x, block.out = x[0], x[1], x[2], x[4]
        block.fext = NULL if given[3].data == NULL else x[3]
        with nogil:
            for b in range((count + LANES - 1) // LANES):
                part = <int> min(<Py_ssize_t> LANES, count - b * LANES)
                for j in range(4):
                    load(&given[j], b, part, x[j])
                self.compute(LANES, &block, stabilization, x[5], failed, x[5] + LANES * m)
                self.refuse(failed, given, x)
                active.lanes.store(n, part, x[4], a.data + b * LANES * n * sizeof(double), n * sizeof(double))
                active.lanes.store(
                    m, part, x[5], force.data + b * LANES * m * sizeof(double), m * sizeof(double)
                )
        free(workspace)

    cdef void refuse(self, const Py_ssize_t *failed, const Operand *given, double **x) noexcept nogil:
        """Set accelerations x[4] and forces x[5] to NaN for states that failed or are invalid."""
        cdef Py_ssize_t lane, e
        self.bodies.invalidate(given, x, self.bodies.nv)
        for lane in range(LANES):
            if failed[lane] != FACTORIZED or (self.bodies.nv and x[4][lane] != x[4][lane]):
                for e in range((self.bodies.nv + self.c.rows) * LANES):
                    if e % LANES == lane:
                        x[4][e] = NAN


def one(LoopKernel closing not None, q, v, tau, double stabilization):
    """Compute acceleration and forces of plain vectors; None if the general path must handle the call."""
    return closing.one(q, v, tau, stabilization)
