/* Table of the kernels that compute first derivatives of inverse dynamics, per instruction set. */
#ifndef TREEFACTOR_FIRST_ORDER_TABLE_H
#define TREEFACTOR_FIRST_ORDER_TABLE_H

#include "../dynamics/bodies.h"

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. Arrays with lanes are
 * aligned to 64 bytes, the workspace too. Matrices by q and v: packed rows of the lower triangle, then the entries
 * above the diagonal in the same order, transposed. */
typedef struct {
    /* doubles of workspace */
    ptrdiff_t (*workspace_size)(const Mechanism *);
    /* tau <- inverse dynamics; H <- packed rows of its derivative by a; dq, dv <- its derivatives by q and v; NULL
     * for fext means zero */
    void (*rnea_derivatives)(const Mechanism *, const double *q, const double *v, const double *a, const double *fext,
                             double *tau, double *H, double *dq, double *dv, double *workspace);
    /* doubles of workspace of the two that follow */
    ptrdiff_t (*parts_size)(const Mechanism *);
    /* bias, H, dv <- inverse dynamics at zero acceleration, and its derivatives by a and v */
    void (*velocity_part)(const Mechanism *, const double *q, const double *v, const double *fext, double *bias,
                          double *H, double *dv, double *workspace);
    /* dq <- derivatives by q at the acceleration a, after velocity_part with the same workspace */
    void (*position_part)(const Mechanism *, const double *a, double *dq, double *workspace);
} FirstOrderKernels;

typedef struct {
    const char *name;
    FirstOrderKernels one, lanes;    /* for 1 and for 8 states */
} FirstOrder;

extern const FirstOrder first_order_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const FirstOrder first_order_avx2, first_order_avx512;
#endif

#endif
