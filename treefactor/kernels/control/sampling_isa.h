/* Instantiates the kernels of sampling control, in lanes, for one instruction set; sampling.c includes it with
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
typedef uint64_t ISA(Bits) __attribute__((vector_size(REGISTER)));
#define REAL ISA(Register)
#define LANES 8
#define NAME(f) ISA(f##_lanes)
#define PASSES for (int l = 0; l < LANES; l += WIDTH)
#define bits ISA(Bits)

#include "../poses/operations.h"
#include "normal_numbers.h"
#include "sampled_controls.h"

const SamplingTable ISA(sampling) = {
    ISA_NAME, NAME(draw), NAME(control), NAME(apply), NAME(add_doubt), NAME(average),
};
#undef bits
