/* Random bits that depend on a key and a counter only: the same in any order, alone or side by side, on any thread. */
#ifndef TREEFACTOR_COUNTERS_H
#define TREEFACTOR_COUNTERS_H

#include <stdint.h>

#define GOLDEN 0x9e3779b97f4a7c15u   /* 2^64 over the golden ratio */

/* x <- a number whose bits all depend on all bits of x, a uint64_t or a register of them: Stafford's variant 13 of the
 * finalizer of MurmurHash3, as in SplitMix64 (Steele, Lea and Flood, 2014) */
#define MIX(x) do { \
        (x) = ((x) ^ ((x) >> 30)) * 0xbf58476d1ce4e5b9u; \
        (x) = ((x) ^ ((x) >> 27)) * 0x94d049bb133111ebu; \
        (x) ^= (x) >> 31; \
    } while (0)

static inline uint64_t mix(uint64_t x)
{
    MIX(x);
    return x;
}

/* Return bits for a key and a counter. */
static inline uint64_t random_bits(uint64_t key, uint64_t counter) { return mix(key + GOLDEN * (counter + 1)); }

#endif
