"""Run the compiled steps between configurations of one model on validated arrays."""

cimport cython
cimport numpy as cnp
from libc.math cimport NAN, fabs, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_normal

from .._util._fast_arrays cimport all_finite
from ..tree._operands cimport ALIGNED, LANES, Operand, align, describe, load
from ..tree._pattern cimport active
from ._compiled_parts cimport CompiledParts

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
OPERATIONS = ("integrate", "difference", "interpolate", "squared_distance", "distance", "is_same",
              "normalize",
              "integrate_by_q", "integrate_by_v", "difference_by_q0", "difference_by_q1")  # order of the pxd
cdef enum:
    STACK_DOUBLES = 1024         # blocks of derivatives on the C stack; of larger models on the heap

cdef double unit_square = UNIT_SQUARE


cdef bint is_matrix(int op) noexcept nogil:
    """Return whether the result of one configuration is a matrix (nv, nv), which kernels give as blocks."""
    return op >= INTEGRATE_BY_Q


cdef const ConfigurationKernels *kernels_for(int lanes) noexcept nogil:
    """Return the kernels for 1 or for 8 configurations."""
    return &configuration_kernels.one if lanes == 1 else &configuration_kernels.lanes


cdef bint reads_v(int op) noexcept nogil:
    """Return whether the second argument is a velocity."""
    return op == INTEGRATE or op == INTEGRATE_BY_Q or op == INTEGRATE_BY_V


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
        self.entries = sum(row[4] ** 2 for row in rows if row[0] != LINEAR)
        self.kept = each, merged
        self.rest = np.zeros(self.nq)
        for group, q, _, nq, _ in rows:
            if group != LINEAR:
                self.rest[q + nq - (2 if group == CIRCLE or group == PLANE else 1)] = 1.0
        self.rest.flags.writeable = False

    cdef Py_ssize_t size(self, int op, int which) noexcept nogil:
        """Return the entries of an array of one configuration: first, second, u (0 to 2), or the result."""
        if which == 0:
            return self.nq
        if which == 1:
            return 0 if op == NORMALIZE else self.nv if reads_v(op) else self.nq
        if which == 2:
            return takes_number(op)
        if is_matrix(op):
            return self.entries
        if op == DISTANCE or op == IS_SAME:
            return 1
        return self.joints if op == SQUARED_DISTANCE else self.nv if op == DIFFERENCE else self.nq

    cdef int axes(self, int op, cnp.npy_intp *shape) noexcept nogil:
        """Set the shape of the result of one configuration; return the number of its axes."""
        shape[0], shape[1] = self.size(op, 3), 1
        if is_matrix(op):
            shape[0] = shape[1] = self.nv
            return 2
        return 0 if op == DISTANCE or op == IS_SAME else 1

    def keep_limits(self, low, span):
        """Keep finite lower limits of q and the distances to the upper ones, for random configurations."""
        self.limits = (low, span)

    def result_shape(self, int op):
        """Return the shape of the result of one configuration."""
        cdef cnp.npy_intp shape[2]
        cdef int axes = self.axes(op, shape)
        return (shape[0], shape[1])[:axes]

    cdef void compute(self, int op, int lanes, const Steps *s) noexcept nogil:
        """Run an operation on 1 or 8 configurations."""
        cdef const ConfigurationKernels *k = kernels_for(lanes)
        if op == INTEGRATE:
            k.integrate(self.runs, self.count, s.first, s.second, 1.0, s.out)
        elif op == DIFFERENCE:
            k.difference(self.runs, self.count, s.first, s.second, s.out)
        elif op == INTERPOLATE:
            k.interpolate(self.runs, self.count, s.first, s.second, s.u, s.out)
        elif op == SQUARED_DISTANCE:
            k.squared_distance(self.joint, self.joints, s.first, s.second, s.out)
        elif op == DISTANCE:
            k.distance(self.runs, self.count, s.first, s.second, s.out)
        elif op == IS_SAME:
            k.is_same(self.runs, self.count, s.first, s.second, s.u, s.out)
        elif op == NORMALIZE:
            k.normalize(self.runs, self.count, s.first, s.out)
        elif op <= INTEGRATE_BY_V:
            k.integrate_derivative(self.runs, self.count, s.first, s.second, op - INTEGRATE_BY_Q, s.out)
        else:
            k.difference_derivative(self.runs, self.count, s.first, s.second, op - DIFFERENCE_BY_Q0, s.out)

    cdef void draw(self, bitgen_t *bits, const double *low, const double *span, Py_ssize_t count,
                   double *q) noexcept:
        """q <- random configurations: uniform between low and low + span, then directions of rotations."""
        cdef Py_ssize_t i, j, e, last
        cdef int group, size
        cdef double square, length
        cdef const Coordinates *run
        for i in range(count):
            for e in range(self.nq):
                q[i * self.nq + e] = low[e] + span[e] * bits.next_double(bits.state)
        if self.linear:
            return
        for group in range(CIRCLE, SPACE + 1):
            size = 2 if group == CIRCLE or group == PLANE else 4
            for i in range(count):
                for j in range(self.count):
                    run = self.runs + j
                    if run.group != group:
                        continue
                    last, square = i * self.nq + run.q + run.nq, 0.0
                    for e in range(last - size, last):
                        q[e] = random_standard_normal(bits)
                        square += q[e] * q[e]
                    length = sqrt(square)
                    for e in range(last - size, last):
                        q[e] /= length

    cdef bint is_sound(self, int op, const Steps *s, double *doubt) noexcept nogil:
        """Return whether the results of 8 configurations are finite and the rotations read have unit length.

        Results may have overflowed, too: `find_doubt` tells. It is asked at once where results do not show
        every entry. doubt is overwritten.
        """
        cdef int j
        if op == IS_SAME or is_matrix(op) or not configuration_kernels.all_finite(
                LANES * self.size(op, 3), s.out):
            return False
        if self.linear or op == NORMALIZE:
            return True
        memset(doubt, 0, LANES * sizeof(double))
        self.add_lengths(op, s, doubt)
        for j in range(LANES):
            if doubt[j] != 0:
                return False
        return True

    cdef void find_doubt(self, int op, const Steps *s, double *doubt) noexcept nogil:
        """doubt <- 0 for those of 8 configurations with a result, another number for others.

        An entry of these is not finite, or a rotation does not have unit length; `normalize` has a result of
        finite entries for any length but zero.
        """
        cdef const ConfigurationKernels *k = &configuration_kernels.lanes
        memset(doubt, 0, LANES * sizeof(double))
        if op == NORMALIZE:
            k.add_doubt(NULL, 0, s.out, self.nq, 0.0, doubt)
            return
        k.add_doubt(NULL, 0, s.first, self.nq, 0.0, doubt)
        k.add_doubt(NULL, 0, s.second, self.size(op, 1), 0.0, doubt)
        k.add_doubt(NULL, 0, s.u, self.size(op, 2), 0.0, doubt)
        self.add_lengths(op, s, doubt)

    cdef void add_lengths(self, int op, const Steps *s, double *doubt) noexcept nogil:
        """doubt <- doubt + 0 for those of 8 configurations whose rotations have unit length."""
        cdef const ConfigurationKernels *k = &configuration_kernels.lanes
        k.add_doubt(self.runs, self.count, s.first, 0, unit_square, doubt)
        if not reads_v(op):
            k.add_doubt(self.runs, self.count, s.second, 0, unit_square, doubt)

    cdef bint has_lengths(self, int op, const Steps *s) noexcept nogil:
        """Return whether rotations of one configuration have unit length, or for `normalize` any but zero."""
        cdef const ConfigurationKernels *k = &configuration_kernels.one
        cdef double doubt = 0, length
        cdef const Coordinates *run
        cdef Py_ssize_t j, e
        if self.linear:
            return True
        if op != NORMALIZE:
            k.add_doubt(self.runs, self.count, s.first, 0, unit_square, &doubt)
            if not reads_v(op):
                k.add_doubt(self.runs, self.count, s.second, 0, unit_square, &doubt)
            return doubt == 0
        for j in range(self.count):
            run = self.runs + j
            if run.group != LINEAR:
                length = 0
                for e in range(run.q + run.nq - (2 if run.group == CIRCLE or run.group == PLANE else 4),
                               run.q + run.nq):
                    length += fabs(s.first[e])
                if length == 0:
                    return False
        return True

    cdef bint run_one(self, int op, const Steps *steps) noexcept nogil:
        """Run an operation on one configuration; false leaves it to the general path."""
        if not (all_finite(self.nq, steps.first) and all_finite(self.size(op, 1), steps.second)
                and all_finite(self.size(op, 2), steps.u) and self.has_lengths(op, steps)):
            return False
        if is_matrix(op):
            return self.run_matrix(op, steps)
        self.compute(op, 1, steps)
        return True

    cdef bint run_matrix(self, int op, const Steps *steps) noexcept nogil:
        """Run an operation whose result is a matrix on one configuration; false if memory is short."""
        cdef double local[STACK_DOUBLES]
        cdef Steps inner = steps[0]
        inner.out = local
        if self.entries > STACK_DOUBLES:
            inner.out = <double *> malloc(self.entries * sizeof(double))
            if inner.out == NULL:
                return False
        self.compute(op, 1, &inner)
        self.write_matrix(op, inner.out, 1, steps.out)
        if self.entries > STACK_DOUBLES:
            free(inner.out)
        return True

    cdef void write_matrix(self, int op, const double *blocks, Py_ssize_t step,
                           double *matrix) noexcept nogil:
        """matrix <- the blocks of curved joints, their entries `step` apart, and 1 or -1 of the others."""
        cdef Py_ssize_t n = self.nv, j, r, c
        cdef const Coordinates *run
        memset(matrix, 0, n * n * sizeof(double))
        for j in range(self.count):
            run = self.runs + j
            for r in range(run.v, run.v + run.nv):
                if run.group == LINEAR:
                    matrix[r * n + r] = -1.0 if op == DIFFERENCE_BY_Q0 else 1.0
                    continue
                for c in range(run.v, run.v + run.nv):
                    matrix[r * n + c] = blocks[0]
                    blocks += step

    def batch(self, int op, Py_ssize_t batch, operands, cnp.ndarray out not None, Py_ssize_t first,
              Py_ssize_t stop):
        """Run an operation on the blocks first .. stop-1 of 8 configurations.

        Operands are the first and second argument and u with contiguous rows: (batch, size) or (1, size) that
        all share; the last two may be None. out is C-contiguous, with the batch as its first axis.
        """
        cdef Operand found[3]
        cdef int j
        cdef bint done
        for j in range(3):
            describe(operands[j], &found[j])
        with nogil:
            done = self.run_blocks(op, batch, found, out.data, out.strides[0], first, stop)
        if not done:
            raise MemoryError("cannot allocate a workspace of 8 configurations")

    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *operands, char *out,
                         Py_ssize_t to_next, Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
        """Run blocks as `batch` does; false if memory is short.

        The result of a configuration in doubt is NaN, and false where the operation compares.
        """
        cdef Py_ssize_t size = self.size(op, 3), b, j, e, need = LANES * (size + 1) + ALIGNED
        cdef int count
        cdef bint sound
        cdef double *x[4]
        cdef double *doubt
        cdef Steps steps
        cdef double *work
        for j in range(3):
            need += LANES * operands[j].size
        work = <double *> malloc(need * sizeof(double))
        if work == NULL:
            return False
        doubt = align(work)
        x[0] = doubt + LANES
        for j in range(3):
            x[j + 1] = x[j] + LANES * operands[j].size
        steps.first, steps.second, steps.u, steps.out = x[0], x[1], x[2], x[3]
        for b in range(first, stop):
            count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
            for j in range(3):
                load(&operands[j], b, count, x[j])
            self.compute(op, LANES, &steps)
            sound = self.is_sound(op, &steps, doubt)
            if not sound:
                self.find_doubt(op, &steps, doubt)
            if is_matrix(op):
                for j in range(count):
                    self.write_matrix(op, x[3] + j, LANES, <double *> (out + (b * LANES + j) * to_next))
            else:
                active.lanes.store(size, count, x[3], out + b * LANES * to_next, to_next)
            for j in range(0 if sound else count):
                if doubt[j] != 0:
                    for e in range(self.nv * self.nv if is_matrix(op) else size):
                        (<double *> (out + (b * LANES + j) * to_next))[e] = 0.0 if op == IS_SAME else NAN
        free(work)
        return True

    cdef bint add_up(self, int op, Py_ssize_t batch, const Operand *operands, cnp.ndarray out) noexcept:
        """Add or subtract whole arrays if all entries add up and they are contiguous, or return False.

        False is returned for results that are not finite, too: `run_blocks` makes their rows NaN.
        """
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
                                                    <const double *> operands[1].data, 1.0,
                                                    <double *> out.data)
            else:
                configuration_kernels.one.difference(&whole, 1, <const double *> operands[0].data,
                                                     <const double *> operands[1].data, <double *> out.data)
            return configuration_kernels.all_finite(whole.nq, <const double *> out.data)


cpdef Configurations configurations_of(model):
    """Return the compiled coordinates of a Model; raise TypeError for any other object."""
    if isinstance(model, CompiledParts) and (<CompiledParts> model).configurations is not None:
        return <Configurations> (<CompiledParts> model).configurations
    found = getattr(model, "configurations", None)
    if type(found) is not Configurations:
        raise TypeError(not_a_model(model))
    if isinstance(model, CompiledParts):
        with cython.critical_section(model):         # threads read it without: what is kept must never change
            (<CompiledParts> model).configurations = (<CompiledParts> model).configurations or found
    return found
