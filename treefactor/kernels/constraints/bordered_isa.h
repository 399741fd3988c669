/* Instantiate the kernels of equations with constraint rows for one instruction set; bordered.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
typedef double ISA(Columns) __attribute__((vector_size(REGISTER), aligned(8), may_alias));

#define KERNELS "kernels/constraints/bordered_kernels.h"
#include "../common/one_and_lanes.h"

static void ISA(invert_bordered_all)(const Shape *t, const ptrdiff_t *at, const double *L, const double *inverse,
                                     ptrdiff_t m, const double *J, double *S, double *share, double *workspace)
{
    PASSES NAME(invert_bordered)(t, at, L + l, inverse + l, m, J + l, S + l, share + l, workspace + l);
}

static void ISA(solve_bordered_all)(const Shape *t, const ptrdiff_t *at, const double *L, const double *inverse,
                                    ptrdiff_t m, const double *J, const double *b, double *x, double *share,
                                    double *workspace)
{
    PASSES NAME(solve_bordered)(t, at, L + l, inverse + l, m, J + l, b + l, x + l, share + l, workspace + l);
}

static void ISA(multiply_bordered_all)(ptrdiff_t size, ptrdiff_t columns, const double *S, const double *B, double *X)
{
    PASSES NAME(multiply_bordered)(size, columns, S + l, B + l, X + l);
}

static void ISA(apply_bordered_all)(ptrdiff_t size, const double *S, const double *b, double *x)
{
    PASSES NAME(apply_bordered)(size, S + l, b + l, x + l);
}

const Bordered ISA(bordered) = {
    ISA_NAME,
    {2 * WIDTH, ISA(bordered_size_one), ISA(invert_bordered_one), ISA(multiply_bordered_one),
     ISA(apply_bordered_one), ISA(solve_bordered_one)},
    {2, NAME(bordered_size), ISA(invert_bordered_all), ISA(multiply_bordered_all), ISA(apply_bordered_all),
     ISA(solve_bordered_all)},
};
#undef WIDTH
#undef KERNELS
