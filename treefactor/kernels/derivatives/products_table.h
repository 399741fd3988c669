/* Table of the kernels that multiply vectors by derivatives of inverse dynamics, per instruction set. */
#ifndef TREEFACTOR_PRODUCTS_TABLE_H
#define TREEFACTOR_PRODUCTS_TABLE_H

#include "../dynamics/bodies.h"
#include "state.h"

/* Directions of a derivative, for every vector in turn; NULL: zero */
typedef struct { const double *q, *v, *a, *fext; } Directions;

/* Gradients, for every vector in turn: n by q, v and a; 6 per joint by fext; 10 per joint by its inertia, that is mass,
 * first moment, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin and in its axes. NULL: not wanted, but by q and v */
typedef struct { double *q, *v, *a, *fext, *inertia; } Gradients;

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. Arrays with lanes are
 * aligned to 64 bytes, the workspace too. A state has any number of vectors to
 * multiply by. */
typedef struct {
    /* doubles of workspace */
    ptrdiff_t (*workspace_size)(const Mechanism *);
    /* H and bias of the equation of motion H a + bias = tau */
    void (*equation_of_motion)(const Mechanism *, const double *q, const double *v, const double *fext, double *H,
                               double *bias, double *workspace);
    /* gradients of w . tau for the inverse dynamics tau, which is written too unless it is NULL. q = NULL: that of the
     * last call of equation_of_motion, whose workspace this is; moved: the whole state is that of the last of the
     * other kernels, and tau NULL */
    void (*vjp)(const Mechanism *, const State *, ptrdiff_t vectors, const double *w, double *tau, const Gradients *,
                double *workspace);
    /* dtau <- derivative of the inverse dynamics along directions; the rest as for vjp */
    void (*jvp)(const Mechanism *, const State *, ptrdiff_t vectors, const Directions *, double *tau, double *dtau,
                double *workspace);
    /* doubles of workspace of hvp: that of the others, and more */
    ptrdiff_t (*hvp_size)(const Mechanism *);
    /* y_q, y_v, y_a <- derivatives along a direction of the gradient of w . tau, where w changes by dw (NULL: zero);
     * `symmetric`: second derivatives of w . tau at integrate(q, d) by d along it. q = NULL as for vjp */
    void (*hvp)(const Mechanism *, const State *, const double *w, const Directions *, const double *dw, int symmetric,
                double *y_q, double *y_v, double *y_a, double *workspace);
} ProductKernels;

typedef struct {
    const char *name;
    ProductKernels one, lanes;       /* for 1 and for 8 states */
} Products;

extern const Products products_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Products products_avx2, products_avx512;
#endif

#endif
