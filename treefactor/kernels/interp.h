/* The register machine for one instruction set: included by every_isa.h. */
#define WIDTH (REGISTER / 8)
#include "sincos.h"

typedef double ISA(Register) __attribute__((vector_size(REGISTER), may_alias));

/* Tiles of SIDE^2 entries are transposed: one of 32 bytes takes no longer than half of one of 64. */
#if REGISTER == 16
#define SIDE 2
#define LOW_HALVES 0, 2
#define HIGH_HALVES 1, 3
#else
#define SIDE 4
#define LOW_HALVES 0, 4, 1, 5
#define HIGH_HALVES 2, 6, 3, 7
#endif
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ISA(Order)){__VA_ARGS__})
typedef long long ISA(Order) __attribute__((vector_size(8 * SIDE)));
#endif
typedef double ISA(Tile) __attribute__((vector_size(8 * SIDE), may_alias));

/* T <- its transpose */
INLINE void ISA(transpose)(ISA(Tile) *T)
{
    for (int stage = 1; stage < SIDE; stage *= 2) {
        ISA(Tile) U[SIDE];
        UNROLL for (int i = 0; i < SIDE / 2; i++) {
            U[2 * i] = SHUFFLE(T[i], T[i + SIDE / 2], LOW_HALVES);
            U[2 * i + 1] = SHUFFLE(T[i], T[i + SIDE / 2], HIGH_HALVES);
        }
        UNROLL for (int i = 0; i < SIDE; i++) T[i] = U[i];
    }
}

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

#undef SIDE
#undef LOW_HALVES
#undef HIGH_HALVES
#undef SHUFFLE

const Machine ISA(machine) = {ISA_NAME, {ISA(width_64), ISA(width_16), ISA(width_8), ISA(width_1)}};
