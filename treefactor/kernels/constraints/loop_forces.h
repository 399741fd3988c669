/* Compute the forces that close loops; `real` is a double or a register, see spatial.h.
 *
 *     H a - J^T f = tau - bias,  J a = wanted;   H = L^T D L,  Y = L^-T J^T:
 *     Y^T D^-1 Y f = wanted - J a_free,          L a = D^-1 (L^-T (tau - bias) + Y f)
 *
 * Gram-Schmidt in the inner product of D^-1 makes Y = Q R with Q^T D^-1 Q diagonal: the condition of the systems is
 * that of Y, not of its square. Rows that depend on earlier ones vanish after orthogonalization. The nullspace of R
 * is that of Y^T D^-1 Y: `wanted` is projected to its orthogonal complement, which contradicting rows can fulfil,
 * and so is the force, which then has least norm. */
#include "../common/spatial.h"

#define RANK_SQUARE 1e-18            /* squared remainder of a dependent row, relative to the largest row */

/* Return 1 / x where x exceeds `least`, else 0. */
INLINE real NAME(invert_above)(real x, real least)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &least, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = a[l] > b[l] ? 1.0 / a[l] : 0.0;
    memcpy(&x, a, sizeof x);
    return x;
}

/* Set `zeros` to 1 where x is 0, else 0; return whether any is. */
INLINE int NAME(find_zeros)(real x, real *zeros)
{
    double a[sizeof(real) / 8];
    int any = 0;
    memcpy(a, &x, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) {
        any |= a[l] == 0.0;
        a[l] = a[l] == 0.0;
    }
    memcpy(zeros, a, sizeof x);
    return any;
}

/* Compute Y = L^-T J^T, (n, rows), for all rows at once: Featherstone (2008), table 6.5. Apart from lanes_solve.h,
 * since a freedom reaches few rows: 8 Stewart platforms (18 rows, on average 6.8 of a freedom) take 1.4 us, all rows
 * through those kernels 3.8 us (AVX2, lanes filled and emptied included). */
static void NAME(half_solve)(const Closures *c, const Shape *t, const ptrdiff_t *at, const double *L,
                             const double *data, double *Y)
{
    const ptrdiff_t m = c->rows;
    const real zero = {0};
    for (ptrdiff_t e = 0; e < t->n * m; e++) AT(Y, e) = zero;
    for (ptrdiff_t r = 0; r < m; r++)
        for (ptrdiff_t e = c->start[r]; e < c->start[r + 1]; e++) AT(Y, c->column[e] * m + r) = READ(data, e);
    for (ptrdiff_t k = t->n - 1; k >= 0; k--) {
        const ptrdiff_t *ancestor = t->column + t->start[k], first = c->first[k], count = c->stop[k] - first;
        const double *from = Y + (k * m + first) * LANES;
        if (count <= 0) continue;
        for (ptrdiff_t e = 0; e < t->depth[k] - 1; e++) {
            const real a = READ(L, at[k] + e);
            double *to = Y + (ancestor[e] * m + first) * LANES;
            for (ptrdiff_t r = 0; r < count; r++) AT(to, r) -= a * READ(from, r);
        }
    }
}

/* Solve R force = x; R: (rows, rows), unit upper triangle, zero in dependent rows. */
static void NAME(back)(ptrdiff_t m, const double *R, const double *x, double *force)
{
    for (ptrdiff_t s = m - 1; s >= 0; s--) {
        real sum = READ(x, s);
        for (ptrdiff_t r = s + 1; r < m; r++) sum -= READ(R, s * m + r) * READ(force, r);
        AT(force, s) = sum;
    }
}

/* Remove from x its components along the orthogonal vectors v of N; `lengths` holds 1 / v.v. */
INLINE void NAME(remove_components)(ptrdiff_t m, ptrdiff_t vectors, const double *N, const double *lengths, double *x)
{
    const real zero = {0};
    for (ptrdiff_t y = 0; y < vectors; y++) {
        const double *v = N + y * m * LANES;
        real sum = zero;
        for (ptrdiff_t r = 0; r < m; r++) sum += READ(v, r) * READ(x, r);
        sum *= READ(lengths, y);
        for (ptrdiff_t r = 0; r < m; r++) AT(x, r) -= sum * READ(v, r);
    }
}

/* Compute orthogonal vectors N of the nullspace of R, whose rows are zero where `inverse` is 0; return their
 * number. */
static ptrdiff_t NAME(find_nullspace)(ptrdiff_t m, const double *R, const double *inverse, double *N,
                                      double *lengths, double *basis)
{
    const real zero = {0};
    ptrdiff_t vectors = 0;
    for (ptrdiff_t z = 0; z < m; z++) {
        real left_out, square = zero;
        double *v = N + vectors * m * LANES;
        if (!NAME(find_zeros)(READ(inverse, z), &left_out)) continue;
        for (ptrdiff_t r = 0; r < m; r++) AT(basis, r) = zero;
        AT(basis, z) = left_out;
        NAME(back)(m, R, basis, v);
        NAME(remove_components)(m, vectors, N, lengths, v);
        for (ptrdiff_t r = 0; r < m; r++) square += READ(v, r) * READ(v, r);
        AT(lengths, vectors) = NAME(invert_above)(square, zero);
        vectors++;
    }
    return vectors;
}

/* Factorize Y = Q R, Q in place of Y; R: (rows, rows), a unit upper triangle; inverse: reciprocal diagonal of
 * Q^T D^-1 Q, 0 for dependent rows. Golub and Van Loan (2013), algorithm 5.2.6. */
static void NAME(orthogonalize)(const Closures *c, ptrdiff_t n, const double *D_inverse, real largest, double *Y,
                                double *R, double *inverse)
{
    const ptrdiff_t m = c->rows;
    const real zero = {0};
    for (ptrdiff_t s = 0; s < m; s++) {
        double *own = R + s * m * LANES;
        real square = zero;
        for (ptrdiff_t r = 0; r < m; r++) AT(own, r) = zero;
        for (ptrdiff_t k = 0; k < n; k++) {
            if (c->first[k] > s) continue;   /* this column is still zero */
            const real y = READ(Y, k * m + s), w = READ(D_inverse, k) * y;
            square += w * y;
            for (ptrdiff_t r = s + 1; r < m; r++) AT(own, r) += w * READ(Y, k * m + r);
        }
        AT(inverse, s) = NAME(invert_above)(square, RANK_SQUARE * largest);
        for (ptrdiff_t r = s + 1; r < m; r++) AT(own, r) *= READ(inverse, s);
        for (ptrdiff_t k = 0; k < n; k++) {
            if (c->first[k] > s) continue;
            const real y = READ(Y, k * m + s);
            for (ptrdiff_t r = s + 1; r < m; r++) AT(Y, k * m + r) -= y * READ(own, r);
        }
    }
}

/* Count the doubles of workspace of `close`. */
static ptrdiff_t NAME(loop_workspace_size)(const Closures *c, ptrdiff_t n)
{
    const ptrdiff_t m = c->rows;
    return (n * m + 2 * m * m + 3 * m) * LANES;
}

/* Add J^T force to g for the force of least norm with J a = wanted; see closures.h. */
static void NAME(close)(const Closures *c, const Shape *t, const ptrdiff_t *at, const double *L,
                        const double *D_inverse, const double *data, double *wanted, double *g, double *force,
                        double *workspace)
{
    const ptrdiff_t n = t->n, m = c->rows;
    const real zero = {0};
    double *Y = workspace, *R = Y + n * m * LANES, *N = R + m * m * LANES;
    double *x = N + m * m * LANES, *inverse = x + m * LANES, *lengths = inverse + m * LANES;
    real largest = zero;
    NAME(half_solve)(c, t, at, L, data, Y);
    for (ptrdiff_t r = 0; r < m; r++) AT(x, r) = zero;
    for (ptrdiff_t k = 0; k < n; k++)
        for (ptrdiff_t r = c->first[k]; r < c->stop[k]; r++) {
            const real y = READ(D_inverse, k) * READ(Y, k * m + r);
            AT(wanted, r) -= y * READ(g, k);         /* wanted - J a_free */
            AT(x, r) += y * READ(Y, k * m + r);
        }
    for (ptrdiff_t r = 0; r < m; r++) largest = NAME(larger)(READ(x, r), largest);
    NAME(orthogonalize)(c, n, D_inverse, largest, Y, R, inverse);
    const ptrdiff_t vectors = NAME(find_nullspace)(m, R, inverse, N, lengths, x);
    NAME(remove_components)(m, vectors, N, lengths, wanted);     /* keep what contradicting rows can fulfil */
    for (ptrdiff_t s = 0; s < m; s++) {
        AT(x, s) = READ(wanted, s) * READ(inverse, s);
        for (ptrdiff_t r = s + 1; r < m; r++) AT(wanted, r) -= READ(R, s * m + r) * READ(wanted, s);
    }
    for (ptrdiff_t k = 0; k < n; k++) {
        real sum = zero;
        if (c->first[k] == m) continue;
        for (ptrdiff_t s = c->first[k]; s < m; s++) sum += READ(Y, k * m + s) * READ(x, s);
        AT(g, k) += sum;
    }
    NAME(back)(m, R, x, force);
    NAME(remove_components)(m, vectors, N, lengths, force);
}

#undef RANK_SQUARE
