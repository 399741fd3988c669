/* Table of the kernels that invert equations of motion with constraint rows, per instruction set. */
#ifndef TREEFACTOR_BORDERED_H
#define TREEFACTOR_BORDERED_H

#include "../linalg/kernels.h"

#define ROUNDING 1e-18               /* a smaller share of a row, squared, is rounding: the row depends on others */

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. */
typedef struct {
    ptrdiff_t columns;               /* those of B and X are a multiple of this number */
    /* count the doubles of workspace that `invert` needs for m rows */
    ptrdiff_t (*workspace_size)(ptrdiff_t n, ptrdiff_t m);
    /* S <- matrix of [H J^T; J 0] [x; -y] = b, [x; y] = S b, for the rows J (m, n) and H = L^T D L with row k of L at
     * L[at[k]] and the reciprocals of D; share <- the least part of a row that is independent of those before it,
     * squared, relative to the row and to the largest one, of the rows that have such a part. It is negative where others
     * depend on those before them up to rounding: S is then that of the least y */
    void (*invert)(const Shape *, const ptrdiff_t *at, const double *L, const double *inverse, ptrdiff_t m,
                   const double *J, double *S, double *share, double *workspace);
    /* X <- S B, for S (size, size) */
    void (*multiply)(ptrdiff_t size, ptrdiff_t columns, const double *S, const double *B, double *X);
    /* x <- S b for one vector */
    void (*apply)(ptrdiff_t size, const double *S, const double *b, double *x);
    /* x <- S b without S, and share as `invert`; without meaning where that is negative */
    void (*solve)(const Shape *, const ptrdiff_t *at, const double *L, const double *inverse, ptrdiff_t m,
                  const double *J, const double *b, double *x, double *share, double *workspace);
} BorderedKernels;

typedef struct {
    const char *name;
    BorderedKernels one, lanes;      /* for 1 and for 8 states */
} Bordered;

extern const Bordered bordered_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Bordered bordered_avx2, bordered_avx512;
#endif

#endif
