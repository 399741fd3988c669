"""Factorize and solve the matrices of a batch, side by side in lanes: kernels on NumPy arrays."""

cimport numpy as cnp
from libc.math cimport NAN
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset

from ._batch_input cimport InputBatch, add_diagonal, allocate, input_of, is_batch, load
from ..tree._pattern cimport (
    FACTORIZED,
    HALF_SOLVE,
    MULTIPLY,
    SOLVE,
    UNTOUCHED,
    LaneKernels,
    Pattern,
    Shape,
    active,
)
from ._factor_methods cimport Kernel
from .._util._fast_arrays cimport is_array, is_result, may_overlap

import numpy as np

from .._util.validation import aligned

cnp.import_array()

cdef object float64 = np.float64, float32 = np.float32

cdef enum:
    CACHED = 1 << 21             # bytes of factors that stay in a second-level cache

cdef bint is_contiguous(cnp.ndarray b, Py_ssize_t batch, Py_ssize_t n) noexcept:
    """Return whether an array begins with these axes and is C-contiguous."""
    return b.shape[0] == batch and b.shape[1] == n and cnp.PyArray_ISCARRAY_RO(b)


cdef object empty_like(cnp.ndarray b):
    """Return a new C-contiguous array of the shape and dtype of b."""
    return cnp.PyArray_SimpleNew(b.ndim, b.shape, cnp.PyArray_TYPE(b))


cdef void blank_failures(int lanes, Py_ssize_t item, const Py_ssize_t *failed, Py_ssize_t m,
                         char *x) noexcept nogil:
    """Write NaN into the m entries of every matrix that has no factor."""
    cdef Py_ssize_t lane, e
    for lane in range(lanes):
        if failed[lane] == FACTORIZED:
            continue
        for e in range(m):
            if item == 8:
                (<double *> x)[e * lanes + lane] = NAN
            else:
                (<float *> x)[e * lanes + lane] = NAN


cdef class BatchKernel(Kernel):
    """Keep the factors of a batch of matrices, and run the kernels on them, `lanes` matrices at a time.

    Callers validate: arrays are aligned, of the dtype of the factors, and of the right size. Methods work on
    the blocks first .. stop of `lanes` matrices each.

    Parameters
    ----------
    pattern : Pattern
    batch : int
        Number of matrices.
    ltdl : bool
        LTDL, or LTL.
    dtype : dtype
        float64 or float32.

    Attributes
    ----------
    packed : ndarray, shape (blocks, nnz, lanes)
        Packed rows of L with D in place of its diagonal (LTL: with its diagonal); NaN after a failure.
    inverse : ndarray, shape (blocks, n, lanes)
        Reciprocals of that diagonal.
    status : ndarray of int, shape (blocks * lanes,)
        FACTORIZED, UNTOUCHED, or the row whose pivot failed.
    """

    cdef Pattern pattern
    cdef bint ltdl
    cdef const LaneKernels *kernels
    cdef Py_ssize_t item         # bytes of an element
    cdef char *L
    cdef char *reciprocals
    cdef Py_ssize_t *failed
    cdef readonly Py_ssize_t batch, lanes, blocks
    cdef readonly cnp.ndarray packed
    cdef readonly cnp.ndarray inverse
    cdef readonly cnp.ndarray status

    def __cinit__(self, Pattern pattern not None, Py_ssize_t batch, bint ltdl, dtype):
        cdef Py_ssize_t n = pattern.shape.n, nnz = pattern.shape.start[n]
        self.pattern = pattern
        self.ltdl = ltdl
        self.batch = batch
        self.item = np.dtype(dtype).itemsize
        self.kernels = active.lanes if self.item == 8 else active.lanes_float
        self.lanes = self.kernels.lanes
        self.blocks = (batch + self.lanes - 1) // self.lanes
        self.packed = aligned((self.blocks, nnz, self.lanes), dtype)
        self.inverse = aligned((self.blocks, n, self.lanes), dtype)
        self.status = np.empty(self.blocks * self.lanes, dtype=np.intp)
        self.L, self.reciprocals = self.packed.data, self.inverse.data
        self.failed = <Py_ssize_t *> self.status.data
        self.forget()
        if batch % self.lanes:
            self.pad(batch % self.lanes)

    cdef void pad(self, Py_ssize_t first) noexcept:
        """Write identities into the last block, from lane `first` on."""
        cdef const Shape *t = &self.pattern.shape
        cdef char *X = self.X(self.blocks - 1)
        cdef Py_ssize_t k, lane
        for k in range(1, t.n + 1):
            for lane in range((t.start[k] - 1) * self.lanes + first, t.start[k] * self.lanes):
                if self.item == sizeof(double):
                    (<double *> X)[lane] = 1.0
                else:
                    (<float *> X)[lane] = 1.0

    cdef int count(self, Py_ssize_t b) noexcept nogil:
        """Return the number of matrices in block b."""
        return <int> min(self.lanes, self.batch - b * self.lanes)

    cdef char *X(self, Py_ssize_t b) noexcept nogil:
        return self.L + b * self.entry(self.pattern.shape.start[self.pattern.shape.n])

    cdef char *D(self, Py_ssize_t b) noexcept nogil:
        return self.reciprocals + b * self.entry(self.pattern.shape.n)

    cdef Py_ssize_t entry(self, Py_ssize_t e) noexcept nogil:
        """Return the bytes of e entries of a block."""
        return e * self.lanes * self.item

    def forget(self):
        """Mark every matrix as not factorized."""
        cdef Py_ssize_t i
        for i in range(self.blocks * self.lanes):
            self.failed[i] = UNTOUCHED

    cdef bint factorize_fast(self, object H, str layout, bint upper) except -1:
        if not is_batch(H, self.kind(), &self.pattern.shape, layout, self.batch, self.lanes):
            return False
        self.forget()            # stays if an allocation fails
        self.factorize(H, layout, upper, None, 0, self.blocks)
        return True

    cdef object apply_fast(self, int op, object b, object out):
        cdef Py_ssize_t r = 1
        if is_array(b, 3, self.kind()):
            r = cnp.PyArray_DIM(<cnp.ndarray> b, 2)
        elif not is_array(b, 2, self.kind()):
            return None
        if not is_contiguous(b, self.batch, self.pattern.shape.n):
            return None
        if out is None:
            out = empty_like(b)
        elif not is_result(out, b):
            return None
        if out is not b:
            memmove(cnp.PyArray_DATA(<cnp.ndarray> out), cnp.PyArray_DATA(<cnp.ndarray> b),
                    cnp.PyArray_NBYTES(<cnp.ndarray> b))
        self.apply_all(op, cnp.PyArray_BYTES(<cnp.ndarray> out), r, 0, self.blocks)
        return out

    cdef int kind(self) noexcept:
        """Return NumPy's number of the dtype."""
        return cnp.NPY_DOUBLE if self.item == sizeof(double) else cnp.NPY_FLOAT

    def refactor(self, cnp.ndarray H not None, str layout, bint upper, cnp.ndarray shift=None,
                 Py_ssize_t first=0, Py_ssize_t stop=-1):
        """Factorize H + diag(shift); H as for `input_of`, shift (batch, n) or (1, n), C-contiguous."""
        self.factorize(H, layout, upper, shift, first, self.blocks if stop < 0 else stop)

    cdef int factorize(self, cnp.ndarray H, str layout, bint upper, cnp.ndarray shift, Py_ssize_t first,
                       Py_ssize_t stop) except -1:
        cdef const Shape *t = &self.pattern.shape
        cdef InputBatch source = input_of(self.kernels, t, H, layout, upper)
        cdef Py_ssize_t b
        cdef char *w = NULL
        cdef char *own
        cdef char *H_b
        cdef const char *s = NULL if shift is None else shift.data
        cdef Py_ssize_t s_next = 0 if shift is None or shift.shape[0] == 1 else t.n * self.item
        # matrices outside the caches are read in order first: the factorization reads them out of order
        cdef bint direct = source.lanes and shift is None and self.packed.nbytes <= CACHED
        try:
            w = allocate(self.entry(t.scratch + t.n))
            own = w + self.entry(t.scratch)
            with nogil:
                for b in range(first, stop):
                    H_b = self.X(b)
                    if direct:
                        H_b = <char *> source.data + b * source.to_block
                    else:
                        load(self.kernels, t, &source, b, self.count(b), H_b)
                    if s != NULL:
                        add_diagonal(self.kernels, t, self.item, self.count(b),
                                     s + b * self.lanes * s_next, s_next, self.X(b), own)
                    self.kernels.factor(t, H_b, self.X(b), self.D(b), w, self.failed + b * self.lanes)
                    if not self.ltdl:
                        self.kernels.to_ltl(t, self.X(b), self.D(b))
        finally:
            free(w)
            free(source.piece)
        return 0

    def apply(self, int op, cnp.ndarray x not None, Py_ssize_t first=0, Py_ssize_t stop=-1):
        """x[i] <- op x[i], for x of shape (batch, n, r), C-contiguous."""
        self.apply_all(op, x.data, x.shape[2], first, self.blocks if stop < 0 else stop)

    cdef int apply_all(self, int op, char *x, Py_ssize_t r, Py_ssize_t first, Py_ssize_t stop) except -1:
        cdef Py_ssize_t m = self.pattern.shape.n * r, to_next = m * self.item, b
        cdef char *work = allocate(self.entry(m))
        cdef char *at
        memset(work, 0, self.entry(m))
        with nogil:
            for b in range(first, stop):
                at = x + b * self.lanes * to_next
                self.kernels.load(m, self.count(b), at, to_next, work)
                self.kernels.apply(&self.pattern.shape, self.X(b), self.D(b), self.ltdl, op, work, r)
                self.blank(b, m, work)
                self.kernels.store(m, self.count(b), work, at, to_next)
        free(work)
        return 0

    cdef void blank(self, Py_ssize_t b, Py_ssize_t m, char *x) noexcept nogil:
        """Write NaN into the results of the matrices of block b that have no factor."""
        blank_failures(self.lanes, self.item, self.failed + b * self.lanes, m, x)

    def delassus(self, cnp.ndarray J not None, cnp.ndarray G not None, Py_ssize_t first=0,
                 Py_ssize_t stop=-1):
        """G[i] <- J[i] H[i]^-1 J[i]^T, for J of shape (batch or 1, m, n), G (batch, m, m), C-contiguous."""
        cdef Py_ssize_t m = J.shape[1], n = J.shape[2], b, k, r
        cdef Py_ssize_t to_J = 0 if J.shape[0] == 1 else n * m * self.item, to_G = m * m * self.item
        cdef Py_ssize_t size = self.entry(n * m)
        cdef char *rows = allocate(2 * size + self.entry(m * m))
        cdef char *W = rows + size
        cdef char *work = W + size
        cdef char *into = G.data
        memset(rows, 0, size)
        if stop < 0:
            stop = self.blocks
        with nogil:
            for b in range(first, stop):
                self.kernels.load(n * m, self.count(b), J.data + b * self.lanes * to_J, to_J, rows)
                for r in range(m):
                    for k in range(n):
                        memcpy(W + self.entry(k * m + r), rows + self.entry(r * n + k), 64)
                self.kernels.apply(&self.pattern.shape, self.X(b), self.D(b), self.ltdl, HALF_SOLVE, W, m)
                self.kernels.gram(n, m, W, work)
                self.blank(b, m * m, work)
                self.kernels.store(m * m, self.count(b), work, into + b * self.lanes * to_G, to_G)
        free(rows)

    def invert(self, cnp.ndarray Y not None, Py_ssize_t first=0, Py_ssize_t stop=-1):
        """Y[i] <- H[i]^-1, for Y of shape (batch, n, n), C-contiguous."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t nnz = self.entry(t.start[t.n]), nn = t.n * t.n, b, to_next = nn * self.item
        cdef char *workspace = allocate(2 * nnz + self.entry(nn))
        cdef char *inverse = workspace + 2 * nnz
        cdef char *into = Y.data
        if stop < 0:
            stop = self.blocks
        with nogil:
            for b in range(first, stop):
                self.kernels.invert(t, self.X(b), self.D(b), self.ltdl, workspace, workspace + nnz,
                                    inverse)
                self.blank(b, nn, inverse)
                self.kernels.store(nn, self.count(b), inverse, into + b * self.lanes * to_next, to_next)
        free(workspace)

    def adopt(self, L, bint upper, D):
        """Take over dense L (batch, n, n) and D (batch, n), the factors of another library."""
        _, _, start, depth, column, *_ = self.pattern.kept
        rows = np.repeat(np.arange(len(depth)), depth)
        packed = L[:, column, rows] if upper else L[:, rows, column]
        packed[:, start[1:] - 1] = D
        with np.errstate(divide="ignore"):
            reciprocals = 1 / D
        bad = ~((reciprocals > 0) & np.isfinite(reciprocals))
        bad |= np.logical_or.reduceat(~np.isfinite(packed), start[: len(start) - 1], axis=1)
        failed = np.where(bad, np.arange(len(depth)), -1).max(axis=1, initial=-1)
        packed[failed >= 0] = np.nan
        lanes = np.arange(self.batch)
        self.packed[lanes // self.lanes, :, lanes % self.lanes] = packed
        reciprocals = np.where(failed[:, None] >= 0, np.nan, reciprocals)
        self.inverse[lanes // self.lanes, :, lanes % self.lanes] = reciprocals
        self.status[: self.batch] = failed

    def state(self):
        """Return the arguments of `restore`."""
        return self.packed, self.inverse, self.status

    def rows(self):
        """Return packed rows, one matrix after the other: shape (batch, nnz)."""
        return self.in_turn(self.packed)

    def diagonals(self):
        """Return D (LTL: the diagonal of L), shape (batch, n); NaN for failed matrices."""
        _, _, start, *_ = self.pattern.kept
        # take and copyto: where memory fails, NumPy's indices by arrays return NULL without an exception,
        # at which CPython 3.13 crashes
        result = self.in_turn(self.packed.take(start[1:] - 1, axis=1))
        np.copyto(result, NAN, where=(self.status[: self.batch] != FACTORIZED)[:, None])
        return result

    cdef object in_turn(self, entries):
        """Return entries (blocks, m, lanes) as (batch, m)."""
        return entries.swapaxes(1, 2).reshape(self.blocks * self.lanes, entries.shape[1])[: self.batch]

    def restore(self, packed, inverse, status):
        """Take over the state of another kernel."""
        self.packed[...] = packed
        self.inverse[...] = inverse
        self.status[...] = status


def multiply(Pattern pattern not None, cnp.ndarray H not None, str layout, bint upper,
             cnp.ndarray x not None, cnp.ndarray y not None, Py_ssize_t first=0, Py_ssize_t stop=-1):
    """y[i] <- H[i] x[i]; H as for `input_of`, x and y (batch, n, r), C-contiguous, apart."""
    pass_through(MULTIPLY, pattern, H, layout, upper, None, x, x.shape[2], y, first, stop)


def solve(Pattern pattern not None, cnp.ndarray H not None, str layout, bint upper, cnp.ndarray shift,
          cnp.ndarray b not None, cnp.ndarray x not None, Py_ssize_t first=0, Py_ssize_t stop=-1):
    """x[i] <- (H[i] + diag(shift[i]))^-1 b[i], or NaN; shift as for `BatchKernel.refactor`."""
    pass_through(SOLVE, pattern, H, layout, upper, shift, b, b.shape[2], x, first, stop)


def solve_fast(Pattern pattern not None, H, str layout not None, bint upper, b, dtype, threads, out):
    """Return H^-1 b, one right-hand side for each matrix, on the fast path; None for the general path."""
    cdef int kind = cnp.NPY_DOUBLE if dtype is float64 else cnp.NPY_FLOAT
    cdef int lanes = (active.lanes if dtype is float64 else active.lanes_float).lanes
    cdef Py_ssize_t batch
    if (dtype is not float64 and dtype is not float32) or type(threads) is not int or threads != 1:
        return None
    if not is_array(b, 2, kind):
        return None
    batch = cnp.PyArray_DIM(<cnp.ndarray> b, 0)
    if batch == 0 or not is_contiguous(b, batch, pattern.shape.n):
        return None
    if not is_batch(H, kind, &pattern.shape, layout, batch, lanes) or (layout == "lanes" and batch % lanes):
        return None
    if out is None:
        out = empty_like(b)
    elif not is_result(out, b) or may_overlap(H, out) or may_overlap(b, out):
        return None
    pass_through(SOLVE, pattern, H, layout, upper, None, b, 1, out, 0, -1)
    return out


cdef object pass_through(int op, Pattern pattern, cnp.ndarray H, str layout, bint upper, cnp.ndarray shift,
                         cnp.ndarray x, Py_ssize_t r, cnp.ndarray y, Py_ssize_t first, Py_ssize_t stop):
    """y <- op x, MULTIPLY or SOLVE, of r columns: block by block, so that the workspace stays cached."""
    cdef const Shape *t = &pattern.shape
    cdef const LaneKernels *kernels = active.lanes if x.itemsize == 8 else active.lanes_float
    cdef InputBatch source = input_of(kernels, t, H, layout, upper)
    cdef int lanes = kernels.lanes, count
    cdef Py_ssize_t batch = x.shape[0], m = t.n * r, item = x.itemsize
    cdef Py_ssize_t entry = lanes * item, to_next = m * item, b
    cdef const char *s = NULL if shift is None else shift.data
    cdef Py_ssize_t s_next = 0 if shift is None or shift.shape[0] == 1 else t.n * item
    cdef Py_ssize_t failed[16]   # one for each lane, at most 16
    cdef char *X = NULL
    cdef char *inverse
    cdef char *from_x
    cdef char *to_y
    cdef char *w
    cdef const char *xs = x.data
    cdef char *ys = y.data
    if stop < 0:
        stop = (batch + lanes - 1) // lanes
    try:
        X = allocate((t.start[t.n] + t.n + 2 * m + max(t.scratch, t.n)) * entry)
        inverse = X + t.start[t.n] * entry
        from_x = inverse + t.n * entry
        to_y = from_x + m * entry
        w = to_y + m * entry
        memset(X, 0, w - X)
        with nogil:
            for b in range(first, stop):
                count = <int> min(lanes, batch - b * lanes)
                load(kernels, t, &source, b, count, X)
                if s != NULL:
                    add_diagonal(kernels, t, item, count, s + b * lanes * s_next, s_next, X, w)
                kernels.load(m, count, xs + b * lanes * to_next, to_next, from_x)
                if op == MULTIPLY:
                    kernels.multiply(t, X, from_x, to_y, r)
                else:
                    kernels.factor(t, X, X, inverse, w, failed)
                    kernels.apply(t, X, inverse, True, op, from_x, r)
                    blank_failures(lanes, item, failed, m, from_x)
                kernels.store(m, count, to_y if op == MULTIPLY else from_x, ys + b * lanes * to_next, to_next)
    finally:
        free(X)
        free(source.piece)
