/* Structs of the rows of loops and rigid contacts, and the table of the kernels that compute these with derivatives.
 * treefactor/constraints/_row_kernel.pyx derives NumPy dtypes from Part and Pair. */
#ifndef TREEFACTOR_FRAME_ROWS_H
#define TREEFACTOR_FRAME_ROWS_H

#include "../dynamics/body_motion.h"

enum { ORIGINS, ANGLE, HELD_3D, HELD_6D };
enum { BY_Q = 1, BY_V = 2 };         /* derivatives */

typedef struct {                     /* rows of one pair of frames */
    ptrdiff_t kind, row, pair;
    ptrdiff_t i, j;                  /* numbers of the two axes whose angle a row keeps */
    ptrdiff_t local;                 /* 1: rows of a contact are in the axes of the first frame */
} Part;

typedef struct {
    ptrdiff_t body[2];               /* joints; -1: the base */
    double R[18];                    /* axes of both frames in their bodies, one after the other */
    double p[6];
} Pair;

typedef struct {
    ptrdiff_t m, joints, n, rows, parts;         /* freedoms of all joints, joints, columns of v, rows */
    const ptrdiff_t *below, *joint, *column;     /* of every freedom: body below, own joint, column of v */
    const double *ratio;                         /* of every freedom to its column */
    const unsigned char *path;       /* (joints + 1, m): freedoms that move a body */
    const unsigned char *moves;      /* (m, m): whether unit motion j turns with freedom k */
    const unsigned char *second;     /* second freedoms of universal joints */
    const unsigned char *used;       /* freedoms that move a frame */
    const Pair *pair;
    const Part *part;                /* those of a pair follow one another */
    double rounding;                 /* a smaller entry of J, relative to the terms that it subtracts, is zero */
    void (*log)(const double *R, const double *, const double *, double *vector);
    void (*jlog)(const double *R, const double *, const double *, double *J);
} FrameRows;

/* Kernels for `lanes` states side by side: entry e of state l stands at x[e * lanes + l]. */
typedef struct {
    /* count the doubles of workspace that `rows` needs */
    ptrdiff_t (*workspace_size)(const FrameRows *);
    /* Add to zeros values (3, rows), derivatives (3, rows, 2 n) by q and v, and derivatives E (loads, n, n) by q of the
     * forces (loads, rows); values and derivatives may be NULL. Their first axis is that of residuals (order 0), rates
     * and accelerations; derivatives of orders below `order` are left out, and those of residuals by v, which are zero.
     * a = NULL is zero. Without `turns` residuals of rotations of contacts are zero. */
    void (*rows)(const FrameRows *, int sides, int order, int turns, const double *frames, const double *v,
                 const double *a, int loads, const double *forces, double *values, double *derivatives, double *E,
                 double *workspace);
} FrameRowKernels;

typedef struct {
    const char *name;
    FrameRowKernels one, lanes;      /* for 1 and for 8 states */
} FrameRowTable;

extern const FrameRowTable frame_rows_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const FrameRowTable frame_rows_avx2, frame_rows_avx512;
#endif

#endif
