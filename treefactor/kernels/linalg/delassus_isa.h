/* Kernels of J H^-1 J^T for one instruction set: included by delassus.c with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#undef WIDTH
#define WIDTH (REGISTER / 8)

#include "delassus_one.h"

#undef KERNELS
#define KERNELS "kernels/linalg/invert_small.h"
#include "../common/one_and_lanes.h"

static void ISA(invert_all)(ptrdiff_t m, double damping, double *G, double *X, ptrdiff_t *failed)
{
    PASSES NAME(invert)(m, damping, G + l, X + l, failed + l);
}

const DelassusTable ISA(delassus) = {ISA_NAME, ISA(delassus_one), ISA(invert_one), ISA(invert_all)};
