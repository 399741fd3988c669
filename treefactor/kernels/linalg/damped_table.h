/* Declare the kernels of damped least squares: one table for every instruction set. */
#ifndef TREEFACTOR_DAMPED_H
#define TREEFACTOR_DAMPED_H

#include <stddef.h>

/* x <- the minimizer of |J x - e|^2 + damping |x|^2, for J of (m, n) entries; failed <- -1, or the pivot that is too
 * small, and x is NaN. work: k k + 2 k entries, k = min(m, n). */
typedef void (*DampedKernel)(ptrdiff_t m, ptrdiff_t n, const double *J, const double *e, const double *damping,
                             double *x, double *work, ptrdiff_t *failed);

/* The same in float; a damping is raised to 2^-19 (m + n) times the sum of the squares of J. */
typedef void (*SingleDampedKernel)(ptrdiff_t m, ptrdiff_t n, const float *J, const float *e, const float *damping,
                                   float *x, float *work, ptrdiff_t *failed);

typedef struct {
    const char *name;
    DampedKernel one, lanes;         /* lanes: 8 problems side by side, with a damping and a row of `failed` for each */
    SingleDampedKernel singles;      /* 16 problems side by side */
} DampedTable;

extern const DampedTable damped_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const DampedTable damped_avx2, damped_avx512;
#endif

#endif
