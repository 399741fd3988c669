/* All kernels for one instruction set: included by baseline.c, avx2.c and avx512.c with
 *     REGISTER   bytes of a register     TILE   rows of a block     ISA(f)   f for this instruction set
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels.h"

enum { STORED, UNIT, ADD };          /* the diagonal of L: as stored, ones, or skipped and added to y */

#define INLINE static inline __attribute__((always_inline))
/* loops whose bounds are constants where they are inlined: without this their arrays end up in memory */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
/* f(rows, ...) with the number of rows as a constant, so that a tile stays in registers */
#if TILE == 4
#define WITH_ROWS(rows, f, ...) \
    switch (rows) { case 4: f(4, __VA_ARGS__); break; case 3: f(3, __VA_ARGS__); break; \
                    case 2: f(2, __VA_ARGS__); break; default: f(1, __VA_ARGS__); }
#else
#define WITH_ROWS(rows, f, ...) \
    switch (rows) { case 3: f(3, __VA_ARGS__); break; case 2: f(2, __VA_ARGS__); break; \
                    default: f(1, __VA_ARGS__); }
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#define REAL double
#define INDEX long long
#define LANES 8
#if REGISTER == 64
#define WIDTH 8
#elif REGISTER == 32
#define WIDTH 4
#else
#define WIDTH 2
#endif
#define SIDE (REGISTER == 16 ? 2 : 4)
#define LARGEST DBL_MAX
#define ROOT sqrt
#define NAME(f) PASTE(f, _double)
#include "lanes.h"
#undef REAL
#undef INDEX
#undef LANES
#undef WIDTH
#undef SIDE
#undef LARGEST
#undef ROOT
#undef NAME

#define REAL float
#define INDEX int
#define LANES 16
#if REGISTER == 64
#define WIDTH 16
#elif REGISTER == 32
#define WIDTH 8
#else
#define WIDTH 4
#endif
#define SIDE (REGISTER == 16 ? 4 : 8)
#define LARGEST FLT_MAX
#define ROOT sqrtf
#define NAME(f) PASTE(f, _float)
#include "lanes.h"

#include "single.h"
#include "fronts.h"

const Kernels ISA(kernels) = {ISA_NAME, &rows, &fronts, TILE, &lanes_double, &lanes_float};
