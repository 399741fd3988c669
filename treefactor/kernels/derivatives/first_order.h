/* Instantiate the kernels of first derivatives for one instruction set; first_order.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/derivatives/first_order_kernels.h"
#define CONSTANTS_TOO
#include "../common/one_and_lanes.h"

#define FROM(x) ((x) ? (x) + l : NULL)

/* Return the doubles of workspace for all passes: equation_of_motion leaves the turns of each in its own. */
static ptrdiff_t ISA(first_order_size)(const Mechanism *m)
{
    return LANES / WIDTH * NAME(first_order_size)(m);
}

static void ISA(equation_of_motion_all)(const Mechanism *m, const double *q, const double *v, const double *fext,
                                        double *H, double *bias, double *workspace)
{
    PASSES CALL(equation_of_motion, q + l, v + l, FROM(fext), H + l, bias + l,
                                    workspace + l / WIDTH * NAME(first_order_size)(m));
}

static void ISA(rnea_derivatives_all)(const Mechanism *m, const State *x, double *tau, double *H, double *dq,
                                      double *dv, double *workspace)
{
    PASSES {
        State state = {FROM(x->q), x->v + l, x->a + l, FROM(x->fext)};
        CALL(rnea_derivatives, &state, tau + l, H + l, dq + l, dv + l,
                               x->q ? workspace : workspace + l / WIDTH * NAME(first_order_size)(m));
    }
}

const FirstOrder ISA(first_order) = {
    ISA_NAME,
    {ISA(first_order_size_one), ISA(equation_of_motion_one), ISA(rnea_derivatives_one)},
    {ISA(first_order_size), ISA(equation_of_motion_all), ISA(rnea_derivatives_all)},
};
#undef FROM
#undef WIDTH
#undef KERNELS
#undef CONSTANTS_TOO
