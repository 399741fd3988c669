/* Structs of the loops of a model, and the table of loop kernels: one for every instruction set.
 * treefactor/constraints/_loops.pyx derives a NumPy dtype from Loop. */
#ifndef TREEFACTOR_CLOSURES_H
#define TREEFACTOR_CLOSURES_H

#include "../dynamics/body_motion.h"
#include "../linalg/kernels.h"

typedef struct {
    ptrdiff_t body[2];               /* joints of the first and the second body; -1: the base */
    ptrdiff_t row;                   /* first row: three of the origins, then those of pairs of axes */
    ptrdiff_t pairs, pair[6];        /* axes of the first and of the second frame that stay at right angles */
    ptrdiff_t entry, stop;           /* range of entries, the same for each of its rows */
    double R[18], p[6];              /* both frames relative to their joints; columns of R */
} Loop;

typedef struct {
    ptrdiff_t joints, loops, rows;
    const Loop *loop;
    const Entry *entry;
    const ptrdiff_t *start, *column; /* J, compressed by rows */
    const ptrdiff_t *first, *stop;   /* range of nonzero rows in every column of J L^-1 */
    double rounding;                 /* a smaller entry of J, relative to the terms that it subtracts, is zero */
} Closures;

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. */
typedef struct {
    /* compute residual, J-dot v and entries of J from the kinematics records */
    void (*rows)(const Closures *, const double *frames, double *residual, double *bias, double *data);
    /* count the doubles of workspace that `close` needs */
    ptrdiff_t (*workspace_size)(const Closures *, ptrdiff_t n);
    /* replace g = L^-T (tau - bias) by L^-T (tau - bias + J^T force), with the force of least norm for which
     * J a = wanted; row k of L begins at L[at[k]] */
    void (*close)(const Closures *, const Shape *, const ptrdiff_t *at, const double *L, const double *inverse,
                  const double *data, double *wanted, double *g, double *force, double *workspace);
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
