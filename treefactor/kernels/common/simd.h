/* Forced inlining, unrolled loops and joined names, for every vectorized kernel. */
#ifndef TREEFACTOR_SIMD_H
#define TREEFACTOR_SIMD_H

#define INLINE static inline __attribute__((always_inline))

/* UNROLL stands before loops whose bounds are constants once inlined: without it their arrays of registers are
 * kept in memory. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define UNROLL_LONG UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#define UNROLL_LONG _Pragma("GCC unroll 32")
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

/* the register of a vector type that begins at address p: to write, and to read */
#define AS(type, p) (*(type *)(p))
#define READ_AS(type, p) (*(const type *)(p))

/* entry e of an array of LANES numbers side by side, a `real` of them: to write, and to read */
#define AT(x, e) AS(real, (x) + (ptrdiff_t)(e) * LANES)
#define READ(x, e) READ_AS(real, (x) + (ptrdiff_t)(e) * LANES)

#endif
