/* Define the type `real` of generated functions: the number of one configuration, or with LANES a vector register
 * that holds some of so many configurations: 8 of double, with SINGLE 16 of float. Entry e of configuration l is at
 * x[LANES e + l]. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#ifdef SINGLE
typedef float number;
typedef int integer;
#define BYTES 4
#else
typedef double number;
typedef long long integer;
#define BYTES 8
#endif

#if defined(__GNUC__) && FLT_EVAL_METHOD == 0
#ifdef __AVX512F__
#define WIDTH (64 / BYTES)
#elif defined(__AVX__)
#define WIDTH (32 / BYTES)
#else
#define WIDTH (16 / BYTES)
#endif
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define BLOCK static __attribute__((noinline))
#define ISA(f) tf_##f
#ifdef SINGLE
#define tf_sincos tf_sincos_single
#define tf_atan2_vector tf_atan2_vector_single
static void tf_sincos(ptrdiff_t n, const number *x, number *s, number *c) __attribute__((unused));
#include "sincos_single.h"
#else
static void tf_sincos(ptrdiff_t n, const number *x, number *s, number *c) __attribute__((unused));
#include "sincos.h"
#include "arctan.h"
#endif
#else
#define WIDTH 1
#define BLOCK static
static inline void tf_sincos(ptrdiff_t n, const number *x, number *s, number *c)
{
    for (ptrdiff_t i = 0; i < n; i++) { s[i] = sin(x[i]); c[i] = cos(x[i]); }
}
#endif

#ifdef LANES
#ifdef SINGLE
#define FN(f) tf_##f##_x16
#define GROUPS(f) tf_##f##_x16_groups
#define LIVE(f) tf_##f##_x16_live
#else
#define FN(f) tf_##f##_x8
#define GROUPS(f) tf_##f##_x8_groups
#define LIVE(f) tf_##f##_x8_live
#endif
#define EACH(groups, step) for (ptrdiff_t g = 0; g < (groups) * (step); g += (step))
#else
#define LANES 1
#define FN(f) tf_##f
#endif

#if LANES == 1 || WIDTH == 1
typedef number real, anywhere;
#define PASSES for (int l = 0; l < LANES; l++)
#define PADDED(n) (((n) + 7) / 8 * 8)   /* round up to whole registers */
/* Computes 1 / x, NaN unless low < x < high: pivots must be in (0, inf). */
static inline real reciprocal(real x, number low, number high) { return low < x && x < high ? 1 / x : NAN; }
static inline real root(real x) { return sqrt(x); }
#if WIDTH == 1
static inline real arctangent(real y, real x) { return atan2(y, x); }
#elif !defined(SINGLE)
INLINE real arctangent(real y, real x)   /* in a register, so that the last bit is that of eight lanes */
{
    return tf_atan2_vector((tf_V){y}, (tf_V){x})[0];
}
#endif
#ifndef SINGLE
/* Angles of one configuration, eight after eight. They stay in registers: to load a register from memory that
 * single numbers were just stored to stops the processor for longer than their sines take. */
#define EIGHTS(n) (8 / WIDTH * (n))
#define entry(x, e) ((x)[(e) / WIDTH][(e) % WIDTH])
#if WIDTH == 8
#define EIGHT(a, b, c, d, e, f, g, h) {a, b, c, d, e, f, g, h}
#elif WIDTH == 4
#define EIGHT(a, b, c, d, e, f, g, h) {a, b, c, d}, {e, f, g, h}
#elif WIDTH == 2
#define EIGHT(a, b, c, d, e, f, g, h) {a, b}, {c, d}, {e, f}, {g, h}
#else
#undef entry
#define entry(x, e) ((x)[e])
#define EIGHT(a, b, c, d, e, f, g, h) a, b, c, d, e, f, g, h
typedef double tf_V;
#endif
#if WIDTH == 1
#define sincos_eights(n, x, s, c) tf_sincos(8 * (n), x, s, c)
#else
INLINE void sincos_eights(int n, const tf_V *x, tf_V *s, tf_V *c)
{
    const double largest = 100000;
    tf_I large = {0};
    UNROLL for (int k = 0; k + 1 < EIGHTS(n); k += 2) tf_sincos_registers(2, x + k, s + k, c + k);
    if (EIGHTS(n) % 2) tf_sincos_vector(x[EIGHTS(n) - 1], s + EIGHTS(n) - 1, c + EIGHTS(n) - 1);
    UNROLL for (int k = 0; k < EIGHTS(n); k++) large |= ~((x[k] <= largest) & (x[k] >= -largest));
    long long any = 0;
    for (int l = 0; l < WIDTH; l++) any |= large[l];
    if (any) {
        UNROLL for (int k = 0; k < EIGHTS(n); k++) {
            double angle[WIDTH], sine[WIDTH], cosine[WIDTH];
            memcpy(angle, x + k, sizeof angle);
            tf_sincos(WIDTH, angle, sine, cosine);
            memcpy(s + k, sine, sizeof sine);
            memcpy(c + k, cosine, sizeof cosine);
        }
    }
}
/* Registers of values of several limbs: load, change of the signs where those of the mask are set, and
 * reciprocals, NaN unless low < x < high. */
#define REGISTER(name, lanes) \
    typedef double name __attribute__((vector_size(8 * lanes))); \
    typedef long long name##_bits __attribute__((vector_size(8 * lanes))); \
    INLINE name load_##name(const tf_V *x, int e) \
    { \
        name values; \
        memcpy(&values, (const double *)x + e, sizeof values); \
        return values; \
    } \
    INLINE name turned_##name(name x, name mask) { return (name)((name##_bits)x ^ (name##_bits)mask); } \
    INLINE name reciprocal_##name(name x, name low, name high) \
    { \
        return (name)((name##_bits)(1.0 / x) | ~((name##_bits)(x > low) & (name##_bits)(x < high))); \
    }
REGISTER(two, 2)
#if WIDTH >= 4
REGISTER(four, 4)
#endif
#if WIDTH >= 8
REGISTER(eight, 8)
#endif
#endif
#endif
#else
typedef number real __attribute__((vector_size(BYTES * WIDTH)));
typedef number anywhere __attribute__((vector_size(BYTES * WIDTH), aligned(BYTES)));
typedef integer bits __attribute__((vector_size(BYTES * WIDTH)));
#define PASSES for (int l = 0; l < LANES; l += WIDTH)
#define PADDED(n) (n)
INLINE real reciprocal(real x, number low, number high)
{
    real inverse = 1 / x;
#ifdef __AVX512F__
    __asm__("" : "+v"(inverse));   /* starts the division before the comparisons */
#endif
    return (real)((bits)inverse | ~((bits)(x > low) & (bits)(x < high)));
}
INLINE real root(real x)
{
    for (int i = 0; i < WIDTH; i++) x[i] = sqrt(x[i]);
    return x;
}
INLINE real arctangent(real y, real x) { return tf_atan2_vector(y, x); }
#endif

#define load(x, e) (*(const anywhere *)((x) + (e) * LANES))
#define store(x, e, value) (*(anywhere *)((x) + (e) * LANES) = (value))
#define constant(value) ((real){0} + (value))
#define sincos_of(angle, sine, cosine) \
    tf_sincos(sizeof(angle) / BYTES, (const number *)(angle), (number *)(sine), (number *)(cosine))
