/* The numbers that generated functions compute with: those of one configuration, or with -DLANES=8 of eight at
 * once, entry e of configuration l at x[8 e + l], a register's width after the other. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(__GNUC__) && FLT_EVAL_METHOD == 0
#ifdef __AVX512F__
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
#define INLINE static inline __attribute__((always_inline))
#define BLOCK static __attribute__((noinline))
#define ISA(f) tf_##f
static void tf_sincos(ptrdiff_t n, const double *x, double *s, double *c) __attribute__((unused));
#include "sincos.h"
#else
#define WIDTH 1
#define BLOCK static
static inline void tf_sincos(ptrdiff_t n, const double *x, double *s, double *c)
{
    for (ptrdiff_t i = 0; i < n; i++) { s[i] = sin(x[i]); c[i] = cos(x[i]); }
}
#endif

#ifdef LANES
#define FN(f) tf_##f##_x8
#else
#define LANES 1
#define FN(f) tf_##f
#endif

#if LANES == 1 || WIDTH == 1
typedef double real, anywhere;
#define PASSES for (int l = 0; l < LANES; l++)
#define ROOM(n) (((n) + 7) / 8 * 8)   /* numbers that fill whole registers */
/* 1 / x, NaN where x is not in (low, high): pivots are in (0, inf) */
static inline real reciprocal(real x, double low, double high) { return low < x && x < high ? 1.0 / x : NAN; }
#else
typedef double real __attribute__((vector_size(8 * WIDTH)));
typedef double anywhere __attribute__((vector_size(8 * WIDTH), aligned(8)));
typedef long long bits __attribute__((vector_size(8 * WIDTH)));
#define PASSES for (int l = 0; l < LANES; l += WIDTH)
#define ROOM(n) (n)
INLINE real reciprocal(real x, double low, double high)
{
    real found = 1.0 / x;
#ifdef __AVX512F__
    __asm__("" : "+v"(found));   /* or the division waits for the comparisons */
#endif
    return (real)((bits)found | ~((bits)(x > low) & (bits)(x < high)));
}
#endif

#define load(x, e) (*(const anywhere *)((x) + (e) * LANES))
#define store(x, e, value) (*(anywhere *)((x) + (e) * LANES) = (value))
#define constant(number) ((real){0} + (number))
#define sincos_of(angle, sine, cosine) \
    tf_sincos(sizeof(angle) / 8, (const double *)(angle), (double *)(sine), (double *)(cosine))
