/* Table of the kernels of regressors, per instruction set. */
#ifndef TREEFACTOR_REGRESSOR_TABLE_H
#define TREEFACTOR_REGRESSOR_TABLE_H

#include "../dynamics/bodies.h"

/* Kernels for `lanes` configurations side by side: entry e of configuration l stands at x[e * lanes + l]. Arrays with
 * lanes are aligned to 64 bytes, the workspace too.
 *
 * A pair is a freedom and a joint whose body it moves: joint after joint, the freedoms from the root to the joint. What
 * is written for pair number j begins at Y[to[j] * lanes]. The parameters of a body are its mass, first moment, Ixx, Ixy,
 * Iyy, Ixz, Iyz, Izz about the origin of its joint and in its axes. */
typedef struct {
    int count;                       /* rows: one for each of the first lanes */
    double *to;                      /* the first row */
    ptrdiff_t to_next;               /* doubles from row to row */
    const ptrdiff_t *place;          /* first entry of every pair in a row */
} PairRows;

typedef struct {
    /* doubles of workspace */
    ptrdiff_t (*workspace_size)(const Mechanism *);
    /* 10 coefficients of the generalized force for every pair; v = NULL means zero. Lanes with `rows` are stored there
     * body by body, while they are in L1: Y then has place for the pairs of one body, and `to` holds for all of them */
    void (*regressor)(const Mechanism *, const double *q, const double *v, const double *a, int gravity,
                      const ptrdiff_t *to, double *Y, const PairRows *rows, double *workspace);
    /* 4 coefficients of the generalized force at rest for every pair, those of mass and first moment */
    void (*gravity)(const Mechanism *, const double *q, const ptrdiff_t *to, double *Y, double *workspace);
    /* g <- the regressor, transposed, times lam: 10 numbers for every joint */
    void (*transpose_times)(const Mechanism *, const double *q, const double *v, const double *a, const double *lam,
                            double *g, double *workspace);
    /* row <- 10 coefficients of the energy for every joint */
    void (*kinetic_energy_row)(const Mechanism *, const double *q, const double *v, double *row, double *workspace);
    void (*potential_energy_row)(const Mechanism *, const double *q, double *row, double *workspace);
    /* Y <- 3 rows of 10 coefficients for every joint: of the centre of mass, for the masses of the mechanism */
    void (*center_of_mass)(const Mechanism *, const double *q, double *Y, double *workspace);
} RegressorKernels;

typedef struct {
    const char *name;
    RegressorKernels one, lanes;     /* for 1 and for 8 configurations */
} Regressors;

extern const Regressors regressors_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Regressors regressors_avx2, regressors_avx512;
#endif

#endif
