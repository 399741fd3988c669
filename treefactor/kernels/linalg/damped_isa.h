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

#undef WIDTH
#undef ELEMENT
#undef REAL
#undef LANES
#undef NAME
typedef float ISA(SingleRegister) __attribute__((vector_size(REGISTER)));
#define WIDTH (REGISTER / 4)
#define ELEMENT float
#define REAL ISA(SingleRegister)
#define LANES 16
#define NAME(f) ISA(f##_single)
#include KERNELS

static void ISA(damped_singles)(ptrdiff_t m, ptrdiff_t n, const float *J, const float *e, const float *damping,
                                float *x, float *work, ptrdiff_t *failed)
{
    PASSES NAME(damped)(m, n, J + l, e + l, damping + l, x + l, work + l, failed + l);
}

const DampedTable ISA(damped) = {ISA_NAME, ISA(damped_one), ISA(damped_all), ISA(damped_singles)};
