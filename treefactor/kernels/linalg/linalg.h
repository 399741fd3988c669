/* Build all kernels of linear algebra for one instruction set; see common/every_isa.h. */

enum { STORED, UNIT, ADD };          /* the diagonal of L: as stored, ones, or skipped and added to y */

/* f(rows, ...) with the number of rows, 1 .. TILE of a block and 1 .. ROWS of a panel, as a constant, so that a tile
 * stays in registers */
#define CASE(count, f, ...) case count: f(count, __VA_ARGS__); break;
#if REGISTER == 64
#define REGISTERS 32
#define TILE 4
#define ROWS 6
#define WITH_ROWS(rows, f, ...) \
    switch (rows) { CASE(4, f, __VA_ARGS__) CASE(3, f, __VA_ARGS__) CASE(2, f, __VA_ARGS__) \
                    default: f(1, __VA_ARGS__); }
#define WITH_PANEL(rows, f, ...) \
    switch (rows) { CASE(6, f, __VA_ARGS__) CASE(5, f, __VA_ARGS__) CASE(4, f, __VA_ARGS__) \
                    CASE(3, f, __VA_ARGS__) CASE(2, f, __VA_ARGS__) default: f(1, __VA_ARGS__); }
#else
#define REGISTERS 16
#define TILE 3
#define ROWS 3
#define WITH_ROWS(rows, f, ...) \
    switch (rows) { CASE(3, f, __VA_ARGS__) CASE(2, f, __VA_ARGS__) default: f(1, __VA_ARGS__); }
#define WITH_PANEL WITH_ROWS
#endif

#define ELEMENT double
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
#undef ELEMENT
#undef INDEX
#undef LANES
#undef WIDTH
#undef SIDE
#undef LARGEST
#undef ROOT
#undef NAME

#define ELEMENT float
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

#include "registers.h"
#include "single_factor.h"
#include "single_solve.h"
#include "fronts.h"

const Kernels ISA(kernels) = {ISA_NAME, &single, &fronts, TILE, &lanes_double, &lanes_float, ROWS};
