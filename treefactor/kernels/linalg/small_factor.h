/* Factorize small symmetric matrices; `real` is an ELEMENT, a double or float, or a register of them. */
#include "../common/spatial.h"

#define DEPENDENT 1e-13              /* pivot of a row that depends on others, relative to its diagonal entry */

/* Write NaN into the lanes of x that have failed. */
INLINE real NAME(blank)(real x, const ptrdiff_t *failed)
{
    ELEMENT a[sizeof(real) / sizeof(ELEMENT)];
    memcpy(a, &x, sizeof x);
    for (size_t l = 0; l < sizeof(real) / sizeof(ELEMENT); l++)
        if (failed[l] >= 0) a[l] = NAN;
    memcpy(&x, a, sizeof x);
    return x;
}

/* Note the lanes whose pivot d is not larger than its least. */
INLINE void NAME(check)(real d, real least, ptrdiff_t row, ptrdiff_t *failed)
{
    ELEMENT a[sizeof(real) / sizeof(ELEMENT)], b[sizeof(real) / sizeof(ELEMENT)];
    memcpy(a, &d, sizeof d);
    memcpy(b, &least, sizeof least);
    for (size_t l = 0; l < sizeof(real) / sizeof(ELEMENT); l++)
        if (failed[l] < 0 && !(a[l] > b[l] && a[l] < INFINITY)) failed[l] = row;
}

/* G + damping I = M E M^T with M unit lower triangular: 1/E goes on the diagonal of G, M below it, E M^T above it.
 * Golub and Van Loan (2013), section 4.1. X: workspace of m entries. */
INLINE void NAME(factor_small)(ptrdiff_t m, real damping, ELEMENT *G, ELEMENT *X, ptrdiff_t *failed)
{
#define G_(r, c) AT(G, (r) * m + (c))
    for (size_t l = 0; l < sizeof(real) / sizeof(ELEMENT); l++) failed[l] = -1;
    UNROLL for (ptrdiff_t k = 0; k < m; k++) AT(X, k) = (ELEMENT)DEPENDENT * (G_(k, k) += damping);
    UNROLL for (ptrdiff_t k = 0; k < m; k++) {
        NAME(check)(G_(k, k), READ(X, k), k, failed);
        G_(k, k) = (ELEMENT)1.0 / G_(k, k);
        UNROLL for (ptrdiff_t r = k + 1; r < m; r++) G_(k, r) = G_(r, k);
        UNROLL for (ptrdiff_t r = k + 1; r < m; r++) {
            const real a = G_(r, k) *= G_(k, k);
            UNROLL for (ptrdiff_t c = k + 1; c <= r; c++) G_(r, c) -= a * G_(k, c);
        }
    }
#undef G_
}

#undef DEPENDENT
