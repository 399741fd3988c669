/* Declare the kernels of sampling control: random knots of controls, controls between knots, and costs of states.
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
} Spline;

/* CHANGE: the difference of configurations; the caller computes it. POSE: log(M*^-1 M), linear before angular. */
typedef enum { DEVIATION, CHANGE, POSE, EXCESS } Residual;

/* Half the weighted square of a residual, times a factor of every time. */
typedef struct {
    ptrdiff_t residual, size;
    ptrdiff_t source;                /* 0, 1, 2: q, v, u; 3 + k: item k of the request */
    const double *weight;            /* size */
    const double *time;              /* steps + 1 */
    const double *target;
    ptrdiff_t to_problem, to_time;   /* entries to the target of the next problem, of the next time */
    const ptrdiff_t *entry;          /* of EXCESS: entries of q, and their limits */
    const double *lower, *upper;
} CostTerm;

typedef struct {
    const char *name;
    /* x <- knots of samples first .. first + 7: nominal + scale times normal numbers, clipped; sample 0 is nominal */
    void (*draw)(const Spline *, uint64_t key, uint64_t first, const double *nominal, const double *scale, double *x);
    /* u <- controls of step t */
    void (*control)(const Spline *, ptrdiff_t t, const double *knots, double *u);
    /* cost <- cost + the term, of x and a target */
    void (*add_cost)(const CostTerm *, double time, const double *x, const double *target, double *cost);
    /* cost <- NaN where one of n numbers is not finite */
    void (*add_doubt)(ptrdiff_t n, const double *x, double *cost);
    /* result <- sums of weights times entries, or times squares of their deviations from a mean, of blocks of samples */
    void (*average)(ptrdiff_t blocks, ptrdiff_t entries, const double *weight, const double *x, const double *mean,
                    double *result);
} SamplingTable;

extern const SamplingTable sampling_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const SamplingTable sampling_avx2, sampling_avx512;
#endif

#endif
