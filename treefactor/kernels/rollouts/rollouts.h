/* Instantiates the kernels of rollouts for one instruction set; rollouts.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#define KERNELS "kernels/rollouts/stages.h"
#include "../common/one_and_lanes.h"
#include "../common/lanes_single.h"

const StageTable ISA(stages) = {
    ISA_NAME,
    {ISA(add_all_one), ISA(add_commutator_all_one), ISA(spread_nan_all_one)},
    {ISA(add_all_lanes), ISA(add_commutator_all_lanes), ISA(spread_nan_all_lanes)},
    {ISA(add_all_sixteen), ISA(add_commutator_all_sixteen), ISA(spread_nan_all_sixteen)},
};
#undef KERNELS
#undef WIDTH
