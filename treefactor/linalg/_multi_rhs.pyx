"""Multiply and solve with one factor and many vectors, and multiply with H itself.

Rows are padded as in kernels/linalg/single_factor.h, those of H with their diagonal. x(k) is a row of r
entries; loops visit the ancestors i of k by i = parent(i), nearest first.

Apart from kernels/linalg/lanes_solve.h, whose fused multiply-adds would change the last bits, in another way
on every instruction set. With L in every lane and columns as lanes, those kernels take 0.4 to 0.7 times as
long from 8 columns on for trees of 30 to 200 freedoms, 1.1 to 1.6 times for 2 to 16 columns of a chain of 7
(AVX2; without the time that filling the lanes with L takes).
"""

from libc.math cimport sqrt
from libc.string cimport memset

from ..tree._pattern cimport HALF_SOLVE, MULTIPLY, MULTIPLY_L, MULTIPLY_LT, SOLVE, SOLVE_L, SOLVE_LT
from ._vector cimport axpy, dot, scale

# r vectors, in place: Featherstone (2008), table 6.5

cdef inline void apply_l(const Shape *t, const double *L, const double *D, bint transposed, bint inverse,
                         double *x, Py_ssize_t r) noexcept nogil:
    """x <- L x, L^T x, L^-1 x or L^-T x; D: the diagonal of L, of inverses its reciprocals; NULL for ones."""
    cdef bint leaves_first = transposed == inverse   # each row is read before it changes, or after, as needed
    cdef double sign = -1.0 if inverse else 1.0
    cdef Py_ssize_t s, k, i, p
    cdef const double *Lk
    for s in range(t.n):
        k = t.n - 1 - s if leaves_first else s
        Lk = L + t.at[k]
        if D != NULL and leaves_first:
            scale(r, D[k], x + k * r)
        i = t.parent[k]
        for p in range(t.depth[k] - 2, -1, -1):
            if transposed:
                axpy(r, sign * Lk[p], x + k * r, x + i * r)
            else:
                axpy(r, sign * Lk[p], x + i * r, x + k * r)
            i = t.parent[i]
        if D != NULL and not leaves_first:
            scale(r, D[k], x + k * r)


cdef void scale_rows(const Shape *t, const double *D, bint root, double *x, Py_ssize_t r) noexcept nogil:
    """x <- D x, or sqrt(D) x."""
    cdef Py_ssize_t k
    for k in range(t.n):
        scale(r, sqrt(D[k]) if root else D[k], x + k * r)


cdef void apply(const Shape *t, const double *L, const double *D, const double *inverse, bint ltdl, int op,
                double *x, Py_ssize_t r) noexcept nogil:
    """x <- op x for an (n, r) matrix, with the factor of H = L^T D L (LTDL) or H = L^T L."""
    cdef const double *own = <const double *> NULL if ltdl else inverse
    cdef const double *diagonal = <const double *> NULL if ltdl else D
    if op == SOLVE or op == SOLVE_LT or op == HALF_SOLVE:
        apply_l(t, L, own, True, True, x, r)
    if op == MULTIPLY or op == MULTIPLY_L:
        apply_l(t, L, diagonal, False, False, x, r)
    if ltdl and (op == SOLVE or op == HALF_SOLVE or op == MULTIPLY):
        scale_rows(t, D if op == MULTIPLY else inverse, op == HALF_SOLVE, x, r)
    if op == SOLVE or op == SOLVE_L:
        apply_l(t, L, own, False, True, x, r)
    if op == MULTIPLY or op == MULTIPLY_LT:
        apply_l(t, L, diagonal, True, False, x, r)


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
