/* Table of the kernels that compute second derivatives of inverse dynamics, per instruction set. */
#ifndef TREEFACTOR_SECOND_ORDER_TABLE_H
#define TREEFACTOR_SECOND_ORDER_TABLE_H

#include "../dynamics/bodies.h"
#include "state.h"

/* Second derivatives of inverse dynamics as `hessian` writes them, weighted by H^-1 w, in the pattern of H */
typedef struct {
    ptrdiff_t n;
    const ptrdiff_t *start, *column; /* n + 1; of every packed entry */
    const double *qq, *qv, *vv, *qa;
} PackedHessian;

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. Arrays with lanes are
 * aligned to 64 bytes, the workspace too. phi = w . (inverse dynamics); derivatives by q are along `integrate`.
 * `symmetric`: they are of phi at integrate(q, d) by d; otherwise derivatives of the gradient of phi. */
typedef struct {
    /* doubles of workspace of hessian */
    ptrdiff_t (*workspace_size)(const Mechanism *);
    /* qq, qv, vv, qa <- second derivatives of phi; the first letter is the row. Packed rows of the lower triangle,
     * then, for qv and qa, and for qq unless symmetric, the entries above the diagonal in the same order, transposed */
    void (*hessian)(const Mechanism *, const State *, const double *w, int symmetric, double *qq, double *qv, double *vv,
                    double *qa, double *workspace);
    /* qq, qv, vv, qtau <- second derivatives of w . (forward dynamics), dense */
    void (*forward_hessian)(const PackedHessian *, int symmetric, const double *a_q, const double *a_v,
                            const double *a_tau, double *qq, double *qv, double *vv, double *qtau);
} SecondOrderKernels;

typedef struct {
    const char *name;
    SecondOrderKernels one, lanes;   /* for 1 and for 8 states */
} SecondOrder;

extern const SecondOrder second_order_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const SecondOrder second_order_avx2, second_order_avx512;
#endif

#endif
