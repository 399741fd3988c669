/* Instantiates the kernels of configurations for one instruction set; configurations.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"
#include "../common/arctan.h"

#define KERNELS "kernels/configurations/kernels.h"
#include "../common/one_and_lanes.h"

static void ISA(difference_all)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                                double *result)
{
    PASSES NAME(difference)(c, count, q0 + l, q1 + l, result + l);
}

static void ISA(interpolate_all)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                                 const double *u, double *result)
{
    PASSES NAME(interpolate)(c, count, q0 + l, q1 + l, u + l, result + l);
}

static void ISA(squared_distance_all)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                                      double *result)
{
    PASSES NAME(squared_distance)(c, count, q0 + l, q1 + l, result + l);
}

static void ISA(distance_all)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                              double *result)
{
    PASSES NAME(distance)(c, count, q0 + l, q1 + l, result + l);
}

static void ISA(is_same_all)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                             const double *tolerance, double *result)
{
    PASSES NAME(is_same)(c, count, q0 + l, q1 + l, tolerance + l, result + l);
}

static void ISA(integrate_derivative_all)(const Coordinates *c, ptrdiff_t count, const double *q, const double *v,
                                          int argument, double *blocks)
{
    PASSES NAME(integrate_derivative)(c, count, q + l, v + l, argument, blocks + l);
}

static void ISA(difference_derivative_all)(const Coordinates *c, ptrdiff_t count, const double *q0,
                                           const double *q1, int argument, double *blocks)
{
    PASSES NAME(difference_derivative)(c, count, q0 + l, q1 + l, argument, blocks + l);
}

static void ISA(normalize_all)(const Coordinates *c, ptrdiff_t count, const double *q, double *result)
{
    PASSES NAME(normalize)(c, count, q + l, result + l);
}

static void ISA(add_doubt_all)(const Coordinates *c, ptrdiff_t count, const double *x, ptrdiff_t entries,
                               double tolerance, double *doubt)
{
    PASSES NAME(add_doubt)(c, count, x + l, entries, tolerance, doubt + l);
}

static int ISA(all_finite)(ptrdiff_t count, const double *x)
{
    const int64_t sign = INT64_MAX, largest = 0x7fefffffffffffff;       /* bits of DBL_MAX */
    int64_t beyond = 0;
    for (ptrdiff_t e = 0; e < count; e++) {
        int64_t bits;
        memcpy(&bits, x + e, sizeof bits);
        beyond |= largest - (bits & sign);
    }
    return beyond >= 0;
}

#undef KERNELS
#undef WIDTH
#define WIDTH (REGISTER / 4)
#include "../common/sincos_single.h"

#define KERNELS "kernels/configurations/steps.h"
#include "../common/lanes_single.h"

const ConfigurationTable ISA(configurations) = {
    ISA_NAME,
    {ISA(integrate_all_one), ISA(difference_one), ISA(interpolate_one), ISA(squared_distance_one), ISA(distance_one),
     ISA(is_same_one), ISA(normalize_one), ISA(integrate_derivative_one), ISA(difference_derivative_one),
     ISA(add_doubt_one)},
    {ISA(integrate_all_lanes), ISA(difference_all), ISA(interpolate_all), ISA(squared_distance_all), ISA(distance_all),
     ISA(is_same_all), ISA(normalize_all), ISA(integrate_derivative_all), ISA(difference_derivative_all),
     ISA(add_doubt_all)},
    ISA(integrate_all_sixteen),
    ISA(all_finite),
};
#undef KERNELS
#undef WIDTH
