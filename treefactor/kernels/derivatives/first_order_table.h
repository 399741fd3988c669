/* Table of the kernels that compute first derivatives of inverse dynamics, per instruction set. */
#ifndef TREEFACTOR_FIRST_ORDER_TABLE_H
#define TREEFACTOR_FIRST_ORDER_TABLE_H

#include "../dynamics/bodies.h"
#include "state.h"

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. Arrays with lanes are
 * aligned to 64 bytes, the workspace too. Matrices by q and v: packed rows of the lower triangle, then the entries
 * above the diagonal in the same order, transposed. */
typedef struct {
    /* doubles of workspace */
    ptrdiff_t (*workspace_size)(const Mechanism *);
    /* H and bias of the equation of motion H a + bias = tau */
    void (*equation_of_motion)(const Mechanism *, const double *q, const double *v, const double *fext, double *H,
                               double *bias, double *workspace);
    /* tau <- inverse dynamics; H <- packed rows of its derivative by a; dq, dv <- its derivatives by q and v. q = NULL:
     * that of the last call of equation_of_motion, whose workspace this is */
    void (*rnea_derivatives)(const Mechanism *, const State *, double *tau, double *H, double *dq, double *dv,
                             double *workspace);
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
