"""Multiply and solve with one factor and many vectors, and multiply with H itself.

Rows are padded as in kernels/linalg/single_factor.h, those of H with their diagonal. x(k) is a row of r
entries; loops visit the ancestors i of k by i = parent(i), nearest first.
"""

from libc.math cimport sqrt
from libc.string cimport memset

from ..tree._pattern cimport HALF_SOLVE, MULTIPLY, MULTIPLY_L, SOLVE, SOLVE_L, SOLVE_LT
from ._vector cimport axpy, dot, scale

# r vectors, in place: Featherstone (2008), table 6.5

cdef void l_inv_many(
    const Shape *t, const double *L, const double *D, double *x, Py_ssize_t r
) noexcept nogil:
    """x <- L^-1 x, D the reciprocals of its diagonal, or NULL for ones."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n):
        Lk = L + t.at[k]
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, -Lk[p], x + i * r, x + k * r)
            i = t.parent[i]
        if D != NULL:
            scale(r, D[k], x + k * r)


cdef void lt_inv_many(
    const Shape *t, const double *L, const double *D, double *x, Py_ssize_t r
) noexcept nogil:
    """x <- L^-T x, D as above."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n - 1, -1, -1):
        Lk = L + t.at[k]
        if D != NULL:
            scale(r, D[k], x + k * r)
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, -Lk[p], x + k * r, x + i * r)
            i = t.parent[i]


cdef void l_mul_many(
    const Shape *t, const double *L, const double *D, double *x, Py_ssize_t r
) noexcept nogil:
    """x <- L x, D its diagonal or NULL for ones; rows n-1 .. 0, so that ancestors are still unchanged."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n - 1, -1, -1):
        Lk = L + t.at[k]
        if D != NULL:
            scale(r, D[k], x + k * r)
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, Lk[p], x + i * r, x + k * r)
            i = t.parent[i]


cdef void lt_mul_many(
    const Shape *t, const double *L, const double *D, double *x, Py_ssize_t r
) noexcept nogil:
    """x <- L^T x; rows 0 .. n-1, so that descendants are still unchanged."""
    cdef Py_ssize_t k, i, p
    cdef const double *Lk
    for k in range(t.n):
        Lk = L + t.at[k]
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, Lk[p], x + k * r, x + i * r)
            i = t.parent[i]
        if D != NULL:
            scale(r, D[k], x + k * r)


cdef void scale_rows(const Shape *t, const double *D, double *x, Py_ssize_t r) noexcept nogil:
    """x <- D x."""
    cdef Py_ssize_t k
    for k in range(t.n):
        scale(r, D[k], x + k * r)


cdef void apply(const Shape *t, const double *L, const double *D, const double *inverse, bint ltdl, int op,
                double *x, Py_ssize_t r) noexcept nogil:
    """x <- op x for an (n, r) matrix, with the factor of H = L^T D L (LTDL) or H = L^T L."""
    cdef const double *own = NULL if ltdl else inverse
    cdef const double *diagonal = NULL if ltdl else D
    cdef Py_ssize_t k
    if op == SOLVE:
        lt_inv_many(t, L, own, x, r)
        if ltdl:
            scale_rows(t, inverse, x, r)
        l_inv_many(t, L, own, x, r)
    elif op == HALF_SOLVE:
        lt_inv_many(t, L, own, x, r)
        for k in range(t.n if ltdl else 0):
            scale(r, sqrt(inverse[k]), x + k * r)
    elif op == MULTIPLY:
        l_mul_many(t, L, diagonal, x, r)
        if ltdl:
            scale_rows(t, D, x, r)
        lt_mul_many(t, L, diagonal, x, r)
    elif op == SOLVE_L:
        l_inv_many(t, L, own, x, r)
    elif op == SOLVE_LT:
        lt_inv_many(t, L, own, x, r)
    elif op == MULTIPLY_L:
        l_mul_many(t, L, diagonal, x, r)
    else:
        lt_mul_many(t, L, diagonal, x, r)


# Products H x

cdef void h_mul_one(const Shape *t, const double *H, const double *x, double *y, double *path) noexcept nogil:
    """y <- H x; x and y do not overlap."""
    #   y(k) = H(k, k) x(k) + sum H(k, i) x(i);  y(i) += H(k, i) x(k)  for every ancestor i
    cdef Py_ssize_t s, k, d
    for s in range(t.n):
        k = t.order[s]
        d = t.depth[k] - 1
        path[d] = x[k]
        y[k] = dot(d + 1, H + t.at[k], path)
    memset(path, 0, t.deepest * sizeof(double))
    for s in range(t.n - 1, -1, -1):
        k = t.order[s]
        d = t.depth[k] - 1
        y[k] += path[d]
        path[d] = 0.0
        axpy(d, x[k], H + t.at[k], path)


cdef void h_mul_many(const Shape *t, const double *H, const double *x, double *y,
                     Py_ssize_t r) noexcept nogil:
    """y <- H x; x and y do not overlap."""
    cdef Py_ssize_t k, i, p
    cdef const double *Hk
    memset(y, 0, t.n * r * sizeof(double))
    for k in range(t.n):
        Hk = H + t.at[k]
        axpy(r, Hk[t.depth[k] - 1], x + k * r, y + k * r)
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            axpy(r, Hk[p], x + i * r, y + k * r)
            axpy(r, Hk[p], x + k * r, y + i * r)
            i = t.parent[i]


cdef void h_mul(const Shape *t, const double *H, const double *x, double *y, Py_ssize_t r,
                double *path) noexcept nogil:
    """y <- H x; x and y do not overlap."""
    if r == 1:
        h_mul_one(t, H, x, y, path)
    else:
        h_mul_many(t, H, x, y, r)
