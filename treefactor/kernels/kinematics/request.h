/* Structs that describe a request: which results of the kinematics of a model are computed in one pass over its
 * bodies. treefactor/kinematics/plans.py fills them, and lists what a new kind of output needs. */
#ifndef TREEFACTOR_REQUEST_H
#define TREEFACTOR_REQUEST_H

#include "../dynamics/bodies.h"

/* Sums over subtrees that outputs read; each includes the ones before. */
typedef enum { NO_SUMS, FIRST_MOMENTS, TENSORS, TENSOR_RATES, MOMENTS } Sums;

/* Kinds of outputs, and what they need: the highest derivative of positions, sums over subtrees, and 1 for ways from
 * the centre of mass of the whole model. Names are those of quantities. Kinds of frames come first, then those of
 * masses, which read sums, and those of several derivatives at the end. */
#define OUTPUT_KINDS(KIND) \
    KIND(FRAME_PLACEMENT, 0, NO_SUMS, 0) \
    KIND(FRAME_VELOCITY, 1, NO_SUMS, 0) \
    KIND(FRAME_ACCELERATION, 2, NO_SUMS, 0) \
    KIND(FRAME_JACOBIAN, 0, NO_SUMS, 0) \
    KIND(FRAME_JACOBIAN_DOT, 1, NO_SUMS, 0) \
    KIND(CENTER_OF_MASS, 0, FIRST_MOMENTS, 0) \
    KIND(CENTER_OF_MASS_VELOCITY, 1, FIRST_MOMENTS, 0) \
    KIND(CENTER_OF_MASS_ACCELERATION, 2, FIRST_MOMENTS, 0) \
    KIND(CENTER_OF_MASS_JACOBIAN, 0, FIRST_MOMENTS, 0) \
    KIND(CENTROIDAL_MAP, 0, TENSORS, 1) \
    KIND(CENTROIDAL_MAP_DOT, 1, TENSOR_RATES, 1) \
    KIND(CENTROIDAL_MOMENTUM, 1, FIRST_MOMENTS, 1) \
    KIND(CENTROIDAL_MOMENTUM_RATE, 2, FIRST_MOMENTS, 1) \
    KIND(CENTROIDAL_INERTIA, 0, FIRST_MOMENTS, 1) \
    KIND(COM_DERIVATIVES, 2, FIRST_MOMENTS, 0) \
    KIND(CENTROIDAL_DERIVATIVES, 2, MOMENTS, 1) \
    KIND(FRAME_DERIVATIVES, 2, NO_SUMS, 0)
#define KIND_NUMBER(name, order, sums, ways) name,
typedef enum { OUTPUT_KINDS(KIND_NUMBER) OUTPUT_KIND_COUNT } OutputKind;

/* Point at which the linear part of a motion is taken, and its axes: those of the frame at its origin; those of the
 * base at the origin of the base; or those of the base at the origin of the frame. */
typedef enum { LOCAL, WORLD, LOCAL_WORLD_ALIGNED } Reference;

typedef struct {
    ptrdiff_t permuted;              /* 1: column c of the rotation is sign[c] times unit vector source[c] */
    ptrdiff_t source[3];
    double sign[3];
} Turn;

typedef struct {
    ptrdiff_t body, axis;            /* motion along or about axis 0, 1 or 2 of a body */
    ptrdiff_t linear;                /* 1: along it */
    ptrdiff_t column;                /* of v */
    double ratio, pitch;             /* of mimic joints, else 1; of helical joints, else 0 */
} Freedom;

typedef struct {
    ptrdiff_t freedom;
    ptrdiff_t add;                   /* 1: another joint with the same leader has set the column */
    ptrdiff_t place[2];              /* column of the Jacobian of one configuration, and of that in lanes */
} Column;

typedef struct {
    ptrdiff_t kind, reference;
    ptrdiff_t classical;             /* 1: classical acceleration, else spatial */
    ptrdiff_t body, root;            /* body that carries the frame, or whose subtree is meant, and the
                                      * root body of its tree; -1, 0: the whole model; -1, -1: the base */
    ptrdiff_t item;                  /* result that it belongs to; of derivatives the first of several */
    ptrdiff_t first[2], row[2];      /* first entry, and distance of rows: in one configuration, and in lanes */
    ptrdiff_t column, columns;       /* first column, and their number */
    double R[9], p[3];               /* frame in that of the body; columns of R */
    Turn turn;                       /* R */
} Output;

typedef struct {
    Mechanism m;                     /* bodies between the base and what is requested; no start, column, armature */
    const Turn *turn;                /* constant rotation of every body */
    const Freedom *freedom;          /* of every freedom of these bodies */
    ptrdiff_t order;                 /* highest derivative of positions that an output needs: 0, 1 or 2 */
    ptrdiff_t sums, arms;            /* Sums; 1: an output needs ways from the centre of mass of the whole model */
    double mass;                     /* of all bodies */
    ptrdiff_t outputs;
    const Output *output;
    const Column *column;            /* of all outputs */
} Plan;

/* Kernels for `lanes` configurations side by side: entry e of configuration l stands at x[e * lanes + l]. */
typedef struct {
    ptrdiff_t (*workspace_size)(const Plan *);   /* doubles */
    /* x[item] <- the results of every item; NULL for v or a means zero */
    void (*compute)(const Plan *, const double *q, const double *v, const double *a, double *const *x,
                    double *workspace);
} RequestKernels;

typedef struct {
    const char *name;
    RequestKernels one, lanes;       /* for 1 and for 8 configurations */
} RequestTable;

extern const RequestTable requests_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const RequestTable requests_avx2, requests_avx512;
#endif

#endif
