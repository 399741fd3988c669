"""Call the recursions without the checks of the general path: the fast path, and calls bound to arrays."""

cimport numpy as cnp

from libc.string cimport memset

from .._util._bound_call cimport BoundCall
from .._util._fast_arrays cimport is_plain_matrix, is_plain_vector, is_real, is_result, may_overlap
from ..tree._operands cimport LANES, Operand, overlap, read_operand
from ._recursions cimport ABA, CRBA, JOINT_FORCES, Arguments, Bodies, bodies_of, takes_v, takes_x

cnp.import_array()


cdef Arguments data_pointers(int op, object q, object v, object x, object out) noexcept:
    """Return the data pointers of contiguous arrays; NULL for what the operation does not read."""
    cdef Arguments found
    found.q = <const double *> cnp.PyArray_DATA(<cnp.ndarray> q)
    found.v = <const double *> cnp.PyArray_DATA(<cnp.ndarray> v) if takes_v(op) else NULL
    found.x = <const double *> cnp.PyArray_DATA(<cnp.ndarray> x) if takes_x(op) else NULL
    found.fext = NULL
    found.out = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
    return found


cdef int result_shape(Bodies bodies, int op, cnp.npy_intp *shape) noexcept:
    """Set the shape of the result of one configuration; return the number of its axes."""
    shape[0], shape[1] = bodies.size(op), 1
    if op == CRBA:
        shape[0] = shape[1] = bodies.nv
    elif op == JOINT_FORCES:
        shape[0], shape[1] = bodies.m.joints, 6
    return 2 if op == CRBA or op == JOINT_FORCES else 1


cdef bint fits_fast_path(Bodies bodies, int op, object q, object v, object x, object out) noexcept:
    """Return whether all arrays are contiguous float64 vectors of the right sizes, out apart from them."""
    cdef cnp.npy_intp shape[2]
    cdef int axes = result_shape(bodies, op, shape)
    cdef Py_ssize_t n = bodies.nv, size = shape[0] * shape[1]
    cdef Arguments args
    if not (is_plain_vector(q, bodies.nq)
            and (not takes_v(op) or is_plain_vector(v, n)) and (not takes_x(op) or is_plain_vector(x, n))
            and (is_plain_matrix(out, shape[0], shape[1]) if axes == 2 else is_plain_vector(out, size))
            and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)):
        return False
    args = data_pointers(op, q, v, x, out)
    return not (overlap(args.out, size, args.q, bodies.nq)
                or overlap(args.out, size, args.v, n) or overlap(args.out, size, args.x, n))


cdef object run_vectors(Bodies bodies, int op, object q, object v, object x, object out):
    """Run an operation on contiguous vectors; None if the general path must handle it."""
    cdef cnp.npy_intp shape[2]
    cdef Arguments args
    cdef int axes
    if out is None:
        axes = result_shape(bodies, op, shape)
        out = cnp.PyArray_SimpleNew(axes, shape, cnp.NPY_DOUBLE)
    if not fits_fast_path(bodies, op, q, v, x, out):
        return None
    args = data_pointers(op, q, v, x, out)
    return out if bodies.run_one(op, &args) else None


cdef object run_batch(Bodies bodies, int op, object q, object v, object x, object out):
    """Run an operation on float64 arrays of a batch, or that all of it share; None if they do not fit."""
    cdef Operand operands[4]
    cdef tuple arrays = (q, v, x)
    cdef cnp.npy_intp shape[3]
    cdef Py_ssize_t batch = -1, j
    cdef object result
    memset(&operands[0], 0, sizeof(operands))
    if not (read_operand(q, bodies.nq, &batch, &operands[0])
            and (not takes_v(op) or read_operand(v, bodies.nv, &batch, &operands[1]))
            and (not takes_x(op) or read_operand(x, bodies.nv, &batch, &operands[2]))):
        return None
    if batch <= 0 or (op == ABA and bodies.coupled):
        return None
    shape[0] = batch
    result = cnp.PyArray_SimpleNew(1 + result_shape(bodies, op, shape + 1), shape, cnp.NPY_DOUBLE)
    if out is None:
        out = result
    elif not is_result(out, result):
        return None
    for j in range(3):
        if operands[j].data != NULL and may_overlap(arrays[j], out):
            return None
    bodies.run_blocks(op, batch, operands, out, "dense", NULL, 0, (batch + LANES - 1) // LANES)
    return out


def call(model, int op, q, v, x, fext, out, threads, general_path):
    """Run an operation: float64 arrays that need no conversion at once, others by the general path.

    v and x are ignored if the operation does not read them; the result of crba is dense. The general path
    takes the arguments before it; if it is None, so is the result.
    """
    cdef Bodies bodies = bodies_of(model)
    cdef object found = None
    if fext is None and is_real(q) and cnp.PyArray_NDIM(<cnp.ndarray> q) == 1:
        found = run_vectors(bodies, op, q, v, x, out)
    if found is None and fext is None and type(threads) is int and threads == 1:
        found = run_batch(bodies, op, q, v, x, out)
    if found is None and general_path is not None:
        found = general_path(model, op, q, v, x, fext, out, threads)
    return found


cdef class Bound(BoundCall):
    """Call of a recursion on one configuration whose arrays are fixed: it takes no arguments.

    Parameters
    ----------
    model : Model
    op : int
    q, v, x, out : ndarray
        Contiguous float64 arrays; v and x are ignored if the operation does not read them.
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

    def __cinit__(self, model, int op, q, v, x, out, general_path):
        self.bodies = bodies_of(model)
        if not fits_fast_path(self.bodies, op, q, v, x, out):
            raise ValueError(
                "expected contiguous float64 arrays of the right shapes, out apart from the others"
            )
        self.kept, self.out, self.general_path = (q, v, x), out, general_path
        self.op, self.args = op, data_pointers(op, q, v, x, out)

    cdef bint run(self) noexcept:
        return self.bodies.run_one(self.op, &self.args)
