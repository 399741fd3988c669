"""Compute regressors: compiled functions of one model."""

cimport numpy as cnp
from libc.string cimport memset

from .._functions._compiled_function cimport SPARSE
from ..dynamics._model_function cimport ModelFunction
from ..dynamics._coupling cimport add_up
from ..dynamics._recursions cimport Mechanism
from ..tree._operands cimport LANES
from ..tree._pattern cimport active

import numpy as np

from ..dynamics.bodies import layout_of
from .columns import INERTIA, extended_pairs, follows, regressor_pattern, single_entries

cnp.import_array()

cdef extern from "kernels/identification/regressor_table.h" nogil:
    ctypedef struct ColumnOrder:
        const Py_ssize_t *place
        const double *sign
        const Py_ssize_t *turned

    ctypedef struct RegressorKernels:
        Py_ssize_t (*workspace_size)(const Mechanism *) noexcept nogil
        void (*regressor)(const Mechanism *, const double *q, const double *v, const double *a, int gravity,
                          const ColumnOrder *, const Py_ssize_t *to, double *Y, Py_ssize_t to_next,
                          double *workspace) noexcept nogil
        void (*gravity)(const Mechanism *, const double *q, const ColumnOrder *, const Py_ssize_t *to,
                        double *Y, double *workspace) noexcept nogil
        void (*transpose_times)(const Mechanism *, const double *q, const double *v, const double *a,
                                const double *lam, double *g, double *workspace) noexcept nogil
        void (*kinetic_energy_row)(const Mechanism *, const double *q, const double *v, double *row,
                                   double *workspace) noexcept nogil
        void (*potential_energy_row)(const Mechanism *, const double *q, double *row,
                                     double *workspace) noexcept nogil
        void (*center_of_mass)(const Mechanism *, const double *q, double *Y,
                               double *workspace) noexcept nogil

    ctypedef struct Regressors:
        const char *name
        RegressorKernels one
        RegressorKernels lanes

cdef extern from *:
    """
    #include "kernels/identification/regressor_table.h"
    #include "kernels/common/choose.h"
    CHOOSE(Regressors, regressors)
    """
    const Regressors *regressors_for(const char *name) nogil

cdef const Regressors *regressors = regressors_for(active.name)

cdef enum:
    SPARSE_FROM = 3              # entries of a matrix over those of pairs from which all are set to 0 first

cdef enum Kind:                  # of a column with one entry
    ARMATURE
    VISCOUS
    DRY
    OFFSET

KINDS = {"armature": ARMATURE, "viscous": VISCOUS, "dry": DRY, "offset": OFFSET}


cdef inline double entry(Kind kind, double v, double a) noexcept nogil:
    """Return the generalized force of an armature or friction at unit value."""
    if kind == ARMATURE:
        return a
    if kind == VISCOUS:
        return v
    if kind == DRY:
        return (v > 0) - (v < 0)
    return 1.0


cdef class RegressorFunction(ModelFunction):
    """Function with the kernels of regressors.

    Parameters
    ----------
    model : Model
    columns : tuple of str
        Kinds of columns.
    """

    cdef list memory              # arrays whose memory is used
    cdef int singles             # columns with one entry
    cdef const int *kind         # of each of these columns: its Kind, freedom and factor
    cdef const Py_ssize_t *freedom
    cdef const double *factor
    cdef bint inertia            # are there columns of bodies
    cdef ColumnOrder order

    def __init__(self, model, tuple columns, *_):
        singles = single_entries(model, columns)
        self.memory = []
        self.inertia = "inertia" in columns
        self.singles = len(singles)
        self.kind = <const int *> self.keep([KINDS[one[0]] for one in singles], np.intc)
        self.freedom = self.keep_indices([one[1] for one in singles])
        self.factor = <const double *> self.keep([one[2] for one in singles], np.float64)
        self.keep_order(layout_of(model), model.njoints)

    cdef const void *keep(self, values, dtype) except? NULL:
        """Return the memory of a new array, which lives as long as the function."""
        cdef cnp.ndarray made = np.array(values, dtype=dtype, order="C")
        self.memory.append(made)
        return cnp.PyArray_DATA(made)

    cdef const Py_ssize_t *keep_indices(self, values) except? NULL:
        """Return the memory of a new array of integers."""
        return <const Py_ssize_t *> self.keep(values, np.intp)

    cdef int keep_order(self, layout, Py_ssize_t joints) except -1:
        """Keep how parameters in the axes of joints follow from those in the axes of their bodies."""
        turned = np.zeros(joints, np.intp)
        turned[layout.turned] = 1
        self.order.place = self.keep_indices(layout.source - 10 * np.arange(joints)[:, None])
        self.order.sign = <const double *> self.keep(layout.sign, np.float64)
        self.order.turned = self.keep_indices(turned)
        return 0

    cdef const RegressorKernels *kernels(self, int lanes) noexcept nogil:
        return &regressors.one if lanes == 1 else &regressors.lanes

    cdef double single(self, int k, int lanes, int lane, const double **x) noexcept nogil:
        """Return the entry of a column with one entry; x has q, v and a."""
        cdef Py_ssize_t at = self.freedom[k] * lanes + lane
        return self.factor[k] * entry(<Kind> self.kind[k], x[1][at], x[2][at])

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return self.kernels(lanes).workspace_size(&self.bodies.m) + lanes * self.expanded_size()

    cdef Py_ssize_t expanded_size(self) noexcept nogil:
        """Return the doubles for vectors of the freedoms of all joints."""
        return 3 * self.bodies.m.n if self.bodies.coupled else 0


cdef class PairFunction(RegressorFunction):
    """Matrix with a block of entries for every joint and every freedom that moves its body.

    Parameters
    ----------
    model : Model
    columns : tuple of str
        Kinds of columns.
    layout : {"dense", "packed", "lanes"}
    width : int
        Number of entries of a block that can differ from zero: the first ones.
    """

    cdef Py_ssize_t computed             # entries that can differ from zero
    cdef const Py_ssize_t *to            # for every pair its first entry in packed blocks
    cdef const Py_ssize_t *to_dense      # and in the dense matrix
    cdef const Py_ssize_t *single_dense  # for columns with one entry its place in the dense matrix
    cdef bint dense
    cdef Py_ssize_t entries              # of all blocks, mimic joints included
    cdef const Py_ssize_t *fold          # for each of them the packed entry that it is added to
    cdef const Py_ssize_t *fold_dense    # and the dense one
    cdef const double *ratio             # and the factor

    def __init__(self, model, tuple columns, str layout, int width=10):
        super().__init__(model, columns)
        freedom, joint = regressor_pattern(model)
        extended, of_joint = extended_pairs(model)
        if not self.inertia:
            freedom, joint, extended, of_joint = [one[:0] for one in (freedom, joint, extended, of_joint)]
        cdef Py_ssize_t count = 10 * model.njoints if self.inertia else 0, nv = model.nv
        cdef Py_ssize_t pairs = len(freedom), blocks = width * pairs, total = count + self.singles
        block = freedom * total + 10 * joint
        single = [one[1] * total + count + k for k, one in enumerate(single_entries(model, columns))]
        self.entries = width * len(extended)
        self.computed = blocks + self.singles
        self.to = self.keep_indices(width * np.arange(len(extended)))
        self.to_dense = self.keep_indices(block)
        self.single_dense = self.keep_indices(single)
        self.dense = layout == "dense"
        if self.bodies.coupled:
            self.fold_up(model, freedom, joint, extended, of_joint, total, width)
        if self.dense:
            at = np.full(nv * total, self.computed, np.intc)
            at[(block[:, None] + np.arange(width)).ravel()] = np.arange(blocks)
            at[np.array(single, np.intp)] = blocks + np.arange(self.singles)
            self.add_result((nv, total), SPARSE, self.computed, <const int *> self.keep(at, np.intc))
        else:
            self.add_result((pairs, width))
            self.in_lanes = layout == "lanes"
        self.writes_rows = width == 10 and not (self.in_lanes or self.bodies.coupled) and (
            not self.dense or nv * total >= SPARSE_FROM * blocks)

    cdef void fold_up(self, model, freedom, joint, extended, of_joint, Py_ssize_t total, int width):
        """Store where blocks of all joints are added up, and with which factors."""
        leader = follows(model)
        numbers = {pair: k for k, pair in enumerate(zip(joint.tolist(), freedom.tolist(), strict=True))}
        keys = zip(of_joint.tolist(), leader[extended].tolist(), strict=True)
        pair = np.array([numbers[one] for one in keys], np.intp)
        within = np.arange(width)
        ratio = model.coupling.G[extended, leader[extended]]
        dense = leader[extended] * total + 10 * of_joint
        self.fold = self.keep_indices((width * pair[:, None] + within).ravel())
        self.fold_dense = self.keep_indices((dense[:, None] + within).ravel())
        self.ratio = <const double *> self.keep(np.repeat(ratio, width), np.float64)

    cdef Py_ssize_t expanded_size(self) noexcept nogil:
        return 2 * self.bodies.m.n + self.entries if self.bodies.coupled else 0

    cdef void write_blocks(self, int lanes, const double **x, const Py_ssize_t *to, double *Y,
                           Py_ssize_t to_next, double *end, double *work) noexcept nogil:
        """Y <- the blocks of all joints; end is free memory for vectors of their freedoms."""

    cdef void write_rows(self, Py_ssize_t b, const double **x, char **to, double *work) noexcept nogil:
        cdef Py_ssize_t size = self.result[0].size
        cdef double *rows = <double *> (to[0] + b * self.to_next_block(0))
        cdef double *row = rows
        cdef int k, lane
        for lane in range(LANES if self.dense else 0):
            memset(row, 0, size * sizeof(double))
            for k in range(self.singles):
                row[self.single_dense[k]] = self.single(k, LANES, lane, x)
            row += size
        self.write_blocks(LANES, x, self.to_dense if self.dense else self.to, rows, size, work, work)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = work + self.kernels(lanes).workspace_size(&self.bodies.m)
        cdef bint whole = self.dense and lanes == 1
        cdef Py_ssize_t size = self.result[0].size if whole else self.computed
        cdef double *blocks = end
        if self.bodies.coupled:
            self.write_blocks(lanes, x, self.to, blocks, 0, end + self.entries * lanes, work)
            add_up(lanes, self.entries, size, self.fold_dense if whole else self.fold, self.ratio, blocks,
                   y[0])
        else:
            if whole:
                memset(y[0], 0, size * sizeof(double))
            self.write_blocks(lanes, x, self.to_dense if whole else self.to, y[0], 0, end, work)
        self.write_singles(lanes, x, whole, y[0])

    cdef void write_singles(self, int lanes, const double **x, bint whole, double *Y) noexcept nogil:
        """Y <- the columns with one entry."""
        cdef Py_ssize_t first = self.computed - self.singles, to
        cdef int k, lane
        for k in range(self.singles):
            to = self.single_dense[k] if whole else first + k
            for lane in range(lanes):
                Y[to * lanes + lane] = self.single(k, lanes, lane, x)


cdef class Regressor(PairFunction):
    """Regressor of rnea: see `treefactor.regressor`."""

    def __init__(self, model, str layout, tuple columns):
        if layout != "dense" and columns != INERTIA:
            raise ValueError(f"layout {layout!r} has the columns {INERTIA} only, got {columns}; use 'dense'")
        super().__init__(model, columns, layout)
        self.add_arguments(("q", "v", "a"))

    cdef void write_blocks(self, int lanes, const double **x, const Py_ssize_t *to, double *Y,
                           Py_ssize_t to_next, double *end, double *work) noexcept nogil:
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        cdef const double *a = self.expanded(lanes, 1, x[2], &end)
        if self.inertia:
            self.kernels(lanes).regressor(&self.bodies.m, x[0], v, a, 1, &self.order, to, Y, to_next,
                                          work)


cdef class MomentumRegressor(PairFunction):
    """Regressor of H v: see `treefactor.momentum_regressor`."""

    def __init__(self, model):
        super().__init__(model, ("inertia",), "dense")
        self.add_arguments(("q", "v"))

    cdef void write_blocks(self, int lanes, const double **x, const Py_ssize_t *to, double *Y,
                           Py_ssize_t to_next, double *end, double *work) noexcept nogil:
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        self.kernels(lanes).regressor(&self.bodies.m, x[0], NULL, v, 0, &self.order, to, Y, to_next,
                                      work)


cdef class GravityRegressor(PairFunction):
    """Regressor of generalized gravity: see `treefactor.gravity_regressor`."""

    def __init__(self, model):
        super().__init__(model, ("inertia",), "dense", 4)
        self.add_arguments(("q",))

    cdef void write_blocks(self, int lanes, const double **x, const Py_ssize_t *to, double *Y,
                           Py_ssize_t to_next, double *end, double *work) noexcept nogil:
        self.kernels(lanes).gravity(&self.bodies.m, x[0], &self.order, to, Y, work)


cdef class TransposeTimes(RegressorFunction):
    """Product with the transposed regressor: see `treefactor.regressor_transpose_times`."""

    def __init__(self, model, columns):
        super().__init__(model, columns)
        self.add_arguments(("q", "v", "a", "lam"))
        self.add_result((10 * model.njoints * self.inertia + self.singles,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = work + self.kernels(lanes).workspace_size(&self.bodies.m)
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        cdef const double *a = self.expanded(lanes, 1, x[2], &end)
        cdef const double *lam = self.expanded(lanes, 1, x[3], &end)
        cdef Py_ssize_t to = (self.result[0].size - self.singles) * lanes
        cdef int k, lane, at
        if self.inertia:
            self.kernels(lanes).transpose_times(&self.bodies.m, x[0], v, a, lam, y[0], work)
        for k in range(self.singles):
            for lane in range(lanes):
                at = self.freedom[k] * lanes + lane
                y[0][to + k * lanes + lane] = x[3][at] * self.single(k, lanes, lane, x)


cdef class KineticEnergyRegressor(RegressorFunction):
    """Regressor of the kinetic energy: see `treefactor.kinetic_energy_regressor`."""

    def __init__(self, model):
        super().__init__(model, ())
        self.add_arguments(("q", "v"))
        self.add_result((10 * model.njoints,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = work + self.kernels(lanes).workspace_size(&self.bodies.m)
        self.kernels(lanes).kinetic_energy_row(
            &self.bodies.m, x[0], self.expanded(lanes, 1, x[1], &end), y[0], work)


cdef class PotentialEnergyRegressor(RegressorFunction):
    """Regressor of the potential energy: see `treefactor.potential_energy_regressor`."""

    def __init__(self, model):
        super().__init__(model, ())
        self.add_arguments(("q",))
        self.add_result((10 * model.njoints,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        self.kernels(lanes).potential_energy_row(&self.bodies.m, x[0], y[0], work)


cdef class CenterOfMassRegressor(RegressorFunction):
    """Regressor of the centre of mass: see `treefactor.center_of_mass_regressor`."""

    def __init__(self, model):
        super().__init__(model, ())
        self.add_arguments(("q",))
        self.add_result((3, 10 * model.njoints))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        self.kernels(lanes).center_of_mass(&self.bodies.m, x[0], y[0], work)
