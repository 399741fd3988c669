/* Run multiply-adds on registers only, to measure the peak of one core for every instruction set. */
#include <stddef.h>

enum { CHAINS = 12 };                /* independent of each other: more than latency times units */

#define PEAK(name, target, bytes) \
    typedef double name##_vec __attribute__((vector_size(bytes))); \
    target static double name(ptrdiff_t rounds, double factor, double *operations) { \
        name##_vec x[CHAINS], a = {0}; \
        a += factor; \
        for (int c = 0; c < CHAINS; c++) x[c] = a + c; \
        for (ptrdiff_t r = 0; r < rounds; r++) \
            for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + a; \
        for (int c = 1; c < CHAINS; c++) x[0] += x[c]; \
        *operations = 2.0 * rounds * CHAINS * (bytes / sizeof(double)); \
        return x[0][0]; \
    }

PEAK(peak_baseline, , 16)
#if defined(__x86_64__) && defined(__GNUC__)
PEAK(peak_avx2, __attribute__((target("avx2,fma"))), 32)
PEAK(peak_avx512, __attribute__((target("avx512f,fma"))), 64)

static double peak(int set, ptrdiff_t rounds, double factor, double *operations) {
    return (set == 2 ? peak_avx512 : set == 1 ? peak_avx2 : peak_baseline)(rounds, factor, operations);
}
#else
static double peak(int set, ptrdiff_t rounds, double factor, double *operations) {
    (void)set;
    return peak_baseline(rounds, factor, operations);
}
#endif
