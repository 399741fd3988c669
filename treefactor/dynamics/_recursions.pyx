"""Run the compiled recursions of one model on validated NumPy arrays."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport NAN, fabs
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ..tree._pattern cimport (
    FACTORIZED,
    SOLVE,
    Pattern,
    Shape,
    Workspace,
    active,
    carve_workspace,
    clear_workspace,
    workspace_size as factor_workspace_size,
)
from .._util._fast_arrays cimport all_finite
from ..tree._operands cimport ALIGNED, LANES, Operand, align, describe, load

import numpy as np

from .._util.messages import not_a_model
from ..tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/dynamics/bodies.h"
    #include "kernels/dynamics/body_motion.h"
    #include "kernels/common/choose.h"
    CHOOSE(Dynamics, dynamics)
    """
    const Dynamics *dynamics_for(const char *name) nogil

cdef const Dynamics *dynamics = dynamics_for(active.name)

cdef enum:
    STACK_DOUBLES = 6144         # workspace on the C stack; larger robots allocate theirs on the heap

cdef Body empty_body
cdef BodyMotion empty_motion
cdef Entry empty_entry
BODY = np.asarray(<Body[:1]> &empty_body).dtype  # NumPy dtypes derived from the C structs
BODY_MOTION = np.asarray(<BodyMotion[:1]> &empty_motion).dtype
ENTRY = np.asarray(<Entry[:1]> &empty_entry).dtype
cdef double unit_square = UNIT_SQUARE
assert BODY.itemsize == sizeof(Body) and BODY_MOTION.itemsize == sizeof(BodyMotion)
assert ENTRY.itemsize == sizeof(Entry)

KINDS = ("revolute", "continuous", "prismatic", "helical", "spherical", "planar", "translation", "freeflyer")
OPERATIONS = ("crba", "rnea", "bias", "h_times", "aba", "factor", "frames", "motion", "joint_forces",
              "base_force")  # order of the pxd


def sincos(x):
    """Return the sines and cosines of a vector."""
    cdef cnp.ndarray source = np.ascontiguousarray(x, dtype=np.float64)
    cdef cnp.ndarray s = np.empty_like(source), c = np.empty_like(source)
    dynamics.sincos(source.size, <const double *> source.data, <double *> s.data, <double *> c.data)
    return s, c


def sincos_address():
    """Return the address of the C function behind `sincos`, for generated machine code."""
    return <size_t> dynamics.sincos


cdef bint gives_h(int op) noexcept nogil:
    """Return whether an operation computes the packed rows of H."""
    return op == CRBA or op == FACTOR or op == MOTION


cdef class Bodies:
    """Run the recursions of one model; arrays must be contiguous float64 and of the right size.

    Parameters
    ----------
    bodies : ndarray of BODY
    gravity : ndarray, shape (3,)
    extended : Tree
        Tree of the freedoms of all bodies, mimic joints included.
    armature : ndarray, shape (n,)
    pattern : Pattern
        Sparsity pattern of H, from the tree of the freedoms v.
    nq : int
    units : ndarray of int, shape (m, 2)
        First entry and number of entries of the unit vectors in q.
    coupling : tuple of ndarrays, optional
        Mimic coupling: for every freedom its leader in v (n,) and the ratio (n,); for every packed entry of
        the extended H the entry of H it is added to, and the factor.
    """

    def __cinit__(self, cnp.ndarray bodies not None, cnp.ndarray gravity not None, extended,
                  cnp.ndarray armature not None, Pattern pattern not None, Py_ssize_t nq,
                  cnp.ndarray units not None, Py_ssize_t joints, coupling=None):
        cdef cnp.ndarray start = extended.row_start, column = extended.columns
        cdef cnp.ndarray follows, ratio, fold, fold_ratio
        cdef Py_ssize_t r
        self.m.bodies = len(bodies)
        self.m.n = extended.n
        self.m.joints = joints
        self.m.angles = np.count_nonzero(bodies["angle"] >= 0)
        self.m.body = <const Body *> bodies.data
        self.m.start = <const Py_ssize_t *> start.data
        self.m.column = <const Py_ssize_t *> column.data
        self.m.armature = <const double *> armature.data
        for r in range(3):
            self.m.gravity[r] = gravity[r]
        self.pattern = pattern
        self.nq, self.nv, self.nnz = nq, pattern.shape.n, pattern.shape.start[pattern.shape.n]
        self.units = len(units)
        self.unit = <const Py_ssize_t *> units.data
        self.coupled = coupling is not None
        if self.coupled:
            follows, ratio, fold, fold_ratio = coupling
            self.follows = <const Py_ssize_t *> follows.data
            self.ratio = <const double *> ratio.data
            self.fold = <const Py_ssize_t *> fold.data
            self.fold_ratio = <const double *> fold_ratio.data
        self.kept = (bodies, start, column, armature, units, coupling)

    cdef Py_ssize_t size(self, int op) noexcept nogil:
        """Return the number of result entries of one configuration.

        For crba these are the packed rows; for motion, tau - bias and the packed rows.
        """
        if op == CRBA:
            return self.nnz
        if op == MOTION:
            return self.nv + self.nnz
        if op == JOINT_FORCES or op == BASE_FORCE:
            return 6 * self.m.joints if op == JOINT_FORCES else 6
        return UNIT_MOTION(self.m.joints, self.m.n) if op == FRAMES else self.nv

    def result_size(self, int op):
        """Return `size` to Python."""
        return self.size(op)

    cdef Py_ssize_t workspace_size(self, int op, int lanes) noexcept nogil:
        """Return the doubles that `compute` needs, alignment excluded."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t size = (dynamics.one if lanes == 1 else dynamics.lanes).workspace_size(&self.m)
        size += ALIGNED + lanes * 5 * self.m.n                       # v, x, tau, D, reciprocals
        if gives_h(op):
            size += lanes * (self.m.start[self.m.n] + self.nnz)
        if op == FACTOR:
            size += factor_workspace_size(t) if lanes == 1 else lanes * t.scratch
        return size

    cdef bint is_configuration(self, const double *q, int step) noexcept nogil:
        """Return whether all quaternions and (cos, sin) have unit length; entries of q are `step` apart."""
        cdef Py_ssize_t j, e
        cdef double norm
        for j in range(self.units):
            norm = 0.0
            for e in range(self.unit[2 * j], self.unit[2 * j] + self.unit[2 * j + 1]):
                norm += q[e * step] * q[e * step]
            if not fabs(norm - 1.0) <= unit_square:
                return False
        return True

    cdef void expand(self, int lanes, const double *v, double *x) noexcept nogil:
        """x <- G v: velocities or accelerations of all freedoms, mimic joints included."""
        cdef Py_ssize_t k, lane
        for k in range(self.m.n):
            for lane in range(lanes):
                x[k * lanes + lane] = self.ratio[k] * v[self.follows[k] * lanes + lane]

    cdef void reduce(self, int lanes, Py_ssize_t count, Py_ssize_t reduced, const Py_ssize_t *to,
                     const double *ratio, const double *x, double *y) noexcept nogil:
        """y <- G^T x, or G^T H G in packed rows: add up the entries of x with the same target."""
        cdef Py_ssize_t e, lane
        memset(y, 0, reduced * lanes * sizeof(double))
        for e in range(count):
            for lane in range(lanes):
                y[to[e] * lanes + lane] += ratio[e] * x[e * lanes + lane]

    cdef void compute(self, int op, int lanes, const Arguments *args, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """Run an operation on 1 or 8 configurations; failed[lane] <- freedom with a bad pivot, or -1."""
        cdef const Recursions *r = &dynamics.one if lanes == 1 else &dynamics.lanes
        cdef Py_ssize_t n = lanes * self.m.n, k, lane
        cdef double *workspace = align(work)
        cdef double *extended = workspace + r.workspace_size(&self.m)   # v, x, result of all freedoms
        cdef double *D = extended + 3 * n
        cdef double *inverse = D + n
        cdef double *H = inverse + n
        cdef double *full_H = inverse + n + lanes * self.nnz
        cdef double *tau = extended + 2 * n if self.coupled and gives_freedoms(op) else args.out
        cdef Arguments inner                               # of all freedoms, mimic joints included
        cdef const double *v = args.v
        cdef const double *x = args.x
        if op == CRBA or op == MOTION:
            H = args.out + (lanes * self.nv if op == MOTION else 0)
        if not self.coupled:
            full_H = H
        if self.coupled and v != NULL:
            self.expand(lanes, v, extended)
            v = extended
        if self.coupled and x != NULL:
            self.expand(lanes, x, extended + n)
            x = extended + n
        for lane in range(lanes):
            failed[lane] = FACTORIZED
        inner.q, inner.v, inner.x, inner.fext, inner.out = args.q, v, x, args.fext, tau
        self.run_recursion(op, r, &inner, full_H, D, workspace)
        if self.coupled and gives_h(op):
            self.reduce(lanes, self.m.start[self.m.n], self.nnz, self.fold, self.fold_ratio, full_H, H)
        if self.coupled and gives_freedoms(op):
            self.reduce(lanes, self.m.n, self.nv, self.follows, self.ratio, tau, args.out)
        if op == FACTOR or op == MOTION:
            for k in range(self.nv * lanes):
                args.out[k] = args.x[k] - args.out[k]
        if op == FACTOR:
            self.solve(lanes, H, D, inverse, full_H + lanes * self.m.start[self.m.n], args.out, failed)
        if op == ABA:
            self.find_failures(lanes, D, failed)
        for lane in range(lanes):
            if failed[lane] != FACTORIZED:
                for k in range(self.nv):
                    args.out[k * lanes + lane] = NAN

    cdef void run_recursion(self, int op, const Recursions *r, const Arguments *args, double *H, double *D,
                            double *workspace) noexcept nogil:
        """Call the kernel of an operation on all freedoms: H <- packed rows, D <- pivots of the ABA."""
        if op == CRBA:
            r.crba(&self.m, args.q, H, workspace)
        elif op == ABA:
            r.aba(&self.m, args.q, args.v, args.x, args.fext, args.out, D, workspace)
        elif op == FRAMES:
            r.frames(&self.m, args.q, args.v, args.out, workspace)
        elif op == JOINT_FORCES:
            r.reactions(&self.m, args.q, args.v, args.x, args.fext, args.out, NULL, workspace)
        elif op == BASE_FORCE:
            r.reactions(&self.m, args.q, args.v, args.x, args.fext, NULL, args.out, workspace)
        elif op == FACTOR or op == MOTION:
            r.equation_of_motion(&self.m, args.q, args.v, args.fext, H, args.out, workspace)
        else:
            r.rnea(&self.m, args.q, args.v, args.x, args.fext, op != H_TIMES, args.out, workspace)

    cdef void find_failures(self, int lanes, const double *D, Py_ssize_t *failed) noexcept nogil:
        """failed[lane] <- the first freedom eliminated whose pivot is not in (0, inf)."""
        cdef Py_ssize_t k, lane
        for k in range(self.nv):
            for lane in range(lanes):
                if not 0 < D[k * lanes + lane] <= DBL_MAX:
                    failed[lane] = k

    cdef void solve(self, int lanes, double *H, double *D, double *inverse, double *scratch, double *x,
                    Py_ssize_t *failed) noexcept nogil:
        """x <- H^-1 x."""
        cdef const Shape *t = &self.pattern.shape
        cdef double *X
        cdef Workspace w
        if lanes == LANES:
            X = align(scratch)
            active.lanes.factor(t, H, H, inverse, X, failed)
            active.lanes.apply(t, H, inverse, 1, SOLVE, x, 1)
            return
        w = carve_workspace(t, scratch)
        clear_workspace(t, &w)
        active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
        failed[0] = active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, D, inverse)
        active.single.apply(t, w.X, D, inverse, 1, SOLVE, x, w.path)

    cdef bint run_one(self, int op, const Arguments *args) noexcept:
        """Run an operation on one configuration, crba to dense H; false leaves it to the general path."""
        cdef double local[STACK_DOUBLES]
        cdef double *work = local
        cdef Py_ssize_t failed, n = self.nv, packed = self.nnz if op == CRBA else 0
        cdef Py_ssize_t need = packed + self.workspace_size(op, 1)
        cdef Arguments block = args[0]
        if not (all_finite(self.nq, args.q) and (args.v == NULL or all_finite(n, args.v))
                and (args.x == NULL or all_finite(n, args.x)) and self.is_configuration(args.q, 1)):
            return False
        if (op == FACTOR and self.pattern.shape.tasks) or (op == ABA and self.coupled):
            return False
        if need > STACK_DOUBLES:
            work = <double *> malloc(need * sizeof(double))
            if work == NULL:
                return False
        if op == CRBA:
            block.out = work
        self.compute(op, 1, &block, &failed, work + packed)
        if op == CRBA:
            self.unpack(work, 1, args.out)
        if need > STACK_DOUBLES:
            free(work)
        return failed == FACTORIZED

    cdef void unpack(self, const double *packed, Py_ssize_t step, double *H) noexcept nogil:
        """H <- dense symmetric matrix from packed rows whose entries are `step` apart."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t k, e, j, n = t.n
        memset(H, 0, n * n * sizeof(double))
        for k in range(n):
            for e in range(t.start[k], t.start[k + 1]):
                j = t.column[e]
                H[k * n + j] = H[j * n + k] = packed[e * step]

    def batch(self, int op, Py_ssize_t batch, operands, cnp.ndarray out not None, str layout,
              cnp.ndarray failed not None, Py_ssize_t first, Py_ssize_t stop):
        """Run an operation on the blocks first .. stop-1 of 8 configurations.

        Operands are q, v, x and fext with contiguous rows: (batch, size), or (1, size) that all share; all
        but q may be None. out has shape (batch, size), or for crba (batch, n, n), (batch, nnz) or
        (blocks, nnz, 8), by layout. failed, of shape (blocks * 8,), receives the freedom with a bad pivot,
        or -1.
        """
        cdef Operand found[4]
        cdef Py_ssize_t j
        for j in range(4):
            describe(operands[j], &found[j])
        self.run_blocks(op, batch, found, out, layout, <Py_ssize_t *> failed.data, first, stop)

    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *operands, cnp.ndarray out, str layout,
                         Py_ssize_t *failed, Py_ssize_t first, Py_ssize_t stop) except False:
        """Run blocks as `batch` does; failed may be NULL."""
        cdef Py_ssize_t size = self.size(op), to_next = out.strides[0], b, j, need
        cdef Py_ssize_t ignored[LANES]
        cdef Py_ssize_t *status
        cdef int count
        cdef bint dense = op == CRBA and layout == "dense", lanes = layout == "lanes"
        cdef double *x[5]
        cdef Arguments block
        cdef double *work
        need = LANES * size + self.workspace_size(op, LANES) + 2 * ALIGNED
        for j in range(4):
            need += LANES * operands[j].size
        work = <double *> malloc(need * sizeof(double))
        if work == NULL:
            raise MemoryError(f"cannot allocate a workspace of {need} doubles")
        x[0] = align(work)
        for j in range(4):
            x[j + 1] = x[j] + LANES * operands[j].size
        block.q = x[0]
        block.v = NULL if operands[1].data == NULL else x[1]
        block.x = NULL if operands[2].data == NULL else x[2]
        block.fext = NULL if operands[3].data == NULL else x[3]
        block.out = x[4]
        with nogil:
            for b in range(first, stop):
                status = &ignored[0] if failed == NULL else failed + b * LANES
                count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
                for j in range(4):
                    load(&operands[j], b, count, x[j])
                self.compute(op, LANES, &block, status, x[4] + LANES * size)
                self.invalidate(operands, x, size)
                if lanes:
                    self.pad(count, x[4])
                    memcpy(out.data + b * to_next, x[4], LANES * size * sizeof(double))
                elif dense:
                    for j in range(count):
                        self.unpack(x[4] + j, LANES, <double *> (out.data + (b * LANES + j) * to_next))
                else:
                    active.lanes.store(size, count, x[4], out.data + b * LANES * to_next, to_next)
                for j in range(count, LANES):
                    status[j] = FACTORIZED
        free(work)
        return True

    cdef void invalidate(self, const Operand *operands, double **x, Py_ssize_t size) noexcept nogil:
        """x[4] <- NaN in lanes whose operands x[j] are not finite or whose q has no unit rotations."""
        cdef double doubt[LANES]
        cdef Py_ssize_t j, e, lane
        memset(doubt, 0, sizeof(doubt))
        for j in range(4):
            for e in range(operands[j].size):
                for lane in range(LANES):
                    doubt[lane] += 0 * x[j][e * LANES + lane]
        for lane in range(LANES):
            if doubt[lane] != 0 or not self.is_configuration(x[0] + lane, LANES):
                for e in range(size):
                    x[4][e * LANES + lane] = NAN

    cdef void pad(self, int count, double *H) noexcept nogil:
        """H <- identity matrices in the unused lanes, from `count` on."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t k, e, lane
        for k in range(t.n):
            for e in range(t.start[k], t.start[k + 1]):
                for lane in range(count, LANES):
                    H[e * LANES + lane] = e == t.start[k + 1] - 1


cpdef Bodies bodies_of(model):
    """Return the compiled bodies of a Model; raise TypeError for any other object."""
    found = getattr(model, "bodies", None)
    if not isinstance(found, Bodies):
        raise TypeError(not_a_model(model))
    return found
