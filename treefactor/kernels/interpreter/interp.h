/* Defines the interpreter for one instruction set; every_isa.h includes this file. */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"
#include "../common/arctan.h"

/* for generated machine code, which knows numbers by their addresses only */
static void ISA(sines)(ptrdiff_t n, const void *x, void *sine, void *cosine) { ISA(sincos)(n, x, sine, cosine); }

static void ISA(arctangents)(ptrdiff_t n, const void *y, const void *x, void *angle)
{
    for (ptrdiff_t i = 0; i < n; i += WIDTH) {
        const ptrdiff_t count = n - i < WIDTH ? n - i : WIDTH;
        ISA(V) rise = {0}, run = {0}, arctangent;
        memcpy(&rise, (const double *)y + i, count * sizeof(double));
        memcpy(&run, (const double *)x + i, count * sizeof(double));
        arctangent = ISA(atan2_vector)(rise, run);
        memcpy((double *)angle + i, &arctangent, count * sizeof(double));
    }
}

typedef double ISA(Register) __attribute__((vector_size(REGISTER), may_alias));

#define ELEMENT double
#define INDEX long long
#define SIDE (REGISTER == 16 ? 2 : 4)
#define TILED ISA
#include "../common/transpose.h"

/* T <- tile of SIDE configurations, a register for each entry; and the reverse, which changes T */
INLINE void ISA(load_tile)(ISA(row) *T, const char *from, ptrdiff_t to_lane)
{
    UNROLL for (int i = 0; i < SIDE; i++) memcpy(&T[i], from + i * to_lane, sizeof T[i]);
    ISA(transpose)(T);
}

INLINE void ISA(store_tile)(ISA(row) *T, char *to, ptrdiff_t to_lane)
{
    ISA(transpose)(T);
    UNROLL for (int i = 0; i < SIDE; i++) memcpy(to + i * to_lane, &T[i], sizeof T[i]);
}

#define TILE ISA(row)
#define TILE_LANES SIDE
#define TILE_ENTRIES SIDE
#define LOAD_TILE ISA(load_tile)
#define STORE_TILE ISA(store_tile)
#define SINCOS ISA(sincos)
#define ARCTANGENT ISA(atan2_vector)
#define VECTOR ISA(V)
#define MASK ISA(I)
#define FLAGS ISA(I)
#define AS_FLAGS(mask) ((ISA(I))(mask))
#define INVALID FLAGS
#define AS_INVALID(flags) (flags)

#define REAL ISA(Register)
#define LANES 64
#define NAME(f) ISA(f##_64)
#include "interp_lanes.h"
#define LANES 16
#define NAME(f) ISA(f##_16)
#include "interp_lanes.h"
#define LANES 8
#define NAME(f) ISA(f##_8)
#include "interp_lanes.h"
#undef REAL
#undef WIDTH
#undef FLAGS
#undef AS_FLAGS

#define WIDTH 1
#define REAL double
#define LANES 1
#define NAME(f) ISA(f##_1)
#define FLAGS int64_t
#define AS_FLAGS(condition) (-(int64_t)(condition))
#include "interp_lanes.h"
#undef REAL
#undef WIDTH
#undef FLAGS
#undef AS_FLAGS
#undef INVALID
#undef AS_INVALID

#undef ELEMENT
#undef INDEX
#undef SIDE
#undef TILED
#undef TILE
#undef TILE_LANES
#undef TILE_ENTRIES
#undef LOAD_TILE
#undef STORE_TILE
#undef SINCOS
#undef ARCTANGENT
#undef VECTOR
#undef MASK

/* the same in single precision */
#define WIDTH (REGISTER / 4)
#include "../common/sincos_single.h"

static void ISA(sines_single)(ptrdiff_t n, const void *x, void *sine, void *cosine)
{
    ISA(sincos_single)(n, x, sine, cosine);
}

static void ISA(arctangents_single)(ptrdiff_t n, const void *y, const void *x, void *angle)
{
    for (ptrdiff_t i = 0; i < n; i += WIDTH) {
        ISA(V_single) rise, run, turn;
        memcpy(&rise, (const float *)y + i, sizeof rise);
        memcpy(&run, (const float *)x + i, sizeof run);
        turn = ISA(atan2_vector_single)(rise, run);
        memcpy((float *)angle + i, &turn, sizeof turn);
    }
}

#define FLOATS WIDTH
#define COLUMNS ISA
#include "../common/four_columns.h"

typedef float ISA(Register_single) __attribute__((vector_size(REGISTER), may_alias));
typedef long long ISA(Flags_single) __attribute__((vector_size(2 * REGISTER)));

#define ELEMENT float
#define TILE ISA(column)
#define TILE_LANES FLOATS
#define TILE_ENTRIES 4
#define LOAD_TILE ISA(load_columns)
#define STORE_TILE ISA(store_columns)
#define SINCOS ISA(sincos_single)
#define ARCTANGENT ISA(atan2_vector_single)
#define VECTOR ISA(V_single)
#define MASK ISA(I_single)
#define FLAGS ISA(I_single)
#define AS_FLAGS(mask) ((ISA(I_single))(mask))
#define INVALID ISA(Flags_single)
#define AS_INVALID(flags) __builtin_convertvector(flags, ISA(Flags_single))

#define REAL ISA(Register_single)
#define LANES 64
#define NAME(f) ISA(f##_64_single)
#include "interp_lanes.h"
#define LANES 32
#define NAME(f) ISA(f##_32_single)
#include "interp_lanes.h"
#define LANES 16
#define NAME(f) ISA(f##_16_single)
#include "interp_lanes.h"
#undef REAL
#undef WIDTH
#undef ELEMENT
#undef FLOATS
#undef COLUMNS
#undef TILE
#undef TILE_LANES
#undef TILE_ENTRIES
#undef LOAD_TILE
#undef STORE_TILE
#undef SINCOS
#undef ARCTANGENT
#undef VECTOR
#undef MASK
#undef FLAGS
#undef AS_FLAGS
#undef INVALID
#undef AS_INVALID

#define FUNCTION(name, lanes) ISA(name##_##lanes)
#define OF_WIDTH(count, lanes) \
    {count, FUNCTION(run, lanes), FUNCTION(load, lanes), FUNCTION(store, lanes), FUNCTION(find_invalid, lanes), \
     FUNCTION(find_failed, lanes)}

const ProgramKernels ISA(program_kernels) = {
    ISA_NAME,
    {{OF_WIDTH(64, 64), OF_WIDTH(16, 16), OF_WIDTH(8, 8), OF_WIDTH(1, 1)},
     {OF_WIDTH(64, 64_single), OF_WIDTH(32, 32_single), OF_WIDTH(16, 16_single), OF_WIDTH(16, 16_single)}},
    {ISA(sines), ISA(sines_single)},
    {ISA(arctangents), ISA(arctangents_single)}};
#undef FUNCTION
#undef OF_WIDTH
