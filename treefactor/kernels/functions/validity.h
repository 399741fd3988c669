/* Checks of the arguments of compiled functions, per instruction set. */
#ifndef TREEFACTOR_VALIDITY_H
#define TREEFACTOR_VALIDITY_H

#include <stddef.h>

typedef struct {
    const char *name;
    /* whether in all 8 lanes all entries of x are finite, and the squares of its parts, each with its first entry and
     * size in unit, add up to 1 within the tolerance */
    int (*are_valid)(ptrdiff_t entries, const double *x, ptrdiff_t units, const ptrdiff_t *unit, double tolerance);
} Validity;

extern const Validity validity_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Validity validity_avx2, validity_avx512;
#endif

#endif
