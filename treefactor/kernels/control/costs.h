/* Declare the kernels of costs of motions: weighted squares of residuals, of 8 states side by side.
 *
 * Entry e of state l stands at x[8 e + l]. A cost is half the scale of a state times the sum of weight r^2 over the entries
 * of its residual r; gradients g and Hessians H are by (u, q, v), H by Gauss and Newton. */
#ifndef TREEFACTOR_COSTS_H
#define TREEFACTOR_COSTS_H

#include <stddef.h>

/* The derivatives L J of a residual: L is 6 x 6, [A B; 0 A], or NULL; J has two parts side by side, with columns. */
typedef struct {
    const double *J[2];
    ptrdiff_t columns[2];
    const double *L;
    const ptrdiff_t *column;         /* of both parts: ascending entries of (u, q, v) */
} ResidualDerivatives;

/* H has rows of `size` entries, by those of (u, q, v) from the first one on: its upper triangle. */
typedef struct {
    double *g;
    double *diagonal;                /* added to that of H, of all entries */
    double *H;
    ptrdiff_t first, size;
} CostDerivatives;

typedef struct {
    const char *name;
    /* cost <- cost + the value of a residual of n entries */
    void (*add_value)(ptrdiff_t n, const double *weight, const double *scale, const double *r, double *cost);
    /* r <- log(target^-1 pose), linear before angular; L <- its derivative by motions of the pose in its own axes, unless NULL */
    void (*pose_residual)(const double *pose, const double *target, double *r, double *L);
    /* r <- how far entries of q are above the upper or below the lower ones */
    void (*excess)(ptrdiff_t n, const ptrdiff_t *entry, const double *lower, const double *upper, const double *q, double *r);
    /* Add the derivatives of a residual by its own entries, from entry `first` of (u, q, v) on, */
    void (*add_entries)(ptrdiff_t n, const double *weight, const double *scale, const double *r, ptrdiff_t first,
                        const CostDerivatives *);
    /* of one by entries of (u, q, v), where it is not 0, */
    void (*add_excess)(ptrdiff_t n, const double *weight, const double *scale, const double *r, const ptrdiff_t *entry,
                       const CostDerivatives *);
    /* and of one with a Jacobian. n is 3 or 6; work: n doubles for every column of 8 states */
    void (*add_squares)(ptrdiff_t n, const ResidualDerivatives *, const double *weight, const double *scale, const double *r,
                        double *work, const CostDerivatives *);
} CostTable;

extern const CostTable costs_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const CostTable costs_avx2, costs_avx512;
#endif

#endif
