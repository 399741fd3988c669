/* Instantiates the kernels of rollouts for one instruction set; rollouts.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)

#define KERNELS "kernels/rollouts/stages.h"
#include "../common/one_and_lanes.h"

static void ISA(add_all)(ptrdiff_t n, const double *x, double h, const double *y, double *result)
{
    PASSES NAME(add)(n, x + l, h, y + l, result + l);
}

static void ISA(add_commutator_all)(const Coordinates *c, ptrdiff_t count, const double *x, const double *y,
                                    double h, double *u)
{
    PASSES NAME(add_commutator)(c, count, x + l, y + l, h, u + l);
}

static void ISA(spread_nan_all)(ptrdiff_t m, const double *x, ptrdiff_t n, double *y)
{
    PASSES NAME(spread_nan)(m, x + l, n, y + l);
}

const StageTable ISA(stages) = {
    ISA_NAME,
    {ISA(add_one), ISA(add_commutator_one), ISA(spread_nan_one)},
    {ISA(add_all), ISA(add_commutator_all), ISA(spread_nan_all)},
};
#undef WIDTH
