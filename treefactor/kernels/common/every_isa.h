/* The text TEXT once for every instruction set; each time it sees
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define REGISTER 16
#define ISA(f) f##_baseline
#define ISA_NAME "baseline"
#include TEXT

#if defined(__x86_64__) && defined(__GNUC__)
#undef REGISTER
#undef ISA
#undef ISA_NAME
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define REGISTER 32
#define ISA(f) f##_avx2
#define ISA_NAME "avx2"
#include TEXT
#undef REGISTER
#undef ISA
#undef ISA_NAME
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")
#endif
#define REGISTER 64
#define ISA(f) f##_avx512
#define ISA_NAME "avx512"
#include TEXT
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
