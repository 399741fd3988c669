/* A tree of bodies as the recursions take it, and the table of these: one for every instruction set. */
#ifndef TREEFACTOR_BODIES_H
#define TREEFACTOR_BODIES_H

#include <stddef.h>

/* Motions of a body against its parent; those about or along one axis have it as their z axis. */
typedef enum { REVOLUTE, CONTINUOUS, PRISMATIC, HELICAL, SPHERICAL, PLANAR, TRANSLATION, FREEFLYER } Kind;

typedef struct {
    ptrdiff_t kind, parent;          /* parent < this body; -1: the base */
    ptrdiff_t q, v, freedoms;        /* first entry in q, first freedom, and their number */
    ptrdiff_t angle;                 /* its place among those whose sine and cosine are needed */
    ptrdiff_t joint;                 /* whose external force acts on it, or -1 */
    ptrdiff_t circle;                /* whether q holds cosine and sine of what it follows */
    ptrdiff_t copied;                /* 6 below a free-flyer, whose motions are the unit vectors; else 0 */
    ptrdiff_t local;                 /* the body whose origin it is computed at: itself, or that of its parent */
    ptrdiff_t above;                 /* freedoms of its ancestors */
    double ratio, offset, pitch;     /* it turns by ratio q + offset, and moves by pitch times that */
    double R[9], p[3];               /* its frame in that of the parent where it does not move; columns of R */
    double axes[9];                  /* columns: the axes of the joint as its user knows it, in this frame */
    double mass, first[3], tensor[9];   /* m, m c, and the tensor about the origin */
    double carried;                  /* mass of the body and of all that it carries */
} Body;

typedef struct {
    ptrdiff_t bodies, joints, n, angles;   /* n freedoms */
    const Body *body;
    const ptrdiff_t *start;          /* n + 1, first entry of every packed row of H */
    const ptrdiff_t *column;         /* column of every entry */
    const double *armature;          /* n */
    double gravity[3];
} Mechanism;

/* Recursions for `lanes` configurations side by side: entry e of configuration l stands at x[e * lanes + l].
 * Arrays of lanes are aligned to 64 bytes. */
typedef struct {
    /* doubles of room that all of them need, aligned to 64 bytes */
    ptrdiff_t (*room)(const Mechanism *);
    /* H <- packed rows of the inertia matrix, with armature */
    void (*crba)(const Mechanism *, const double *q, double *H, double *room);
    /* tau <- inverse dynamics; without v, a, fext (6 for every joint, in its axes) where they are NULL */
    void (*rnea)(const Mechanism *, const double *q, const double *v, const double *a, const double *fext,
                 int gravity, double *tau, double *room);
    /* both: the equation of motion H a + bias = tau */
    void (*motion)(const Mechanism *, const double *q, const double *v, const double *fext, double *H,
                   double *bias, double *room);
    /* qdd <- forward dynamics; D <- the pivots, all of which must lie in (0, inf) */
    void (*aba)(const Mechanism *, const double *q, const double *v, const double *tau, const double *fext,
                double *qdd, double *D, double *room);
    /* frames <- axes, origin, velocity and acceleration of the bodies of all joints, and motions of all freedoms */
    void (*frames)(const Mechanism *, const double *q, const double *v, double *frames, double *room);
} Recursions;

typedef struct {
    const char *name;
    Recursions one, lanes;           /* on 1 and on 8 configurations */
    /* s, c <- sines and cosines, at most 2 units in the last place off */
    void (*sincos)(ptrdiff_t n, const double *x, double *s, double *c);
} Dynamics;

extern const Dynamics dynamics_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Dynamics dynamics_avx2, dynamics_avx512;
#endif

#endif
