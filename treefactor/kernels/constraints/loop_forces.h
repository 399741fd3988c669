/* Forces that close loops on real, a double or a register; see spatial.h.
 *
 *     H a - J^T f = tau - bias,  J a = wanted;   H = L^T D L,  Y = L^-T J^T:
 *     Y^T D^-1 Y f = wanted - J a_free,          L a = D^-1 (L^-T (tau - bias) + Y f)
 *
 * Gram and Schmidt, in the inner product of D^-1, make Y = Q R with Q^T D^-1 Q diagonal: what is to be solved has
 * the condition of Y, not of its square. Rows that earlier ones say have nothing left in Q. The nullspace of R is
 * that of Y^T D^-1 Y: of contradicting rows what is orthogonal to it can be had, of all forces that do the same the
 * one orthogonal to it is the least. */
#include "../common/spatial.h"

#define RANK_SQUARE 1e-18            /* of what is left of a row that others say, to the largest row */

/* 1 / x where x exceeds the least, else 0 */
INLINE real NAME(invert_above)(real x, real least)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &least, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = a[l] > b[l] ? 1.0 / a[l] : 0.0;
    memcpy(&x, a, sizeof x);
    return x;
}

/* 1 where x is 0, else 0; whether any is */
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

INLINE real NAME(larger)(real x, real y)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &y, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = a[l] > b[l] ? a[l] : b[l];
    memcpy(&x, a, sizeof x);
    return x;
}

/* Y <- L^-T J^T, (n, rows): Featherstone (2008), table 6.5, of all rows at once. */
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

/* force <- the solution of R force = x; R: (rows, rows), unit upper triangle, zeros in rows that are left out */
static void NAME(back)(ptrdiff_t m, const double *R, const double *x, double *force)
{
    for (ptrdiff_t s = m - 1; s >= 0; s--) {
        real sum = READ(x, s);
        for (ptrdiff_t r = s + 1; r < m; r++) sum -= READ(R, s * m + r) * READ(force, r);
        AT(force, s) = sum;
    }
}

/* x -= its part along the orthogonal vectors v of N, and 1 / v.v are their `lengths` */
INLINE void NAME(project)(ptrdiff_t m, ptrdiff_t found, const double *N, const double *lengths, double *x)
{
    const real zero = {0};
    for (ptrdiff_t y = 0; y < found; y++) {
        const double *v = N + y * m * LANES;
        real sum = zero;
        for (ptrdiff_t r = 0; r < m; r++) sum += READ(v, r) * READ(x, r);
        sum *= READ(lengths, y);
        for (ptrdiff_t r = 0; r < m; r++) AT(x, r) -= sum * READ(v, r);
    }
}

/* N <- orthogonal vectors of the nullspace of R, whose rows are left out where `inverse` is 0; their number */
static ptrdiff_t NAME(find_nullspace)(ptrdiff_t m, const double *R, const double *inverse, double *N,
                                      double *lengths, double *unit)
{
    const real zero = {0};
    ptrdiff_t found = 0;
    for (ptrdiff_t z = 0; z < m; z++) {
        real left_out, square = zero;
        double *v = N + found * m * LANES;
        if (!NAME(find_zeros)(READ(inverse, z), &left_out)) continue;
        for (ptrdiff_t r = 0; r < m; r++) AT(unit, r) = zero;
        AT(unit, z) = left_out;
        NAME(back)(m, R, unit, v);
        NAME(project)(m, found, N, lengths, v);
        for (ptrdiff_t r = 0; r < m; r++) square += READ(v, r) * READ(v, r);
        AT(lengths, found) = NAME(invert_above)(square, zero);
        found++;
    }
    return found;
}

/* Y = Q R, Q in place of Y: R: (rows, rows), a unit upper triangle; inverse: of the diagonal of Q^T D^-1 Q, 0 for
 * rows whose square is next to nothing of the largest one of Y. Golub and Van Loan (2013), algorithm 5.2.6. */
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
            if (c->first[k] > s) continue;   /* nothing in this column yet */
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

static ptrdiff_t NAME(loop_room)(const Closures *c, ptrdiff_t n)
{
    const ptrdiff_t m = c->rows;
    return (n * m + 2 * m * m + 3 * m) * LANES;
}

static void NAME(close)(const Closures *c, const Shape *t, const ptrdiff_t *at, const double *L,
                        const double *D_inverse, const double *data, double *wanted, double *g, double *force,
                        double *room)
{
    const ptrdiff_t n = t->n, m = c->rows;
    const real zero = {0};
    double *Y = room, *R = Y + n * m * LANES, *N = R + m * m * LANES;
    double *x = N + m * m * LANES, *inverse = x + m * LANES, *lengths = inverse + m * LANES;
    real largest = zero;
    NAME(half_solve)(c, t, at, L, data, Y);
    for (ptrdiff_t r = 0; r < m; r++) AT(x, r) = zero;
    for (ptrdiff_t k = 0; k < n; k++)
        for (ptrdiff_t r = c->first[k]; r < c->stop[k]; r++) {
            const real y = READ(D_inverse, k) * READ(Y, k * m + r);
            AT(wanted, r) -= y * READ(g, k);         /* what J a_free lacks */
            AT(x, r) += y * READ(Y, k * m + r);
        }
    for (ptrdiff_t r = 0; r < m; r++) largest = NAME(larger)(READ(x, r), largest);
    NAME(orthogonalize)(c, n, D_inverse, largest, Y, R, inverse);
    const ptrdiff_t found = NAME(find_nullspace)(m, R, inverse, N, lengths, x);
    NAME(project)(m, found, N, lengths, wanted);     /* what rows that contradict each other have in common */
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
    NAME(project)(m, found, N, lengths, force);
}

#undef RANK_SQUARE
