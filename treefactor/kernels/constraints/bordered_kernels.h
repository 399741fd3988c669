/* Invert [H J^T; J 0] [x; -y] = b by the orthogonal factor of W, whose condition is not that of W^T W:
 *
 *     H = L^T D L,  Z = D^-1/2 L^-T,  W = Z J^T = Q R,   C = 1 - Q (Q^T Q)^-1 Q^T
 *     S = [P K^T; -K G],   P = (C Z)^T (C Z),   K = R^-1 (Q^T Q)^-1 Q^T Z,   G = R^-1 (Q^T Q)^-1 R^-T
 *
 * Golub and Van Loan (2013), algorithm 5.2.6 (Gram-Schmidt), with R a unit upper triangle. Where rows of J depend on
 * those before them, the rows of R and of (Q^T Q)^-1 that belong to them are zero, and R^+ = R^T (R R^T)^-1 stands for
 * R^-1: y is the least of all that give x, and J x is as near to the lower part of b as it can be. */
#include "../common/spatial.h"

#if LANES == 1
#define COLUMNS WIDTH                /* of B that one register holds */
#define PART ISA(Columns)
#else
#define COLUMNS 1
#define PART real
#endif
#define PART_AT(x, row, c, step) AS(PART, (x) + ((ptrdiff_t)(row) * (step) + (c)) * LANES)
#define READ_PART(x, row, c, step) READ_AS(PART, (x) + ((ptrdiff_t)(row) * (step) + (c)) * LANES)

/* y += a x for `count` entries */
INLINE void NAME(axpy)(ptrdiff_t count, real a, const double *restrict x, double *restrict y)
{
    for (ptrdiff_t c = 0; c < count; c++) AT(y, c) += a * READ(x, c);
}

INLINE real NAME(root_of)(real x)
{
    double a[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = sqrt(a[l]);
    memcpy(&x, a, sizeof x);
    return x;
}

/* Return the lesser of a and b per lane, NaN if one is; with `most` the larger. */
INLINE real NAME(extreme)(real x, real y, int most)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &y, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++)
        if (!(most ? a[l] > b[l] : a[l] < b[l]) && a[l] == a[l]) a[l] = b[l];
    memcpy(&x, a, sizeof x);
    return x;
}

/* Return a per lane where x is not 0, else b. */
INLINE real NAME(choose)(real x, real a, real b)
{
    double of_x[sizeof(real) / 8], of_a[sizeof(real) / 8], of_b[sizeof(real) / 8];
    memcpy(of_x, &x, sizeof x);
    memcpy(of_a, &a, sizeof a);
    memcpy(of_b, &b, sizeof b);
    for (size_t l = 0; l < sizeof(real) / 8; l++) of_b[l] = of_x[l] != 0.0 ? of_a[l] : of_b[l];
    memcpy(&b, of_b, sizeof b);
    return b;
}

static ptrdiff_t NAME(bordered_size)(ptrdiff_t n, ptrdiff_t m)
{
    return ((n + 2 * m) * (m + n) + 3 * m * m + 2 * m) * LANES;
}

/* Judge what is left of a row, squared: return 1, and keep in share the least share of the row and of the largest one;
 * return 0 where it is rounding, that is, the row depends on those before it. */
INLINE real NAME(judge)(real square, real length, real largest, real *share)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8], c[sizeof(real) / 8], least[sizeof(real) / 8];
    memcpy(a, &square, sizeof square);
    memcpy(b, &length, sizeof length);
    memcpy(c, &largest, sizeof largest);
    memcpy(least, share, sizeof *share);
    for (size_t l = 0; l < sizeof(real) / 8; l++) {
        const double by_row = a[l] / b[l], by_largest = a[l] / c[l];
        const double own = by_row < by_largest || by_row != by_row ? by_row : by_largest;
        const int lost = a[l] <= ROUNDING * b[l] || a[l] <= ROUNDING * c[l];
        if (!lost && (own < least[l] || own != own)) least[l] = own;
        a[l] = lost ? 0.0 : 1.0;
    }
    memcpy(share, least, sizeof *share);
    memcpy(&square, a, sizeof square);
    return square;
}

/* A <- [W Z], (n, m + n), or [W Z b] for a vector b that is not NULL: Featherstone (2008), table 6.5 */
static void NAME(half_solve)(const Shape *t, const ptrdiff_t *at, const double *L, const double *inverse, ptrdiff_t m,
                             const double *J, const double *b, double *A)
{
    const ptrdiff_t n = t->n, r = m + (b ? 1 : n);
    const real zero = {0};
    for (ptrdiff_t k = 0; k < n; k++) {
        for (ptrdiff_t c = 0; c < m; c++) AT(A, k * r + c) = READ(J, c * n + k);
        if (b) AT(A, k * r + m) = READ(b, k);
        else for (ptrdiff_t c = 0; c < n; c++) AT(A, k * r + m + c) = c == k ? zero + 1.0 : zero;
    }
    for (ptrdiff_t k = n - 1; k >= 0; k--) {
        const ptrdiff_t *ancestor = t->column + t->start[k];
        double *own = A + k * r * LANES;
        for (ptrdiff_t e = 0; e < t->depth[k] - 1; e++) {
            double *to = A + ancestor[e] * r * LANES;
            const ptrdiff_t zeros = b ? 0 : k;   /* columns of Z that are still zero */
            NAME(axpy)(m, -READ(L, at[k] + e), own, to);
            NAME(axpy)(r - m - zeros, -READ(L, at[k] + e), own + (m + zeros) * LANES, to + (m + zeros) * LANES);
        }
        const real scale = NAME(root_of)(READ(inverse, k));
        for (ptrdiff_t c = 0; c < r; c++) AT(own, c) *= scale;
    }
}

/* Make the first m of r columns of A orthogonal to all that follow: A = [Q C Z]; R (m, r): a unit upper triangle, then
 * (Q^T Q)^-1 Q^T Z; scale <- 1 / q.q, or 0 of dependent rows; lengths <- w.w. Return the least share, see bordered.h. */
static real NAME(orthogonalize)(ptrdiff_t n, ptrdiff_t m, ptrdiff_t r, double *A, double *R, double *scale,
                                double *lengths)
{
    const real zero = {0}, one = zero + 1.0;
    real largest = zero, share = one, all = one;
    for (ptrdiff_t s = 0; s < m; s++) {
        real sum = zero;
        for (ptrdiff_t k = 0; k < n; k++) sum += READ(A, k * r + s) * READ(A, k * r + s);
        AT(lengths, s) = sum;
        largest = NAME(extreme)(sum, largest, 1);
    }
    for (ptrdiff_t s = 0; s < m; s++) {
        double *own = R + s * r * LANES;
        for (ptrdiff_t c = 0; c < r; c++) AT(own, c) = zero;
        for (ptrdiff_t k = 0; k < n; k++)
            NAME(axpy)(r - s, READ(A, k * r + s), A + (k * r + s) * LANES, own + s * LANES);
        const real square = READ(own, s), kept = NAME(judge)(square, READ(lengths, s), largest, &share);
        AT(scale, s) = kept / (square + (one - kept));
        all *= kept;
        for (ptrdiff_t c = s; c < r; c++) AT(own, c) *= READ(scale, s);
        for (ptrdiff_t k = 0; k < n; k++)
            NAME(axpy)(r - s - 1, -READ(A, k * r + s), own + (s + 1) * LANES, A + (k * r + s + 1) * LANES);
    }
    return share * (2.0 * all - one);
}

/* M <- R^-1, and K <- R^-1 K behind R */
static void NAME(invert_triangle)(ptrdiff_t n, ptrdiff_t m, double *R, double *M)
{
    const ptrdiff_t r = m + n;
    const real zero = {0};
    for (ptrdiff_t s = m - 1; s >= 0; s--) {
        double *own = M + s * m * LANES;
        for (ptrdiff_t c = 0; c < m; c++) AT(own, c) = c == s ? zero + 1.0 : zero;
        for (ptrdiff_t c = s + 1; c < m; c++) {
            const real a = -READ(R, s * r + c);
            NAME(axpy)(m - c, a, M + (c * m + c) * LANES, own + c * LANES);
            NAME(axpy)(n, a, R + (c * r + m) * LANES, R + (s * r + m) * LANES);
        }
    }
}

/* M <- R^+, and K <- R^+ K behind R, where rows of R are zero. With X = (R R^T)^-1 R, M = X^T: by the factor of R R^T,
 * of which the diagonal is 1 in these rows; T: workspace (m, m). */
static void NAME(invert_any_rank)(ptrdiff_t n, ptrdiff_t m, double *R, const double *scale, double *T, double *M)
{
    const ptrdiff_t r = m + n;
    const real zero = {0};
    for (ptrdiff_t a = 0; a < m; a++)
        for (ptrdiff_t b = 0; b <= a; b++) {
            real sum = a == b ? NAME(choose)(READ(scale, a), zero, zero + 1.0) : zero;
            for (ptrdiff_t c = a; c < m; c++) sum += READ(R, a * r + c) * READ(R, b * r + c);
            for (ptrdiff_t c = 0; c < b; c++) sum -= READ(T, a * m + c) * READ(T, b * m + c);
            AT(T, a * m + b) = a == b ? NAME(root_of)(sum) : sum / READ(T, b * m + b);
        }
    for (ptrdiff_t column = 0; column < m; column++) {
        double *x = M + column * m * LANES;      /* row of M, column of X */
        for (ptrdiff_t s = 0; s < m; s++) {
            real sum = READ(R, s * r + column);
            for (ptrdiff_t c = 0; c < s; c++) sum -= READ(T, s * m + c) * READ(x, c);
            AT(x, s) = sum / READ(T, s * m + s);
        }
        for (ptrdiff_t s = m - 1; s >= 0; s--) {
            real sum = READ(x, s);
            for (ptrdiff_t c = s + 1; c < m; c++) sum -= READ(T, c * m + s) * READ(x, c);
            AT(x, s) = sum / READ(T, s * m + s);
        }
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t a = 0; a < m; a++) {
            real sum = zero;
            for (ptrdiff_t s = 0; s < m; s++) sum += READ(M, a * m + s) * READ(R, s * r + m + i);
            AT(T, a) = sum;
        }
        for (ptrdiff_t a = 0; a < m; a++) AT(R, a * r + m + i) = READ(T, a);
    }
}

/* S <- [P K^T; -K G] of C Z in A, K behind R, and M, whose rows begin at their diagonal if it is a triangle */
static void NAME(fill)(ptrdiff_t n, ptrdiff_t m, int triangle, const double *A, const double *R, const double *scale,
                       const double *M, double *S)
{
    const ptrdiff_t r = m + n;
    const real zero = {0};
    for (ptrdiff_t e = 0; e < r * r; e++) AT(S, e) = zero;
    for (ptrdiff_t k = 0; k < n; k++)
        for (ptrdiff_t i = 0; i < n; i++)
            NAME(axpy)(i + 1, READ(A, k * r + m + i), A + (k * r + m) * LANES, S + i * r * LANES);
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t c = 0; c < i; c++) AT(S, c * r + i) = READ(S, i * r + c);
    for (ptrdiff_t s = 0; s < m; s++)
        for (ptrdiff_t i = 0; i < n; i++) {
            AT(S, i * r + n + s) = READ(R, s * r + m + i);
            AT(S, (n + s) * r + i) = -READ(R, s * r + m + i);
        }
    for (ptrdiff_t a = 0; a < m; a++)
        for (ptrdiff_t b = 0; b <= a; b++) {
            real sum = zero;
            for (ptrdiff_t c = triangle ? a : 0; c < m; c++) sum += READ(M, a * m + c) * READ(M, b * m + c) * READ(scale, c);
            AT(S, (n + a) * r + n + b) = AT(S, (n + b) * r + n + a) = sum;
        }
}

/* Set `is_full` to 0 where a share is negative, else to 1; return whether all are 1. */
INLINE int NAME(find_full)(real share, real *is_full)
{
    double a[sizeof(real) / 8];
    int all = 1;
    memcpy(a, &share, sizeof share);
    for (size_t l = 0; l < sizeof(real) / 8; l++) {
        all &= !(a[l] < 0.0);
        a[l] = !(a[l] < 0.0);
    }
    memcpy(is_full, a, sizeof share);
    return all;
}

static void NAME(invert_bordered)(const Shape *t, const ptrdiff_t *at, const double *L, const double *inverse,
                                  ptrdiff_t m, const double *J, double *S, double *share, double *workspace)
{
    const ptrdiff_t n = t->n, r = m + n;
    double *A = workspace, *R = A + n * r * LANES, *M = R + m * r * LANES;
    double *any_R = M + m * m * LANES, *any_M = any_R + m * r * LANES, *T = any_M + m * m * LANES;
    double *scale = T + m * m * LANES, *lengths = scale + m * LANES;
    real is_full;
    int all_full;
    NAME(half_solve)(t, at, L, inverse, m, J, NULL, A);
    AT(share, 0) = NAME(orthogonalize)(n, m, r, A, R, scale, lengths);
    all_full = NAME(find_full)(READ(share, 0), &is_full);
    if (!all_full) {
        for (ptrdiff_t e = 0; e < m * r; e++) AT(any_R, e) = READ(R, e);
        NAME(invert_any_rank)(n, m, any_R, scale, T, any_M);
    }
    NAME(invert_triangle)(n, m, R, M);
    if (!all_full) {                 /* lanes of full rank have the bits of a register that has only these */
        for (ptrdiff_t e = 0; e < m * r; e++) AT(R, e) = NAME(choose)(is_full, READ(R, e), READ(any_R, e));
        for (ptrdiff_t e = 0; e < m * m; e++) AT(M, e) = NAME(choose)(is_full, READ(M, e), READ(any_M, e));
    }
    NAME(fill)(n, m, all_full, A, R, scale, M, S);
}

/* With c = (Q^T Q)^-1 Q^T Z b and d = (Q^T Q)^-1 R^-T wanted: R y = d - c, Z^-T x = C Z b + Q d */
static void NAME(solve_bordered)(const Shape *t, const ptrdiff_t *at, const double *L, const double *inverse,
                                 ptrdiff_t m, const double *J, const double *b, double *x, double *share,
                                 double *workspace)
{
    const ptrdiff_t n = t->n, r = m + 1;
    double *A = workspace, *R = A + n * r * LANES, *scale = R + m * r * LANES, *d = scale + m * LANES;
    double *y = x + n * LANES;
    NAME(half_solve)(t, at, L, inverse, m, J, b, A);
    AT(share, 0) = NAME(orthogonalize)(n, m, r, A, R, scale, d);
    for (ptrdiff_t s = 0; s < m; s++) {
        real sum = READ(b, n + s);
        for (ptrdiff_t c = 0; c < s; c++) sum -= READ(R, c * r + s) * READ(d, c);
        AT(d, s) = sum;
    }
    for (ptrdiff_t s = m - 1; s >= 0; s--) {
        AT(d, s) *= READ(scale, s);
        real sum = READ(d, s) - READ(R, s * r + m);
        for (ptrdiff_t c = s + 1; c < m; c++) sum -= READ(R, s * r + c) * READ(y, c);
        AT(y, s) = sum;
    }
    for (ptrdiff_t k = 0; k < n; k++) {
        const ptrdiff_t *ancestor = t->column + t->start[k];
        real sum = READ(A, k * r + m);
        for (ptrdiff_t s = 0; s < m; s++) sum += READ(A, k * r + s) * READ(d, s);
        sum *= NAME(root_of)(READ(inverse, k));
        for (ptrdiff_t e = 0; e < t->depth[k] - 1; e++) sum -= READ(L, at[k] + e) * READ(x, ancestor[e]);
        AT(x, k) = sum;
    }
}

/* rows i .. i + rows - 1 of X = S B, two registers of columns at a time, which stay in registers */
INLINE void NAME(multiply_rows)(int rows, ptrdiff_t i, ptrdiff_t size, ptrdiff_t columns, const double *S,
                                const double *B, double *X)
{
    for (ptrdiff_t c = 0; c < columns; c += 2 * COLUMNS) {
        PART sum[4][2];
        UNROLL for (int j = 0; j < rows; j++) sum[j][0] = sum[j][1] = (PART){0};
        for (ptrdiff_t k = 0; k < size; k++) {
            const PART first = READ_PART(B, k, c, columns), second = READ_PART(B, k, c + COLUMNS, columns);
            UNROLL for (int j = 0; j < rows; j++) {
                const real a = READ(S, (i + j) * size + k);
                sum[j][0] += a * first;
                sum[j][1] += a * second;
            }
        }
        UNROLL for (int j = 0; j < rows; j++) {
            PART_AT(X, i + j, c, columns) = sum[j][0];
            PART_AT(X, i + j, c + COLUMNS, columns) = sum[j][1];
        }
    }
}

static void NAME(multiply_bordered)(ptrdiff_t size, ptrdiff_t columns, const double *S, const double *B, double *X)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= size; i += 4) NAME(multiply_rows)(4, i, size, columns, S, B, X);
    for (; i < size; i++) NAME(multiply_rows)(1, i, size, columns, S, B, X);
}

static void NAME(apply_bordered)(ptrdiff_t size, const double *S, const double *b, double *x)
{
    for (ptrdiff_t i = 0; i < size; i++) {
        real sum = {0};
        for (ptrdiff_t k = 0; k < size; k++) sum += READ(S, i * size + k) * READ(b, k);
        AT(x, i) = sum;
    }
}

#undef COLUMNS
#undef PART
#undef PART_AT
#undef READ_PART
