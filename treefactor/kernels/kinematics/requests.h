/* Instantiates the kernels of requests for one instruction set; requests.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

/* one configuration: vectors of scalars would be stored in halves and loaded as a whole, which waits for the stores */
#if defined(__GNUC__) && !defined(__clang__)
#define SCALAR __attribute__((optimize("no-tree-slp-vectorize")))
#else
#define SCALAR
#endif
#define KERNELS "kernels/kinematics/request_kernels.h"
#include "../common/one_and_lanes.h"

const RequestTable ISA(requests) = {
    ISA_NAME,
    {ISA(workspace_size_one), ISA(compute_one)},
    {NAME(workspace_size), NAME(compute)},
};

#undef WIDTH
#undef SCALAR
#undef KERNELS
