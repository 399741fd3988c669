"""LTL and LTDL factorization, products and solves on branch-packed rows, one matrix at a time.

Row k of a packed matrix stands at X[start[k] .. start[k] + depth[k]): the entries at the ancestors of k,
root first, then the diagonal. The row of an ancestor is a prefix of the row below it, so every inner loop
runs over contiguous entries. With the nodes visited depth first, the ancestors of the current node are a
contiguous `path`, too.
"""

from libc.float cimport DBL_MAX
from libc.math cimport sqrt
from libc.string cimport memset

from ._pattern cimport (
    HALF_SOLVE,
    MULTIPLY,
    MULTIPLY_L,
    SOLVE,
    SOLVE_L,
    SOLVE_LT,
)
from ._vector cimport axpy, dot, scale, unscale

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
#
#   The recurrences of the single vector, x(k) now a row of r entries; the ancestors i of k are walked by
#   i = parent(i), nearest first, as in the factorization.

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


cdef void h_mul(const Shape *t, const double *H, const double *x, double *y, Py_ssize_t r,
                double *path) noexcept nogil:
    """y <- H x for packed H; x and y do not overlap."""
    if r == 1:
        h_mul_one(t, H, x, y, path)
    else:
        h_mul_many(t, H, x, y, r)
