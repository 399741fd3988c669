/* Loops of a model as the kernels take them, and the table of these: one for every instruction set. */
#ifndef TREEFACTOR_CLOSURES_H
#define TREEFACTOR_CLOSURES_H

#include "../linalg/kernels.h"

typedef struct {
    ptrdiff_t body[2];               /* the first and the second one, by their joints; -1: the base */
    ptrdiff_t row;                   /* its first one: three of the origins, then those of pairs of axes */
    ptrdiff_t pairs, pair[6];        /* axes of the first and of the second frame that stay at right angles */
    ptrdiff_t entry, stop;           /* of each of its rows, which have one pattern */
    double R[18], p[6];              /* both frames in those of their joints; columns of R */
} Loop;

typedef struct {
    ptrdiff_t freedom, side;         /* of all joints; whether it moves the first or the second body */
    ptrdiff_t place;                 /* in a row */
    double ratio;                    /* how many times it follows that of v */
} Entry;

typedef struct {
    ptrdiff_t joints, loops, rows;
    const Loop *loop;
    const Entry *entry;
    const ptrdiff_t *start, *column; /* J, compressed by rows */
    const ptrdiff_t *first, *stop;   /* rows that have something in a column of J L^-1 stand between these */
} Closures;

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. */
typedef struct {
    /* residual, J-dot v and entries of J from what the recursions call frames */
    void (*rows)(const Closures *, const double *frames, double *residual, double *bias, double *data);
    /* doubles of room that `close` needs */
    ptrdiff_t (*room)(const Closures *, ptrdiff_t n);
    /* g = L^-T (tau - bias) <- L^-T (tau - bias + J^T force), with the least force for which J a = wanted; rows k
     * of L stand at L[at[k]] */
    void (*close)(const Closures *, const Shape *, const ptrdiff_t *at, const double *L, const double *inverse,
                  const double *data, double *wanted, double *g, double *force, double *room);
} LoopKernels;

typedef struct {
    const char *name;
    LoopKernels one, lanes;          /* for 1 and for 8 states */
} LoopTable;

extern const LoopTable loops_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const LoopTable loops_avx2, loops_avx512;
#endif

#endif
