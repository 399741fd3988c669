/* Instantiates the kernels of costs, in lanes, for one instruction set; costs.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#undef WIDTH
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"
#include "../common/arctan.h"

#undef REAL
#undef LANES
#undef NAME
#undef ELEMENT
#undef INTEGER
#undef PRECISE
#undef PASSES
#define ELEMENT double
#define INTEGER long long
#define PRECISE(f) ISA(f)
typedef double ISA(Register) __attribute__((vector_size(REGISTER)));
#define REAL ISA(Register)
#define LANES 8
#define NAME(f) ISA(f##_lanes)
#define PASSES for (int l = 0; l < LANES; l += WIDTH)

#include "../poses/operations.h"
#include "residuals.h"

const CostTable ISA(costs) = {
    ISA_NAME, NAME(add_value), NAME(pose_residual), NAME(excess), NAME(add_entries), NAME(add_excess), NAME(add_squares),
};
