"""Run the compiled recursions of one model on validated NumPy arrays."""

cimport cython
cimport numpy as cnp
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ..tree._pattern cimport FACTORIZED, Pattern, Shape, active, workspace_size as factor_workspace_size
from .._util._fast_arrays cimport all_finite
from ..model._compiled_parts cimport CompiledParts
from ..tree._operands cimport ALIGNED, LANES, align
from ._inertia_sets cimport choose_inertias
from ._kernel_calls cimport factor_and_solve, run_recursion
from ._coupling cimport expand, reduce_coriolis, reduce_forces, reduce_inertia
from .._functions._packed cimport are_unit_vectors, unpack
from ._results cimport find_failures

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
              "base_force", "gravity", "static_torque", "kinetic_energy", "potential_energy",
              "mechanical_energy", "coriolis", "coriolis_packed", "inverse", "crba_packed")  # order as in pxd


def sincos(x):
    """Return the sines and cosines of a vector."""
    cdef cnp.ndarray source = np.ascontiguousarray(x, dtype=np.float64)
    cdef cnp.ndarray s = np.empty_like(source), c = np.empty_like(source)
    dynamics.sincos(source.size, <const double *> source.data, <double *> s.data, <double *> c.data)
    return s, c


def sincos_address():
    """Return the address of the C function behind `sincos`, for generated machine code."""
    return <size_t> dynamics.sincos


cdef class Bodies:
    """Run the recursions of one model; arrays must be contiguous float64 and of the right size.

    Parameters
    ----------
    bodies : ndarray of BODY
    gravity : ndarray, shape (3,)
    extended : Tree
        Tree of the freedoms of all bodies, mimic joints included.
    sets : ndarray, shape (..., 10 bodies + n) or (blocks, 10 bodies + n, 8)
        Mass, first moment and inertia tensor (lower triangle) about the origin of every body, in its axes,
        then the armature of every freedom: one set for all configurations, or several. In lanes: one for each
        element of a batch, 8 side by side, aligned to 64 bytes.
    pattern : Pattern
        Sparsity pattern of H, from the tree of the freedoms v.
    nq : int
    units : ndarray of int, shape (m, 2)
        First entry and number of entries of the unit vectors in q.
    coupling : tuple of ndarrays, optional
        Mimic coupling: for every freedom its leader in v (n,) and the ratio (n,); for every packed entry of
        the extended H the entry of H it is added to, and the factor.
    elements : int
        Size of the batch whose elements have inertias of their own, or -1.
    which : ndarray of int, shape (blocks * 8,), optional
        Number of the set of every element; None: sets are in lanes.
    one_axis : bool
        Whether the batch has one axis.
    """

    def __cinit__(self, cnp.ndarray bodies not None, cnp.ndarray gravity not None, extended,
                  cnp.ndarray sets not None, Pattern pattern not None, Py_ssize_t nq,
                  cnp.ndarray units not None, Py_ssize_t joints, coupling=None, Py_ssize_t elements=-1,
                  cnp.ndarray which=None, bint one_axis=True):
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
        self.sets.first, self.sets.size = <const double *> sets.data, 10 * len(bodies) + self.m.n
        self.sets.which = NULL if which is None else <const Py_ssize_t *> which.data
        self.sets.elements = elements
        self.m.inertias, self.m.armature = self.sets.first, self.sets.first + 10 * len(bodies)
        self.one_axis = one_axis
        for r in range(3):
            self.m.gravity[r] = gravity[r]
        self.pattern = pattern
        self.nq, self.nv, self.nnz = nq, pattern.shape.n, pattern.shape.start[pattern.shape.n]
        self.units = len(units)
        self.unit = <const Py_ssize_t *> units.data
        self.coupled = coupling is not None
        if self.coupled:
            follows, ratio, fold, fold_ratio = coupling
            self.coupling.n, self.coupling.free, self.coupling.nnz = self.m.n, self.nv, self.nnz
            self.coupling.start, self.coupling.column = self.m.start, self.m.column
            self.coupling.follows = <const Py_ssize_t *> follows.data
            self.coupling.ratio = <const double *> ratio.data
            self.coupling.fold = <const Py_ssize_t *> fold.data
            self.coupling.fold_ratio = <const double *> fold_ratio.data
        self.kept = (bodies, start, column, sets, units, coupling, which)
        self.arguments = (bodies, gravity, extended, sets, pattern, nq, units, joints, coupling)

    def with_sets(self, cnp.ndarray sets not None, Py_ssize_t elements=-1, cnp.ndarray which=None,
                  bint one_axis=True):
        """Return the same bodies with other inertias: see the parameters of the class."""
        bodies, gravity, extended, _, *rest = self.arguments
        return Bodies(bodies, gravity, extended, sets, *rest, elements, which, one_axis)

    cdef Mechanism mechanism(self, Py_ssize_t b, double *gathered) noexcept nogil:
        """Return the mechanism of block b of 8 configurations; `gathered` may hold its inertias."""
        cdef Mechanism m = self.m
        choose_inertias(&self.sets, b, gathered, &m)
        return m

    cdef Py_ssize_t gathered_size(self) noexcept nogil:
        """Return the doubles of `gathered`, a multiple of 8."""
        return 0 if self.sets.which == NULL else LANES * self.sets.size

    cdef Py_ssize_t size(self, int op) noexcept nogil:
        """Return the number of entries that `compute` writes for one configuration.

        For crba these are the packed rows; for motion, tau - bias and the packed rows; for Coriolis matrices
        the packed rows of the lower triangle, then the entries above the diagonal.
        """
        if op == CRBA or op == CRBA_PACKED:
            return self.nnz
        if gives_coriolis(op):
            return 2 * self.nnz - self.nv
        if op == INVERSE:
            return self.nv * self.nv
        if is_energy(op):
            return 1
        if op == MOTION:
            return self.nv + self.nnz
        if op == JOINT_FORCES or op == BASE_FORCE:
            return 6 * self.m.joints if op == JOINT_FORCES else 6
        return UNIT_MOTION(self.m.joints, self.m.n) if op == FRAMES else self.nv

    cdef Py_ssize_t workspace_size(self, int op, int lanes) noexcept nogil:
        """Return the doubles that `compute` needs, alignment excluded."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t size = (dynamics.one if lanes == 1 else dynamics.lanes).workspace_size(&self.m)
        size += ALIGNED + lanes * 5 * self.m.n                       # v, x, tau, D, reciprocals
        if gives_h(op):
            size += lanes * (self.m.start[self.m.n] + self.nnz)
        if gives_coriolis(op) and self.coupled:
            size += lanes * 2 * self.m.start[self.m.n]
        if op == FACTOR or op == INVERSE:
            size += factor_workspace_size(t) if lanes == 1 else lanes * t.scratch
        if op == INVERSE and lanes > 1:
            size += lanes * 2 * self.nnz + ALIGNED
        return size

    cdef bint is_configuration(self, const double *q, int step) noexcept nogil:
        """Return whether all quaternions and (cos, sin) have unit length; entries of q are `step` apart."""
        return are_unit_vectors(self.units, self.unit, q, step, unit_square)

    cdef void compute(self, const Mechanism *m, int op, int lanes, const Arguments *args, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """Run an operation on 1 or 8 configurations of a `mechanism`.

        failed[lane] <- freedom with a bad pivot, or -1.
        """
        cdef const Recursions *r = &dynamics.one if lanes == 1 else &dynamics.lanes
        cdef Py_ssize_t n = lanes * self.m.n, k, lane
        cdef double *workspace = align(work)
        cdef double *extended = workspace + r.workspace_size(&self.m)   # v, x, result of all freedoms
        cdef double *D = extended + 3 * n
        cdef double *inverse = D + n
        cdef double *H = inverse + n
        cdef double *full_H = inverse + n + lanes * self.nnz
        cdef double *tau = args.out
        cdef Arguments inner                               # of all freedoms, mimic joints included
        cdef const double *v = args.v
        cdef const double *x = args.x
        if op in (CRBA, CRBA_PACKED, MOTION):
            H = args.out + (lanes * self.nv if op == MOTION else 0)
        if not self.coupled:
            full_H = H
        elif gives_coriolis(op):
            tau = H
        elif gives_freedoms(op):
            tau = extended + 2 * n
        if self.coupled and v != NULL:
            expand(&self.coupling, lanes, v, extended)
            v = extended
        if self.coupled and x != NULL:
            expand(&self.coupling, lanes, x, extended + n)
            x = extended + n
        for lane in range(lanes):
            failed[lane] = FACTORIZED
        inner.q, inner.v, inner.x, inner.fext, inner.out = args.q, v, x, args.fext, tau
        run_recursion(m, op, r, &inner, full_H, D, workspace)
        if self.coupled:
            self.reduce(op, lanes, full_H, tau, H, args.out)
        if op == FACTOR or op == MOTION:
            for k in range(self.nv * lanes):
                args.out[k] = args.x[k] - args.out[k]
        if op == FACTOR or op == INVERSE:
            factor_and_solve(&self.pattern.shape, op, lanes, H, D, inverse,
                             full_H + lanes * self.m.start[self.m.n], args.out, failed)
        if op == ABA and (lanes == 1 or not dynamics.are_pivots(self.nv, D)):
            find_failures(self.nv, lanes, D, failed)
        for lane in range(lanes):
            if failed[lane] != FACTORIZED and not (op == INVERSE and lanes == 1):  # which is not written then
                for k in range(self.size(op)):
                    args.out[k * lanes + lane] = NAN

    cdef void reduce(self, int op, int lanes, const double *full_H, const double *x, double *H,
                     double *y) noexcept nogil:
        """H <- G^T H G and y <- G^T x, or G^T C G, of what an operation computes."""
        if gives_h(op):
            reduce_inertia(&self.coupling, lanes, full_H, H)
        if gives_freedoms(op):
            reduce_forces(&self.coupling, lanes, x, y)
        elif gives_coriolis(op):
            reduce_coriolis(&self.coupling, lanes, x, y)

    cdef bint run_one(self, int op, const Arguments *args) noexcept nogil:
        """Run an operation on one configuration, matrices dense; false leaves it to the general path."""
        cdef double local[STACK_DOUBLES]
        cdef double *work = local
        cdef bint apart = is_unpacked(op) or op == FACTOR or op == ABA   # where a pivot fails, out stays
        cdef Py_ssize_t failed, n = self.nv, packed = self.size(op) if apart else 0
        cdef Py_ssize_t need = packed + self.workspace_size(op, 1)
        cdef Arguments block = args[0]
        if not (all_finite(self.nq, args.q) and (args.v == NULL or all_finite(n, args.v))
                and (args.x == NULL or all_finite(n, args.x))
                and (args.fext == NULL or all_finite(6 * self.m.joints, args.fext))
                and self.is_configuration(args.q, 1)):
            return False
        if (op == FACTOR and self.pattern.shape.tasks) or (op == ABA and self.coupled):
            return False
        if need > STACK_DOUBLES:
            work = <double *> malloc(need * sizeof(double))
            if work == NULL:
                return False
        if apart:
            block.out = work
        self.compute(&self.m, op, 1, &block, &failed, work + packed)
        if is_unpacked(op):                                              # no pivots
            unpack(&self.pattern.shape, op == CORIOLIS, work, 1, args.out)
        elif apart and failed == FACTORIZED:
            memcpy(args.out, work, packed * sizeof(double))
        if need > STACK_DOUBLES:
            free(work)
        return failed == FACTORIZED


cpdef Bodies bodies_of(model):
    """Return the compiled bodies of a Model; raise TypeError for any other object."""
    if isinstance(model, CompiledParts) and (<CompiledParts> model).bodies is not None:
        return <Bodies> (<CompiledParts> model).bodies
    found = getattr(model, "bodies", None)
    if not isinstance(found, Bodies):
        raise TypeError(not_a_model(model))
    if isinstance(model, CompiledParts):
        with cython.critical_section(model):         # threads read it without: what is kept must never change
            (<CompiledParts> model).bodies = (<CompiledParts> model).bodies or found
    return found
