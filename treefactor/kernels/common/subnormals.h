/* Take subnormal numbers for zero between the two calls, in this thread: processors compute with them many times
 * slower, and settling motions in single precision are full of them. */
#ifndef TREEFACTOR_SUBNORMALS_H
#define TREEFACTOR_SUBNORMALS_H

#include <stdint.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
/* flush results to zero, and read arguments as zero */
static inline uint64_t flush_subnormals(void)
{
    const unsigned state = _mm_getcsr();
    _mm_setcsr(state | 0x8040);
    return state;
}

static inline void restore_subnormals(uint64_t state) { _mm_setcsr((unsigned)state); }
#elif defined(__aarch64__)
static inline uint64_t flush_subnormals(void)
{
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    __asm__ volatile("msr fpcr, %0" : : "r"(state | (UINT64_C(1) << 24)));
    return state;
}

static inline void restore_subnormals(uint64_t state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }
#else
static inline uint64_t flush_subnormals(void) { return 0; }
static inline void restore_subnormals(uint64_t state) { (void)state; }
#endif

#endif
