"""The kernels of _ltdl bound to NumPy arrays: one tree, and the packed rows of a batch of matrices."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport NAN, fabs
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

from ._ltdl cimport (
    add_diagonal,
    apply,
    gather,
    h_mul,
    ltdl_factor,
    ltl_factor,
)
from ._pattern cimport (
    HALF_SOLVE,
    MULTIPLY,
    MULTIPLY_L,
    MULTIPLY_LT,
    SOLVE,
    SOLVE_L,
    SOLVE_LT,
    Pattern,
    Shape,
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


ctypedef struct Source:          # a matrix somebody else owns; all strides in bytes
    const char *data
    bint dense
    Py_ssize_t to_row            # of a dense matrix
    Py_ssize_t to_column
    Py_ssize_t to_entry          # of packed rows


cdef Source source_of(cnp.ndarray H, bint dense, bint upper):
    """Where the entries of H are: (n, n) or (nnz,)."""
    cdef Source s
    s.data = <const char *> H.data
    s.dense = dense
    s.to_row = H.strides[1 if upper else 0] if dense else 0
    s.to_column = H.strides[0 if upper else 1] if dense else 0
    s.to_entry = 0 if dense else H.strides[0]
    return s


cdef void load(const Shape *t, const Source *s, double *X) noexcept nogil:
    """X <- packed rows."""
    cdef Py_ssize_t p
    if s.dense:
        gather(t, s.data, s.to_row, s.to_column, X)
    else:
        for p in range(t.start[t.n]):
            X[p] = (<const double *> (s.data + p * s.to_entry))[0]


cdef class Rows:
    """Kernels bound to one tree and to the packed rows of one matrix.

    Trusts its callers: arrays are aligned float64, and of the right size.

    Parameters
    ----------
    pattern : Pattern
    ltdl : bool
        LTDL, or LTL.

    Attributes
    ----------
    packed : ndarray, shape (nnz,)
        Packed rows of L and D; NaN as long as there is none.
    status : int
        FACTORIZED, UNTOUCHED, or the row whose pivot failed.
    """

    cdef Pattern pattern
    cdef bint ltdl
    cdef double *X
    cdef readonly Py_ssize_t status
    cdef readonly cnp.ndarray packed
    cdef Source bound
    cdef cnp.ndarray kept        # the array that bound points to

    def __cinit__(self, Pattern pattern not None, bint ltdl):
        self.pattern = pattern
        self.ltdl = ltdl
        self.packed = np.full(pattern.shape.start[pattern.shape.n], np.nan)
        self.status = UNTOUCHED
        self.X = <double *> self.packed.data

    def refactor(self, cnp.ndarray H not None, str layout, bint upper, cnp.ndarray shift=None):
        """Factorize H + diag(shift); return the failing row, or -1.

        H is (n, n) or (nnz,) of any strides, shift is (n,), contiguous.
        """
        cdef Source source = source_of(H, layout == "dense", upper)
        return self.factorize(&source, shift)

    def bind(self, cnp.ndarray H not None, bint upper):
        """Make `refresh` read this (n, n) array from now on."""
        self.bound = source_of(H, True, upper)
        self.kept = H

    def refresh(self, cnp.ndarray shift=None):
        """Factorize what the bound array holds now; return the failing row, or -1."""
        return self.factorize(&self.bound, shift)

    cdef Py_ssize_t factorize(self, const Source *source, cnp.ndarray shift):
        cdef const Shape *t = &self.pattern.shape
        cdef const double *d = NULL if shift is None else <const double *> shift.data
        with nogil:
            load(t, source, self.X)
            if d != NULL:
                add_diagonal(t, d, self.X)
            self.status = ltdl_factor(t, self.X) if self.ltdl else ltl_factor(t, self.X)
            if self.status >= 0:
                fill(t.start[t.n], NAN, self.X)
        return self.status

    def adopt(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Take over dense L (n, n) and D (n,) of any strides, made by somebody else."""
        cdef const Shape *t = &self.pattern.shape
        cdef Source source = source_of(L, True, upper)
        cdef Py_ssize_t k
        cdef double d
        load(t, &source, self.X)
        self.status = FACTORIZED
        for k in range(t.n - 1, -1, -1):
            d = (<const double *> (D.data + k * D.strides[0]))[0]
            self.X[t.start[k + 1] - 1] = d
            if self.status < 0 and not 0 < d <= DBL_MAX:
                self.status = k
        if self.status >= 0:
            fill(t.start[t.n], NAN, self.X)

    def export(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Write L's pattern into a dense (n, n) array and D into (n,), of any strides; for LTDL."""
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

    def state(self):
        """What `restore` takes."""
        return self.packed, self.status

    def restore(self, packed, status):
        """Take over the state of another one."""
        self.packed[...] = packed
        self.status = status

    def apply(self, int op, cnp.ndarray x not None, Py_ssize_t first, Py_ssize_t stop):
        """x[b] <- op x[b] for b in first .. stop-1, x of shape (batch, n, r), C-contiguous."""
        cdef Py_ssize_t n = self.pattern.shape.n, r = x.shape[2], b
        cdef double *data = <double *> x.data
        cdef double local[LOCAL]
        cdef double *path = take_path(&self.pattern.shape, local)
        with nogil:
            for b in range(first, stop):
                apply(&self.pattern.shape, self.X, self.ltdl, op, data + b * n * r, r, path)
        leave_path(path, local)

    def apply_vector(self, int op, object b, object out):
        """out <- op b for one matrix and plain vectors, quickly; None leaves the case to the gate."""
        cdef Py_ssize_t n = self.pattern.shape.n
        cdef double local[LOCAL]
        cdef double *path
        cdef double *x
        if not is_plain_vector(b, n) or self.status != FACTORIZED:
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
    """y[b] <- H x[b]; H (n, n) or (nnz,) of any strides, x and y (batch, n, r), C-contiguous, apart."""
    cdef const Shape *t = &pattern.shape
    cdef Source source = source_of(H, layout == "dense", upper)
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
        load(t, &source, X)
        for b in range(x.shape[0]):
            h_mul(t, X, from_x + b * t.n * r, to_y + b * t.n * r, r, path)
    free(X)
    leave_path(path, local)
