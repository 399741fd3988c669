/* Solve damped least-squares problems of small matrices; `real` is an ELEMENT, a double or float, or a register. */
#include "small_factor.h"

#undef LEAST
#define LEAST (sizeof(ELEMENT) == sizeof(float) ? 0x1p-19f : 0.0f)   /* 32 times half a unit in the last place of 1 */

/* G <- A A^T, its lower triangle, for A of (m, n) entries: entry (r, c) at r to_row + c to_column of J */
INLINE void NAME(gram)(ptrdiff_t m, ptrdiff_t n, const ELEMENT *J, ptrdiff_t to_row, ptrdiff_t to_column, ELEMENT *G)
{
    for (ptrdiff_t r = 0; r < m; r++)
        for (ptrdiff_t c = 0; c <= r; c++) {
            real sum = {0};
            for (ptrdiff_t k = 0; k < n; k++)
                sum += READ(J, r * to_row + k * to_column) * READ(J, c * to_row + k * to_column);
            AT(G, r * m + c) = sum;
        }
}

/* y <- A^-1 y, with the factor of A that factor_small leaves in G; NaN in the lanes that have failed or where an entry
 * of y is not finite */
INLINE void NAME(solve_small)(ptrdiff_t m, const ELEMENT *G, ELEMENT *y, const ptrdiff_t *failed)
{
    real doubt = {0};
    UNROLL for (ptrdiff_t r = 0; r < m; r++) doubt += (ELEMENT)0.0 * READ(y, r);
    if (m) AT(y, 0) = NAME(blank)(READ(y, 0) + doubt, failed);   /* goes to all others */
    UNROLL for (ptrdiff_t r = 1; r < m; r++)
        UNROLL for (ptrdiff_t c = 0; c < r; c++) AT(y, r) -= READ(G, r * m + c) * READ(y, c);
    UNROLL for (ptrdiff_t r = m - 1; r >= 0; r--) {
        AT(y, r) *= READ(G, r * m + r);
        UNROLL for (ptrdiff_t c = r + 1; c < m; c++) AT(y, r) -= READ(G, c * m + r) * READ(y, c);
    }
}

/* Return the larger of damping and least per lane; damping where either is not a number. */
INLINE real NAME(raised)(real damping, real least)
{
    ELEMENT a[sizeof(real) / sizeof(ELEMENT)], b[sizeof(real) / sizeof(ELEMENT)];
    memcpy(a, &damping, sizeof damping);
    memcpy(b, &least, sizeof least);
    for (size_t l = 0; l < sizeof(real) / sizeof(ELEMENT); l++) a[l] = b[l] > a[l] ? b[l] : a[l];
    memcpy(&damping, a, sizeof damping);
    return damping;
}

/* Return the damping, in float at least LEAST (m + n) times the trace of J J^T, which is that of G, of k rows: the
 * rounding errors of G and of its factor are at most a tenth of this, by Higham (2002), theorem 10.4. */
INLINE real NAME(sufficient)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const ELEMENT *G, const ELEMENT *damping)
{
    real trace = {0};
    if (LEAST == 0) return READ(damping, 0);
    for (ptrdiff_t r = 0; r < k; r++) trace += READ(G, r * k + r);
    return NAME(raised)(READ(damping, 0), (ELEMENT)(LEAST * (float)(m + n)) * trace);
}

/* x <- J^T (J J^T + damping I)^-1 e, or where J has more rows than columns (J^T J + damping I)^-1 J^T e, which is the
 * same: Nakamura and Hanafusa (1986). work: k k + 2 k entries, k = min(m, n) */
INLINE void NAME(solve_damped)(ptrdiff_t m, ptrdiff_t n, const ELEMENT *J, const ELEMENT *e, const ELEMENT *damping,
                               ELEMENT *x, ELEMENT *work, ptrdiff_t *failed)
{
    const int wide = m <= n;
    const ptrdiff_t k = wide ? m : n;
    ELEMENT *y = wide ? work : x, *X = work + k * LANES, *G = X + k * LANES;
    NAME(gram)(k, wide ? n : m, J, wide ? n : 1, wide ? 1 : n, G);
    NAME(factor_small)(k, NAME(sufficient)(m, n, k, G, damping), G, X, failed);
    if (wide)
        UNROLL for (ptrdiff_t r = 0; r < m; r++) AT(y, r) = READ(e, r);
    else
        for (ptrdiff_t c = 0; c < n; c++) {
            real sum = {0};
            for (ptrdiff_t r = 0; r < m; r++) sum += READ(J, r * n + c) * READ(e, r);
            AT(y, c) = sum;
        }
    NAME(solve_small)(k, G, y, failed);
    if (wide)
        for (ptrdiff_t c = 0; c < n; c++) {
            real sum = {0};
            UNROLL for (ptrdiff_t r = 0; r < m; r++) sum += READ(J, r * n + c) * READ(y, r);
            AT(x, c) = sum;
        }
}

static void NAME(damped)(ptrdiff_t m, ptrdiff_t n, const ELEMENT *J, const ELEMENT *e, const ELEMENT *damping,
                         ELEMENT *x, ELEMENT *work, ptrdiff_t *failed)
{
    ELEMENT own[48 * LANES] __attribute__((aligned(64))); /* for sizes that are constants */
    if (m == 6 && n >= 6) NAME(solve_damped)(6, n, J, e, damping, x, own, failed);
    else if (m == 3 && n >= 3) NAME(solve_damped)(3, n, J, e, damping, x, own, failed);
    else NAME(solve_damped)(m, n, J, e, damping, x, work, failed);
}
