/* Declare the kernels of Riccati sweeps: gains of linear-quadratic problems along a motion of a model.
 *
 * A state is (q, v), its tangent n + n numbers, and a control has nu. Semi-implicit Euler with the acceleration a:
 *
 *     dv' = A (du, dq, dv),  A = [h a_u | h a_q | I + h a_v];     dq' = D_q dq + h D_v dv'
 *
 * where D_q, D_v are the derivatives of the step of q by q and by h v': unit matrices but for blocks of rotations.
 *
 * A gap f moves the gradient g of the cost to go to where the step ends, g + V f (Mastalli et al., 2020, "Crocoddyl"). To
 * first order, closing gaps changes the cost by f g + f V f - f V dx, where dx is the whole change of the state: the slopes
 * have the first two terms, `pull` serves for the third. */
#ifndef TREEFACTOR_RICCATI_H
#define TREEFACTOR_RICCATI_H

#include <stddef.h>
#include <stdint.h>

#include "../configurations/joints.h"

/* Numbers of stage t. One problem: entry e of problem b at data[b to_problem + t to_stage + e]. Side by side: that of problem
 * k of the side at data[t to_stage + 8 e + k]. data may be NULL where it says so. */
typedef struct {
    const double *data;
    ptrdiff_t to_problem, to_stage;
} Series;

/* Stages 0 .. steps-1 and the end; m = nu + 2 n, all Hessians and gradients by (u, q, v). */
typedef struct {
    ptrdiff_t n, nu, steps;
    double h;
    const Coordinates *curved;       /* SPHERE, PLANE and SPACE */
    ptrdiff_t curved_count;
    Series by_q, by_v, by_u;         /* of accelerations: n x n, n x n, n x nu */
    Series step_by_q, step_by_v;     /* D_q, D_v: their blocks, one after the other, of `curved`; NULL without them */
    Series gradient, diagonal;       /* of costs: m; the diagonal of their Hessians: m */
    Series hessian;                  /* added to the Hessian, of entries first .. first + size - 1, its upper triangle */
    ptrdiff_t first, size;           /* nu and n, nu and 2 n, or 0 and m */
    Series gaps;                     /* of stage t: 2 n, from state t + 1 to where the step of stage t ends; NULL without */
    Series u;                        /* controls, nu; NULL without limits. Gaps and controls are of single problems in both cases */
    const double *lower, *upper;     /* nu: of controls */
    const double *regularization;    /* of every problem: added to the Hessians by u and, of the cost to go, by the state */
    /* (problems, steps, nu, 2 n) and (problems, steps, nu): controls change by feedforward + gains (dq, dv) */
    double *gains, *feedforward;
    double *slope;                   /* 2 of every problem: the fall expected of a step s is s slope_0 - s s / 2 slope_1 */
    double *pull;                    /* (problems, steps, 2 n): V f of the gaps f; with gaps */
    int8_t *failed;                  /* of every problem: whether a pivot was not positive */
} Sweep;

/* Sweep stages stop-1 .. first of the problems `problem[0..side-1]`, some of which may be the same; sweeps that begin at
 * the end, stop = steps, come first, and the next ones get their scratch, which is aligned to 64 bytes. */
typedef void (*SweepKernel)(const Sweep *, const ptrdiff_t *problem, ptrdiff_t first, ptrdiff_t stop, double *scratch);

typedef struct {
    const char *name;
    ptrdiff_t side;                  /* problems side by side in lanes */
    SweepKernel one, lanes;          /* vectors along columns of one problem; problems side by side: of the same bits */
    ptrdiff_t (*one_scratch)(const Sweep *), (*lanes_scratch)(const Sweep *);   /* doubles */
    /* u <- u + length k + K x, of nu and `states` numbers of 8 motions side by side; length has one for each. K and k are
     * those of 8 problems, or of one */
    void (*control)(ptrdiff_t nu, ptrdiff_t states, const double *K, const double *x, const double *k,
                    const double *length, double *u);
    void (*control_of_one)(ptrdiff_t nu, ptrdiff_t states, const double *K, const double *x, const double *k,
                           const double *length, double *u);
} RiccatiTable;

extern const RiccatiTable riccati_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const RiccatiTable riccati_avx2, riccati_avx512;
#endif

#endif
