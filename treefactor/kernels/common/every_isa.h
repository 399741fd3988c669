/* Compile the text TEXT for every instruction set, or with ONLY for the one whose registers have ONLY bytes.
 * Each time TEXT sees
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#include <stddef.h>
#include <string.h>

#include "compiled.h"
#include "simd.h"
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#if COMPILED(16)
#define REGISTER 16
#define ISA(f) f##_baseline
#define ISA_NAME "baseline"
#include "any_lane.h"
#include TEXT
#undef REGISTER
#undef ISA
#undef ISA_NAME
#undef ANY_LANE
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#if COMPILED(32)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define REGISTER 32
#define ISA(f) f##_avx2
#define ISA_NAME "avx2"
#include "any_lane.h"
#include TEXT
#undef REGISTER
#undef ISA
#undef ISA_NAME
#undef ANY_LANE
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#if COMPILED(64)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")
#endif
#define REGISTER 64
#define ISA(f) f##_avx512
#define ISA_NAME "avx512"
#include "any_lane.h"
#include TEXT
#undef REGISTER
#undef ISA
#undef ISA_NAME
#undef ANY_LANE
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#endif
