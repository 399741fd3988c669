/* Instantiate the kernels of first derivatives for one instruction set; first_order.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/derivatives/first_order_kernels.h"
#include "../common/one_and_lanes.h"

static void ISA(rnea_derivatives_all)(const Mechanism *m, const double *q, const double *v, const double *a,
                                      const double *fext, double *tau, double *H, double *dq, double *dv,
                                      double *workspace)
{
    PASSES NAME(rnea_derivatives)(m, q + l, v + l, a + l, fext ? fext + l : NULL, tau + l, H + l, dq + l, dv + l,
                                  workspace);
}

const FirstOrder ISA(first_order) = {
    ISA_NAME,
    {ISA(first_order_size_one), ISA(rnea_derivatives_one)},
    {NAME(first_order_size), ISA(rnea_derivatives_all)},
};
#undef WIDTH
#undef KERNELS
