/* Invert small symmetric matrices; `real` is a double or a register, see common/spatial.h. */
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

/* G = M E M^T with M unit lower triangular, Z = M^-1:  G^-1 = Z^T E^-1 Z; Golub and Van Loan (2013), section 4.1.
 * Loops run along rows, so that no addition waits for the one before it. */
static void NAME(invert)(ptrdiff_t m, double damping, double *G, double *X, ptrdiff_t *failed)
{
#define G_(r, c) AT(G, (r) * m + (c))
    const real zero = {0};
    for (size_t l = 0; l < sizeof(real) / 8; l++) failed[l] = -1;
    for (ptrdiff_t k = 0; k < m; k++) AT(X, k) = DEPENDENT * (G_(k, k) += damping);
    for (ptrdiff_t k = 0; k < m; k++) {              /* 1/E on the diagonal, M below it */
        NAME(check)(G_(k, k), READ(X, k), k, failed);
        G_(k, k) = 1.0 / G_(k, k);
        for (ptrdiff_t r = k + 1; r < m; r++) G_(k, r) = G_(r, k);
        for (ptrdiff_t r = k + 1; r < m; r++) {
            const real a = G_(r, k) *= G_(k, k);
            for (ptrdiff_t c = k + 1; c <= r; c++) G_(r, c) -= a * G_(k, c);
        }
    }
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

#undef DEPENDENT
