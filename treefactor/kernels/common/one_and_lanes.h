/* Compile the text KERNELS for one state and for 8 states side by side, the lanes. Included for one instruction set;
 * on return REAL, LANES and NAME are those of the lanes, and PASSES repeats a statement for l, the first lane of
 * every register. KERNELS sees
 *     REAL   a double, or a register of them   LANES   numbers side by side in memory
 *     WIDTH  doubles of a register             NAME(f)   f for this type and instruction set
 */
#undef REAL
#undef LANES
#undef NAME

#define REAL double
#define LANES 1
#define NAME(f) ISA(f##_one)
#include KERNELS
#undef REAL
#undef LANES
#undef NAME

typedef double ISA(Register) __attribute__((vector_size(REGISTER)));
#define REAL ISA(Register)
#define LANES 8
#define NAME(f) ISA(f##_lanes)
#include KERNELS

#define PASSES for (int l = 0; l < LANES; l += WIDTH)
