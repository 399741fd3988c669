/* Instantiate the kernels of rows of loops and rigid contacts for one instruction set; frame_rows.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#define KERNELS "kernels/constraints/frame_row_kernels.h"
#include "../common/one_and_lanes.h"

static void ISA(frame_rows_all)(const FrameRows *c, int sides, int order, int turns, const double *frames,
                                const double *v, const double *a, int loads, const double *forces, double *values,
                                double *derivatives, double *E, double *workspace)
{
    PASSES NAME(rows)(c, sides, order, turns, frames + l, v + l, a ? a + l : a, loads, forces + l,
                      values ? values + l : values, derivatives ? derivatives + l : derivatives, E + l, workspace);
}

const FrameRowTable ISA(frame_rows) = {
    ISA_NAME,
    {ISA(frame_rows_size_one), ISA(rows_one)},
    {NAME(frame_rows_size), ISA(frame_rows_all)},
};
#undef WIDTH
#undef KERNELS
