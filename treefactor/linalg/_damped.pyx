"""Run the compiled kernels of damped least squares: single calls and batches."""

cimport numpy as cnp
from libc.stdlib cimport free

from .._util._fast_arrays cimport all_finite, is_array, is_real, may_overlap
from .._util._result_arrays cimport new_result
from ..tree._operands cimport (
    LANES,
    Operand,
    describe,
    describe_vector,
    load,
    read_matrix_operand,
    read_operand,
)
from ..tree._pattern cimport active
from ._batch_input cimport allocate

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/linalg/damped_table.h"
    #include "kernels/common/choose.h"
    CHOOSE(DampedTable, damped)
    """
    ctypedef void (*DampedKernel)(Py_ssize_t m, Py_ssize_t n, const double *J, const double *e,
                                  const double *damping, double *x, double *work,
                                  Py_ssize_t *failed) noexcept nogil
    ctypedef void (*SingleDampedKernel)(Py_ssize_t m, Py_ssize_t n, const float *J, const float *e,
                                        const float *damping, float *x, float *work,
                                        Py_ssize_t *failed) noexcept nogil

    ctypedef struct DampedTable:
        DampedKernel one
        DampedKernel lanes
        SingleDampedKernel singles

    const DampedTable *damped_for(const char *name) nogil

cdef const DampedTable *kernels = damped_for(active.name)

REGULAR = -1                     # status of a problem that has a solution


cdef bint run_blocks(Py_ssize_t m, Py_ssize_t n, Py_ssize_t batch, const Operand *operands, char *out,
                     Py_ssize_t to_next, Py_ssize_t first, Py_ssize_t stop) except False:
    """Solve blocks of 8 problems; operands are J, e and damping, to_next the bytes between rows of out."""
    cdef Py_ssize_t k = min(m, n), b
    cdef Py_ssize_t failed[LANES]
    cdef double *J = <double *> allocate(LANES * (m * n + m + 1 + n + k * (k + 2)) * sizeof(double))
    cdef double *e = J + LANES * m * n
    cdef double *damping = e + LANES * m
    cdef double *x = damping + LANES
    cdef int count
    with nogil:
        for b in range(first, stop):
            count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
            load(&operands[0], b, count, J)
            load(&operands[1], b, count, e)
            load(&operands[2], b, count, damping)
            kernels.lanes(m, n, J, e, damping, x, x + LANES * n, failed)
            active.lanes.store(n, count, x, out + b * LANES * to_next, to_next)
    free(J)
    return True


cdef enum:
    SINGLES = 16                 # problems of float32 side by side


cdef bint run_single_blocks(Py_ssize_t m, Py_ssize_t n, Py_ssize_t batch, const Operand *operands, float *out,
                            Py_ssize_t first, Py_ssize_t stop) except False:
    """Solve blocks of 16 problems in float32 as `run_blocks` does; all rows are contiguous."""
    cdef Py_ssize_t k = min(m, n), b
    cdef Py_ssize_t failed[SINGLES]
    cdef float *J = <float *> allocate(SINGLES * (m * n + m + 1 + n + k * (k + 2)) * sizeof(float))
    cdef float *e = J + SINGLES * m * n
    cdef float *damping = e + SINGLES * m
    cdef float *x = damping + SINGLES
    cdef int count
    with nogil:
        for b in range(first, stop):
            count = <int> min(<Py_ssize_t> SINGLES, batch - b * SINGLES)
            load_singles(&operands[0], b, count, J)
            load_singles(&operands[1], b, count, e)
            load_singles(&operands[2], b, count, damping)
            kernels.singles(m, n, J, e, damping, x, x + SINGLES * n, failed)
            active.lanes_float.store(n, count, x, <char *> (out + b * SINGLES * n), n * sizeof(float))
    free(J)
    return True


cdef void load_singles(const Operand *operand, Py_ssize_t b, int count, float *X) noexcept nogil:
    """X <- problems of block b in float32; lanes beyond ``count`` repeat the first one."""
    cdef const char *source = operand.data + b * SINGLES * operand.to_next
    if count < SINGLES:
        active.lanes_float.load(operand.size, SINGLES, source, 0, X)
    active.lanes_float.load(operand.size, count, source, operand.to_next, X)


cdef Py_ssize_t run_one(Py_ssize_t m, Py_ssize_t n, const Operand *operands, double *x) except -2:
    """Solve one problem; return -1, or the pivot that is too small."""
    cdef Py_ssize_t k = min(m, n), failed
    cdef double local[64]
    cdef double *work = local
    if k * (k + 2) > 64:
        work = <double *> allocate(k * (k + 2) * sizeof(double))
    kernels.one(m, n, <const double *> operands[0].data, <const double *> operands[1].data,
                <const double *> operands[2].data, x, work, &failed)
    if work != local:
        free(work)
    return failed


def run_batch(cnp.ndarray J not None, cnp.ndarray e not None, cnp.ndarray damping not None,
              cnp.ndarray out not None, Py_ssize_t first, Py_ssize_t stop):
    """Solve blocks first .. stop-1 of 8 problems, of float32 16, C-contiguous: J (batch or 1, m, n), e (batch
    or 1, m), damping (batch or 1, 1) and out (batch, n)."""
    cdef Operand operands[3]
    cdef Py_ssize_t m = J.shape[1], n = J.shape[2]
    describe(J.reshape(J.shape[0], m * n), &operands[0])
    describe(e, &operands[1])
    describe(damping, &operands[2])
    if cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT:
        run_single_blocks(m, n, out.shape[0], operands, <float *> out.data, first, stop)
    else:
        run_blocks(m, n, out.shape[0], operands, out.data, out.strides[0], first, stop)


def solve_one(cnp.ndarray J not None, cnp.ndarray e not None, double damping, cnp.ndarray out not None):
    """Solve one problem of C-contiguous arrays; return -1, or the pivot that is too small."""
    cdef Operand operands[3]
    operands[0].data, operands[1].data, operands[2].data = J.data, e.data, <const char *> &damping
    return run_one(J.shape[0], J.shape[1], operands, <double *> out.data)


cdef bint read_damping(object damping, double *number, Py_ssize_t batch, Operand *operand) noexcept:
    """Describe a damping, or one for every problem of a batch; false where one may be negative."""
    cdef Py_ssize_t b
    cdef int bad = 0
    cdef cnp.ndarray a
    describe_vector(number, 1, operand)
    if isinstance(damping, (float, int)):
        try:
            number[0] = damping
        except OverflowError:
            return False
        return number[0] >= 0.0 and all_finite(1, number)
    if not (is_real(damping) and batch >= 0):
        return False
    a = damping
    if a.ndim != 1 or a.shape[0] != batch:
        return False
    operand.data, operand.to_next = a.data, a.strides[0]
    for b in range(batch):
        bad |= (<const double *> (a.data + b * a.strides[0]))[0] < 0.0
    return not bad


cdef bint is_result(object out, Py_ssize_t batch, Py_ssize_t n) noexcept:
    """Return whether out is an array for the result whose rows do not overlap."""
    cdef cnp.ndarray a
    if not is_real(out) or not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out):
        return False
    a = out
    if a.ndim != (1 if batch < 0 else 2) or a.shape[a.ndim - 1] != n:
        return False
    if a.strides[a.ndim - 1] != sizeof(double):
        return False
    return batch < 0 or (a.shape[0] == batch and a.strides[0] >= n * <Py_ssize_t> sizeof(double))


def fast(J, e, damping, out, threads):
    """Return the solution for float64 arrays with contiguous matrices; None for the general path."""
    cdef Operand operands[3]
    cdef Py_ssize_t batch = -1, m, n
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray A, x
    cdef double number
    if not (type(threads) is int and threads == 1 and is_real(J)):
        return None
    A = J
    if A.ndim < 2:
        return None
    m, n = A.shape[A.ndim - 2], A.shape[A.ndim - 1]
    if not (m and n and read_matrix_operand(J, m, n, &batch, &operands[0])
            and read_operand(e, m, &batch, &operands[1])
            and read_damping(damping, &number, batch, &operands[2])):
        return None
    shape[0], shape[1] = batch, n
    if out is None:
        x = new_result(1 if batch < 0 else 2, shape + (batch < 0))
    elif batch and is_result(out, batch, n) and not may_overlap(J, out) and not may_overlap(e, out) and (
            operands[2].to_next == 0 or not may_overlap(damping, out)):
        x = out
    else:
        return None
    if batch >= 0:
        run_blocks(m, n, batch, operands, x.data, x.strides[0], 0, (batch + LANES - 1) // LANES)
        return x
    if not (all_finite(m * n, <const double *> A.data) and all_finite(m, <const double *> operands[1].data)):
        return None
    if run_one(m, n, operands, <double *> x.data) != -1:
        return None
    return x


def fast_single(J, e, damping, out, threads):
    """Return the solutions for C-contiguous float32 arrays (batch, m, n) and (batch, m); None for others."""
    cdef Operand operands[3]
    cdef Py_ssize_t batch, m, n
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray A, x
    cdef float number
    if not (type(threads) is int and threads == 1 and is_array(J, 3, cnp.NPY_FLOAT)):
        return None
    A = J
    batch, m, n = A.shape[0], A.shape[1], A.shape[2]
    shape[0], shape[1] = batch, m
    if not (batch and m and n and cnp.PyArray_ISCARRAY_RO(A) and has_rows(e, shape, False)):
        return None
    describe_vector(A.data, m * n, &operands[0])
    describe_vector((<cnp.ndarray> e).data, m, &operands[1])
    operands[0].to_next, operands[1].to_next = m * n * sizeof(float), m * sizeof(float)
    if not read_single_damping(damping, &number, batch, &operands[2]):
        return None
    shape[1] = n
    if out is None:
        x = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_FLOAT)
    elif has_rows(out, shape, True) and not may_overlap(J, out) and not may_overlap(e, out) and (
            operands[2].to_next == 0 or not may_overlap(damping, out)):
        x = out
    else:
        return None
    run_single_blocks(m, n, batch, operands, <float *> x.data, 0, (batch + SINGLES - 1) // SINGLES)
    return x


cdef bint has_rows(object x, const cnp.npy_intp *shape, bint writeable) noexcept:
    """Return whether x is a C-contiguous float32 array of two axes and this shape."""
    cdef cnp.ndarray a
    if not is_array(x, 2, cnp.NPY_FLOAT):
        return False
    a = x
    return (cnp.PyArray_ISCARRAY_RO(a) and a.shape[0] == shape[0] and a.shape[1] == shape[1]
            and (not writeable or cnp.PyArray_ISWRITEABLE(a)))


cdef bint read_single_damping(object damping, float *number, Py_ssize_t batch, Operand *operand) noexcept:
    """Describe a damping, or one for every problem of a batch in float32; false where one may be negative."""
    cdef Py_ssize_t b
    cdef int bad = 0
    cdef cnp.ndarray a
    describe_vector(number, 1, operand)
    if type(damping) is float:
        number[0] = <float> <double> damping
        return number[0] >= 0.0
    if not is_array(damping, 1, cnp.NPY_FLOAT):
        return False
    a = damping
    if a.shape[0] != batch or not cnp.PyArray_ISCARRAY_RO(a):
        return False
    operand.data, operand.to_next = a.data, sizeof(float)
    for b in range(batch):
        bad |= (<const float *> a.data)[b] < 0.0
    return not bad
