/* Structs that describe the coordinates of a model to the kernels, and the table of kernels per instruction set. */
#ifndef TREEFACTOR_CONFIGURATIONS_H
#define TREEFACTOR_CONFIGURATIONS_H

#include <stddef.h>

/* Lie groups of joints: LINEAR entries add up, CIRCLE is (cos, sin), SPHERE a quaternion x y z w, PLANE is
 * x y cos sin, SPACE is x y z and a quaternion; velocities of PLANE and SPACE are linear before angular, body axes. */
typedef enum { LINEAR, CIRCLE, SPHERE, PLANE, SPACE } Group;

typedef struct {
    ptrdiff_t group, q, v;           /* first entries in q and in v */
    ptrdiff_t nq, nv;                /* numbers of entries; equal if LINEAR, which may span successive joints */
} Coordinates;

/* Kernels for `lanes` configurations side by side: entry e of configuration l stands at x[e * lanes + l]. Arrays
 * with lanes are aligned to 64 bytes. A result may be an argument of the same layout, otherwise it is apart. */
typedef struct {
    /* result <- q integrated over h v */
    void (*integrate)(const Coordinates *, ptrdiff_t count, const void *q, const void *v, double h, void *result);
    /* result <- the velocity that leads from q0 to q1 in one second */
    void (*difference)(const Coordinates *, ptrdiff_t count, const double *q0, const double *q1, double *result);
    /* result <- q0 integrated over u difference(q0, q1); u has one number for every configuration */
    void (*interpolate)(const Coordinates *, ptrdiff_t count, const double *q0, const double *q1, const double *u,
                        double *result);
    /* result <- squared length of the difference, one entry for every Coordinates */
    void (*squared_distance)(const Coordinates *, ptrdiff_t count, const double *q0, const double *q1,
                             double *result);
    /* result <- one number: the length of the difference */
    void (*distance)(const Coordinates *, ptrdiff_t count, const double *q0, const double *q1, double *result);
    /* result <- 1 or 0: whether no entry differs by more than the tolerance of the configuration */
    void (*is_same)(const Coordinates *, ptrdiff_t count, const double *q0, const double *q1, const double *tolerance,
                    double *result);
    /* result <- q with rotations of unit length */
    void (*normalize)(const Coordinates *, ptrdiff_t count, const double *q, double *result);
    /* blocks <- derivatives of the steps by argument 0 or 1: nv x nv in rows for all Coordinates but LINEAR */
    void (*integrate_derivative)(const Coordinates *, ptrdiff_t count, const double *q, const double *v, int argument,
                                 double *blocks);
    void (*difference_derivative)(const Coordinates *, ptrdiff_t count, const double *q0, const double *q1,
                                  int argument, double *blocks);
    /* doubt <- doubt + 0 for configurations x whose first `entries` entries are finite and whose rotations have squared
     * lengths within `tolerance` of 1; + another number for others. Without Coordinates x is any array. */
    void (*add_doubt)(const Coordinates *, ptrdiff_t count, const double *x, ptrdiff_t entries, double tolerance,
                      double *doubt);
} ConfigurationKernels;

typedef struct {
    const char *name;
    ConfigurationKernels one, lanes; /* for 1 and for 8 configurations */
    /* integrate for 16 configurations of float */
    void (*integrate_single)(const Coordinates *, ptrdiff_t count, const void *q, const void *v, double h,
                             void *result);
    int (*all_finite)(ptrdiff_t count, const double *x);
} ConfigurationTable;

extern const ConfigurationTable configurations_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const ConfigurationTable configurations_avx2, configurations_avx512;
#endif

#endif
