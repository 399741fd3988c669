/* Declare the kernels of sampling control: random knots of controls, and controls between knots.
 *
 * Eight samples stand side by side: entry e of sample l at x[8 e + l]. What is computed for a sample does not depend on
 * its neighbours. */
#ifndef TREEFACTOR_SAMPLING_H
#define TREEFACTOR_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

/* Controls of every step: sums of weights times `order` knots that follow each other, clipped. */
typedef struct {
    ptrdiff_t knots, nu, order;
    const ptrdiff_t *first;          /* of every step: the first of these knots */
    const double *weight;            /* of every step: `order` of them */
    const double *lower, *upper;     /* nu */
    const double *mix;               /* nu x nu: of the scaled normal numbers of a knot; NULL: the unit matrix */
} Spline;

typedef struct {
    const char *name;
    /* x <- knots of samples first .. first + 7: nominal + mix (scale times normal numbers), clipped; sample 0 is nominal */
    void (*draw)(const Spline *, uint64_t key, uint64_t first, const double *nominal, const double *scale, double *x,
                 double *work);      /* of 8 nu doubles */
    /* u <- controls of step t */
    void (*control)(const Spline *, ptrdiff_t t, const double *knots, double *u);
    /* forces <- n sums of factors times controls: of `entries` rows, in ascending order, and columns */
    void (*apply)(ptrdiff_t n, ptrdiff_t entries, const ptrdiff_t *row, const ptrdiff_t *column, const double *factor,
                  const double *u, double *forces);
    /* cost <- NaN where one of n numbers is not finite */
    void (*add_doubt)(ptrdiff_t n, const double *x, double *cost);
    /* result <- sums of weights times entries, of blocks of samples */
    void (*average)(ptrdiff_t blocks, ptrdiff_t entries, const double *weight, const double *x, double *result);
} SamplingTable;

extern const SamplingTable sampling_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const SamplingTable sampling_avx2, sampling_avx512;
#endif

#endif
