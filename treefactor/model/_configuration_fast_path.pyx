"""Call the steps between configurations without the checks of the general path; calls bound to arrays."""

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memcpy, memset
from numpy.random cimport bitgen_t

from .._util._bound_call cimport BoundCall
from .._util._fast_arrays cimport (
    all_finite,
    is_plain_matrix,
    is_plain_scalar,
    is_plain_vector,
    is_real,
    is_result,
    may_overlap,
)
from .._util._result_arrays cimport new_array, new_block, new_result, size_in_block
from .._util._thread_count cimport is_thread_count
from ..tree._operands cimport LANES, Operand, overlap, read_operand
from ._configurations cimport (
    INTEGRATE,
    INTERPOLATE,
    IS_SAME,
    NORMALIZE,
    Configurations,
    Steps,
    configurations_of,
    takes_number,
)

from numpy.random import Generator

from .._util.validation import require_alike

cnp.import_array()

cdef type generator_type = Generator


def neutral_configuration(model):
    """Return a copy of the neutral configuration."""
    cdef Configurations c = configurations_of(model)
    cdef cnp.npy_intp size = c.nq
    cdef object q = new_result(1, &size)
    memcpy(cnp.PyArray_DATA(<cnp.ndarray> q), cnp.PyArray_DATA(<cnp.ndarray> c.rest), size * sizeof(double))
    return q


def draw_one(model, generator, lower, upper):
    """Return a random configuration between finite limits, by default those of the model.

    Returns None if the limits of the model are not known yet, if given ones are not contiguous float64
    vectors of finite numbers in order, or if the generator is not a numpy.random.Generator.
    """
    cdef Configurations c = configurations_of(model)
    cdef cnp.npy_intp size = c.nq
    cdef cnp.ndarray out
    cdef const double *low
    cdef const double *high
    cdef double *q
    cdef Py_ssize_t e
    if type(generator) is not generator_type:
        return None
    if lower is None and upper is None:
        return None if c.limits is None else draw(model, generator, c.limits, 1, None)
    if not (is_plain_vector(lower, size) and is_plain_vector(upper, size)):
        return None
    low = <const double *> cnp.PyArray_DATA(<cnp.ndarray> lower)
    high = <const double *> cnp.PyArray_DATA(<cnp.ndarray> upper)
    if not (all_finite(size, low) and all_finite(size, high)):
        return None
    out = new_result(1, &size)
    q = <double *> out.data
    for e in range(size):
        if low[e] > high[e]:
            return None
        q[e] = high[e] - low[e]                  # each entry of q is read before it is written
    fill(c, generator, low, q, 1, q)
    return out


cpdef cnp.ndarray draw(model, generator, tuple limits, Py_ssize_t count, cnp.ndarray out):
    """Fill out, a C-contiguous array of `count` configurations, with random ones.

    Limits are the lowest entries and the distances to the highest ones. Rotations are uniform over all:
    normalized normal numbers.
    """
    cdef Configurations c = configurations_of(model)
    cdef cnp.npy_intp size = c.nq
    if out is None:
        out = new_result(1, &size)
    fill(c, generator, <const double *> cnp.PyArray_DATA(<cnp.ndarray> limits[0]),
         <const double *> cnp.PyArray_DATA(<cnp.ndarray> limits[1]), count, <double *> out.data)
    return out


cdef bint fill(Configurations c, generator, const double *low, const double *span, Py_ssize_t count,
               double *q) except False:
    """Fill q with random configurations while the generator is locked."""
    cdef tuple source = c.source
    if source is None or source[0] is not generator:
        numbers = generator.bit_generator
        c.source = source = (generator, numbers.capsule, numbers.lock.acquire, numbers.lock.release)
    source[2]()
    c.draw(<bitgen_t *> PyCapsule_GetPointer(source[1], "BitGenerator"), low, span, count, q)
    source[3]()
    return True


cdef bint is_out(Configurations c, int op, object out) noexcept:
    """Return whether out is a contiguous writeable float64 array for the result of one configuration."""
    cdef cnp.npy_intp shape[2]
    cdef int axes = c.axes(op, shape)
    return ((is_plain_scalar(out) if axes == 0 else is_plain_vector(out, shape[0]) if axes == 1
             else is_plain_matrix(out, shape[0], shape[1]))
            and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out))


cdef bint read_one(Configurations c, int op, object first, object second, Steps *s) noexcept:
    """Fill steps but u and out from contiguous float64 vectors; false if they have another type or shape."""
    cdef Py_ssize_t other = c.size(op, 1)
    if not (is_plain_vector(first, c.nq) and (op == NORMALIZE or is_plain_vector(second, other))):
        return False
    s.first = <const double *> cnp.PyArray_DATA(<cnp.ndarray> first)
    s.second = <const double *> cnp.PyArray_DATA(<cnp.ndarray> second) if other else NULL
    return True


cdef bint is_apart(Configurations c, int op, const Steps *s) noexcept:
    """Return whether out shares no memory with the arguments, except the first one if it has its layout."""
    cdef cnp.npy_intp shape[2]
    cdef Py_ssize_t size
    c.axes(op, shape)
    size = shape[0] * shape[1]
    if overlap(s.out, size, s.second, c.size(op, 1)):
        return False
    if s.out == s.first and (op == INTEGRATE or op == INTERPOLATE or op == NORMALIZE):
        return True
    return not overlap(s.out, size, s.first, c.nq)


cdef object run_vectors(Configurations c, int op, object first, object second, object u, object out):
    """Run an operation on contiguous vectors; None if the general path must handle it."""
    cdef cnp.npy_intp shape[2]
    cdef int axes = c.axes(op, shape)
    cdef Steps s
    cdef double part = 0.0, found = 0.0
    if takes_number(op):
        if type(u) is not float and type(u) is not int:
            return None
        part = u
    if not read_one(c, op, first, second, &s):
        return None
    s.u = &part
    if axes == 0 and out is None:
        s.out = &found
        return found if c.run_one(op, &s) else None
    if out is None:
        out = new_result(axes, shape)
        s.out = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
    else:
        if not is_out(c, op, out):
            return None
        s.out = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
        if not is_apart(c, op, &s):
            return None
    return out if c.run_one(op, &s) else None


cdef object run_batch(Configurations c, int op, object first, object second, object u, object out):
    """Run an operation on float64 arrays of a batch, or that all of it share; None if they do not fit."""
    cdef Operand operands[3]
    cdef tuple arrays = (first, second)
    cdef cnp.npy_intp shape[3]
    cdef object result
    cdef cnp.ndarray to
    cdef bint done
    cdef Py_ssize_t batch = -1, j, other = c.size(op, 1)
    cdef double part = 0.0
    memset(&operands[0], 0, sizeof(operands))
    if not (read_operand(first, c.nq, &batch, &operands[0])
            and (op == NORMALIZE or read_operand(second, other, &batch, &operands[1]))):
        return None
    if batch <= 0:
        return None
    if takes_number(op):
        if type(u) is not float and type(u) is not int:
            return None
        part = u
        operands[2].data, operands[2].size = <const char *> &part, 1
    shape[0] = batch
    result = new_result(1 + c.axes(op, shape + 1), shape)
    if out is None:
        out = result
    elif not is_result(out, result):
        return None
    for j in range(2):
        if operands[j].data != NULL and may_overlap(arrays[j], out):
            return None
    if c.add_up(op, batch, operands, out):
        return out
    to = out
    with nogil:
        done = c.run_blocks(op, batch, operands, to.data, to.strides[0], 0, (batch + LANES - 1) // LANES)
    return out if done else None


def call(model, int op, first, second, u, out, threads, general_path):
    """Run an operation: `compute` for Python."""
    return compute(model, op, first, second, u, out, threads, general_path)


cdef object compute(model, int op, first, second, u, out, threads, general_path):
    """Run an operation: float64 arrays that need no conversion at once, others by the general path.

    The general path takes the arguments before it; if it is None, so is the result.
    """
    cdef Configurations c = configurations_of(model)
    cdef object found = None
    if is_real(first) and cnp.PyArray_NDIM(<cnp.ndarray> first) == 1 and is_thread_count(threads):
        found = run_vectors(c, op, first, second, u, out)
    if found is None and type(threads) is int and threads == 1:
        found = run_batch(c, op, first, second, u, out)
    if found is None and general_path is not None:
        found = general_path(model, op, first, second, u, out, threads)
    return found != 0.0 if op == IS_SAME and found is not None else found


def is_same(model, q0, q1, tolerance, threads, general_path):
    """Run IS_SAME as `call`, on single configurations with the fewest checks."""
    cdef Configurations c
    cdef Steps s
    cdef double part, found = 0.0
    if type(tolerance) is float and is_thread_count(threads):
        c = configurations_of(model)
        part = tolerance
        s.u, s.out = &part, &found
        if read_one(c, IS_SAME, q0, q1, &s) and c.run_one(IS_SAME, &s):
            return found != 0.0
    return call(model, IS_SAME, q0, q1, tolerance, None, threads, general_path)


cdef tuple matrices_of_batch(Configurations c, int op, object first, object second):
    """Return arrays for two matrices for each configuration of a batch; (None, None) for none."""
    cdef Operand operands[2]
    cdef cnp.npy_intp shape[3]
    cdef Py_ssize_t batch = -1, at = 0
    cdef cnp.ndarray block
    if not (read_operand(first, c.nq, &batch, &operands[0])
            and read_operand(second, c.size(op, 1), &batch, &operands[1])) or batch <= 0:
        return None, None
    shape[0], shape[1], shape[2] = batch, c.nv, c.nv
    block = new_block(2, 2 * size_in_block(batch * c.nv * c.nv))
    return new_array(3, shape, block, &at), new_array(3, shape, block, &at)


def call_both(model, int first_op, int second_op, first, second, tuple outs, threads, general_path):
    """Run two operations on the same arguments, as `call`; return both results, in outs if given."""
    cdef Configurations c = configurations_of(model)
    cdef object one = None, other = None
    cdef bint given = outs[0] is not None or outs[1] is not None
    if (is_real(first) and cnp.PyArray_NDIM(<cnp.ndarray> first) == 1 and is_thread_count(threads)
            and (not given or (is_out(c, first_op, outs[0]) and is_out(c, second_op, outs[1])))):
        one = run_vectors(c, first_op, first, second, None, outs[0])
        if one is not None:
            other = run_vectors(c, second_op, first, second, None, outs[1])
    if other is not None:
        return one, other
    if given:
        require_alike(*outs)  # what is wrong with the second one, the first call finds before it writes
    else:
        outs = matrices_of_batch(c, first_op, first, second)
    return (call(model, first_op, first, second, None, outs[0], threads, general_path),
            call(model, second_op, first, second, None, outs[1], threads, general_path))


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
        if not (read_one(self.configurations, op, first, second, &self.steps)
                and is_out(self.configurations, op, out)):
            raise ValueError("expected contiguous float64 arrays of the right shapes")
        self.steps.out = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
        self.steps.u = <const double *> cnp.PyArray_DATA(<cnp.ndarray> u) if u is not None else NULL
        self.kept, self.out, self.general_path = (first, second, u), out, general_path
        self.op = op

    cdef bint run(self) noexcept:
        return self.configurations.run_one(self.op, &self.steps)


cdef class BoundSteps(BoundCall):
    """Two steps between configurations whose arrays are fixed, called together.

    Parameters
    ----------
    first, second : BoundStep
    out : tuple of two ndarrays
        What calls return.
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.
    """

    cdef BoundStep first, second

    def __cinit__(self, BoundStep first not None, BoundStep second not None, tuple out not None,
                  general_path):
        self.first, self.second = first, second
        self.out, self.general_path = out, general_path

    cdef bint run(self) noexcept:
        return self.first.run() and self.second.run()
