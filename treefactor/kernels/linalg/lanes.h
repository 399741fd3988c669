/* Factorize, solve and multiply LANES matrices side by side; see LaneKernels in kernels.h.
 *
 * Included once for every instruction set and element type, with
 *     ELEMENT  type of an entry                LANES    matrices side by side: 64 bytes of them
 *     INDEX    integer of the size of ELEMENT  SIDE     rows and columns of a tile that is transposed
 *     WIDTH    elements of a register          TILE     rows and columns of a tile that stays in registers
 *     LARGEST  largest finite number           ROOT(x)  square root
 *     NAME(f)  f for this instruction set and type   ROWS     rows of a panel, at most
 *
 * Rows of one chain (a block) times up to TILE columns stay in registers while what descendants or ancestors
 * contribute is added up: 2 TILE loads for TILE^2 multiply-adds, one store. Factorizations take more rows of a
 * chain at once (a panel): the six of a free-flyer in one pass over their descendants. Where a register holds fewer
 * than LANES elements everything is done for one part of the lanes after the other.
 */
#include "../common/hold.h"

typedef ELEMENT NAME(real) __attribute__((vector_size(WIDTH * sizeof(ELEMENT)), may_alias));
#define real NAME(real)
typedef ELEMENT NAME(loose)
    __attribute__((vector_size(WIDTH * sizeof(ELEMENT)), may_alias, aligned(sizeof(ELEMENT))));
/* READ where the array has any alignment */
#define READ_LOOSE(array, e) READ_AS(NAME(loose), (array) + (ptrdiff_t)(e) * LANES)

/* x, kept in a register */
INLINE real NAME(held)(real x) {
    HOLD(x);
    return x;
}

/* f(constant number of columns, first column, ...) for all columns below `count` */
#define FOR_COLUMNS(count, f, ...) \
    { ptrdiff_t c_ = 0; \
      for (; c_ + TILE <= (count); c_ += TILE) f(TILE, c_, __VA_ARGS__); \
      WITH_REST((count) - c_, f, c_, __VA_ARGS__) }
#if TILE == 4
#define WITH_REST(rest, f, ...) \
    switch (rest) { case 3: f(3, __VA_ARGS__); break; case 2: f(2, __VA_ARGS__); break; \
                    case 1: f(1, __VA_ARGS__); }
#else
#define WITH_REST(rest, f, ...) switch (rest) { case 2: f(2, __VA_ARGS__); break; case 1: f(1, __VA_ARGS__); }
#endif

/* Each part of the lanes in turn, within a tile: where tiles are small, finding them costs as much as their sums. */
#define FOR_PARTS(part) for (int part = 0; part < LANES; part += WIDTH)

#include "lanes_factor.h"
#include "lanes_solve.h"
#include "lanes_inverse.h"
#include "lanes_pair.h"
#include "lanes_transfer.h"

static const LaneKernels NAME(lanes) = {
    LANES, SIDE, NAME(load), NAME(load_apart), NAME(gather), NAME(store), NAME(unpack), NAME(factor),
    NAME(to_ltl), NAME(apply), NAME(multiply), NAME(gram), NAME(invert), NAME(solve_pair),
};

#undef real
#undef READ_LOOSE
#undef FOR_PARTS
#undef TILED
#undef FOR_TILES
#undef WITH_REST
#undef FOR_COLUMNS
#undef ROOT_FIRST
#undef LEAVES_FIRST
