/* What the kernels work on, and the tables of them: one for every instruction set and element type. */
#ifndef TREEFACTOR_KERNELS_H
#define TREEFACTOR_KERNELS_H

#include <stddef.h>

/* A piece of a chain: every node but the last has the next one as its only child. */
typedef struct {
    ptrdiff_t rows;                  /* 1 .. 4 */
    ptrdiff_t depth;                 /* ancestors of the first node */
    ptrdiff_t node[4];               /* root first */
    ptrdiff_t below, stop;           /* order[below .. stop) are the descendants of the last node */
} Block;

typedef struct {
    ptrdiff_t n;
    ptrdiff_t deepest;               /* max(depth) */
    const ptrdiff_t *parent;         /* n, -1 at a root */
    const ptrdiff_t *order;          /* n, depth first */
    const ptrdiff_t *start;          /* n + 1, first entry of every row */
    const ptrdiff_t *depth;          /* n, length of every row */
    const ptrdiff_t *column;         /* start[n], column of every entry */
    ptrdiff_t blocks;
    const Block *block;              /* depth first */
    ptrdiff_t scratch;               /* largest rows * (stop - below) of a block */
} Shape;

typedef enum { SOLVE, SOLVE_L, SOLVE_LT, MULTIPLY_L, MULTIPLY_LT, HALF_SOLVE, MULTIPLY } Operation;

/* Kernels on `lanes` matrices side by side: entry e of matrix l stands at X[e * lanes + l]. Arrays of lanes are
 * aligned to 64 bytes. A factor is X, the packed rows of L with D (of LTL: the diagonal of L) in place of the
 * diagonal, and inverse, the reciprocals of that diagonal. */
typedef struct {
    int lanes;
    /* X <- count matrices of m entries each, `to_lane` bytes apart, their entries at the offsets, in bytes; or
     * contiguous where offset is NULL. Missing matrices are left alone. */
    void (*load)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, const ptrdiff_t *offset, void *X);
    /* the reverse, contiguous */
    void (*store)(ptrdiff_t m, int count, const void *X, char *to, ptrdiff_t to_lane);
    /* X <- LTDL of H, which is read once, may be X and need not be aligned; failed[l] <- -1, or the row whose
     * pivot or its reciprocal is not in (0, inf), its matrix made NaN */
    void (*factor)(const Shape *, const void *H, void *X, void *inverse, void *scratch, ptrdiff_t *failed);
    /* LTL from LTDL */
    void (*to_ltl)(const Shape *, void *X, void *inverse);
    /* x <- op x, x of (n, r) entries */
    void (*apply)(const Shape *, const void *X, const void *inverse, int ltdl, int op, void *x, ptrdiff_t r);
    /* y <- H x, for packed H */
    void (*multiply)(const Shape *, const void *H, const void *x, void *y, ptrdiff_t r);
    /* G <- W^T W, W of (n, m) entries, G of (m, m) */
    void (*gram)(ptrdiff_t n, ptrdiff_t m, const void *W, void *G);
    /* Y <- H^-1, (n, n) entries; Z and V: room for packed rows */
    void (*invert)(const Shape *, const void *X, const void *inverse, int ltdl, void *Z, void *V, void *Y);
} LaneKernels;

typedef struct {
    const char *name;
    int tile;                        /* rows of a block, at most */
    const LaneKernels *lanes;        /* of doubles */
    const LaneKernels *lanes_single; /* of floats */
} Kernels;

extern const Kernels kernels_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Kernels kernels_avx2, kernels_avx512;
#endif

#endif
