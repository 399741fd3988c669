/* The register machine on LANES configurations, REAL holding WIDTH of them; see machine.h. */

#define SLOT(k) ((REAL *)room + (ptrdiff_t)p[k] * (LANES / WIDTH))
#define EACH_TIME(words) for (const int32_t *stop = p + (words) * times; p < stop; p += (words))
#define EACH_PART for (int i = 0; i < LANES / WIDTH; i++)
/* an opcode of n operands with one result */
#define CASE(opcode, n, result) \
    case opcode: \
        EACH_TIME((n) + 1) { \
            REAL *to = SLOT(0); \
            const REAL *A = SLOT(1), *B = SLOT((n) > 1 ? 2 : 1), *C = SLOT((n) > 2 ? 3 : 1); \
            const REAL *D = SLOT((n) > 3 ? 4 : 1), *E = SLOT((n) > 4 ? 5 : 1), *F = SLOT((n) > 5 ? 6 : 1); \
            EACH_PART { \
                const REAL a = A[i], b = B[i], c = C[i], d = D[i], e = E[i], f = F[i]; \
                (void)b, (void)c, (void)d, (void)e, (void)f; \
                to[i] = (result); \
            } \
        } \
        break;

/* 1 / x, or NaN where x is not in (0, inf): asked beside the division, not after it */
INLINE REAL NAME(reciprocal)(REAL x)
{
#if WIDTH == 1
    return x > 0 && x < INFINITY ? 1.0 / x : NAN;
#else
    return (REAL)((ISA(I))(1.0 / x) | ~((ISA(I))(x > 0) & (ISA(I))(x < INFINITY)));
#endif
}

#if LANES == 1
/* sines and cosines of many slots, as many at a time as registers hold */
static const int32_t *NAME(turn)(const int32_t *p, int32_t times, double *room)
{
    enum { AT_ONCE = 64 };
    double x[AT_ONCE], s[AT_ONCE], c[AT_ONCE];
    for (int32_t done = 0, n; done < times; done += n) {
        n = times - done < AT_ONCE ? times - done : AT_ONCE;
        for (int32_t i = 0; i < n; i++) x[i] = room[p[3 * i + 2]];
        ISA(sincos)(n, x, s, c);
        for (int32_t i = 0; i < n; i++, p += 3) { room[p[0]] = s[i]; room[p[1]] = c[i]; }
    }
    return p;
}
#else
static const int32_t *NAME(turn)(const int32_t *p, int32_t times, double *room)
{
    EACH_TIME(3) ISA(sincos)(LANES, (double *)SLOT(2), (double *)SLOT(0), (double *)SLOT(1));
    return p;
}
#endif

static void NAME(run)(const int32_t *p, double *room)
{
    for (;;) {
        const int32_t opcode = p[0], times = p[1];
        p += 2;
        switch (opcode) {
            CASE(SUM(1, 0, 0, 0), 2, a * b)
            CASE(SUM(0, 0, 2, 0), 2, a + b)
            CASE(SUM(0, 0, 1, 1), 2, a - b)
            CASE(SUM(1, 0, 1, 0), 3, a * b + c)
            CASE(SUM(1, 0, 0, 1), 3, a * b - c)
            CASE(SUM(0, 1, 1, 0), 3, c - a * b)
            CASE(SUM(2, 0, 0, 0), 4, a * b + c * d)
            CASE(SUM(1, 1, 0, 0), 4, a * b - c * d)
            CASE(SUM(0, 0, 3, 0), 3, a + b + c)
            CASE(SUM(0, 0, 2, 1), 3, a + b - c)
            CASE(SUM(0, 0, 1, 2), 3, a - b - c)
            CASE(SUM(1, 0, 2, 0), 4, c + d + a * b)
            CASE(SUM(1, 0, 1, 1), 4, c - d + a * b)
            CASE(SUM(1, 0, 0, 2), 4, a * b - c - d)
            CASE(SUM(0, 1, 2, 0), 4, c + d - a * b)
            CASE(SUM(0, 1, 1, 1), 4, c - d - a * b)
            CASE(SUM(2, 0, 1, 0), 5, e + a * b + c * d)
            CASE(SUM(2, 0, 0, 1), 5, a * b - e + c * d)
            CASE(SUM(1, 1, 1, 0), 5, e + a * b - c * d)
            CASE(SUM(1, 1, 0, 1), 5, a * b - e - c * d)
            CASE(SUM(0, 2, 1, 0), 5, e - a * b - c * d)
            CASE(SUM(3, 0, 0, 0), 6, a * b + c * d + e * f)
            CASE(SUM(2, 1, 0, 0), 6, a * b + c * d - e * f)
            CASE(SUM(1, 2, 0, 0), 6, a * b - c * d - e * f)
            CASE(OP_RECIP, 1, 1.0 / a)
            CASE(OP_POSITIVE, 1, NAME(reciprocal)(a))
            CASE(OP_NEGATIVE, 1, -NAME(reciprocal)(-a))
            case OP_SINCOS: p = NAME(turn)(p, times, room); break;
            default: return;
        }
    }
}

#include "workspace.h"

static const Width NAME(width) = {LANES, NAME(run), NAME(load), NAME(store), NAME(find_odd), NAME(find_failed)};

#undef SLOT
#undef EACH_TIME
#undef EACH_PART
#undef CASE
