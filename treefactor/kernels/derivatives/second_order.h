/* Instantiate the kernels of second derivatives for one instruction set; second_order.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/derivatives/second_order_kernels.h"
#define CONSTANTS_TOO
#include "../common/one_and_lanes.h"

static void ISA(hessian_all)(const Mechanism *m, const State *x, const double *w, int symmetric, double *qq, double *qv,
                             double *vv, double *qa, double *workspace)
{
    PASSES {
        const State state = {x->q + l, x->v + l, x->a + l, x->fext ? x->fext + l : NULL};
        CALL(hessian, &state, w + l, symmetric, qq + l, qv + l, vv + l, qa + l, workspace);
    }
}

static void ISA(forward_hessian_all)(const PackedHessian *x, int symmetric, const double *a_q, const double *a_v,
                                     const double *a_tau, double *qq, double *qv, double *vv, double *qtau)
{
    PASSES {
        const PackedHessian from = {x->n, x->start, x->column, x->qq + l, x->qv + l, x->vv + l, x->qa + l};
        NAME(forward_hessian)(&from, symmetric, a_q + l, a_v + l, a_tau + l, qq + l, qv + l, vv + l, qtau + l);
    }
}

const SecondOrder ISA(second_order) = {
    ISA_NAME,
    {ISA(second_order_size_one), ISA(hessian_one), ISA(forward_hessian_one)},
    {NAME(second_order_size), ISA(hessian_all), ISA(forward_hessian_all)},
};
#undef WIDTH
#undef KERNELS
#undef CONSTANTS_TOO
