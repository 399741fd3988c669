/* Table of the kernels that integrate motions, per instruction set. */
#ifndef TREEFACTOR_STAGES_H
#define TREEFACTOR_STAGES_H

#include <stddef.h>

#include "../configurations/joints.h"

/* Kernels for `lanes` configurations side by side: entry e of configuration l stands at x[e * lanes + l], numbers of
 * one precision. Arrays with lanes are aligned to 64 bytes. A result may be an argument. */
typedef struct {
    /* result <- y + h x, n entries */
    void (*add)(ptrdiff_t n, const void *x, double h, const void *y, void *result);
    /* u <- u + h [x, y], the commutator of velocities in body axes; zero for coordinates that add up */
    void (*add_commutator)(const Coordinates *, ptrdiff_t count, const void *x, const void *y, double h, void *u);
    /* y <- NaN, n entries, in lanes where one of y or of the m entries of x is not finite */
    void (*spread_nan)(ptrdiff_t m, const void *x, ptrdiff_t n, void *y);
} StageKernels;

typedef struct {
    const char *name;
    StageKernels one, lanes;         /* for 1 and for 8 configurations of double */
    StageKernels single;             /* for 16 of float */
} StageTable;

extern const StageTable stages_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const StageTable stages_avx2, stages_avx512;
#endif

#endif
