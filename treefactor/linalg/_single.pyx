"""The kernels of one matrix bound to NumPy arrays."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from ._factor_methods cimport Kernel
from ._multi_rhs cimport apply, h_mul
from ..tree._pattern cimport FACTORIZED, UNTOUCHED, Pattern, Shape, Task, active
from .._util._fast_arrays cimport all_finite, is_array, is_result

from functools import partial

import numpy as np

from .._util.validation import aligned
from .._util.threads import spread

cnp.import_array()

cdef enum:
    LOCAL = 256                  # path entries kept on the C stack; deeper trees allocate them
    QUICK = 1024                 # nodes up to which letting other threads run costs more than it gives


cdef double *take_path(const Shape *t, double *local) except NULL nogil:
    """Room for one path, aligned to 32 bytes within LOCAL + 8 entries: local where it fits."""
    cdef double *path = local
    if t.deepest > LOCAL:
        path = <double *> malloc((t.deepest + 8) * sizeof(double))
        if path == NULL:
            with gil:
                raise MemoryError(f"no room for {t.deepest} entries")
    return path


cdef inline double *align(double *path) noexcept nogil:
    return <double *> ((<uintptr_t> path + 31) & ~<uintptr_t> 31)


cdef void leave_path(double *path, double *local) noexcept nogil:
    if path != local:
        free(path)


ctypedef struct Source:          # a matrix somebody else owns; all strides in bytes
    const char *data
    bint dense
    Py_ssize_t to_row            # of a dense matrix
    Py_ssize_t to_column
    Py_ssize_t to_entry          # of packed rows


cdef void locate(cnp.ndarray H, bint dense, bint upper, Source *s):
    """Where the entries of H are: (n, n) or (nnz,)."""
    s.data = <const char *> H.data
    s.dense = dense
    s.to_row = H.strides[1 if upper else 0] if dense else 0
    s.to_column = H.strides[0 if upper else 1] if dense else 0
    s.to_entry = 0 if dense else H.strides[0]


cdef void load(const Shape *t, const Source *s, double *X) noexcept nogil:
    """X <- padded rows."""
    if s.dense:
        active.rows.load(t, s.data, s.to_row, s.to_column, X)
    else:
        active.rows.load_packed(t, s.data, s.to_entry, 0, X)


cdef class Rows(Kernel):
    """Kernels bound to one tree and to the factor of one matrix.

    Trusts its callers: arrays are aligned float64, and of the right size.

    Parameters
    ----------
    pattern : Pattern
    ltdl : bool
        LTDL, or LTL.
    threads : int
        For the subtrees of a large tree.

    Attributes
    ----------
    status : int
        FACTORIZED, UNTOUCHED, or the row whose pivot failed.
    """

    cdef Pattern pattern
    cdef bint ltdl
    cdef int threads
    cdef double *X
    cdef double *D
    cdef double *inverse
    cdef double *path            # zeros, but while something is eliminated
    cdef readonly Py_ssize_t status
    cdef cnp.ndarray room        # padded rows of L, D, and the reciprocals of D
    cdef cnp.ndarray path_room   # what is subtracted from the rows of the path of the unit at hand
    cdef Source bound
    cdef cnp.ndarray kept        # the array that bound points to

    def __cinit__(self, Pattern pattern not None, bint ltdl, int threads=1):
        cdef Py_ssize_t n = pattern.shape.n
        self.pattern = pattern
        self.ltdl = ltdl
        self.threads = threads
        self.status = UNTOUCHED
        self.room = aligned((pattern.shape.room + 4 + 2 * n,))
        self.path_room = aligned((pattern.shape.path,))
        self.path = <double *> self.path_room.data
        self.X = <double *> self.room.data
        self.D = self.X + pattern.shape.room + 4
        self.inverse = self.D + n

    def refactor(self, cnp.ndarray H not None, str layout, bint upper, cnp.ndarray shift=None):
        """Factorize H + diag(shift); return the failing row, or -1.

        H is (n, n) or (nnz,) of any strides, shift is (n,), contiguous.
        """
        cdef Source source
        locate(H, layout == "dense", upper, &source)
        return self.factorize(&source, shift)

    def bind(self, cnp.ndarray H not None, bint dense, bint upper):
        """Make `refresh` read this (n, n) or (nnz,) array from now on."""
        locate(H, dense, upper, &self.bound)
        self.kept = H

    def refresh(self, cnp.ndarray shift=None):
        """Factorize what the bound array holds now; return the failing row, or -1."""
        if self.kept is None:
            raise TypeError("no array is bound")
        return self.factorize(&self.bound, shift)

    cdef Py_ssize_t factorize(self, const Source *source, cnp.ndarray shift):
        cdef const Shape *t = &self.pattern.shape
        cdef const double *d = NULL if shift is None else <const double *> shift.data
        if t.tasks:
            return self.factorize_apart(source, d)
        if t.n <= QUICK:
            self.status = self.eliminate(source, d)
        else:
            with nogil:
                self.status = self.eliminate(source, d)
        return self.status

    cdef Py_ssize_t eliminate(self, const Source *source, const double *shift) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t whole = self.take(source, shift), failed
        failed = self.eliminate_units(0, t.units, source.data, whole, self.path)
        if not self.ltdl:
            active.rows.to_ltl(t, self.X, self.D, self.inverse)
        return failed

    cdef inline Py_ssize_t eliminate_units(self, Py_ssize_t first, Py_ssize_t stop, const char *H,
                                           Py_ssize_t whole, double *path) noexcept nogil:
        return active.rows.factor(&self.pattern.shape, first, stop, <const double *> H, whole, path, self.X,
                                  self.D, self.inverse)

    cdef Py_ssize_t take(self, const Source *source, const double *shift) noexcept nogil:
        """X <- H + diag(shift), but for the rows before the one returned: they can be read where they are."""
        cdef const Shape *t = &self.pattern.shape
        cdef double *X = self.X
        cdef Py_ssize_t k
        if shift == NULL and not source.dense and source.to_entry == sizeof(double):
            active.rows.load_packed(t, source.data, source.to_entry, t.whole, self.X)
            return t.whole
        load(t, source, self.X)
        if shift != NULL:
            for k in range(t.n):
                X[t.at[k] + t.depth[k] - 1] += shift[k]
        return 0

    cdef Py_ssize_t factorize_apart(self, const Source *source, const double *shift):
        """Eliminate the subtrees of a large tree apart; then the rest, adding up what they contribute."""
        cdef const Shape *t = &self.pattern.shape
        cdef const Task *task = t.task + t.tasks - 1
        cdef cnp.ndarray above = aligned((task.at + task.room,))
        cdef Py_ssize_t whole, worst
        self.status = UNTOUCHED   # should this be interrupted
        failed = np.empty(t.tasks, dtype=np.intp)
        with nogil:
            whole = self.take(source, shift)
        work = partial(self.eliminate_tasks, <uintptr_t> source.data, whole, above, failed)
        spread(work, t.tasks, self.threads, t.start[t.n])
        worst = failed.max()
        with nogil:
            worst = max(worst, self.eliminate_rest(source.data, whole, <const double *> above.data))
            if not self.ltdl:
                active.rows.to_ltl(t, self.X, self.D, self.inverse)
        self.status = worst
        return worst

    cdef Py_ssize_t eliminate_rest(self, const char *H, Py_ssize_t whole, const double *above) noexcept nogil:
        """Eliminate what is in no task, with what the tasks contribute."""
        cdef const Shape *t = &self.pattern.shape
        cdef double *path = self.path
        cdef Py_ssize_t j, e, stop = t.units, worst = -1
        cdef const Task *task
        for j in range(t.tasks - 1, -1, -1):
            task = t.task + j
            worst = max(worst, self.eliminate_units(task.stop, stop, H, whole, path))
            for e in range(task.room):
                path[e] += above[task.at + e]
            stop = task.first
        return max(worst, self.eliminate_units(0, stop, H, whole, path))

    def eliminate_tasks(self, uintptr_t H, Py_ssize_t whole, cnp.ndarray above not None,
                        Py_ssize_t[::1] failed, Py_ssize_t first, Py_ssize_t stop):
        """Eliminate the subtrees first .. stop-1."""
        cdef const Task *task = self.pattern.shape.task
        cdef cnp.ndarray room = aligned((self.pattern.shape.path,))
        cdef double *path = <double *> room.data
        cdef double *to = <double *> above.data
        cdef Py_ssize_t j
        with nogil:
            for j in range(first, stop):
                failed[j] = self.eliminate_units(task[j].first, task[j].stop, <const char *> H, whole, path)
                memcpy(to + task[j].at, path, task[j].room * sizeof(double))
                memset(path, 0, task[j].room * sizeof(double))

    def adopt(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Take over dense L (n, n) and D (n,) of any strides, made by somebody else."""
        cdef const Shape *t = &self.pattern.shape
        cdef Source source
        cdef Py_ssize_t s, k, e, stop
        locate(L, True, upper, &source)
        load(t, &source, self.X)
        self.status = FACTORIZED
        for s in range(t.n - 1, -1, -1):
            k = t.order[s]
            self.D[k] = (<const double *> (D.data + k * D.strides[0]))[0]
            self.inverse[k] = 1.0 / self.D[k]
            if not (0 < self.inverse[k] <= DBL_MAX and all_finite(t.depth[k] - 1, self.X + t.at[k])):
                self.status = max(self.status, k)
            stop = t.at[t.order[s + 1]] if s + 1 < t.n else t.room
            for e in range(t.at[k] + t.depth[k] - 1, stop):
                self.X[e] = 0.0

    def export(self, cnp.ndarray L not None, bint upper, cnp.ndarray D not None):
        """Write L's pattern into a dense (n, n) array and D into (n,), of any strides; for LTDL."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t to_row = L.strides[1 if upper else 0], to_column = L.strides[0 if upper else 1]
        cdef Py_ssize_t k, e
        cdef char *row
        for k in range(t.n):
            row = <char *> L.data + k * to_row
            for e in range(t.depth[k] - 1):
                (<double *> (row + t.column[t.start[k] + e] * to_column))[0] = self.X[t.at[k] + e]
            (<double *> (row + k * to_column))[0] = 1.0
            (<double *> (<char *> D.data + k * D.strides[0]))[0] = self.D[k]

    def rows(self):
        """Packed rows of L with D (LTL: its own diagonal) on the diagonal, shape (nnz,)."""
        _, _, start, depth, _, at, *_ = self.pattern.kept
        packed = self.room[np.arange(start[len(depth)]) + np.repeat(at - start[: len(depth)], depth)]
        packed[start[1:] - 1] = self.diagonals()
        return packed

    def diagonals(self):
        """D (LTL: the diagonal of L), shape (n,)."""
        cdef Py_ssize_t first = self.pattern.shape.room + 4
        return self.room[first : first + self.pattern.shape.n].copy()

    def state(self):
        """What `restore` takes, on any machine: padding depends on the instruction set."""
        return self.rows(), self.status

    def restore(self, packed, status):
        """Take over the state of another one."""
        _, _, start, depth, _, at, *_ = self.pattern.kept
        cdef Py_ssize_t n = len(depth), first = self.pattern.shape.room + 4
        where = np.arange(start[n]) + np.repeat(at - start[:n], depth)
        own = start[1:] - 1
        self.room[where] = packed
        self.room[where[own]] = 0.0
        self.room[first : first + n] = packed[own]
        with np.errstate(divide="ignore"):   # nothing is factorized yet
            self.room[first + n :] = 1.0 / packed[own]
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
        cdef double *path = take_path(t, local)
        cdef Py_ssize_t b
        for b in range(count):
            if r == 1:
                self.apply_one(op, x + b * t.n, align(path))
            else:
                apply(t, self.X, self.D, self.inverse, self.ltdl, op, x + b * t.n * r, r)
        leave_path(path, local)
        return 0

    def invert(self, cnp.ndarray Y not None):
        """Y <- H^-1, Y (n, n), C-contiguous."""
        with nogil:
            active.rows.invert(&self.pattern.shape, self.X, self.inverse, self.ltdl, <double *> Y.data)

    cdef inline void apply_one(self, int op, double *x, double *path) noexcept nogil:
        active.rows.apply(&self.pattern.shape, self.X, self.D, self.inverse, self.ltdl, op, x, path)

    cdef bint factorize_plain(self, object H, str layout, bint upper) except -1:
        cdef const Shape *t = &self.pattern.shape
        cdef bint dense = layout == "dense"
        cdef Source source
        if not is_array(H, 2 if dense else 1, cnp.NPY_DOUBLE):
            return False
        if cnp.PyArray_DIM(<cnp.ndarray> H, 0) != (t.n if dense else t.start[t.n]):
            return False
        if dense and cnp.PyArray_DIM(<cnp.ndarray> H, 1) != t.n:
            return False
        locate(<cnp.ndarray> H, dense, upper, &source)
        return self.factorize(&source, None) == FACTORIZED

    cdef bint factorize_bound(self) except -1:
        return self.kept is not None and self.factorize(&self.bound, None) == FACTORIZED

    cdef object apply_plain(self, int op, object b, object out):
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
            out = cnp.PyArray_SimpleNew(
                cnp.PyArray_NDIM(<cnp.ndarray> b), cnp.PyArray_DIMS(<cnp.ndarray> b), cnp.NPY_DOUBLE
            )
        elif not is_result(out, b):
            return None
        x = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
        memmove(x, cnp.PyArray_DATA(<cnp.ndarray> b), n * r * sizeof(double))
        if n * r <= QUICK:
            self.apply_all(op, x, 1, r)
        else:
            with nogil:
                self.apply_all(op, x, 1, r)
        return out


def multiply(Pattern pattern not None, cnp.ndarray H not None, str layout, bint upper,
             cnp.ndarray x not None, cnp.ndarray y not None):
    """y[b] <- H x[b]; H (n, n) or (nnz,) of any strides, x and y (batch, n, r), C-contiguous, apart."""
    cdef const Shape *t = &pattern.shape
    cdef Source source
    cdef Py_ssize_t r = x.shape[2], b
    cdef const double *from_x = <const double *> x.data
    cdef double *to_y = <double *> y.data
    cdef double local[LOCAL + 8]
    cdef double *path = take_path(t, local)
    cdef double *room = <double *> malloc((t.room + 8) * sizeof(double))
    cdef double *X = align(room)
    if room == NULL:
        leave_path(path, local)
        raise MemoryError(f"no room for {t.room} entries")
    locate(H, layout == "dense", upper, &source)
    with nogil:
        load(t, &source, X)
        for b in range(x.shape[0]):
            h_mul(t, X, from_x + b * t.n * r, to_y + b * t.n * r, r, path)
    free(room)
    leave_path(path, local)
