/* Define the type `real` of generated functions: the number of one configuration, or with -DLANES=8 a vector
 * register that holds some of the eight configurations. Entry e of configuration l is at x[8 e + l]. */
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
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define BLOCK static __attribute__((noinline))
#define ISA(f) tf_##f
static void tf_sincos(ptrdiff_t n, const double *x, double *s, double *c) __attribute__((unused));
#include "sincos.h"
#include "arctan.h"
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
#define PADDED(n) (((n) + 7) / 8 * 8)   /* round up to whole registers */
/* Computes 1 / x, NaN unless low < x < high: pivots must be in (0, inf). */
static inline real reciprocal(real x, double low, double high) { return low < x && x < high ? 1.0 / x : NAN; }
static inline real root(real x) { return sqrt(x); }
#if WIDTH == 1
static inline real arctangent(real y, real x) { return atan2(y, x); }
#else
INLINE real arctangent(real y, real x)   /* in a register, so that the last bit is that of eight lanes */
{
    return tf_atan2_vector((tf_V){y}, (tf_V){x})[0];
}
#endif
#else
typedef double real __attribute__((vector_size(8 * WIDTH)));
typedef double anywhere __attribute__((vector_size(8 * WIDTH), aligned(8)));
typedef long long bits __attribute__((vector_size(8 * WIDTH)));
#define PASSES for (int l = 0; l < LANES; l += WIDTH)
#define PADDED(n) (n)
INLINE real reciprocal(real x, double low, double high)
{
    real found = 1.0 / x;
#ifdef __AVX512F__
    __asm__("" : "+v"(found));   /* starts the division before the comparisons */
#endif
    return (real)((bits)found | ~((bits)(x > low) & (bits)(x < high)));
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
#define constant(number) ((real){0} + (number))
#define sincos_of(angle, sine, cosine) \
    tf_sincos(sizeof(angle) / 8, (const double *)(angle), (double *)(sine), (double *)(cosine))
