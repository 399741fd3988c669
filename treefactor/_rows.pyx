"""The kernels of _ltdl bound to NumPy arrays: one tree, and the packed rows of a batch of matrices."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport NAN, fabs
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from ._ltdl cimport (
    HALF_SOLVE,
    MULTIPLY,
    MULTIPLY_L,
    MULTIPLY_LT,
    SOLVE,
    SOLVE_L,
    SOLVE_LT,
    Shape,
    add_diagonal,
    apply,
    gather,
    h_mul,
    ltdl_factor,
    ltl_factor,
)
from ._vector cimport fill

import numpy as np

cnp.import_array()

# plain integers: an enum of Python costs as much as a small solve
OPERATIONS = {
    "solve": <int> SOLVE,
    "solve_l": <int> SOLVE_L,
    "solve_lt": <int> SOLVE_LT,
    "multiply_l": <int> MULTIPLY_L,
    "multiply_lt": <int> MULTIPLY_LT,
    "half_solve": <int> HALF_SOLVE,
    "multiply": <int> MULTIPLY,
}

FACTORIZED, UNTOUCHED = -1, -2  # states of a matrix that did not fail

cdef enum:
    LOCAL = 256                  # path entries kept on the C stack; deeper trees allocate them


cdef double *take_path(const Shape *t, double *local) except NULL:
    """Room for one path: local where it fits."""
    if t.deepest <= LOCAL:
        return local
    cdef double *path = <double *> malloc(t.deepest * sizeof(double))
    if path == NULL:
        raise MemoryError(f"no room for {t.deepest} entries")
    return path


cdef void leave_path(double *path, double *local) noexcept:
    if path != local:
        free(path)


cdef bint all_finite(Py_ssize_t n, const double *x) noexcept nogil:
    cdef Py_ssize_t c
    cdef int bad = 0
    for c in range(n):
        bad |= not fabs(x[c]) <= DBL_MAX
    return not bad


cdef bint is_plain_vector(object a, Py_ssize_t n) noexcept:
    """Whether a is an aligned contiguous float64 vector of length n."""
    return (
        cnp.PyArray_CheckExact(a)
        and cnp.PyArray_NDIM(<cnp.ndarray> a) == 1
        and cnp.PyArray_TYPE(<cnp.ndarray> a) == cnp.NPY_DOUBLE
        and cnp.PyArray_DIM(<cnp.ndarray> a, 0) == n
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> a)
    )


cdef class Rows:
    """Kernels bound to one tree and to the packed rows of a batch of matrices.

    Trusts its callers: arrays are aligned float64 (or intp), and of the right size.

    Parameters
    ----------
    tree : Tree
    batch : int
        Number of matrices.
    ltdl : bool
        LTDL, or LTL.

    Attributes
    ----------
    packed : ndarray, shape (batch, nnz)
        Packed rows of L and D once `refactor` ran.
    status : ndarray of int, shape (batch,)
        FACTORIZED, UNTOUCHED, or the row whose pivot failed; the packed rows are NaN there.
    """

    cdef Shape shape
    cdef bint ltdl
    cdef Py_ssize_t batch
    cdef double *X
    cdef Py_ssize_t *failed
    cdef readonly cnp.ndarray packed
    cdef readonly cnp.ndarray status
    cdef object kept             # the arrays that shape points to
    cdef cnp.ndarray source      # H, dense (batch, n, n) or packed (batch, nnz)
    cdef Py_ssize_t to_next      # strides of the source, in bytes
    cdef Py_ssize_t to_row
    cdef Py_ssize_t to_column

    def __init__(self, tree, Py_ssize_t batch, bint ltdl):
        cdef cnp.ndarray parent = tree.parent
        cdef cnp.ndarray order = tree.order
        cdef cnp.ndarray start = tree.row_start
        cdef cnp.ndarray depth = tree.depth
        cdef cnp.ndarray column = tree.columns
        self.kept = (parent, order, start, depth, column)
        self.shape.n = tree.n
        self.shape.deepest = depth.max(initial=0)
        self.shape.parent = <const Py_ssize_t *> parent.data
        self.shape.order = <const Py_ssize_t *> order.data
        self.shape.start = <const Py_ssize_t *> start.data
        self.shape.depth = <const Py_ssize_t *> depth.data
        self.shape.column = <const Py_ssize_t *> column.data
        self.ltdl = ltdl
        self.batch = batch
        self.packed = np.empty((batch, tree.nnz))
        self.status = np.full(batch, UNTOUCHED, dtype=np.intp)
        self.X = <double *> self.packed.data
        self.failed = <Py_ssize_t *> self.status.data

    def bind(self, cnp.ndarray H not None, bint upper=False):
        """Make `refactor` read H from now on: dense (batch, n, n) of any strides, or packed (batch, nnz)."""
        self.source = H
        self.to_next = H.strides[0]
        if H.ndim == 3:
            self.to_row, self.to_column = H.strides[2 if upper else 1], H.strides[1 if upper else 2]

    def release(self):
        """Forget the bound H."""
        self.source = None

    def adopt(self, packed, failed):
        """Take over rows of L and D, shape (batch, nnz), with the rows (batch, n) that failed marked."""
        self.packed[...] = packed
        self.status[...] = np.where(failed.any(axis=1), failed.argmax(axis=1), FACTORIZED)
        self.packed[failed.any(axis=1)] = NAN

    def refactor(self, cnp.ndarray shift=None, Py_ssize_t first=0, Py_ssize_t stop=-1):
        """Factorize H + diag(shift) of the matrices first .. stop-1; return a failing row, or -1.

        shift has shape (batch, n) or (1, n), C-contiguous.
        """
        cdef const char *H = <const char *> self.source.data
        cdef bint dense = self.source.ndim == 3
        cdef const double *d = NULL
        cdef Py_ssize_t d_next = 0, nnz = self.shape.start[self.shape.n], b, row, failing = -1
        cdef double *X
        if shift is not None:
            d = <const double *> shift.data
            d_next = self.shape.n if shift.shape[0] > 1 else 0
        if stop < 0:
            stop = self.batch
        with nogil:
            for b in range(first, stop):
                X = self.X + b * nnz
                if dense:
                    gather(&self.shape, H + b * self.to_next, self.to_row, self.to_column, X)
                else:
                    memcpy(X, H + b * self.to_next, nnz * sizeof(double))
                if d != NULL:
                    add_diagonal(&self.shape, d + b * d_next, X)
                row = ltdl_factor(&self.shape, X) if self.ltdl else ltl_factor(&self.shape, X)
                self.failed[b] = row
                if row >= 0:
                    failing = row
                    fill(nnz, NAN, X)
        return failing

    def apply(self, int op, cnp.ndarray x not None, Py_ssize_t first=0, Py_ssize_t stop=-1):
        """x[b] <- op x[b] for x of shape (batch, n, r), C-contiguous; a single factor serves any batch."""
        cdef Py_ssize_t n = self.shape.n, r = x.shape[2], b
        cdef Py_ssize_t to_next = self.shape.start[n] if self.batch > 1 else 0
        cdef double *data = <double *> x.data
        cdef double local[LOCAL]
        cdef double *path = take_path(&self.shape, local)
        if stop < 0:
            stop = x.shape[0]
        with nogil:
            for b in range(first, stop):
                if self.failed[b if to_next else 0] == -1:
                    apply(&self.shape, self.X + b * to_next, self.ltdl, op, data + b * n * r, r, path)
                else:
                    fill(n * r, NAN, data + b * n * r)
        leave_path(path, local)

    def apply_vector(self, int op, object b, object out):
        """out <- op b for one matrix and plain vectors, quickly; None leaves the case to the gate."""
        cdef Py_ssize_t n = self.shape.n
        cdef double local[LOCAL]
        cdef double *path
        cdef double *x
        if not is_plain_vector(b, n) or self.failed[0] != -1:
            return None
        if not all_finite(n, <const double *> cnp.PyArray_DATA(<cnp.ndarray> b)):
            return None
        if out is None:
            out = cnp.PyArray_SimpleNew(1, <cnp.npy_intp *> &n, cnp.NPY_DOUBLE)
        elif not (is_plain_vector(out, n) and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)):
            return None
        x = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
        memmove(x, cnp.PyArray_DATA(<cnp.ndarray> b), n * sizeof(double))
        path = take_path(&self.shape, local)
        with nogil:
            apply(&self.shape, self.X, self.ltdl, op, x, 1, path)
        leave_path(path, local)
        return out


def multiply(tree, cnp.ndarray H not None, cnp.ndarray x not None, cnp.ndarray y not None):
    """y[b] <- H[b] x[b]; packed H (batch or 1, nnz), x and y (batch, n, r), C-contiguous, apart."""
    cdef Rows rows = Rows(tree, 0, True)
    cdef const Shape *t = &rows.shape
    cdef Py_ssize_t r = x.shape[2], b, to_next = t.start[t.n] if H.shape[0] > 1 else 0
    cdef const double *X = <const double *> H.data
    cdef const double *from_x = <const double *> x.data
    cdef double *to_y = <double *> y.data
    cdef double local[LOCAL]
    cdef double *path = take_path(t, local)
    with nogil:
        for b in range(x.shape[0]):
            h_mul(t, X + b * to_next, from_x + b * t.n * r, to_y + b * t.n * r, r, path)
    leave_path(path, local)
