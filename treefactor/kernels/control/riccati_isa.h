/* Instantiates the kernels of Riccati sweeps for one instruction set; riccati.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 *
 * One text serves one problem and problems side by side: all products are X^T Z, of which an entry of X is `real` and
 * SPAN columns of Z are `wide`. For one problem these are a double and a register of columns, in lanes both a register of
 * problems. Sums have the same order, so that both have the same bits. A row of one problem has few columns, which
 * registers of 64 bytes would leave empty: these have 32 at most.
 */
#undef WIDTH
#undef REAL
#undef LANES
#undef NAME
#undef SPAN
#undef ELEMENT
#undef INDEX
#undef SIDE
#undef TILED
#undef STRIDE
#undef MOST_ROWS
#undef EACH_HEIGHT
#define WIDTH (REGISTER / 8)
typedef double ISA(Problems) __attribute__((vector_size(REGISTER), may_alias));
typedef double ISA(Span) __attribute__((vector_size(REGISTER == 16 ? 16 : 32), may_alias));
/* the same at any address */
typedef double ISA(LooseProblems) __attribute__((vector_size(REGISTER), aligned(8), may_alias));
typedef double ISA(LooseSpan) __attribute__((vector_size(REGISTER == 16 ? 16 : 32), aligned(8), may_alias));
#define ELEMENT double
#define INDEX long long
#if REGISTER == 64
#define SIDE 8
#elif REGISTER == 32
#define SIDE 4
#else
#define SIDE 2
#endif
#define TILED(f) ISA(f##_of_problems)
#include "../common/transpose.h"

/* Rows of a tile that stays in registers, of which instruction sets have 32 or 16. EACH_HEIGHT(ONE): ONE(h) for each height */
#if REGISTER == 64
#define MOST_ROWS 4
#define EACH_HEIGHT(ONE) ONE(1); ONE(2); ONE(3); ONE(4)
#else
#define MOST_ROWS 3
#define EACH_HEIGHT(ONE) ONE(1); ONE(2); ONE(3)
#endif

#include "box_qp.h"

#define wide ISA(Span)
#define loose ISA(LooseSpan)
#define input double
#define REAL double
#define LANES 1
#define SPAN (REGISTER == 16 ? 2 : 4)
#define STRIDE 1
#define NAME(f) ISA(f##_one)
#include "riccati_products.h"
#include "riccati_sweep.h"
#undef wide
#undef loose
#undef input
#undef REAL
#undef LANES
#undef SPAN
#undef STRIDE
#undef NAME

#define wide ISA(Problems)
#define input ISA(LooseProblems)
#define REAL ISA(Problems)
#define LANES WIDTH
#define SPAN 1
#define STRIDE 8
#define NAME(f) ISA(f##_lanes)
#include "riccati_products.h"
#include "riccati_sweep.h"

#undef LANES
#undef NAME
#define LANES 8
#define NAME(f) ISA(f##_eight)
#include "feedback.h"

const RiccatiTable ISA(riccati) = {
    ISA_NAME, WIDTH, ISA(sweep_one), ISA(sweep_lanes), ISA(sweep_scratch_one), ISA(sweep_scratch_lanes),
    ISA(control_eight), ISA(control_of_one_eight),
};
#undef wide
#undef input
