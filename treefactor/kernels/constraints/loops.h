/* Kernels of loops for one instruction set: included by loops.c with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)

#define KERNELS "kernels/constraints/loop_kernels.h"
#include "../common/one_and_lanes.h"

static void ISA(rows_all)(const Closures *c, const double *frames, double *residual, double *bias, double *data)
{
    PASSES NAME(rows)(c, frames + l, residual + l, bias + l, data + l);
}

static void ISA(close_all)(const Closures *c, const Shape *t, const ptrdiff_t *at, const double *L,
                           const double *inverse, const double *data, double *wanted, double *g, double *force,
                           double *workspace)
{
    PASSES NAME(close)(c, t, at, L + l, inverse + l, data + l, wanted + l, g + l, force + l, workspace + l);
}

const LoopTable ISA(loops) = {
    ISA_NAME,
    {ISA(rows_one), ISA(loop_workspace_size_one), ISA(close_one)},
    {ISA(rows_all), NAME(loop_workspace_size), ISA(close_all)},
};
