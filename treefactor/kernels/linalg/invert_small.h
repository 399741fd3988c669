/* Invert small symmetric matrices; `real` is a double or a register, see common/spatial.h. */
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
