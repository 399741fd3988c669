/* Factorize small symmetric matrices; `real` is a double or a register, see common/spatial.h. */
#include "../common/spatial.h"

#define DEPENDENT 1e-13              /* pivot of a row that depends on others, relative to its diagonal entry */

/* Write NaN into the lanes of x that have failed. */
INLINE real NAME(blank)(real x, const ptrdiff_t *failed)
{
    double a[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++)
        if (failed[l] >= 0) a[l] = NAN;
    memcpy(&x, a, sizeof x);
    return x;
}

/* Note the lanes whose pivot d is not larger than its least. */
INLINE void NAME(check)(real d, real least, ptrdiff_t row, ptrdiff_t *failed)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &d, sizeof d);
    memcpy(b, &least, sizeof least);
    for (size_t l = 0; l < sizeof(real) / 8; l++)
        if (failed[l] < 0 && !(a[l] > b[l] && a[l] < INFINITY)) failed[l] = row;
}

/* G + damping I = M E M^T with M unit lower triangular: 1/E goes on the diagonal of G, M below it, E M^T above it.
 * Golub and Van Loan (2013), section 4.1. X: workspace of m entries. */
INLINE void NAME(factor_small)(ptrdiff_t m, real damping, double *G, double *X, ptrdiff_t *failed)
{
#define G_(r, c) AT(G, (r) * m + (c))
    for (size_t l = 0; l < sizeof(real) / 8; l++) failed[l] = -1;
    UNROLL for (ptrdiff_t k = 0; k < m; k++) AT(X, k) = DEPENDENT * (G_(k, k) += damping);
    UNROLL for (ptrdiff_t k = 0; k < m; k++) {
        NAME(check)(G_(k, k), READ(X, k), k, failed);
        G_(k, k) = 1.0 / G_(k, k);
        UNROLL for (ptrdiff_t r = k + 1; r < m; r++) G_(k, r) = G_(r, k);
        UNROLL for (ptrdiff_t r = k + 1; r < m; r++) {
            const real a = G_(r, k) *= G_(k, k);
            UNROLL for (ptrdiff_t c = k + 1; c <= r; c++) G_(r, c) -= a * G_(k, c);
        }
    }
#undef G_
}

#undef DEPENDENT
