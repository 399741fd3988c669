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
    const ptrdiff_t *place;          /* of every joint ten: where a parameter in its body's axes stands in its own, */
    const double *sign;              /* with which sign, */
    const ptrdiff_t *turned;         /* unless this is 1: these axes are no permutation of each other */
} ColumnOrder;

typedef struct {
    /* doubles of workspace */
    ptrdiff_t (*workspace_size)(const Mechanism *);
    /* 10 coefficients of the generalized force for every pair; v = NULL means zero. Lanes are transposed into rows, each
     * `to_next` doubles after the other, unless it is 0: Y[to[j]] is then where pair j begins in the first row */
    void (*regressor)(const Mechanism *, const double *q, const double *v, const double *a, int gravity,
                      const ColumnOrder *, const ptrdiff_t *to, double *Y, ptrdiff_t to_next, double *workspace);
    /* 4 coefficients of the generalized force at rest for every pair, those of mass and first moment */
    void (*gravity)(const Mechanism *, const double *q, const ColumnOrder *, const ptrdiff_t *to, double *Y,
                    double *workspace);
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
