/* Instantiates the kernels of configurations for one instruction set; configurations.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"
#include "../common/arctan.h"

#define KERNELS "kernels/configurations/steps.h"
#include "../common/one_and_lanes.h"

static void ISA(integrate_all)(const Coordinates *c, ptrdiff_t count, const double *q, const double *v, double h,
                               double *result)
{
    PASSES NAME(integrate)(c, count, q + l, v + l, h, result + l);
}

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

static void ISA(normalize_all)(const Coordinates *c, ptrdiff_t count, const double *q, double *result)
{
    PASSES NAME(normalize)(c, count, q + l, result + l);
}

static int ISA(has_unit_lengths_all)(const Coordinates *c, ptrdiff_t count, const double *q, double tolerance)
{
    int good = 1;
    PASSES good &= NAME(has_unit_lengths)(c, count, q + l, tolerance);
    return good;
}

const ConfigurationTable ISA(configurations) = {
    ISA_NAME,
    {ISA(integrate_one), ISA(difference_one), ISA(interpolate_one), ISA(squared_distance_one), ISA(normalize_one),
     ISA(has_unit_lengths_one)},
    {ISA(integrate_all), ISA(difference_all), ISA(interpolate_all), ISA(squared_distance_all), ISA(normalize_all),
     ISA(has_unit_lengths_all)},
};
#undef WIDTH
