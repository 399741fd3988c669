/* Kernels of damped least squares for one instruction set: included by damped.c with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#undef WIDTH
#define WIDTH (REGISTER / 8)

#undef KERNELS
#define KERNELS "kernels/linalg/damped.h"
#include "../common/one_and_lanes.h"

static void ISA(damped_all)(ptrdiff_t m, ptrdiff_t n, const double *J, const double *e, const double *damping,
                            double *x, double *work, ptrdiff_t *failed)
{
    PASSES NAME(damped)(m, n, J + l, e + l, damping + l, x + l, work + l, failed + l);
}

const DampedTable ISA(damped) = {ISA_NAME, ISA(damped_one), ISA(damped_all)};
