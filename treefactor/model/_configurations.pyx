"""Run the compiled steps between configurations of one model: single calls, batches and bound calls."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from .._util._bound_call cimport BoundCall
from .._util._fast_arrays cimport all_finite, is_plain_vector, is_real, may_overlap
from ..tree._operands cimport ALIGNED, LANES, Operand, align, describe, load, overlap, read_operand
from ..tree._pattern cimport active

import numpy as np

from .._util.messages import not_a_model
from ..tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/configurations/joints.h"
    #include "kernels/common/choose.h"
    CHOOSE(ConfigurationTable, configurations)
    """
    const ConfigurationTable *configurations_for(const char *name) nogil

configuration_kernels = configurations_for(active.name)

cdef Coordinates empty_coordinates
COORDINATES = np.asarray(<Coordinates[:1]> &empty_coordinates).dtype
assert COORDINATES.itemsize == sizeof(Coordinates)

GROUPS = {"continuous": CIRCLE, "spherical": SPHERE, "planar": PLANE, "freeflyer": SPACE}
OPERATIONS = ("integrate", "difference", "interpolate", "squared_distance", "normalize")  # order of the pxd
cdef double unit_square = UNIT_SQUARE


cdef class Configurations:
    """Compiled coordinates of the joints of one model.

    Parameters
    ----------
    joints : sequence of Joint
    idx_q, idx_v : sequence of int
        First entry of every joint in q and v.
    """

    def __cinit__(self, joints, idx_q, idx_v):
        cdef list rows = [
            (GROUPS.get(joint.kind, LINEAR), q, v, joint.nq, joint.nv)
            for joint, q, v in zip(joints, idx_q, idx_v) if not joint.mimic
        ]
        cdef list runs = []
        for group, q, v, nq, nv in rows:
            if runs and group == LINEAR:
                last = runs.pop()
                if last[0] == LINEAR:
                    q, v, nq, nv = last[1], last[2], last[3] + nq, last[4] + nv
                else:
                    runs.append(last)
            runs.append((group, q, v, nq, nv))
        cdef cnp.ndarray each = np.array(rows, COORDINATES), merged = np.array(runs, COORDINATES)
        self.runs, self.count = <const Coordinates *> merged.data, len(runs)
        self.joint, self.joints = <const Coordinates *> each.data, len(rows)
        self.nq, self.nv = sum(row[3] for row in rows), sum(row[4] for row in rows)
        self.linear = all(row[0] == LINEAR for row in rows)
        self.kept = each, merged

    cdef Py_ssize_t size(self, int op, int which) noexcept nogil:
        """Return the entries of an array of one configuration: first, second, u (0 to 2), or the result (3)."""
        if which == 0:
            return self.nq
        if which == 1:
            return 0 if op == NORMALIZE else self.nv if op == INTEGRATE else self.nq
        if which == 2:
            return op == INTERPOLATE
        return self.joints if op == SQUARED_DISTANCE else self.nv if op == DIFFERENCE else self.nq

    def result_size(self, int op):
        """Return the number of entries of the result of one configuration."""
        return self.size(op, 3)

    cdef void compute(self, int op, int lanes, const Steps *steps) noexcept nogil:
        """Run an operation on 1 or 8 configurations."""
        cdef const ConfigurationKernels *k = &configuration_kernels.one if lanes == 1 else &configuration_kernels.lanes
        if op == INTEGRATE:
            k.integrate(self.runs, self.count, steps.first, steps.second, 1.0, steps.out)
        elif op == DIFFERENCE:
            k.difference(self.runs, self.count, steps.first, steps.second, steps.out)
        elif op == INTERPOLATE:
            k.interpolate(self.runs, self.count, steps.first, steps.second, steps.u, steps.out)
        elif op == SQUARED_DISTANCE:
            k.squared_distance(self.joint, self.joints, steps.first, steps.second, steps.out)
        else:
            k.normalize(self.runs, self.count, steps.first, steps.out)

    cdef bint has_unit_lengths(self, int op, int lanes, const Steps *steps) noexcept nogil:
        """Return whether the rotations of all configurations that an operation reads have unit length, or NaN."""
        cdef const ConfigurationKernels *k = &configuration_kernels.one if lanes == 1 else &configuration_kernels.lanes
        if self.linear or op == NORMALIZE:
            return True
        return k.has_unit_lengths(self.runs, self.count, steps.first, unit_square) and (
            op == INTEGRATE or k.has_unit_lengths(self.runs, self.count, steps.second, unit_square))

    cdef bint run_one(self, int op, const Steps *steps) noexcept:
        """Run an operation on one configuration; false leaves it to the general path."""
        if not (all_finite(self.nq, steps.first) and all_finite(self.size(op, 1), steps.second)
                and all_finite(self.size(op, 2), steps.u) and self.has_unit_lengths(op, 1, steps)):
            return False
        self.compute(op, 1, steps)
        return True

    def batch(self, int op, Py_ssize_t batch, operands, cnp.ndarray out not None, Py_ssize_t first,
              Py_ssize_t stop):
        """Run an operation on the blocks first .. stop-1 of 8 configurations; false if a length is not 1.

        Operands are the first and second argument and u with contiguous rows: (batch, size), or (1, size) that
        all share; the last two may be None. out has shape (batch, size).
        """
        cdef Operand found[3]
        cdef int j
        for j in range(3):
            describe(operands[j], &found[j])
        return self.run_blocks(op, batch, found, out.data, out.strides[0], first, stop)

    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *operands, char *out, Py_ssize_t to_next,
                         Py_ssize_t first, Py_ssize_t stop) except -1:
        """Run blocks as `batch` does."""
        cdef Py_ssize_t size = self.size(op, 3), b, j, need = LANES * size + ALIGNED
        cdef int count
        cdef bint good = True
        cdef double *x[4]
        cdef Steps steps
        cdef double *work
        for j in range(3):
            need += LANES * operands[j].size
        work = <double *> malloc(need * sizeof(double))
        if work == NULL:
            raise MemoryError(f"cannot allocate a workspace of {need} doubles")
        x[0] = align(work)
        for j in range(3):
            x[j + 1] = x[j] + LANES * operands[j].size
        steps.first, steps.second, steps.u, steps.out = x[0], x[1], x[2], x[3]
        with nogil:
            for b in range(first, stop):
                count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
                for j in range(3):
                    load(&operands[j], b, count, x[j])
                if not self.has_unit_lengths(op, LANES, &steps):
                    good = False
                    break
                self.compute(op, LANES, &steps)
                active.lanes.store(size, count, x[3], out + b * LANES * to_next, to_next)
        free(work)
        return good

    cdef bint add_up(self, int op, Py_ssize_t batch, const Operand *operands, cnp.ndarray out) noexcept:
        """Add or subtract whole arrays, if all entries add up and the arrays are contiguous; else return false."""
        cdef Coordinates whole
        cdef Py_ssize_t row = self.nq * sizeof(double)
        if not (self.linear and op <= DIFFERENCE and operands[0].to_next == operands[1].to_next == row
                and out.strides[0] == row):
            return False
        whole.group, whole.q, whole.v = LINEAR, 0, 0
        whole.nq = whole.nv = batch * self.nq
        with nogil:
            if op == INTEGRATE:
                configuration_kernels.one.integrate(&whole, 1, <const double *> operands[0].data,
                                                    <const double *> operands[1].data, 1.0, <double *> out.data)
            else:
                configuration_kernels.one.difference(&whole, 1, <const double *> operands[0].data,
                                                     <const double *> operands[1].data, <double *> out.data)
        return True


cpdef Configurations configurations_of(model):
    """Return the compiled coordinates of a Model; raise TypeError for any other object."""
    found = getattr(model, "configurations", None)
    if type(found) is not Configurations:
        raise TypeError(not_a_model(model))
    return found


cdef bint read_one(Configurations c, int op, object first, object second, object u, object out,
                   Steps *steps) noexcept:
    """Fill steps from contiguous float64 vectors and a number u; false if they have another type or shape.

    Only the first argument may share its memory with out, as a whole.
    """
    cdef Py_ssize_t size = c.size(op, 3), other = c.size(op, 1)
    if not (is_plain_vector(first, c.nq) and (other == 0 or is_plain_vector(second, other))
            and is_plain_vector(out, size) and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)):
        return False
    steps.first = <const double *> cnp.PyArray_DATA(<cnp.ndarray> first)
    steps.second = <const double *> cnp.PyArray_DATA(<cnp.ndarray> second) if other else NULL
    steps.out = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
    return not (overlap(steps.out, size, steps.second, other)
                or (overlap(steps.out, size, steps.first, c.nq)
                    and (<const double *> steps.out != steps.first or op == DIFFERENCE)))


cdef object run_vectors(Configurations c, int op, object first, object second, object u, object out):
    """Run an operation on contiguous vectors; None if the general path must handle it."""
    cdef cnp.npy_intp size = c.size(op, 3)
    cdef Steps steps
    cdef double part = 0.0
    if op == INTERPOLATE:
        if type(u) is not float:
            return None
        part = u
    if out is None:
        out = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_DOUBLE)
    steps.u = &part
    if not read_one(c, op, first, second, u, out, &steps):
        return None
    return out if c.run_one(op, &steps) else None


cdef object run_batch(Configurations c, int op, object first, object second, object u, object out):
    """Run an operation on float64 arrays of a batch, or that all of it share; None if they do not fit."""
    cdef Operand operands[3]
    cdef tuple arrays = (first, second)
    cdef cnp.npy_intp shape[2]
    cdef Py_ssize_t batch = -1, j, other = c.size(op, 1)
    cdef double part = 0.0
    memset(&operands[0], 0, sizeof(operands))
    if not (read_operand(first, c.nq, &batch, &operands[0])
            and (other == 0 or read_operand(second, other, &batch, &operands[1]))):
        return None
    if batch <= 0:
        return None
    if op == INTERPOLATE:
        if type(u) is not float:
            return None
        part = u
        operands[2].data, operands[2].size = <const char *> &part, 1
    shape[0], shape[1] = batch, c.size(op, 3)
    if out is None:
        out = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_DOUBLE)
    elif not (is_real(out) and (<cnp.ndarray> out).ndim == 2 and (<cnp.ndarray> out).shape[0] == batch
              and (<cnp.ndarray> out).shape[1] == shape[1] and cnp.PyArray_ISCARRAY(<cnp.ndarray> out)):
        return None
    for j in range(2):
        if operands[j].data != NULL and may_overlap(arrays[j], out):
            return None
    if c.add_up(op, batch, operands, out):
        return out
    if not c.run_blocks(op, batch, operands, (<cnp.ndarray> out).data, (<cnp.ndarray> out).strides[0], 0,
                        (batch + LANES - 1) // LANES):
        return None
    return out


def call(model, int op, first, second, u, out, threads, general_path):
    """Run an operation: float64 arrays that need no conversion at once, others by the general path.

    The general path takes the arguments before it; if it is None, so is the result.
    """
    cdef Configurations c = configurations_of(model)
    cdef object found = None
    if is_real(first) and cnp.PyArray_NDIM(<cnp.ndarray> first) == 1:
        found = run_vectors(c, op, first, second, u, out)
    if found is None and type(threads) is int and threads == 1:
        found = run_batch(c, op, first, second, u, out)
    if found is None and general_path is not None:
        found = general_path(model, op, first, second, u, out, threads)
    return found


cdef class BoundStep(BoundCall):
    """Step between configurations whose arrays are fixed: it takes no arguments.

    Parameters
    ----------
    model : Model
    op : int
    first, second, u, out : ndarray
        Contiguous float64 arrays; second and u may be None if the operation does not read them.
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.
    """

    cdef Configurations configurations
    cdef int op
    cdef Steps steps

    def __cinit__(self, model, int op, first, second, u, out, general_path):
        self.configurations = configurations_of(model)
        if not read_one(self.configurations, op, first, second, u, out, &self.steps):
            raise ValueError("expected contiguous float64 arrays of the right shapes")
        self.steps.u = <const double *> cnp.PyArray_DATA(<cnp.ndarray> u) if u is not None else NULL
        self.kept, self.out, self.general_path = (first, second, u), out, general_path
        self.op = op

    cdef bint run(self) noexcept:
        return self.configurations.run_one(self.op, &self.steps)
