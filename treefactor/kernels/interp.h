/* The register machine for one instruction set: included by every_isa.h. */
#define WIDTH (REGISTER / 8)
#include "sincos.h"

typedef double ISA(Register) __attribute__((vector_size(REGISTER), may_alias));

/* Tiles of SIDE^2 entries are transposed, in registers of 32 bytes at most: wider ones are no faster. */
#if REGISTER == 16
#define SIDE 2
#define EVEN 0, 2
#define ODD 1, 3
#else
#define SIDE 4
#define EVEN 0, 4, 2, 6
#define ODD 1, 5, 3, 7
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
    UNROLL for (int i = 0; i < SIDE; i += 2) {
        const ISA(Tile) a = T[i], b = T[i + 1];
        T[i] = SHUFFLE(a, b, EVEN);
        T[i + 1] = SHUFFLE(a, b, ODD);
    }
#if SIDE == 4
    UNROLL for (int i = 0; i < 2; i++) {
        const ISA(Tile) a = T[i], b = T[i + 2];
        T[i] = SHUFFLE(a, b, 0, 1, 4, 5);
        T[i + 2] = SHUFFLE(a, b, 2, 3, 6, 7);
    }
#endif
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
#undef EVEN
#undef ODD
#undef SHUFFLE

const Machine ISA(machine) = {ISA_NAME, {ISA(width_64), ISA(width_16), ISA(width_8), ISA(width_1)}};
