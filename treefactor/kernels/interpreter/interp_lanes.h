/* Executes a program on LANES configurations at once; REAL holds WIDTH of them. See interpreter.h. Included with
 *     ELEMENT    type of a number
 *     MASK       result of comparing two REALs, FLAGS the same that AS_FLAGS(mask) makes of it
 *     INVALID    the same with 64 bits for each, AS_INVALID(flags) converts
 *     SINCOS, ARCTANGENT, VECTOR   of sincos.h and arctan.h, or of sincos_single.h
 *     LANES and NAME(f), f for this precision, instruction set and number of lanes: undefined at the end
 *
 *
 * The plain scalar loop that `run` computes, for one configuration:
 *
 *     for each run (opcode, times) of the code:
 *         for (i = 0; i < times; i++) slot[result] = operation(slot[operand 1], slot[operand 2] ...)
 *
 * Runs of equal opcodes pay for one jump each, not one per statement; EACH_PART is a loop of constant length,
 * so that the compiler keeps the statement's operands in registers.
 */

/* lanes of the slot whose number stands k words after p */
#define SLOT(workspace, p, k) ((REAL *)(workspace) + (ptrdiff_t)(p)[k] * (LANES / WIDTH))
/* the same slot's first lane in all lanes */
#define CONSTANT(workspace, p, k) ((REAL){0} + ((const ELEMENT *)(workspace))[(ptrdiff_t)(p)[k] * LANES])
#define EACH_TIME(p, words, times) for (const int32_t *stop = (p) + (words) * (times); (p) < stop; (p) += (words))
#define EACH_PART(i) for (int i = 0; i < LANES / WIDTH; i++)
/* The case of an opcode with n operands and one result, an expression of the operands a .. f. For `run` only:
 * reads its code p, times and workspace. */
#define CASE(opcode, n, result) \
    case opcode: \
        EACH_TIME(p, (n) + 1, times) { \
            REAL *to = SLOT(workspace, p, 0); \
            const REAL *A = SLOT(workspace, p, 1), *B = SLOT(workspace, p, (n) > 1 ? 2 : 1); \
            const REAL *C = SLOT(workspace, p, (n) > 2 ? 3 : 1), *D = SLOT(workspace, p, (n) > 3 ? 4 : 1); \
            const REAL *E = SLOT(workspace, p, (n) > 4 ? 5 : 1), *F = SLOT(workspace, p, (n) > 5 ? 6 : 1); \
            EACH_PART(i) { \
                const REAL a = A[i], b = B[i], c = C[i], d = D[i], e = E[i], f = F[i]; \
                (void)b, (void)c, (void)d, (void)e, (void)f; \
                to[i] = (result); \
            } \
        } \
        break;

/* The same for sums with products, and for these plus OP_SCALED: loads the first factors, constants, once for all
 * lanes, which saves 4 % to 10 % of forward dynamics. */
#if LANES == 1
#define SUM(opcode, products, n, result) \
    case OP_SCALED + opcode: \
    CASE(opcode, n, result)
#else
#define SUM(opcode, products, n, result) \
    CASE(opcode, n, result) \
    case OP_SCALED + opcode: \
        EACH_TIME(p, (n) + 1, times) { \
            REAL *to = SLOT(workspace, p, 0); \
            const REAL a = CONSTANT(workspace, p, 1), *B = SLOT(workspace, p, 2); \
            const REAL second = CONSTANT(workspace, p, (products) > 1 ? 3 : 1); \
            const REAL third = CONSTANT(workspace, p, (products) > 2 ? 5 : 1); \
            const REAL *C = SLOT(workspace, p, (n) > 2 ? 3 : 1), *D = SLOT(workspace, p, (n) > 3 ? 4 : 1); \
            const REAL *E = SLOT(workspace, p, (n) > 4 ? 5 : 1), *F = SLOT(workspace, p, (n) > 5 ? 6 : 1); \
            EACH_PART(i) { \
                const REAL b = B[i], c = (products) > 1 ? second : C[i], d = D[i]; \
                const REAL e = (products) > 2 ? third : E[i], f = F[i]; \
                (void)c, (void)d, (void)e, (void)f; \
                to[i] = (result); \
            } \
        } \
        break;
#endif

/* Computes 1 / x, NaN unless 0 < x < inf; the comparison runs in parallel with the division. */
INLINE REAL NAME(reciprocal)(REAL x)
{
#if WIDTH == 1
    return x > 0 && x < INFINITY ? 1 / x : NAN;
#else
    return (REAL)((MASK)(1 / x) | ~((MASK)(x > 0) & (MASK)(x < (ELEMENT)INFINITY)));
#endif
}

/* Computes square roots. */
INLINE REAL NAME(root)(REAL x)
{
#if WIDTH == 1
    return sqrt(x);
#else
    UNROLL for (int i = 0; i < WIDTH; i++) x[i] = sqrt(x[i]);
    return x;
#endif
}

/* Computes atan2(y, x); one number as a register of it, so that the last bit is the same. */
INLINE REAL NAME(arctangent)(REAL y, REAL x)
{
#if WIDTH == 1
    return ARCTANGENT((VECTOR){y}, (VECTOR){x})[0];
#else
    return ARCTANGENT(y, x);
#endif
}

#if LANES == 1
/* Computes sines and cosines of many slots, 64 angles per call of sincos. */
static const int32_t *NAME(sincos_run)(const int32_t *p, int32_t times, ELEMENT *workspace)
{
    enum { AT_ONCE = 64 };
    ELEMENT x[AT_ONCE], s[AT_ONCE], c[AT_ONCE];
    for (int32_t done = 0, n; done < times; done += n) {
        n = times - done < AT_ONCE ? times - done : AT_ONCE;
        for (int32_t i = 0; i < n; i++) x[i] = workspace[p[3 * i + 2]];
        SINCOS(n, x, s, c);
        for (int32_t i = 0; i < n; i++, p += 3) { workspace[p[0]] = s[i]; workspace[p[1]] = c[i]; }
    }
    return p;
}
#else
static const int32_t *NAME(sincos_run)(const int32_t *p, int32_t times, ELEMENT *workspace)
{
    EACH_TIME(p, 3, times)
        SINCOS(LANES, (ELEMENT *)SLOT(workspace, p, 2), (ELEMENT *)SLOT(workspace, p, 0),
               (ELEMENT *)SLOT(workspace, p, 1));
    return p;
}
#endif

static void NAME(run)(const int32_t *p, void *workspace)
{
    for (;;) {
        const int32_t opcode = p[0], times = p[1];
        p += 2;
        switch (opcode) {
            SUM(SUM_OPCODE(1, 0, 0, 0), 1, 2, a * b)
            CASE(SUM_OPCODE(0, 0, 2, 0), 2, a + b)
            CASE(SUM_OPCODE(0, 0, 1, 1), 2, a - b)
            SUM(SUM_OPCODE(1, 0, 1, 0), 1, 3, a * b + c)
            SUM(SUM_OPCODE(1, 0, 0, 1), 1, 3, a * b - c)
            SUM(SUM_OPCODE(0, 1, 1, 0), 1, 3, c - a * b)
            SUM(SUM_OPCODE(2, 0, 0, 0), 2, 4, a * b + c * d)
            SUM(SUM_OPCODE(1, 1, 0, 0), 2, 4, a * b - c * d)
            CASE(SUM_OPCODE(0, 0, 3, 0), 3, a + b + c)
            CASE(SUM_OPCODE(0, 0, 2, 1), 3, a + b - c)
            CASE(SUM_OPCODE(0, 0, 1, 2), 3, a - b - c)
            SUM(SUM_OPCODE(1, 0, 2, 0), 1, 4, c + d + a * b)
            SUM(SUM_OPCODE(1, 0, 1, 1), 1, 4, c - d + a * b)
            SUM(SUM_OPCODE(1, 0, 0, 2), 1, 4, a * b - c - d)
            SUM(SUM_OPCODE(0, 1, 2, 0), 1, 4, c + d - a * b)
            SUM(SUM_OPCODE(0, 1, 1, 1), 1, 4, c - d - a * b)
            SUM(SUM_OPCODE(2, 0, 1, 0), 2, 5, e + a * b + c * d)
            SUM(SUM_OPCODE(2, 0, 0, 1), 2, 5, a * b - e + c * d)
            SUM(SUM_OPCODE(1, 1, 1, 0), 2, 5, e + a * b - c * d)
            SUM(SUM_OPCODE(1, 1, 0, 1), 2, 5, a * b - e - c * d)
            SUM(SUM_OPCODE(0, 2, 1, 0), 2, 5, e - a * b - c * d)
            SUM(SUM_OPCODE(3, 0, 0, 0), 3, 6, a * b + c * d + e * f)
            SUM(SUM_OPCODE(2, 1, 0, 0), 3, 6, a * b + c * d - e * f)
            SUM(SUM_OPCODE(1, 2, 0, 0), 3, 6, a * b - c * d - e * f)
            CASE(OP_RECIP, 1, 1 / a)
            CASE(OP_POSITIVE, 1, NAME(reciprocal)(a))
            CASE(OP_NEGATIVE, 1, -NAME(reciprocal)(-a))
            CASE(OP_SQRT, 1, NAME(root)(a))
            CASE(OP_ATAN2, 2, NAME(arctangent)(a, b))
            case OP_SINCOS: p = NAME(sincos_run)(p, times, workspace); break;
            default: return;
        }
    }
}

#include "transfer.h"

#undef SLOT
#undef CONSTANT
#undef EACH_TIME
#undef EACH_PART
#undef CASE
#undef SUM
#undef LANES
#undef NAME
