"""Compute J H^-1 J^T of frames, or its inverse, from q: H, its factor and J without arrays in between."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .._util._fast_arrays cimport all_finite, is_plain_matrix, is_plain_vector, may_overlap
from .._util._result_arrays cimport new_result
from .._util._thread_count cimport is_thread_count
from ..tree._operands cimport ALIGNED, LANES, Operand, align, describe, load
from .._functions._arrays cimport Array
from .._functions._compiled_function cimport SPARSE
from .._functions._entry cimport Entry
from .._functions._packed cimport add_doubt
from ..dynamics._dynamics_functions cimport Crba
from ..linalg._delassus cimport Memory, allocate_memory, invert_lanes, multiply
from ..tree._pattern cimport (
    FACTORIZED, HALF_SOLVE, Shape, Workspace, active, carve_workspace, clear_workspace,
    workspace_size as factor_workspace_size,
)
from ._request cimport Request

from ..quantities.functions import ENTRIES

cnp.import_array()

cdef Entry jacobian = ENTRIES["frame_jacobian"], inertia = ENTRIES["crba"]
cdef object dense = "dense", packed = "packed"

cdef enum:
    STACK_DOUBLES = 6144         # workspace on the C stack; larger robots allocate theirs on the heap


cdef bint compute_one(Crba crba, Request request, const double *q, double *G, bint invert, double damping,
                      double *work):
    """G <- J H^-1 J^T of one configuration, or its inverse; false leaves it to the general path."""
    cdef const Shape *t = &crba.pattern.shape
    cdef Py_ssize_t m = request.result.size // t.n, k, failed
    cdef double *H = work
    cdef double *J = H + crba.bodies.nnz
    cdef double *memory = align(J + request.result.size)
    cdef Workspace w
    cdef Memory more
    if not request.run_one(&q, &J):
        return False
    crba.compute(crba.model, 1, &q, &H, &failed, memory)
    w = carve_workspace(t, memory)
    clear_workspace(t, &w)
    active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
    if active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, w.D, w.inverse) != FACTORIZED:
        return False
    more = allocate_memory(t.n, m)
    failed = multiply(t, w.X, w.inverse, True, m, J, G, &more, invert, damping)
    free(more.X)
    if failed >= 0:
        return False
    for k in range(m):           # where numbers overflow
        if not all_finite(1, G + k * m + k):
            return False
    return True


def fast(model, frame, reference, q, out, threads, bint invert=False, double damping=0.0):
    """Return the result for a contiguous q; None if the general path must handle it.

    Parameters
    ----------
    model : Model
    frame, reference
        A frame or a list of them, and the reference of their Jacobians.
    q, out : ndarray
        One configuration; out may be None.
    threads : int
        Not used, but a wrong number is left to the general path.
    invert : bool
        Whether to return (J H^-1 J^T + damping I)^-1.
    """
    cdef PyObject *chosen[4]
    cdef Request request
    cdef Crba crba
    cdef double local[STACK_DOUBLES]
    cdef double *work = local
    cdef cnp.npy_intp shape[2]
    cdef Py_ssize_t m, need
    cdef cnp.ndarray made                    # so that out keeps its entries where the general path raises
    cdef bint done
    chosen[0], chosen[1], chosen[2] = <PyObject *> frame, <PyObject *> reference, <PyObject *> dense
    chosen[3] = <PyObject *> False
    request = jacobian.find(model, chosen, -1)
    chosen[0] = <PyObject *> packed
    crba = inertia.find(model, chosen, -1)
    if request is None or crba is None or not is_thread_count(threads):
        return None
    if crba.bodies.nv == 0 or crba.pattern.shape.tasks or not is_plain_vector(q, crba.bodies.nq):
        return None
    m = request.result.size // crba.bodies.nv
    if out is not None and (not is_plain_matrix(out, m, m) or not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)
                            or may_overlap(out, q)):
        return None
    shape[0] = shape[1] = m
    made = new_result(2, shape)
    need = max(crba.workspace_size(1), factor_workspace_size(&crba.pattern.shape))
    need += crba.bodies.nnz + request.result.size + 2 * ALIGNED
    if need > STACK_DOUBLES:
        work = <double *> malloc(need * sizeof(double))
        if work == NULL:
            return None
    done = compute_one(crba, request, <const double *> cnp.PyArray_DATA(<cnp.ndarray> q),
                       <double *> made.data, invert, damping, align(work))
    if need > STACK_DOUBLES:
        free(work)
    if not done or out is None:
        return made if done else None
    memcpy(cnp.PyArray_DATA(<cnp.ndarray> out), made.data, m * m * sizeof(double))
    return out


cdef void spread_rows(const Array *result, Py_ssize_t n, Py_ssize_t m, const double *J,
                      double *W) noexcept nogil:
    """W <- J^T, (n, m) entries in lanes, from the columns of J that a request computes."""
    cdef Py_ssize_t e, at
    for e in range(result.size):
        at = result.at[e] if result.form == SPARSE else e
        if at < result.computed:
            memcpy(W + LANES * (e % n * m + e // n), J + LANES * at, LANES * sizeof(double))
        else:
            memset(W + LANES * (e % n * m + e // n), 0, LANES * sizeof(double))


cdef void compute_block(Crba crba, Request request, const double *q, double *G, bint invert,
                        double damping, double *work) noexcept nogil:
    """G <- J H^-1 J^T of 8 configurations in lanes, or its inverse; NaN where that cannot be computed."""
    cdef const Shape *t = &crba.pattern.shape
    cdef Py_ssize_t m = request.result.size // t.n, k
    cdef double *doubt = work
    cdef double *J = doubt + LANES
    cdef double *W = J + LANES * request.result.computed
    cdef double *H = W + LANES * request.result.size
    cdef double *inverse = H + LANES * crba.bodies.nnz
    cdef double *more = inverse + LANES * t.n
    cdef Py_ssize_t failed[LANES]
    cdef Py_ssize_t rows[LANES]
    cdef int lane
    request.compute(NULL, LANES, &q, &J, &failed[0], more)
    spread_rows(request.result, t.n, m, J, W)
    crba.compute(crba.model, LANES, &q, &H, &failed[0], more)
    active.lanes.factor(t, H, H, inverse, more, &failed[0])
    active.lanes.apply(t, H, inverse, 1, HALF_SOLVE, W, m)
    active.lanes.gram(t.n, m, W, G)
    if invert:
        invert_lanes(m, damping, G, more, &rows[0])
    memset(doubt, 0, LANES * sizeof(double))
    add_doubt(crba.bodies.nq, q, doubt)
    for lane in range(LANES):
        if doubt[lane] != 0.0 or failed[lane] != FACTORIZED or not request.is_valid(q + lane, LANES):
            for k in range(m * m):
                G[k * LANES + lane] = NAN


def batch(Crba crba not None, Request request not None, cnp.ndarray q not None, cnp.ndarray out not None,
          bint invert, double damping, Py_ssize_t first, Py_ssize_t stop):
    """Compute the blocks first .. stop-1 of 8 configurations, q of (batch, nq), into out, C-contiguous."""
    cdef Py_ssize_t n = crba.bodies.nv, m = request.result.size // n, size = m * m, count = len(q), b
    cdef Py_ssize_t more = max(request.workspace_size(LANES), crba.workspace_size(LANES),
                               LANES * crba.pattern.shape.scratch, LANES * m)
    cdef Py_ssize_t need = more + 4 * ALIGNED + LANES * (
        crba.bodies.nq + size + 1 + request.result.computed + request.result.size + crba.bodies.nnz + n
    )
    cdef double *memory = <double *> malloc(need * sizeof(double))
    cdef double *x
    cdef double *G
    cdef Operand operand
    cdef int lanes
    if memory == NULL:
        raise MemoryError(f"cannot allocate a workspace of {need} doubles")
    describe(q, &operand)
    x = align(memory)
    G = x + LANES * crba.bodies.nq
    with nogil:
        for b in range(first, stop):
            lanes = <int> min(<Py_ssize_t> LANES, count - b * LANES)
            load(&operand, b, lanes, x)
            compute_block(crba, request, x, G, invert, damping, G + LANES * size)
            active.lanes.store(size, lanes, G, out.data + b * LANES * size * <Py_ssize_t> sizeof(double),
                               size * sizeof(double))
    free(memory)
