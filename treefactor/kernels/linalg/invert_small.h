/* Invert small symmetric matrices, and multiply by them; `real` is a double or a register, see common/spatial.h. */
#include "small_factor.h"

/* G = M E M^T with M unit lower triangular, Z = M^-1:  G^-1 = Z^T E^-1 Z.
 * Loops run along rows, so that no addition waits for the one before it. */
static void NAME(invert)(ptrdiff_t m, double damping, double *G, double *X, ptrdiff_t *failed)
{
#define G_(r, c) AT(G, (r) * m + (c))
    const real zero = {0};
    NAME(factor_small)(m, zero + damping, G, X, failed);
    for (ptrdiff_t r = 1; r < m; r++) {              /* Z in place of M, Z^T E^-1 above the diagonal */
        for (ptrdiff_t c = 0; c < r; c++) AT(X, c) = zero;
        for (ptrdiff_t e = 0; e < r; e++) {
            const real a = G_(r, e);
            AT(X, e) -= a;
            for (ptrdiff_t c = 0; c < e; c++) AT(X, c) -= a * G_(e, c);
        }
        for (ptrdiff_t c = 0; c < r; c++) G_(c, r) = (G_(r, c) = READ(X, c)) * G_(r, r);
    }
    for (ptrdiff_t r = 0; r < m; r++) {              /* row r of the product: the rows below it are still Z */
        for (ptrdiff_t c = 0; c < r; c++) G_(r, c) *= G_(r, r);
        for (ptrdiff_t k = r + 1; k < m; k++) {
            const real a = G_(r, k);
            for (ptrdiff_t c = 0; c < r; c++) G_(r, c) += a * G_(k, c);
            G_(r, r) += a * G_(k, r);
        }
    }
    for (ptrdiff_t r = 0; r < m; r++)
        for (ptrdiff_t c = 0; c <= r; c++) G_(r, c) = G_(c, r) = NAME(blank)(G_(r, c), failed);
#undef G_
}

/* Return the square root of every lane. */
INLINE real NAME(root)(real x)
{
    double a[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = sqrt(a[l]);
    memcpy(&x, a, sizeof x);
    return x;
}

/* B <- K A, for K of (n, m) entries whose rows are `stride` entries apart and A of (m, m) entries; rows of B are scaled
 * by the roots of the squares, unless these are NULL. */
static void NAME(multiply)(ptrdiff_t n, ptrdiff_t m, const double *K, ptrdiff_t stride, const double *A,
                           const double *squares, double *B)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        const double *row = K + k * stride * LANES;
        const real scale = squares ? NAME(root)(READ(squares, k)) : (real){0} + 1.0;
        for (ptrdiff_t c = 0; c < m; c++) {
            real sum = {0};
            for (ptrdiff_t e = 0; e < m; e++) sum += READ(row, e) * READ(A, e * m + c);
            AT(B, k * m + c) = scale * sum;
        }
    }
}
