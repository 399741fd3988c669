/* Compile the text KERNELS for one state and for 8 states side by side, the lanes. Included for one instruction set;
 * on return REAL, LANES and NAME are those of the lanes, and PASSES repeats a statement for l, the first lane of
 * every register. KERNELS sees
 *     REAL   a double, or a register of them   LANES   numbers side by side in memory
 *     WIDTH  doubles of a register             NAME(f)   f for this type and instruction set
 *     ELEMENT   a double   INTEGER   of as many bytes   PRECISE(f)   f of sincos.h and arctan.h for such numbers
 * Where CONSTANTS_TOO is defined, once more as ISA(f##_own) for lanes that have constants of their own: KERNELS sees
 *     OWN_CONSTANTS   1 there, else 0
 */

/* GCC fuses one product of a b - c d with the difference: the first one in numbers, and the second one in registers of
 * arm64, which have no such operation for the first. Lanes must round as one state does, so that none is fused there. */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif

#undef REAL
#undef LANES
#undef NAME
#undef ELEMENT
#undef INTEGER
#undef PRECISE

#define ELEMENT double
#define INTEGER long long
#define PRECISE(f) ISA(f)

#define REAL double
#define LANES 1
#define OWN_CONSTANTS 0
#define NAME(f) ISA(f##_one)
#include KERNELS
#undef REAL
#undef LANES
#undef NAME

typedef double ISA(Register) __attribute__((vector_size(REGISTER)));
#define REAL ISA(Register)
#define LANES 8
#ifdef CONSTANTS_TOO
#undef OWN_CONSTANTS
#define OWN_CONSTANTS 1
#define NAME(f) ISA(f##_own)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include KERNELS
#pragma GCC diagnostic pop
#undef NAME
#undef OWN_CONSTANTS
#define OWN_CONSTANTS 0
#endif
#define NAME(f) ISA(f##_lanes)
#include KERNELS
#undef OWN_CONSTANTS

#define PASSES for (int l = 0; l < LANES; l += WIDTH)
