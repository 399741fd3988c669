/* Sums of the stages of a step in time, and the commutator of velocities. Included with
 *     REAL   LANES   NAME(f)   ELEMENT
 */
#include "../common/spatial.h"

INLINE void NAME(add)(ptrdiff_t n, const ELEMENT *x, ELEMENT h, const ELEMENT *y, ELEMENT *result)
{
    for (ptrdiff_t e = 0; e < n; e++) AT(result, e) = READ(y, e) + h * READ(x, e);
}

/* [x, y] of rotations is w_x x w_y; of motions (v, w) it is (w_x x v_y + v_x x w_y, w_x x w_y); PLANE has w along z. */
INLINE void NAME(add_commutator)(const Coordinates *c, ptrdiff_t count, const ELEMENT *x, const ELEMENT *y, ELEMENT h,
                                 ELEMENT *u)
{
    real a[6], b[6], sum[6];
    for (const Coordinates *end = c + count; c < end; c++) {
        if (c->group == LINEAR || c->group == CIRCLE) continue;
        const int size = c->group == SPACE ? 6 : 3;
        for (int e = 0; e < size; e++) {
            a[e] = READ(x, c->v + e);
            b[e] = READ(y, c->v + e);
            sum[e] = 0.0 * a[e];
        }
        if (c->group == PLANE) {
            sum[0] = b[2] * a[1] - a[2] * b[1];
            sum[1] = a[2] * b[0] - b[2] * a[0];
        } else if (c->group == SPHERE) {
            ADD_CROSS(a, b, sum);
        } else {
            ADD_CROSS(a + 3, b, sum);
            ADD_CROSS(a, b + 3, sum);
            ADD_CROSS(a + 3, b + 3, sum + 3);
        }
        for (int e = 0; e < size; e++) AT(u, c->v + e) += h * sum[e];
    }
}

/* Returns the sum of 0 * x, which is 0 for finite x only. */
static real NAME(doubt)(ptrdiff_t n, const ELEMENT *x)
{
    enum { CHAINS = 4 };             /* independent sums, to hide the latency of additions */
    real sum[CHAINS];
    ptrdiff_t e;
    EACH(i, CHAINS) sum[i] = (real){0};
    for (e = 0; e + CHAINS <= n; e += CHAINS) EACH(i, CHAINS) sum[i] += 0.0 * READ(x, e + i);
    for (; e < n; e++) sum[0] += 0.0 * READ(x, e);
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

INLINE void NAME(spread_nan)(ptrdiff_t m, const ELEMENT *x, ptrdiff_t n, ELEMENT *y)
{
    const real doubt = NAME(doubt)(m, x) + NAME(doubt)(n, y);
    for (ptrdiff_t e = 0; e < n; e++) AT(y, e) += doubt;
}

/* the same for all registers */
#define EACH_REGISTER for (int l = 0; l < LANES; l += (int)(sizeof(real) / sizeof(ELEMENT)))
#define FROM(x) ((const ELEMENT *)(x) + l)
#define TO(x) ((ELEMENT *)(x) + l)

static void NAME(add_all)(ptrdiff_t n, const void *x, double h, const void *y, void *result)
{
    EACH_REGISTER NAME(add)(n, FROM(x), h, FROM(y), TO(result));
}

static void NAME(add_commutator_all)(const Coordinates *c, ptrdiff_t count, const void *x, const void *y, double h,
                                     void *u)
{
    EACH_REGISTER NAME(add_commutator)(c, count, FROM(x), FROM(y), h, TO(u));
}

static void NAME(spread_nan_all)(ptrdiff_t m, const void *x, ptrdiff_t n, void *y)
{
    EACH_REGISTER NAME(spread_nan)(m, FROM(x), n, TO(y));
}

#undef EACH_REGISTER
#undef FROM
#undef TO
