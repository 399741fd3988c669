/* Instantiate the kernels of first derivatives for one instruction set; first_order.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/derivatives/first_order_kernels.h"
#define CONSTANTS_TOO
#include "../common/one_and_lanes.h"

#define FROM(x) ((x) ? (x) + l : NULL)

static void ISA(rnea_derivatives_all)(const Mechanism *m, const double *q, const double *v, const double *a,
                                      const double *fext, double *tau, double *H, double *dq, double *dv,
                                      double *workspace)
{
    PASSES CALL(rnea_derivatives, q + l, v + l, a + l, FROM(fext), tau + l, H + l, dq + l, dv + l,
                                  workspace);
}

/* every part of the lanes has a workspace of its own, which is kept from the first part to the second */
static ptrdiff_t ISA(parts_size_all)(const Mechanism *m) { return LANES / WIDTH * NAME(parts_size)(m); }

static void ISA(velocity_part_all)(const Mechanism *m, const double *q, const double *v, const double *fext,
                                   double *bias, double *H, double *dv, double *workspace)
{
    PASSES CALL(velocity_part, q + l, v + l, FROM(fext), bias + l, H + l, dv + l,
                               workspace + l / WIDTH * NAME(parts_size)(m));
}

static void ISA(position_part_all)(const Mechanism *m, const double *a, double *dq, double *workspace)
{
    PASSES CALL(position_part, a + l, dq + l, workspace + l / WIDTH * NAME(parts_size)(m));
}

const FirstOrder ISA(first_order) = {
    ISA_NAME,
    {ISA(first_order_size_one), ISA(rnea_derivatives_one), ISA(parts_size_one), ISA(velocity_part_one),
     ISA(position_part_one)},
    {NAME(first_order_size), ISA(rnea_derivatives_all), ISA(parts_size_all), ISA(velocity_part_all),
     ISA(position_part_all)},
};
#undef FROM
#undef WIDTH
#undef KERNELS
#undef CONSTANTS_TOO
