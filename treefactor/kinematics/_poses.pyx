"""Compiled functions of rotations and poses, which depend on no model."""

cimport numpy as cnp

from .._functions._compiled_function cimport CompiledFunction
from ..tree._operands cimport ALIGNED, LANES, Operand, align, load
from ..tree._pattern cimport active

from ..exceptions import ConfigurationError

cdef extern from *:
    """
    #include "kernels/poses/table.h"
    #include "kernels/common/choose.h"
    CHOOSE(PoseTable, poses)
    #define NAME_OF(name) #name,
    static const char *const pose_names[] = {POSE_KERNELS(NAME_OF)};
    """
    ctypedef struct PoseTable:
        const PoseKernel *one
        const PoseKernel *lanes

    int POSE_COUNT
    const char *pose_names[]
    const PoseTable *poses_for(const char *name) nogil

cnp.import_array()

cdef enum:
    MOST_INPUTS = 3
    MOST_ENTRIES = 48            # of all arguments and the result of an operation

cdef const PoseTable *kernels = poses_for(active.name)
cdef dict numbers = {pose_names[k].decode(): k for k in range(POSE_COUNT)}   # of the kernels, by name


cdef PoseKernel pose_kernel(str name) except NULL:
    """Return the kernel of one operation, such as so3_log."""
    return kernels.one[<int> numbers[name]]


cdef class PoseFunction(CompiledFunction):
    """Operation on rotations or poses.

    Parameters
    ----------
    quantity : Quantity
        Its declaration; the kernel has the name of the public function.
    length : int
        Of the last axis of points, or of motions, which have another kernel.
    """

    cdef PoseKernel one, lanes
    cdef int second, last        # arguments; kernels do not read those that they do not need

    def __init__(self, quantity, int length=0):
        cdef int number = numbers[quantity.key.replace(".", "_") + ("_on_motion" if length == 6 else "")]
        cdef int entries = 0, k
        self.one, self.lanes = kernels.one[number], kernels.lanes[number]
        self.names, self.effort = tuple([array.name for array in quantity.inputs]), 4
        for array in quantity.inputs:
            if array.role == "number":
                self.add_number()
            else:
                self.add_input(tuple([length if axis == "k" else axis for axis in array.shape]))
        self.add_result(tuple([length if axis == "k" else axis for axis in quantity.results[0].shape]))
        self.second, self.last = min(1, self.inputs - 1), self.inputs - 1
        for k in range(self.inputs):
            entries += self.input[k].size
        assert self.inputs <= MOST_INPUTS and entries + self.result[0].size <= MOST_ENTRIES

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        (self.one if lanes == 1 else self.lanes)(x[0], x[self.second], x[self.last], y[0])

    cdef bint are_valid(self, Py_ssize_t entries, double **x, double **y) noexcept nogil:
        """Return true: numbers that are not finite stay in the entries that depend on them."""
        return True

    cdef bint run_whole(self, Py_ssize_t batch, const Operand *operands, tuple out) noexcept:
        """Call the kernel, which takes as long as the checks that poses do not need."""
        cdef double memory[ALIGNED + LANES * MOST_ENTRIES]
        cdef double *x[MOST_INPUTS]
        cdef double *y = align(memory)
        cdef Py_ssize_t size = self.result[0].size, b
        cdef char *to = <char *> cnp.PyArray_DATA(<cnp.ndarray> out[0])
        cdef int k, count
        with nogil:
            x[0] = y + LANES * size
            for k in range(1, self.inputs):
                x[k] = x[k - 1] + LANES * operands[k - 1].size
            for b in range((batch + LANES - 1) // LANES):
                count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
                for k in range(self.inputs):
                    load(&operands[k], b, count, x[k])
                self.lanes(x[0], x[self.second], x[self.last], y)
                active.lanes.store(size, count, y, to, size * sizeof(double))
                to += LANES * size * sizeof(double)
        return True


cdef class FromQuaternion(PoseFunction):
    """Conversion of quaternions x y z w, the last entries of the argument: of any length but zero."""

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        cdef const double *q = x[0] + self.input[0].size - 4
        if q[0] == 0 and q[1] == 0 and q[2] == 0 and q[3] == 0:
            return False
        return PoseFunction.run_one(self, x, out)

    def require_valid(self, dict arrays):
        """Raise ConfigurationError for a quaternion of length zero."""
        (name, array), = arrays.items()
        if not array[array.size - 4:].any():
            raise ConfigurationError(f"the quaternion in {name} has length 0: (0, 0, 0, 1) is the identity")
