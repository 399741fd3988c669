"""Run the compiled kernels of rotations and poses: single calls and batches."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc

from .._util._fast_arrays cimport all_finite, is_result, may_overlap
from .._util._result_arrays cimport new_result
from ..tree._operands cimport ALIGNED, LANES, Operand, align, describe, describe_vector, load
from ..tree._pattern cimport active

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/poses/table.h"
    #include "kernels/common/choose.h"
    CHOOSE(PoseTable, poses)
    #define SIZES_OF(name, a, b, result) {#name, a, b, result},
    static const PoseSizes pose_sizes[] = {POSE_KERNELS(SIZES_OF)};
    """
    ctypedef void (*PoseKernel)(const double *a, const double *b, const double *u,
                                double *result) noexcept nogil

    ctypedef struct PoseSizes:
        const char *name
        Py_ssize_t a, b, result

    ctypedef struct PoseTable:
        const PoseKernel *one
        const PoseKernel *lanes

    int POSE_COUNT, se3_act_number, se3_act_inverse_number, se3_interpolate_number, so3_interpolate_number
    int se3_from_xyzquat_number, so3_from_quaternion_number
    const PoseSizes pose_sizes[]
    const PoseTable *poses_for(const char *name) nogil

cdef const PoseTable *kernels = poses_for(active.name)

NUMBERS = {pose_sizes[op].name.decode(): op for op in range(POSE_COUNT)}  # of the operations, by name
SHAPES = {0: (), 3: (3,), 4: (4,), 6: (6,), 7: (7,), 9: (3, 3), 12: (3, 4), 36: (6, 6)}  # by entries


def shapes_of(int op):
    """Return the shapes of the two arguments and of the result; the second is None if it is not read."""
    cdef const PoseSizes *size = &pose_sizes[op]
    return SHAPES[size.a], SHAPES[size.b] if size.b else None, SHAPES[size.result]


cdef inline int set_shape(Py_ssize_t size, cnp.npy_intp *shape) noexcept:
    """Set the shape of an element of that many entries; return the number of its axes."""
    shape[0], shape[1] = size, 1
    if size >= 9:
        shape[0], shape[1] = 3 if size < 36 else 6, 4 if size == 12 else 3 if size == 9 else 6
        return 2
    return 1


cdef inline bint read(object x, Py_ssize_t size, Py_ssize_t *batch, Operand *found) noexcept:
    """Describe a contiguous float64 array of elements, or of one that all share; false for any other."""
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray a
    cdef int axes = set_shape(size, shape), lead
    if not (cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x)):
        return False
    a = <cnp.ndarray> x
    lead = cnp.PyArray_NDIM(a) - axes
    if not 0 <= lead <= 1 or cnp.PyArray_DIM(a, lead) != shape[0] or (
            axes == 2 and cnp.PyArray_DIM(a, lead + 1) != shape[1]):
        return False
    describe_vector(cnp.PyArray_DATA(a), size, found)
    if lead:
        if batch[0] >= 0 and batch[0] != cnp.PyArray_DIM(a, 0):
            return False
        batch[0], found.to_next = cnp.PyArray_DIM(a, 0), size * sizeof(double)
    return True


cdef inline bint ends_with_six(object x) noexcept:
    """Return whether x is an array whose last axis has length 6."""
    return (cnp.PyArray_CheckExact(x) and cnp.PyArray_NDIM(<cnp.ndarray> x) > 0
            and cnp.PyArray_DIM(<cnp.ndarray> x, cnp.PyArray_NDIM(<cnp.ndarray> x) - 1) == 6)


cdef inline bint is_valid(int op, const double *a) noexcept nogil:
    """Return whether the first argument of a single element is finite; a quaternion must not be zero."""
    cdef Py_ssize_t size = pose_sizes[op].a
    cdef const double *q = a + size - 4
    if op == se3_from_xyzquat_number or op == so3_from_quaternion_number:
        if q[0] == 0 and q[1] == 0 and q[2] == 0 and q[3] == 0:
            return False
    return all_finite(size, a)


cdef bint run_blocks(int op, Py_ssize_t batch, const Operand *operands, char *out, Py_ssize_t first,
                     Py_ssize_t stop) except False:
    """Run blocks of 8 elements; operands are a, b and u, out is contiguous."""
    cdef Py_ssize_t size = pose_sizes[op].result, row = size * sizeof(double), b, j
    cdef Py_ssize_t need = LANES * size + ALIGNED
    cdef int count
    cdef double *x[4]
    cdef double *work
    for j in range(3):
        need += LANES * operands[j].size
    work = <double *> malloc(need * sizeof(double))
    if work == NULL:
        raise MemoryError(f"cannot allocate a workspace of {need} doubles")
    x[0] = align(work)
    for j in range(3):
        x[j + 1] = x[j] + LANES * operands[j].size
    with nogil:
        for b in range(first, stop):
            count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
            for j in range(3):
                load(&operands[j], b, count, x[j])
            kernels.lanes[op](x[0], x[1], x[2], x[3])
            active.lanes.store(size, count, x[3], out + b * LANES * row, row)
    free(work)
    return True


def run_batch(int op, Py_ssize_t batch, operands, cnp.ndarray out not None, Py_ssize_t first,
              Py_ssize_t stop):
    """Run blocks first .. stop-1 of 8 elements; operands a, b and u are (batch, size), (1, size) or None."""
    cdef Operand found[3]
    cdef int j
    for j in range(3):
        describe(operands[j], &found[j])
    run_blocks(op, batch, found, out.data, first, stop)


def call_one(int op, a, out, threads, general_path):
    """Run an operation on one argument as `call`, on a single element with the fewest checks."""
    cdef const PoseSizes *size = &pose_sizes[op]
    cdef Operand operand
    cdef cnp.npy_intp shape[2]
    cdef Py_ssize_t batch = -1
    cdef double unread = 0.0
    if (out is None and type(threads) is int and threads == 1
            and read(a, size.a, &batch, &operand) and batch < 0
            and is_valid(op, <const double *> operand.data)):
        result = new_result(set_shape(size.result, shape), shape)
        kernels.one[op](<const double *> operand.data, NULL, &unread,
                        <double *> cnp.PyArray_DATA(<cnp.ndarray> result))
        return result
    return call(op, a, None, None, out, threads, general_path)


def call(int op, a, b, u, out, threads, general_path):
    """Run an operation: contiguous float64 arrays at once, others by the general path.

    The general path takes the arguments before it; if it is None, so is the result.
    """
    cdef const PoseSizes *size
    cdef Operand operands[3]
    cdef cnp.npy_intp shape[3]
    cdef Py_ssize_t batch = -1
    cdef double part = 0.0
    cdef object result
    cdef int axes
    if (op == se3_act_number or op == se3_act_inverse_number) and ends_with_six(b):
        op += 1                                      # the kernel of motions follows that of points
    size = &pose_sizes[op]
    describe_vector(NULL, 0, &operands[1])
    describe_vector(&part, 0, &operands[2])
    if (type(threads) is int and threads == 1
            and (type(u) is float or type(u) is int
                 or not (op == se3_interpolate_number or op == so3_interpolate_number))
            and read(a, size.a, &batch, &operands[0])
            and (size.b == 0 or read(b, size.b, &batch, &operands[1]))):
        if u is not None:
            part = u
            operands[2].size = 1
        shape[0] = batch
        axes = set_shape(size.result, shape + 1)
        if batch < 0:
            result = new_result(axes, shape + 1)
        else:
            result = new_result(axes + 1, shape)
        if out is None or (is_result(out, result) and not may_overlap(a, out)
                           and (size.b == 0 or not may_overlap(b, out))):
            result = result if out is None else out
            if batch < 0:
                if is_valid(op, <const double *> operands[0].data) and all_finite(
                        size.b, <const double *> operands[1].data) and all_finite(1, &part):
                    kernels.one[op](<const double *> operands[0].data,
                                    <const double *> operands[1].data, &part,
                                    <double *> cnp.PyArray_DATA(<cnp.ndarray> result))
                    return result
            else:
                run_blocks(op, batch, operands, <char *> cnp.PyArray_DATA(<cnp.ndarray> result), 0,
                           (batch + LANES - 1) // LANES)
                return result
    return None if general_path is None else general_path(op, a, b, u, out, threads)
