"""LTL and LTDL factorization, products and solves on branch-packed rows, one matrix at a time.

Row k of a packed matrix stands at X[start[k] .. start[k] + depth[k]): the entries at the ancestors of k,
root first, then the diagonal. The row of an ancestor is a prefix of the row below it, so every inner loop
runs over contiguous entries. With the nodes visited depth first, the ancestors of the current node are a
contiguous `path`, too.
"""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport NAN, fabs, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from ._vector cimport axpy, dot, fill, scale, unscale

import numpy as np

cnp.import_array()

ctypedef struct Shape:
    Py_ssize_t n
    Py_ssize_t deepest           # max(depth)
    const Py_ssize_t *parent     # n, -1 at a root
    const Py_ssize_t *order      # n, depth first
    const Py_ssize_t *start      # n + 1, first entry of every row
    const Py_ssize_t *depth      # n, length of every row
    const Py_ssize_t *column     # start[n], column of every entry


# ---------------------------------------------------------------------------------------- dense to packed

cdef void gather(const Shape *t, const char *H, Py_ssize_t to_row, Py_ssize_t to_column,
                 double *X) noexcept nogil:
    """X <- declared triangle of the dense H; its strides are in bytes."""
    cdef Py_ssize_t k, p
    cdef const char *row
    for k in range(t.n):
        row = H + k * to_row
        for p in range(t.start[k], t.start[k + 1]):
            X[p] = (<const double *> (row + t.column[p] * to_column))[0]


cdef void add_diagonal(const Shape *t, const double *shift, double *X) noexcept nogil:
    """X <- X + diag(shift)."""
    cdef Py_ssize_t k
    for k in range(t.n):
        X[t.start[k + 1] - 1] += shift[k]


# ----------------------------------------------------------------------------------------- factorization

cdef Py_ssize_t ltdl_factor(const Shape *t, double *X) noexcept nogil:
    """L^T D L <- H in place, D on the diagonal; return -1, or the row k where D[k] is not in (0, inf)."""
    #   for k = n-1 .. 0                                   Featherstone (2008), table 6.3, LTDL;
    #       for i = parent(k), parent(parent(k)), ...      Shimanovsky, algorithm 1
    #           a = H(k, i) / H(k, k)
    #           H(i, 0..i) -= a H(k, 0..i)
    #           H(k, i) = a
    cdef Py_ssize_t k, i, p
    cdef double *Hk
    cdef double a, d
    for k in range(t.n - 1, -1, -1):
        Hk = X + t.start[k]
        d = Hk[t.depth[k] - 1]
        if not 0 < d <= DBL_MAX:  # NaN fails, too
            return k
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            a = Hk[p] / d
            axpy(p + 1, -a, Hk, X + t.start[i])
            Hk[p] = a
            i = t.parent[i]
    return -1


cdef Py_ssize_t ltl_factor(const Shape *t, double *X) noexcept nogil:
    """L^T L <- H in place; return -1, or the row k whose pivot is not in (0, inf)."""
    #   for k = n-1 .. 0                                   Featherstone (2008), table 6.3, LTL
    #       H(k, k) = sqrt(H(k, k))
    #       H(k, i) /= H(k, k)                             for every ancestor i
    #       H(i, 0..i) -= H(k, i) H(k, 0..i)               for every ancestor i
    cdef Py_ssize_t k, i, p
    cdef double *Hk
    cdef double d
    for k in range(t.n - 1, -1, -1):
        Hk = X + t.start[k]
        d = Hk[t.depth[k] - 1]
        if not 0 < d <= DBL_MAX:
            return k
        d = sqrt(d)
        Hk[t.depth[k] - 1] = d
        for p in range(t.depth[k] - 1):
            Hk[p] /= d
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(p + 1, -Hk[p], Hk, X + t.start[i])
            i = t.parent[i]
    return -1


# ------------------------------------------------------- one vector: Featherstone (2008), table 6.5, in place

cdef void l_inv_one(const Shape *t, const double *L, bint unit, double *x, double *path) noexcept nogil:
    """x <- L^-1 x."""
    #   for k depth first:  x(k) = (x(k) - sum L(k, i) x(i)) / L(k, k)
    cdef Py_ssize_t s, k, d
    cdef const double *Lk
    for s in range(t.n):
        k = t.order[s]
        d = t.depth[k] - 1
        Lk = L + t.start[k]
        x[k] -= dot(d, Lk, path)
        if not unit:
            x[k] /= Lk[d]
        path[d] = x[k]


cdef void lt_inv_one(const Shape *t, const double *L, bint unit, double *x, double *path) noexcept nogil:
    """x <- L^-T x; path gathers what descendants subtract from the ancestors still to come."""
    #   for k in reverse:  x(k) /= L(k, k);  x(i) -= L(k, i) x(k)  for every ancestor i
    cdef Py_ssize_t s, k, d
    cdef const double *Lk
    memset(path, 0, t.deepest * sizeof(double))
    for s in range(t.n - 1, -1, -1):
        k = t.order[s]
        d = t.depth[k] - 1
        Lk = L + t.start[k]
        x[k] -= path[d]
        path[d] = 0.0
        if not unit:
            x[k] /= Lk[d]
        axpy(d, x[k], Lk, path)


cdef void l_mul_one(const Shape *t, const double *L, bint unit, double *x, double *path) noexcept nogil:
    """x <- L x."""
    #   for k depth first:  x(k) = L(k, k) x(k) + sum L(k, i) x(i)
    cdef Py_ssize_t s, k, d
    cdef const double *Lk
    for s in range(t.n):
        k = t.order[s]
        d = t.depth[k] - 1
        Lk = L + t.start[k]
        path[d] = x[k]
        if not unit:
            x[k] *= Lk[d]
        x[k] += dot(d, Lk, path)


cdef void lt_mul_one(const Shape *t, const double *L, bint unit, double *x, double *path) noexcept nogil:
    """x <- L^T x."""
    #   for k in reverse:  x(i) += L(k, i) x(k)  for every ancestor i;  x(k) *= L(k, k)
    cdef Py_ssize_t s, k, d
    cdef const double *Lk
    cdef double own
    memset(path, 0, t.deepest * sizeof(double))
    for s in range(t.n - 1, -1, -1):
        k = t.order[s]
        d = t.depth[k] - 1
        Lk = L + t.start[k]
        own = x[k]
        x[k] = path[d] + (own if unit else Lk[d] * own)
        path[d] = 0.0
        axpy(d, own, Lk, path)


cdef void h_mul_one(const Shape *t, const double *H, const double *x, double *y, double *path) noexcept nogil:
    """y <- H x; x and y do not overlap."""
    #   y(k) = H(k, k) x(k) + sum H(k, i) x(i);  y(i) += H(k, i) x(k)  for every ancestor i
    cdef Py_ssize_t s, k, d
    for s in range(t.n):
        k = t.order[s]
        d = t.depth[k] - 1
        path[d] = x[k]
        y[k] = dot(d + 1, H + t.start[k], path)
    memset(path, 0, t.deepest * sizeof(double))
    for s in range(t.n - 1, -1, -1):
        k = t.order[s]
        d = t.depth[k] - 1
        y[k] += path[d]
        path[d] = 0.0
        axpy(d, x[k], H + t.start[k], path)


# --------------------------------------------------------------- r vectors, the columns of an (n, r) matrix

cdef void l_inv_many(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r) noexcept nogil:
    """x <- L^-1 x."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n):
        Lk = L + t.start[k]
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, -Lk[p], x + i * r, x + k * r)
            i = t.parent[i]
        if not unit:
            unscale(r, Lk[t.depth[k] - 1], x + k * r)


cdef void lt_inv_many(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r) noexcept nogil:
    """x <- L^-T x."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n - 1, -1, -1):
        Lk = L + t.start[k]
        if not unit:
            unscale(r, Lk[t.depth[k] - 1], x + k * r)
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, -Lk[p], x + k * r, x + i * r)
            i = t.parent[i]


cdef void l_mul_many(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r) noexcept nogil:
    """x <- L x; rows n-1 .. 0, so that ancestors are still unchanged."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n - 1, -1, -1):
        Lk = L + t.start[k]
        if not unit:
            scale(r, Lk[t.depth[k] - 1], x + k * r)
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, Lk[p], x + i * r, x + k * r)
            i = t.parent[i]


cdef void lt_mul_many(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r) noexcept nogil:
    """x <- L^T x; rows 0 .. n-1, so that descendants are still unchanged."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n):
        Lk = L + t.start[k]
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, Lk[p], x + k * r, x + i * r)
            i = t.parent[i]
        if not unit:
            scale(r, Lk[t.depth[k] - 1], x + k * r)


cdef void h_mul_many(const Shape *t, const double *H, const double *x, double *y,
                     Py_ssize_t r) noexcept nogil:
    """y <- H x; x and y do not overlap."""
    cdef Py_ssize_t k, i, p
    cdef const double *Hk
    memset(y, 0, t.n * r * sizeof(double))
    for k in range(t.n):
        Hk = H + t.start[k]
        axpy(r, Hk[t.depth[k] - 1], x + k * r, y + k * r)
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, Hk[p], x + i * r, y + k * r)
            axpy(r, Hk[p], x + k * r, y + i * r)
            i = t.parent[i]


# ------------------------------------------------------------------------- the diagonal of LTDL, r vectors

cdef void d_div(const Shape *t, const double *L, double *x, Py_ssize_t r) noexcept nogil:
    """x <- D^-1 x."""
    cdef Py_ssize_t k
    for k in range(t.n):
        unscale(r, L[t.start[k + 1] - 1], x + k * r)


cdef void d_mul(const Shape *t, const double *L, double *x, Py_ssize_t r) noexcept nogil:
    """x <- D x."""
    cdef Py_ssize_t k
    for k in range(t.n):
        scale(r, L[t.start[k + 1] - 1], x + k * r)


cdef void d_half_div(const Shape *t, const double *L, double *x, Py_ssize_t r) noexcept nogil:
    """x <- D^-1/2 x."""
    cdef Py_ssize_t k
    for k in range(t.n):
        unscale(r, sqrt(L[t.start[k + 1] - 1]), x + k * r)


# ------------------------------------------------------------------------------- operations of the factor

cdef enum Operation:
    SOLVE
    SOLVE_L
    SOLVE_LT
    MULTIPLY_L
    MULTIPLY_LT
    HALF_SOLVE
    MULTIPLY

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


cdef void l_inv(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r,
                double *path) noexcept nogil:
    if r == 1:
        l_inv_one(t, L, unit, x, path)
    else:
        l_inv_many(t, L, unit, x, r)


cdef void lt_inv(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r,
                 double *path) noexcept nogil:
    if r == 1:
        lt_inv_one(t, L, unit, x, path)
    else:
        lt_inv_many(t, L, unit, x, r)


cdef void l_mul(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r,
                double *path) noexcept nogil:
    if r == 1:
        l_mul_one(t, L, unit, x, path)
    else:
        l_mul_many(t, L, unit, x, r)


cdef void lt_mul(const Shape *t, const double *L, bint unit, double *x, Py_ssize_t r,
                 double *path) noexcept nogil:
    if r == 1:
        lt_mul_one(t, L, unit, x, path)
    else:
        lt_mul_many(t, L, unit, x, r)


cdef void apply(const Shape *t, const double *L, bint ltdl, int op, double *x, Py_ssize_t r,
                double *path) noexcept nogil:
    """One operation of H = L^T D L (LTDL) or H = L^T L on an (n, r) matrix, in place."""
    if op == SOLVE:
        lt_inv(t, L, ltdl, x, r, path)
        if ltdl:
            d_div(t, L, x, r)
        l_inv(t, L, ltdl, x, r, path)
    elif op == HALF_SOLVE:
        lt_inv(t, L, ltdl, x, r, path)
        if ltdl:
            d_half_div(t, L, x, r)
    elif op == MULTIPLY:
        l_mul(t, L, ltdl, x, r, path)
        if ltdl:
            d_mul(t, L, x, r)
        lt_mul(t, L, ltdl, x, r, path)
    elif op == SOLVE_L:
        l_inv(t, L, ltdl, x, r, path)
    elif op == SOLVE_LT:
        lt_inv(t, L, ltdl, x, r, path)
    elif op == MULTIPLY_L:
        l_mul(t, L, ltdl, x, r, path)
    else:
        lt_mul(t, L, ltdl, x, r, path)


cdef bint all_finite(Py_ssize_t n, const double *x) noexcept nogil:
    cdef Py_ssize_t c
    cdef int bad = 0
    for c in range(n):
        bad |= not fabs(x[c]) <= DBL_MAX
    return not bad


# --------------------------------------------------------------------------------- bound to NumPy arrays

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
                apply(&self.shape, self.X + b * to_next, self.ltdl, op, data + b * n * r, r, path)
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
            if r == 1:
                h_mul_one(t, X + b * to_next, from_x + b * t.n, to_y + b * t.n, path)
            else:
                h_mul_many(t, X + b * to_next, from_x + b * t.n * r, to_y + b * t.n * r, r)
    leave_path(path, local)
