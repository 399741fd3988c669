/* Defines the interpreter for one instruction set; every_isa.h includes this file. */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"
#include "../common/arctan.h"

/* Computes atan2(y, x) of n pairs, for generated machine code. */
static void ISA(arctangents)(ptrdiff_t n, const double *y, const double *x, double *angle)
{
    for (ptrdiff_t i = 0; i < n; i += WIDTH) {
        const ptrdiff_t count = n - i < WIDTH ? n - i : WIDTH;
        ISA(V) rise = {0}, run = {0}, found;
        memcpy(&rise, y + i, count * sizeof(double));
        memcpy(&run, x + i, count * sizeof(double));
        found = ISA(atan2_vector)(rise, run);
        memcpy(angle + i, &found, count * sizeof(double));
    }
}

typedef double ISA(Register) __attribute__((vector_size(REGISTER), may_alias));

#define ELEMENT double
#define INDEX long long
#define SIDE (REGISTER == 16 ? 2 : 4)
#define TILED ISA
#include "../common/transpose.h"

#define REAL ISA(Register)
#define LANES 64
#define NAME(f) ISA(f##_64)
#include "interp_lanes.h"
#undef LANES
#undef NAME
#define LANES 16
#define NAME(f) ISA(f##_16)
#include "interp_lanes.h"
#undef LANES
#undef NAME
#define LANES 8
#define NAME(f) ISA(f##_8)
#include "interp_lanes.h"
#undef REAL
#undef LANES
#undef NAME
#undef WIDTH

#define WIDTH 1
#define REAL double
#define LANES 1
#define NAME(f) ISA(f##_1)
#include "interp_lanes.h"
#undef REAL
#undef LANES
#undef NAME
#undef WIDTH

#undef ELEMENT
#undef INDEX
#undef SIDE
#undef TILED

const ProgramKernels ISA(program_kernels) = {ISA_NAME, {ISA(width_64), ISA(width_16), ISA(width_8), ISA(width_1)},
                                             ISA(arctangents)};
