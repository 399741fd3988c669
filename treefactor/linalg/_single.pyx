"""Factorize and solve one matrix: kernels on NumPy arrays."""

cimport cython
cimport numpy as cnp
from libc.float cimport DBL_MAX
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from ._multi_rhs cimport apply
from ..tree._pattern cimport (
    FACTORIZED,
    UNTOUCHED,
    Pattern,
    Shape,
    Task,
    active,
    carve_workspace,
    workspace_size,
)
from .._util._fast_arrays cimport all_finite, is_array, is_plain_matrix, is_result
from .._util._result_arrays cimport new_result

from functools import partial

import numpy as np

from .._util.validation import aligned
from .._util.threads import spread

cnp.import_array()

cdef enum:
    LOCAL = 256                  # path entries kept on the C stack; deeper trees allocate them


cdef double *allocate_path(const Shape *t, double *local) except NULL nogil:
    """Return memory of one path and 8 entries more: local where LOCAL entries are enough."""
    cdef double *path = local
    if t.deepest > LOCAL:
        path = <double *> malloc((t.deepest + 8) * sizeof(double))
        if path == NULL:
            with gil:
                raise MemoryError(f"cannot allocate a workspace of {t.deepest + 8} doubles")
    return path


cdef inline double *align(double *path) noexcept nogil:
    """Return the next address that is a multiple of 32 bytes."""
    return <double *> ((<uintptr_t> path + 31) & ~<uintptr_t> 31)


cdef void free_path(double *path, double *local) noexcept nogil:
    """Free a path unless it is local."""
    if path != local:
        free(path)


cdef void describe(cnp.ndarray H, bint dense, bint upper, InputMatrix *s):
    """Describe an array of shape (n, n) or (nnz,)."""
    s.data = <const char *> H.data
    s.dense = dense
    s.to_row = H.strides[1 if upper else 0] if dense else 0
    s.to_column = H.strides[0 if upper else 1] if dense else 0
    s.to_entry = 0 if dense else H.strides[0]


cdef void load(const Shape *t, const InputMatrix *s, double *X) noexcept nogil:
    """X <- the pattern's entries of an input matrix, as padded rows."""
    if s.dense:
        active.single.load(t, s.data, s.to_row, s.to_column, X)
    else:
        active.single.load_packed(t, s.data, s.to_entry, 0, X)


@cython.no_gc                    # arrays and patterns refer to no kernel
cdef class SingleKernel(Kernel):
    """Keep the factor of one matrix, and run the kernels on it.

    Callers validate: arrays are aligned float64 of the right size.

    Parameters
    ----------
    pattern : Pattern
    ltdl : bool
        LTDL, or LTL.
    threads : int
        Number of threads for the subtrees of a large tree.

    Attributes
    ----------
    status : int
        FACTORIZED, UNTOUCHED, or the row whose pivot failed.
    """

    def __init__(self, Pattern pattern not None, bint ltdl, int threads=1):
        self.prepare(pattern, ltdl, threads)

    def __dealloc__(self):
        PyMem_RawFree(self.memory)

    cdef int prepare(self, Pattern pattern, bint ltdl, int threads) except -1:
        """Allocate the workspace: what the constructor does, called at once by the fast path."""
        cdef Py_ssize_t size = workspace_size(&pattern.shape)
        cdef double *memory = <double *> PyMem_RawCalloc(size, sizeof(double))
        if memory == NULL:
            raise MemoryError(f"cannot allocate a workspace of {size} doubles")
        PyMem_RawFree(self.memory)
        self.memory = memory
        self.pattern = pattern
        self.ltdl = ltdl
        self.threads = threads
        self.status = UNTOUCHED
        self.w = carve_workspace(&pattern.shape, memory)
        return 0

    cdef cnp.ndarray entries(self, double *part, Py_ssize_t count):
        """Return an array that views a part of the workspace."""
        cdef cnp.npy_intp size = count
        cdef cnp.ndarray view = cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_DOUBLE, part)
        cnp.set_array_base(view, self)
        return view

    def refactor(self, cnp.ndarray H not None, str layout, bint upper, cnp.ndarray shift=None):
        """Factorize H + diag(shift); return the failing row, or -1.

        H is (n, n) or (nnz,) of any strides, shift is (n,), contiguous.
        """
        cdef InputMatrix given
        describe(H, layout == "dense", upper, &given)
        return self.factorize(&given, shift)

    def bind(self, cnp.ndarray H not None, bint dense, bint upper):
        """Bind an array (n, n) or (nnz,) that `refresh` reads."""
        describe(H, dense, upper, &self.bound)
        self.kept = H

    def refresh(self, cnp.ndarray shift=None):
        """Factorize the bound array as it is now; return the failing row, or -1."""
        if self.kept is None:
            raise TypeError("no array is bound: call bind() before refresh()")
        return self.factorize(&self.bound, shift)

    cdef Py_ssize_t factorize(self, const InputMatrix *given, cnp.ndarray shift):
        cdef const Shape *t = &self.pattern.shape
        cdef const double *d = <const double *> NULL if shift is None else <const double *> shift.data
        if t.tasks:
            return self.factorize_subtrees(given, d)
        if t.n <= SHORT:
            self.status = self.eliminate(given, d)
        else:
            with nogil:
                self.status = self.eliminate(given, d)
        return self.status

    cdef Py_ssize_t eliminate(self, const InputMatrix *given, const double *shift) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t whole = self.load_input(given, shift), failed
        failed = self.eliminate_supernodes(0, t.supernodes, given.data, whole, self.w.path)
        if not self.ltdl:
            active.single.to_ltl(t, self.w.X, self.w.D, self.w.inverse)
        return failed

    cdef Py_ssize_t eliminate_supernodes(self, Py_ssize_t first, Py_ssize_t stop, const char *H,
                                         Py_ssize_t whole, double *path) noexcept nogil:
        return active.single.factor(&self.pattern.shape, first, stop, <const double *> H, whole, path,
                                    self.w.X, self.w.D, self.w.inverse)

    cdef Py_ssize_t load_input(self, const InputMatrix *given, const double *shift) noexcept nogil:
        """X <- H + diag(shift), except the rows before the returned one: kernels read those from H itself."""
        cdef const Shape *t = &self.pattern.shape
        cdef double *X = self.w.X
        cdef Py_ssize_t k
        if shift == NULL and not given.dense and given.to_entry == sizeof(double):
            active.single.load_packed(t, given.data, given.to_entry, t.whole, self.w.X)
            return t.whole
        load(t, given, self.w.X)
        if shift != NULL:
            for k in range(t.n):
                X[t.at[k] + t.depth[k] - 1] += shift[k]
        return 0

    cdef Py_ssize_t factorize_subtrees(self, const InputMatrix *given, const double *shift):
        """Eliminate the subtrees of a large tree on several threads, then the rest with their updates."""
        cdef const Shape *t = &self.pattern.shape
        cdef const Task *task = t.task + t.tasks - 1
        cdef cnp.ndarray above = aligned((task.at + task.size,))
        cdef Py_ssize_t whole, worst
        self.status = UNTOUCHED   # stays if this is interrupted
        failed = np.empty(t.tasks, dtype=np.intp)
        with nogil:
            whole = self.load_input(given, shift)
        work = partial(self.eliminate_tasks, <uintptr_t> given.data, whole, above, failed)
        spread(work, t.tasks, self.threads, t.start[t.n])
        worst = failed.max()
        with nogil:
            worst = max(worst, self.eliminate_rest(given.data, whole, <const double *> above.data))
            if not self.ltdl:
                active.single.to_ltl(t, self.w.X, self.w.D, self.w.inverse)
        self.status = worst
        return worst

    cdef Py_ssize_t eliminate_rest(self, const char *H, Py_ssize_t whole, const double *above) noexcept nogil:
        """Eliminate the supernodes outside all tasks, after the updates of the tasks."""
        cdef const Shape *t = &self.pattern.shape
        cdef double *path = self.w.path
        cdef Py_ssize_t j, e, stop = t.supernodes, worst = -1
        cdef const Task *task
        for j in range(t.tasks - 1, -1, -1):
            task = t.task + j
            worst = max(worst, self.eliminate_supernodes(task.stop, stop, H, whole, path))
            for e in range(task.size):
                path[e] += above[task.at + e]
            stop = task.first
        return max(worst, self.eliminate_supernodes(0, stop, H, whole, path))

    def eliminate_tasks(self, uintptr_t H, Py_ssize_t whole, cnp.ndarray above not None,
                        Py_ssize_t[::1] failed, Py_ssize_t first, Py_ssize_t stop):
        """Eliminate the subtrees first .. stop-1."""
        cdef const Task *task = self.pattern.shape.task
        cdef cnp.ndarray memory = aligned((self.pattern.shape.path,))
        cdef double *path = <double *> memory.data
        cdef double *to = <double *> above.data
        cdef Py_ssize_t j
        with nogil:
            for j in range(first, stop):
                failed[j] = self.eliminate_supernodes(
                    task[j].first, task[j].stop, <const char *> H, whole, path
                )
                memcpy(to + task[j].at, path, task[j].size * sizeof(double))
                memset(path, 0, task[j].size * sizeof(double))

    def adopt(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Take over dense L (n, n) and D (n,) of any strides, the factor of another library."""
        cdef InputMatrix given
        describe(L, True, upper, &given)
        self.take_over(&given, D.data, D.strides[0])

    cdef void take_over(self, const InputMatrix *L, const char *D, Py_ssize_t to_next) noexcept nogil:
        """X, D <- the factor of another library."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t s, k, e, stop
        load(t, L, self.w.X)
        self.status = FACTORIZED
        for s in range(t.n - 1, -1, -1):
            k = t.order[s]
            self.w.D[k] = (<const double *> (D + k * to_next))[0]
            self.w.inverse[k] = 1.0 / self.w.D[k]
            if not (0 < self.w.inverse[k] <= DBL_MAX and all_finite(t.depth[k] - 1, self.w.X + t.at[k])):
                self.status = max(self.status, k)
            stop = t.at[t.order[s + 1]] if s + 1 < t.n else t.padded
            for e in range(t.at[k] + t.depth[k] - 1, stop):
                self.w.X[e] = 0.0

    def export(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Write L's pattern into a dense (n, n) array and D into (n,), of any strides; for LTDL."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t to_row = L.strides[1 if upper else 0], to_column = L.strides[0 if upper else 1]
        cdef Py_ssize_t k, e
        cdef char *row
        for k in range(t.n):
            row = <char *> L.data + k * to_row
            for e in range(t.depth[k] - 1):
                (<double *> (row + t.column[t.start[k] + e] * to_column))[0] = self.w.X[t.at[k] + e]
            (<double *> (row + k * to_column))[0] = 1.0
            (<double *> (<char *> D.data + k * D.strides[0]))[0] = self.w.D[k]

    def rows(self):
        """Return packed rows of L with D (LTL: its own diagonal) on the diagonal, shape (nnz,)."""
        cdef const Shape *t = &self.pattern.shape
        _, _, start, *_ = self.pattern.kept
        packed = self.entries(self.w.X, t.padded)[self.places()]
        packed[start[1:] - 1] = self.diagonals()
        return packed

    cdef object places(self):
        """Return the indices of all packed entries among the padded rows."""
        _, _, start, depth, _, at, *_ = self.pattern.kept
        return np.arange(start[len(depth)]) + np.repeat(at - start[: len(depth)], depth)

    def diagonals(self):
        """Return D (LTL: the diagonal of L), shape (n,)."""
        return self.entries(self.w.D, self.pattern.shape.n).copy()

    def state(self):
        """Return the arguments of `restore`, for any machine: padding depends on the instruction set."""
        return self.rows(), self.status

    def restore(self, packed, status):
        """Take over the state of another kernel."""
        cdef const Shape *t = &self.pattern.shape
        _, _, start, *_ = self.pattern.kept
        rows, where, own = self.entries(self.w.X, t.padded), self.places(), start[1:] - 1
        rows[where] = packed
        rows[where[own]] = 0.0
        self.entries(self.w.D, t.n)[:] = packed[own]
        with np.errstate(divide="ignore"):   # D is zero before the first factorization
            self.entries(self.w.inverse, t.n)[:] = 1.0 / packed[own]
        self.status = status

    def apply(self, int op, cnp.ndarray x not None, Py_ssize_t first, Py_ssize_t stop):
        """x[b] <- op x[b] for b in first .. stop-1, x of shape (batch, n, r), C-contiguous."""
        cdef Py_ssize_t r = x.shape[2]
        cdef double *data = <double *> x.data + first * x.shape[1] * r
        with nogil:
            self.apply_all(op, data, stop - first, r)

    cdef int apply_all(self, int op, double *x, Py_ssize_t count, Py_ssize_t r) except -1 nogil:
        """x[b] <- op x[b], x of (count, n, r) entries."""
        cdef const Shape *t = &self.pattern.shape
        cdef double local[LOCAL + 8]
        cdef double *path = allocate_path(t, local)
        cdef Py_ssize_t b
        for b in range(count):
            if r == 1:
                self.apply_one(op, x + b * t.n, align(path))
            else:
                apply(t, self.w.X, self.w.D, self.w.inverse, self.ltdl, op, x + b * t.n * r, r)
        free_path(path, local)
        return 0

    def invert(self, cnp.ndarray Y not None):
        """Y <- H^-1, Y (n, n), C-contiguous."""
        with nogil:
            active.single.invert(&self.pattern.shape, self.w.X, self.w.inverse, self.ltdl, <double *> Y.data)

    cdef void apply_one(self, int op, double *x, double *path) noexcept nogil:
        active.single.apply(&self.pattern.shape, self.w.X, self.w.D, self.w.inverse, self.ltdl, op, x, path)

    cdef bint factorize_fast(self, object H, str layout, bint upper) except -1:
        cdef const Shape *t = &self.pattern.shape
        cdef bint dense = layout == "dense"
        cdef InputMatrix given
        if not is_array(H, 2 if dense else 1, cnp.NPY_DOUBLE):
            return False
        if cnp.PyArray_DIM(<cnp.ndarray> H, 0) != (t.n if dense else t.start[t.n]):
            return False
        if dense and cnp.PyArray_DIM(<cnp.ndarray> H, 1) != t.n:
            return False
        describe(<cnp.ndarray> H, dense, upper, &given)
        return self.factorize(&given, None) == FACTORIZED

    cdef object invert_fast(self, object out):
        cdef cnp.npy_intp shape[2]
        cdef Py_ssize_t n = self.pattern.shape.n
        if self.status != FACTORIZED or n * n > 2 * SHORT:
            return None
        if out is None:
            shape[0] = shape[1] = n
            out = new_result(2, shape)
        elif not is_plain_matrix(out, n, n) or not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out):
            return None
        active.single.invert(&self.pattern.shape, self.w.X, self.w.inverse, self.ltdl,
                             <double *> cnp.PyArray_DATA(<cnp.ndarray> out))
        return out

    cdef bint factorize_bound(self) except -1:
        return self.kept is not None and self.factorize(&self.bound, None) == FACTORIZED

    cdef object apply_fast(self, int op, object b, object out):
        cdef Py_ssize_t n = self.pattern.shape.n, r = 1
        cdef double *x
        if is_array(b, 2, cnp.NPY_DOUBLE):
            r = cnp.PyArray_DIM(<cnp.ndarray> b, 1)
        elif not is_array(b, 1, cnp.NPY_DOUBLE):
            return None
        if cnp.PyArray_DIM(<cnp.ndarray> b, 0) != n or not cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> b):
            return None
        if self.status != FACTORIZED or not all_finite(n * r, <double *> cnp.PyArray_DATA(<cnp.ndarray> b)):
            return None
        if out is None:
            out = new_result(cnp.PyArray_NDIM(<cnp.ndarray> b), cnp.PyArray_DIMS(<cnp.ndarray> b))
        elif not is_result(out, b):
            return None
        x = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
        memmove(x, cnp.PyArray_DATA(<cnp.ndarray> b), n * r * sizeof(double))
        if n * r <= SHORT:
            self.apply_all(op, x, 1, r)
        else:
            with nogil:
                self.apply_all(op, x, 1, r)
        return out
