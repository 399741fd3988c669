"""Call the recursions without the checks of the general path: the fast path, and calls bound to arrays."""

cimport numpy as cnp

from libc.string cimport memset

from .._util._bound_call cimport BoundCall
from .._util._fast_arrays cimport (
    is_plain_matrix, is_plain_scalar, is_plain_vector, is_real, is_result, may_overlap,
)
from .._util._result_arrays cimport new_result
from .._util._thread_count cimport is_thread_count
from ..tree._operands cimport LANES, Operand, overlap, read_matrix_operand, read_operand
from ._recursions cimport ABA, STATIC_TORQUE, Arguments, Bodies, bodies_of, is_energy, takes_v, takes_x

cnp.import_array()

cdef cnp.npy_intp no_axes[1]
cdef cnp.ndarray A_NUMBER = cnp.PyArray_SimpleNew(0, no_axes, cnp.NPY_DOUBLE)  # for energies


cdef Arguments data_pointers(int op, object q, object v, object x, object fext, object out) noexcept:
    """Return the data pointers of contiguous arrays; NULL for what the operation does not read."""
    cdef Arguments found
    found.q = <const double *> cnp.PyArray_DATA(<cnp.ndarray> q)
    found.v = <const double *> cnp.PyArray_DATA(<cnp.ndarray> v) if takes_v(op) else NULL
    found.x = <const double *> cnp.PyArray_DATA(<cnp.ndarray> x) if takes_x(op) else NULL
    found.fext = NULL if fext is None else <const double *> cnp.PyArray_DATA(<cnp.ndarray> fext)
    found.out = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
    return found


cdef bint are_vectors(Bodies bodies, int op, object q, object v, object x, object fext) noexcept:
    """Return whether all arguments are contiguous float64 arrays of one configuration."""
    return (is_plain_vector(q, bodies.nq)
            and (not takes_v(op) or is_plain_vector(v, bodies.nv))
            and (not takes_x(op) or is_plain_vector(x, bodies.nv))
            and (is_plain_matrix(fext, bodies.m.joints, 6) if fext is not None else op != STATIC_TORQUE))


cdef bint is_apart(Bodies bodies, const Arguments *args, Py_ssize_t size) noexcept:
    """Return whether the result, of that size, shares no memory with the arguments."""
    return not (overlap(args.out, size, args.q, bodies.nq) or overlap(args.out, size, args.v, bodies.nv)
                or overlap(args.out, size, args.x, bodies.nv)
                or overlap(args.out, size, args.fext, 6 * bodies.m.joints))


cdef bint fits_result(Bodies bodies, int op, const Arguments *args, object out) noexcept:
    """Return whether out is a writeable array for one result, apart from the arguments."""
    cdef cnp.npy_intp shape[2]
    cdef int axes = bodies.result_shape(op, shape)
    if not (is_plain_matrix(out, shape[0], shape[1]) if axes == 2
            else is_plain_vector(out, shape[0]) if axes == 1 else is_plain_scalar(out)):
        return False
    return cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out) and is_apart(bodies, args, shape[0] * shape[1])


cdef object run_energy(Bodies bodies, int op, object q, object v):
    """Return the energy of one configuration as a NumPy float; None if the general path must handle it."""
    cdef double energy
    cdef Arguments args
    if not are_vectors(bodies, op, q, v, None, None):
        return None
    args = data_pointers(op, q, v, None, None, A_NUMBER)
    args.out = &energy
    return cnp.PyArray_ToScalar(&energy, A_NUMBER) if bodies.run_one(op, &args) else None


cdef object run_vectors(Bodies bodies, int op, object q, object v, object x, object fext, object out):
    """Run an operation on contiguous vectors; None if the general path must handle it."""
    cdef cnp.npy_intp shape[2]
    cdef Arguments args
    cdef int axes
    if out is None and is_energy(op):
        return run_energy(bodies, op, q, v)
    if not are_vectors(bodies, op, q, v, x, fext):
        return None
    if out is None:                                  # a new array fits and overlaps nothing
        axes = bodies.result_shape(op, shape)
        out = new_result(axes, shape)
        args = data_pointers(op, q, v, x, fext, out)
    elif cnp.PyArray_CheckExact(out):
        args = data_pointers(op, q, v, x, fext, out)
        if not fits_result(bodies, op, &args, out):
            return None
    else:
        return None
    return out if bodies.run_one(op, &args) else None


cdef object run_batch(Bodies bodies, int op, object q, object v, object x, object fext, object out):
    """Run an operation on float64 arrays of a batch, or that all of it share; None if they do not fit."""
    cdef Operand operands[4]
    cdef tuple arrays = (q, v, x, fext)
    cdef cnp.npy_intp shape[3]
    cdef Py_ssize_t batch = bodies.sets.elements, j
    cdef object result
    memset(&operands[0], 0, sizeof(operands))
    if not (read_operand(q, bodies.nq, &batch, &operands[0])
            and (not takes_v(op) or read_operand(v, bodies.nv, &batch, &operands[1]))
            and (not takes_x(op) or read_operand(x, bodies.nv, &batch, &operands[2]))
            and (read_matrix_operand(fext, bodies.m.joints, 6, &batch, &operands[3]) if fext is not None
                 else op != STATIC_TORQUE)):
        return None
    if batch <= 0 or not bodies.one_axis or (op == ABA and bodies.coupled):
        return None
    shape[0] = batch
    result = new_result(1 + bodies.result_shape(op, shape + 1), shape)
    if out is None:
        out = result
    elif not is_result(out, result):
        return None
    for j in range(4):
        if operands[j].data != NULL and may_overlap(arrays[j], out):
            return None
    bodies.run_blocks(op, batch, operands, out, "dense", NULL, 0, (batch + LANES - 1) // LANES)
    return out


def call(model, int op, q, v, x, fext, out, threads, general_path):
    """Run an operation: `compute` for Python."""
    return compute(model, op, q, v, x, fext, out, threads, general_path)


cdef object compute(model, int op, q, v, x, fext, out, threads, general_path):
    """Run an operation: float64 arrays that need no conversion at once, others by the general path.

    v and x are ignored if the operation does not read them; matrices are dense. The general path takes the
    arguments before it; if it is None, so is the result.
    """
    cdef Bodies bodies = bodies_of(model)
    cdef object found = None
    if bodies.sets.elements < 0 and is_real(q) and cnp.PyArray_NDIM(<cnp.ndarray> q) == 1 and is_thread_count(
            threads):
        found = run_vectors(bodies, op, q, v, x, fext, out)
    if found is None and type(threads) is int and threads == 1:
        found = run_batch(bodies, op, q, v, x, fext, out)
    if found is None and general_path is not None:
        found = general_path(model, op, q, v, x, fext, out, threads)
    return found


cdef class Bound(BoundCall):
    """Call of a recursion on one configuration whose arrays are fixed: it takes no arguments.

    Parameters
    ----------
    model : Model
    op : int
    q, v, x, fext, out : ndarray
        Contiguous float64 arrays; v and x are ignored if the operation does not read them; fext may be None.
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.

    Raises
    ------
    ValueError
        If an array is not contiguous float64, has the wrong shape, or overlaps out.
    """

    cdef Bodies bodies
    cdef int op
    cdef Arguments args

    def __cinit__(self, model, int op, q, v, x, fext, out, general_path):
        self.op, self.bodies = op, bodies_of(model)
        if are_vectors(self.bodies, op, q, v, x, fext) and cnp.PyArray_CheckExact(out):
            self.args = data_pointers(op, q, v, x, fext, out)
        if self.args.out == NULL or not fits_result(self.bodies, op, &self.args, out):
            raise ValueError(
                "expected contiguous float64 arrays of the right shapes, out apart from the others"
            )
        self.kept, self.out, self.general_path = (q, v, x, fext), out, general_path

    cdef bint run(self) noexcept:
        return self.bodies.run_one(self.op, &self.args)
