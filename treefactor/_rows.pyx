"""The kernels of _ltdl bound to NumPy arrays: one tree, and the packed rows of a batch of matrices."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport NAN, fabs
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

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


cdef class Pattern:
    """The arrays of a tree as the kernels take them; immutable, made once for every tree.

    Parameters
    ----------
    tree : Tree
    """

    cdef Shape shape
    cdef object kept             # the arrays that shape points to

    def __cinit__(self, tree):
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


ctypedef struct Source:          # matrices somebody else owns; all strides in bytes
    const char *data
    bint dense
    Py_ssize_t lanes             # matrices side by side in a block, 1 but in the lanes layout
    Py_ssize_t to_block
    Py_ssize_t to_lane
    Py_ssize_t to_row            # of dense matrices
    Py_ssize_t to_column
    Py_ssize_t to_entry          # of packed rows


cdef Source source_of(cnp.ndarray H, str layout, bint upper):
    """Where the entries of H are: (batch, n, n), (batch, nnz), or lanes (blocks, nnz, 8)."""
    cdef Source s
    s.data = <const char *> H.data
    s.dense = layout == "dense"
    s.lanes = H.shape[2] if layout == "lanes" else 1
    s.to_block = H.strides[0]
    s.to_lane = H.strides[2] if layout == "lanes" else 0
    s.to_row = H.strides[2 if upper else 1] if s.dense else 0
    s.to_column = H.strides[1 if upper else 2] if s.dense else 0
    s.to_entry = 0 if s.dense else H.strides[1]
    return s


cdef void load(const Shape *t, const Source *s, Py_ssize_t b, double *X) noexcept nogil:
    """X <- packed rows of the matrix b."""
    cdef const char *H = s.data + (b // s.lanes) * s.to_block + (b % s.lanes) * s.to_lane
    cdef Py_ssize_t p
    if s.dense:
        gather(t, H, s.to_row, s.to_column, X)
    else:
        for p in range(t.start[t.n]):
            X[p] = (<const double *> (H + p * s.to_entry))[0]


cdef class Rows:
    """Kernels bound to one tree and to the packed rows of a batch of matrices.

    Trusts its callers: arrays are aligned float64, and of the right size.

    Parameters
    ----------
    pattern : Pattern
    batch : int
        Number of matrices.
    ltdl : bool
        LTDL, or LTL.

    Attributes
    ----------
    packed : ndarray, shape (batch, nnz)
        Packed rows of L and D; NaN as long as there is none.
    status : ndarray of int, shape (batch,)
        FACTORIZED, UNTOUCHED, or the row whose pivot failed.
    """

    cdef Pattern pattern
    cdef bint ltdl
    cdef Py_ssize_t batch
    cdef double *X
    cdef Py_ssize_t *failed
    cdef readonly cnp.ndarray packed
    cdef readonly cnp.ndarray status
    cdef Source bound
    cdef cnp.ndarray kept        # the array that bound points to

    def __cinit__(self, Pattern pattern not None, Py_ssize_t batch, bint ltdl):
        self.pattern = pattern
        self.ltdl = ltdl
        self.batch = batch
        self.packed = np.full((batch, pattern.shape.start[pattern.shape.n]), np.nan)
        self.status = np.full(batch, UNTOUCHED, dtype=np.intp)
        self.X = <double *> self.packed.data
        self.failed = <Py_ssize_t *> self.status.data

    def refactor(self, cnp.ndarray H not None, str layout, bint upper, cnp.ndarray shift=None,
                 Py_ssize_t first=0, Py_ssize_t stop=-1):
        """Factorize H + diag(shift) of the matrices first .. stop-1; return a failing row, or -1.

        H is (batch, n, n), (batch, nnz) or (blocks, nnz, 8) of any strides.
        shift is (batch, n) or (1, n), C-contiguous.
        """
        cdef Source source = source_of(H, layout, upper)
        return self.factorize(&source, shift, first, self.batch if stop < 0 else stop)

    def bind(self, cnp.ndarray H not None, bint upper):
        """Make `refresh` read this (1, n, n) array from now on."""
        self.bound = source_of(H, "dense", upper)
        self.kept = H

    def refresh(self, cnp.ndarray shift=None):
        """Factorize what the bound array holds now; return the failing row, or -1."""
        return self.factorize(&self.bound, shift, 0, 1)

    cdef Py_ssize_t factorize(self, const Source *source, cnp.ndarray shift, Py_ssize_t first,
                              Py_ssize_t stop):
        cdef const Shape *t = &self.pattern.shape
        cdef const double *d = NULL if shift is None else <const double *> shift.data
        cdef Py_ssize_t d_next = t.n if shift is not None and shift.shape[0] > 1 else 0
        cdef Py_ssize_t nnz = t.start[t.n], b, row, failing = -1
        cdef double *X
        with nogil:
            for b in range(first, stop):
                X = self.X + b * nnz
                load(t, source, b, X)
                if d != NULL:
                    add_diagonal(t, d + b * d_next, X)
                row = ltdl_factor(t, X) if self.ltdl else ltl_factor(t, X)
                self.failed[b] = row
                if row >= 0:
                    failing = row
                    fill(nnz, NAN, X)
        return failing

    def adopt(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Take over dense L (batch, n, n) and D (batch, n) of any strides, made by somebody else."""
        cdef const Shape *t = &self.pattern.shape
        cdef Source source = source_of(L, "dense", upper)
        cdef Py_ssize_t b, k, nnz = t.start[t.n]
        cdef const char *from_D
        cdef double d
        for b in range(self.batch):
            load(t, &source, b, self.X + b * nnz)
            self.failed[b] = -1
            for k in range(t.n - 1, -1, -1):
                from_D = <const char *> D.data + b * D.strides[0] + k * D.strides[1]
                d = (<const double *> from_D)[0]
                self.X[b * nnz + t.start[k + 1] - 1] = d
                if self.failed[b] < 0 and not 0 < d <= DBL_MAX:
                    self.failed[b] = k
            if self.failed[b] >= 0:
                fill(nnz, NAN, self.X + b * nnz)

    def export(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Write L's pattern into a dense (n, n) array and D into (n,), of any strides; one matrix, LTDL."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t to_row = L.strides[1 if upper else 0], to_column = L.strides[0 if upper else 1]
        cdef Py_ssize_t k, p
        cdef char *row
        for k in range(t.n):
            row = <char *> L.data + k * to_row
            for p in range(t.start[k], t.start[k + 1] - 1):
                (<double *> (row + t.column[p] * to_column))[0] = self.X[p]
            (<double *> (row + k * to_column))[0] = 1.0
            (<double *> (<char *> D.data + k * D.strides[0]))[0] = self.X[t.start[k + 1] - 1]

    def restore(self, packed, status):
        """Take over the attributes of another one."""
        self.packed[...] = packed
        self.status[...] = status

    def apply(self, int op, cnp.ndarray x not None, Py_ssize_t first=0, Py_ssize_t stop=-1):
        """x[b] <- op x[b] for x of shape (batch, n, r), C-contiguous; a single factor serves any batch."""
        cdef Py_ssize_t n = self.pattern.shape.n, r = x.shape[2], b
        cdef Py_ssize_t to_next = self.pattern.shape.start[n] if self.batch > 1 else 0
        cdef double *data = <double *> x.data
        cdef double local[LOCAL]
        cdef double *path = take_path(&self.pattern.shape, local)
        if stop < 0:
            stop = x.shape[0]
        with nogil:
            for b in range(first, stop):
                if self.failed[b if to_next else 0] == -1:
                    apply(&self.pattern.shape, self.X + b * to_next, self.ltdl, op, data + b * n * r, r, path)
                else:
                    fill(n * r, NAN, data + b * n * r)
        leave_path(path, local)

    def apply_vector(self, int op, object b, object out):
        """out <- op b for one matrix and plain vectors, quickly; None leaves the case to the gate."""
        cdef Py_ssize_t n = self.pattern.shape.n
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
        path = take_path(&self.pattern.shape, local)
        with nogil:
            apply(&self.pattern.shape, self.X, self.ltdl, op, x, 1, path)
        leave_path(path, local)
        return out


def multiply(Pattern pattern not None, cnp.ndarray H not None, str layout, bint upper,
             cnp.ndarray x not None, cnp.ndarray y not None):
    """y[b] <- H[b] x[b]; H as for Rows.refactor, or one for all; x, y (batch, n, r), apart."""
    cdef const Shape *t = &pattern.shape
    cdef Source source = source_of(H, layout, upper)
    cdef Py_ssize_t r = x.shape[2], b
    cdef const double *from_x = <const double *> x.data
    cdef double *to_y = <double *> y.data
    cdef double local[LOCAL]
    cdef double *path = take_path(t, local)
    cdef double *X = <double *> malloc(max(t.start[t.n], 1) * sizeof(double))
    if X == NULL:
        leave_path(path, local)
        raise MemoryError(f"no room for {t.start[t.n]} entries")
    with nogil:
        for b in range(x.shape[0]):
            if b == 0 or H.shape[0] > 1:
                load(t, &source, b, X)
            h_mul(t, X, from_x + b * t.n * r, to_y + b * t.n * r, r, path)
    free(X)
    leave_path(path, local)
