"""Factorize, solve and multiply with one plain matrix in one call: the fast path of the module's functions.

Each function returns None where the general path must handle the call, which validates, converts and raises.
"""

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from libc.float cimport DBL_MAX
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ._factor_methods cimport Calls
from ._multi_rhs cimport h_mul
from ._single cimport SHORT, InputMatrix, SingleKernel, describe, load
from ..tree._pattern cimport (
    FACTORIZED,
    MULTIPLY_L,
    MULTIPLY_LT,
    SOLVE,
    SOLVE_L,
    SOLVE_LT,
    Pattern,
    Shape,
    Workspace,
    carve_workspace,
    workspace_size,
)
from .._util._fast_arrays cimport all_finite, is_array, is_plain_matrix, is_plain_vector
from .._util._result_arrays cimport new_result

import numpy as np

from ..tree.tree import Tree

cnp.import_array()

cdef object float64 = np.float64, float64_dtype = np.dtype(np.float64), tree_type = Tree
cdef tuple no_arguments = ()


cdef SingleKernel factorized(Pattern pattern, object H, str layout, bint upper, bint ltdl):
    """Return the factor of a plain matrix, or None."""
    cdef SingleKernel kernel
    if layout == "lanes":
        return None
    kernel = SingleKernel.__new__(SingleKernel)
    kernel.prepare(pattern, ltdl, 1)
    return kernel if kernel.factorize_fast(H, layout, upper) else None


cdef bint is_plain_call(object tree, object H, object layout, object triangle, object dtype) noexcept:
    """Return whether H is an array of doubles of one matrix, and whether the choices are valid."""
    return (
        type(tree) is tree_type and dtype is float64 and cnp.PyArray_CheckExact(H)
        and type(layout) is str and type(triangle) is str
        and ((layout == "dense" and cnp.PyArray_NDIM(<cnp.ndarray> H) == 2)
             or (layout == "packed" and cnp.PyArray_NDIM(<cnp.ndarray> H) == 1))
        and (triangle == "lower" or triangle == "upper")
    )


def new_factor(type cls, H, tree, kind, layout, triangle, threads, dtype):
    """Return `factor` of one plain matrix."""
    cdef bint ltdl
    cdef SingleKernel kernel
    cdef object result
    if type(kind) is not str or not is_plain_call(tree, H, layout, triangle, dtype):
        return None
    ltdl = kind == "LTDL"
    if not (ltdl or kind == "LTL"):
        return None
    if type(threads) is not int or threads != 1:
        return None
    kernel = factorized(tree.pattern, H, layout, triangle == "upper", ltdl)
    if kernel is None:
        return None
    result = (<PyTypeObject *> cls).tp_new(cls, <PyObject *> no_arguments, NULL)
    (<Calls> result).prepare(tree, no_arguments, kind, float64_dtype, kernel, layout, triangle, 1)
    return result


def solve(H, tree, b, layout, triangle, dtype, out):
    """Return `solve` of one plain matrix."""
    cdef SingleKernel kernel
    if not is_plain_call(tree, H, layout, triangle, dtype):
        return None
    kernel = factorized(tree.pattern, H, layout, triangle == "upper", True)
    return None if kernel is None else kernel.apply_fast(SOLVE, b, out)


def multiply_fast(H, tree, x, out, layout, triangle):
    """Return `multiply` of one plain matrix and contiguous x."""
    cdef Pattern pattern
    cdef cnp.ndarray y
    cdef Py_ssize_t n, r = 1
    cdef bint dense
    if out is not None or not is_plain_call(tree, H, layout, triangle, float64):
        return None
    dense = layout == "dense"
    pattern = tree.pattern
    n = pattern.shape.n
    if not is_array(H, 2 if dense else 1, cnp.NPY_DOUBLE):
        return None
    if cnp.PyArray_DIM(<cnp.ndarray> H, 0) != (n if dense else pattern.shape.start[n]):
        return None
    if dense and cnp.PyArray_DIM(<cnp.ndarray> H, 1) != n:
        return None
    if not is_plain_vector(x, n):
        if not cnp.PyArray_CheckExact(x) or cnp.PyArray_NDIM(<cnp.ndarray> x) != 2:
            return None
        r = cnp.PyArray_DIM(<cnp.ndarray> x, 1)
        if not is_plain_matrix(x, n, r):
            return None
    if (n * n if dense else pattern.shape.start[n]) + n * r > 16 * SHORT:
        return None
    y = new_result(cnp.PyArray_NDIM(<cnp.ndarray> x), cnp.PyArray_DIMS(<cnp.ndarray> x))
    multiply_all(&pattern.shape, H, dense, triangle == "upper",
                 <const double *> cnp.PyArray_DATA(<cnp.ndarray> x),
                 1, r, <double *> y.data)
    return y if all_finite(n * r, <double *> y.data) else None


def multiply(Pattern pattern not None, cnp.ndarray H not None, str layout, bint upper,
             cnp.ndarray x not None, cnp.ndarray y not None):
    """y[b] <- H x[b]; H (n, n) or (nnz,) of any strides, x and y (batch, n, r), C-contiguous, apart."""
    multiply_all(&pattern.shape, H, layout == "dense", upper, <const double *> x.data, x.shape[0], x.shape[2],
                 <double *> y.data)


cdef int multiply_all(const Shape *t, cnp.ndarray H, bint dense, bint upper, const double *x,
                      Py_ssize_t count,
                      Py_ssize_t r, double *y) except -1:
    """y[b] <- H x[b], for x of (count, n, r) entries."""
    cdef InputMatrix given
    cdef Workspace w
    cdef double *memory = <double *> malloc(workspace_size(t) * sizeof(double))
    if memory == NULL:
        raise MemoryError(f"cannot allocate a workspace of {workspace_size(t)} doubles")
    w = carve_workspace(t, memory)
    describe(H, dense, upper, &given)
    if t.n * r * count <= SHORT:
        multiply_loaded(t, &given, &w, x, count, r, y)
    else:
        with nogil:
            multiply_loaded(t, &given, &w, x, count, r, y)
    free(memory)
    return 0


cdef void multiply_loaded(const Shape *t, const InputMatrix *H, const Workspace *w, const double *x,
                          Py_ssize_t count, Py_ssize_t r, double *y) noexcept nogil:
    cdef Py_ssize_t b
    load(t, H, w.X)
    for b in range(count):
        h_mul(t, w.X, x + b * t.n * r, y + b * t.n * r, r, w.path)


cdef class ForeignCalls(Calls):
    """Methods of a factor L, D in arrays of another library, which every call reads again.

    `_read()` of the subclass reads them with validation, and raises.
    """

    cdef InputMatrix given       # L
    cdef cnp.ndarray L
    cdef cnp.ndarray diagonal    # D

    def _bind(self, cnp.ndarray L not None, cnp.ndarray D not None):
        """Bind dense L (n, n) and D (n,) of any strides."""
        describe(L, True, self._upper, &self.given)
        self.L, self.diagonal = L, D

    cdef object call(self, int op, object b, object out):
        cdef SingleKernel kernel = <SingleKernel> self._kernel
        cdef Py_ssize_t n = kernel.pattern.shape.n
        cdef cnp.npy_intp size = n
        cdef cnp.ndarray x
        if out is None and n <= SHORT and is_plain_vector(b, n):
            x = new_result(1, &size)
            memcpy(x.data, cnp.PyArray_DATA(<cnp.ndarray> b), n * sizeof(double))
            if self.apply(op, &kernel.pattern.shape, <double *> x.data):
                return x
        self.read()
        return Calls.call(self, op, b, out)

    cdef object invert(self, object out):
        self.read()
        return Calls.invert(self, out)

    def inverse_kept(self, cnp.ndarray Minv not None):
        """Return H^-1, and copy it into a matrix (n, n) of float64."""
        cdef cnp.ndarray inverse = self.invert(None)
        if is_plain_matrix(Minv, inverse.shape[0], inverse.shape[0]):
            memcpy(Minv.data, inverse.data, cnp.PyArray_NBYTES(inverse))
        else:
            Minv[...] = inverse
        return inverse

    cdef int read(self) except -1:
        """Take over the arrays as they are now."""
        cdef SingleKernel kernel = <SingleKernel> self._kernel
        kernel.take_over(&self.given, self.diagonal.data, self.diagonal.strides[0])
        if kernel.status != FACTORIZED:
            self._read()
        return 0

    cdef bint apply(self, int op, const Shape *t, double *x) noexcept:
        """x <- op x where the arrays are; return False for the general path: not a factor, or not finite."""
        cdef Py_ssize_t k
        cdef double d
        if op == MULTIPLY_LT or op == SOLVE_LT or op == SOLVE:
            self.apply_lt(op == MULTIPLY_LT, t, x)
        if op == SOLVE:
            for k in range(t.n):
                d = (<const double *> (self.diagonal.data + k * self.diagonal.strides[0]))[0]
                if not 0.0 < d <= DBL_MAX:
                    return False
                x[k] /= d
        if op == MULTIPLY_L or op == SOLVE_L or op == SOLVE:
            self.apply_l(op == MULTIPLY_L, t, x)
        return op in (MULTIPLY_L, MULTIPLY_LT, SOLVE, SOLVE_L, SOLVE_LT) and all_finite(t.n, x)

    cdef void apply_lt(self, bint multiply, const Shape *t, double *x) noexcept:
        """x <- L^T x, or L^-T x: Featherstone (2008), table 6.5."""
        cdef Py_ssize_t s, k, e
        cdef const char *row
        cdef double xk
        for s in range(t.n):
            k = s if multiply else t.n - 1 - s
            row = self.given.data + k * self.given.to_row
            xk = x[k] if multiply else -x[k]
            for e in range(t.start[k], t.start[k + 1] - 1):
                x[t.column[e]] += xk * (<const double *> (row + t.column[e] * self.given.to_column))[0]

    cdef void apply_l(self, bint multiply, const Shape *t, double *x) noexcept:
        """x <- L x, or L^-1 x: Featherstone (2008), table 6.5."""
        cdef Py_ssize_t s, k, e, last, step = self.given.to_column
        cdef const Py_ssize_t *at = t.column
        cdef const char *row
        cdef double even, odd    # two sums: additions to one wait for each other
        for s in range(t.n):
            k = t.n - 1 - s if multiply else s
            row = self.given.data + k * self.given.to_row
            even, odd, e, last = 0.0, 0.0, t.start[k], t.start[k + 1] - 1
            while e + 1 < last:
                even += x[at[e]] * (<const double *> (row + at[e] * step))[0]
                odd += x[at[e + 1]] * (<const double *> (row + at[e + 1] * step))[0]
                e += 2
            if e < last:
                even += x[at[e]] * (<const double *> (row + at[e] * step))[0]
            x[k] += even + odd if multiply else -even - odd
