"""Compiled form of one model, which the kernels of the dynamics read, and their table."""

cimport cython
cimport numpy as cnp

from ..tree._pattern cimport Pattern, active
from ..model._compiled_parts cimport CompiledParts
from ..tree._operands cimport ALIGNED, LANES, align
from ._inertia_sets cimport choose_inertias
from .._functions._packed cimport are_unit_vectors

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


def sincos(x):
    """Return the sines and cosines of a vector."""
    cdef cnp.ndarray source = np.ascontiguousarray(x, dtype=np.float64)
    cdef cnp.ndarray s = np.empty_like(source), c = np.empty_like(source)
    dynamics.sincos(source.size, <const double *> source.data, <double *> s.data, <double *> c.data)
    return s, c


cdef class Bodies:
    """Bodies, inertias and mimic couplings of one model in the structs of the kernels.

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
    fixed : bool
        Whether the sets never change, so that the kernels may keep copies of them.
    """

    def __cinit__(self, cnp.ndarray bodies not None, cnp.ndarray gravity not None, extended,
                  cnp.ndarray sets not None, Pattern pattern not None, Py_ssize_t nq,
                  cnp.ndarray units not None, Py_ssize_t joints, coupling=None, Py_ssize_t elements=-1,
                  cnp.ndarray which=None, bint one_axis=True, bint fixed=True):
        cdef cnp.ndarray start = extended.row_start, column = extended.columns
        cdef cnp.ndarray follows, ratio, fold, fold_ratio, limbs = None
        cdef Py_ssize_t r, size
        self.m.bodies = len(bodies)
        self.m.n = extended.n
        self.m.joints = joints
        self.m.angles = np.count_nonzero(bodies["angle"] >= 0)
        self.m.body = <const Body *> bodies.data
        self.m.start = <const Py_ssize_t *> start.data
        self.m.column = <const Py_ssize_t *> column.data
        self.sets.first, self.sets.size = <const double *> sets.data, 10 * len(bodies) + self.m.n
        self.sets.which = <const Py_ssize_t *> NULL if which is None else <const Py_ssize_t *> which.data
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
        if fixed:
            self.m.limb_lanes = dynamics.best_limb_lanes(&self.m)
        if self.m.limb_lanes:
            size = dynamics.fold(&self.m, NULL)
            if size < 0:
                raise MemoryError
            limbs = np.empty(size + ALIGNED)
            self.m.limbs = align(<double *> limbs.data)
            if dynamics.fold(&self.m, <double *> self.m.limbs) < 0:
                raise MemoryError
        self.kept = (bodies, start, column, sets, units, coupling, which, limbs)
        self.arguments = (bodies, gravity, extended, sets, pattern, nq, units, joints, coupling)

    def with_sets(self, cnp.ndarray sets not None, Py_ssize_t elements=-1, cnp.ndarray which=None,
                  bint one_axis=True):
        """Return the same bodies with other inertias: see the parameters of the class."""
        bodies, gravity, extended, _, *rest = self.arguments
        return Bodies(bodies, gravity, extended, sets, *rest, elements, which, one_axis, False)

    @property
    def limb_lanes(self) -> int:
        """Return how many equal limbs of one configuration are computed side by side, at most; 0: none."""
        return self.m.limb_lanes

    cdef Mechanism mechanism(self, Py_ssize_t b, double *gathered) noexcept nogil:
        """Return the mechanism of block b of 8 configurations; `gathered` may hold its inertias."""
        cdef Mechanism m = self.m
        choose_inertias(&self.sets, b, gathered, &m)
        return m

    cdef Py_ssize_t gathered_size(self) noexcept nogil:
        """Return the doubles of `gathered`, a multiple of 8."""
        return 0 if self.sets.which == NULL else LANES * self.sets.size

    cdef bint is_configuration(self, const double *q, int step) noexcept nogil:
        """Return whether all quaternions and (cos, sin) have unit length; entries of q are `step` apart."""
        return are_unit_vectors(self.units, self.unit, q, step, unit_square)


cpdef Bodies bodies_of(model):
    """Return the compiled bodies of a Model; raise TypeError for any other object."""
    if isinstance(model, CompiledParts) and (<CompiledParts> model).bodies is not None:
        return <Bodies> (<CompiledParts> model).bodies
    bodies = getattr(model, "bodies", None)
    if not isinstance(bodies, Bodies):
        raise TypeError(not_a_model(model))
    if isinstance(model, CompiledParts):
        with cython.critical_section(model):         # threads read it without: what is kept must never change
            (<CompiledParts> model).bodies = (<CompiledParts> model).bodies or bodies
    return bodies
