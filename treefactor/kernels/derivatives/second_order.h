/* Instantiate the kernels of second derivatives for one instruction set; second_order.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/derivatives/second_order_kernels.h"
#define CONSTANTS_TOO
#include "../common/one_and_lanes.h"

#define FROM(x) ((x) ? (x) + l : NULL)

static Weighted ISA(second_from)(const Weighted *x, int l)
{
    return (Weighted){x->q + l, x->v + l, x->a + l, FROM(x->fext), x->w + l,
                    FROM(x->dq), FROM(x->dv), FROM(x->da), FROM(x->dw)};
}

static void ISA(hvp_all)(const Mechanism *m, const Weighted *x, int symmetric, double *y_q, double *y_v, double *y_a,
                         double *workspace)
{
    PASSES {
        const Weighted from = ISA(second_from)(x, l);
        CALL(hvp, &from, symmetric, y_q + l, y_v + l, y_a + l, workspace);
    }
}

static void ISA(hessian_all)(const Mechanism *m, const Weighted *x, int symmetric, double *qq, double *qv, double *vv,
                             double *qa, double *workspace)
{
    PASSES {
        const Weighted from = ISA(second_from)(x, l);
        CALL(hessian, &from, symmetric, qq + l, qv + l, vv + l, qa + l, workspace);
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
    {ISA(second_order_size_one), ISA(hvp_one), ISA(hessian_one), ISA(forward_hessian_one)},
    {NAME(second_order_size), ISA(hvp_all), ISA(hessian_all), ISA(forward_hessian_all)},
};
#undef WIDTH
#undef KERNELS
#undef CONSTANTS_TOO
#undef FROM
