/* Structs that describe a model to the recursions, and the table of compiled recursions per instruction set. */
#ifndef TREEFACTOR_BODIES_H
#define TREEFACTOR_BODIES_H

#include <stddef.h>

/* Kinds of motion of a body relative to its parent; the axis of a single-axis kind is its z axis. */
typedef enum { REVOLUTE, CONTINUOUS, PRISMATIC, HELICAL, SPHERICAL, PLANAR, TRANSLATION, FREEFLYER } Kind;

/* How the axes of a body, at zero displacement, lie in those of its parent: its z axis along or against one of them and
 * x and y as turns.h has them, or any other way. */
typedef enum { ANY_TURN, ALONG_X, AGAINST_X, ALONG_Y, AGAINST_Y, ALONG_Z, AGAINST_Z } TreeTurn;

typedef struct {
    ptrdiff_t kind, parent;          /* parent < this body; -1: the base */
    ptrdiff_t q, v, freedoms;        /* first entry in q, first freedom, and number of freedoms */
    ptrdiff_t angle;                 /* index into the angles whose sine and cosine are computed, or -1 */
    ptrdiff_t joint;                 /* joint of the model whose external force acts on this body, or -1 */
    ptrdiff_t circle;                /* 1: q holds cosine and sine of the joint that this one follows */
    ptrdiff_t copied;                /* 6 below a free-flyer, whose motions are the unit vectors; else 0 */
    ptrdiff_t local;                 /* body whose origin is the local origin: this one, or that of its parent */
    ptrdiff_t above;                 /* number of freedoms of all ancestors */
    ptrdiff_t below;                 /* of its subtree whose forces crba carries together, its own included; or 0 */
    ptrdiff_t turn;                  /* a TreeTurn: ANY_TURN unless the joint turns about or slides along z */
    ptrdiff_t leaf, last;            /* 1: it has no children; no later body has the same parent */
    double ratio, offset, pitch;     /* it turns by ratio q + offset, and moves by pitch times that */
    double R[9], p[3];               /* frame in that of the parent at zero displacement; columns of R */
    double axes[9];                  /* columns: axes of the joint's public frame, expressed in this frame */
    double mass, first[3], tensor[9];   /* m, m c, and the inertia tensor about the origin: of kinematics only */
    double carried;                  /* mass of the whole subtree of the body: of kinematics only */
} Body;

typedef struct {
    ptrdiff_t bodies, joints, n, angles;   /* n freedoms */
    const Body *body;
    const ptrdiff_t *start;          /* n + 1; first entry of every packed row of H */
    const ptrdiff_t *column;         /* column of every packed entry of H */
    /* of every body ten: mass, m c, and the lower triangle of the inertia tensor about the origin; of every freedom its
     * armature. The same for all lanes, or, if in_lanes is 1, entry e of a lane at [8 e + lane], aligned to 64 bytes */
    const double *inertias, *armature;
    ptrdiff_t in_lanes;
    double gravity[3];
    const void *limbs;               /* what `fold` wrote for these constants, */
    ptrdiff_t limb_lanes;            /* for as many lanes; or 0 */
} Mechanism;

/* Return a mechanism with constants in lanes as the lanes from l on see it. */
static inline Mechanism mechanism_from(const Mechanism *m, ptrdiff_t l)
{
    Mechanism mechanism = *m;
    mechanism.inertias += l;
    mechanism.armature += l;
    return mechanism;
}
/* Call the kernel f of the mechanism m for the lanes from l on, within PASSES. */
#define CALL(f, ...) do { \
        if (m->in_lanes) { \
            const Mechanism here = mechanism_from(m, l); \
            ISA(f##_own)(&here, __VA_ARGS__); \
        } else NAME(f)(m, __VA_ARGS__); \
    } while (0)

/* Recursions for `lanes` configurations side by side: entry e of configuration l stands at x[e * lanes + l].
 * Arrays with lanes are aligned to 64 bytes, the workspace too. */
typedef struct {
    /* doubles of workspace that every recursion needs */
    ptrdiff_t (*workspace_size)(const Mechanism *);
    /* H <- packed rows of the joint-space inertia matrix, armature included */
    void (*crba)(const Mechanism *, const double *q, double *H, double *workspace);
    /* tau <- inverse dynamics; NULL for v, a or fext (6 per joint, in its axes) means zero */
    void (*rnea)(const Mechanism *, const double *q, const double *v, const double *a, const double *fext,
                 int gravity, double *tau, double *workspace);
    /* joints <- force and moment (6) of the parent on the body of every joint, at its origin and in its axes;
     * base <- force and moment of the model on the base; NULL: not wanted */
    void (*reactions)(const Mechanism *, const double *q, const double *v, const double *a, const double *fext,
                      double *joints, double *base, double *workspace);
    /* H and bias of the equation of motion H a + bias = tau */
    void (*equation_of_motion)(const Mechanism *, const double *q, const double *v, const double *fext, double *H,
                               double *bias, double *workspace);
    /* qdd <- forward dynamics; D <- the pivots, valid if all lie in (0, inf) */
    void (*aba)(const Mechanism *, const double *q, const double *v, const double *tau, const double *fext,
                double *qdd, double *D, double *workspace);
    /* frames <- a BodyMotion for every joint, then the unit motions of all freedoms; see body_motion.h */
    void (*frames)(const Mechanism *, const double *q, const double *v, double *frames, double *workspace);
    /* tau <- generalized forces that hold gravity and external forces at rest; NULL for fext means zero */
    void (*static_forces)(const Mechanism *, const double *q, const double *fext, double *tau, double *workspace);
    /* energy <- kinetic energy unless v is NULL, plus potential energy if it is wanted */
    void (*energy)(const Mechanism *, const double *q, const double *v, int potential, double *energy,
                   double *workspace);
    /* C <- the Coriolis matrix: packed rows of its lower triangle, then the transposed entries above the diagonal */
    void (*coriolis)(const Mechanism *, const double *q, const double *v, double *C, double *workspace);
} Recursions;

typedef struct {
    const char *name;
    Recursions one, lanes;           /* for 1 and for 8 configurations */
    /* s, c <- sines and cosines, with errors of at most 2 units in the last place */
    void (*sincos)(ptrdiff_t n, const double *x, double *s, double *c);
    /* whether in all lanes all entries of D lie in (0, inf) */
    int (*are_pivots)(ptrdiff_t entries, const double *D);
    /* Return how many lanes compute equal limbs side by side in the least time: 2, 4, or 0 for none. See limbs.h. */
    int (*best_limb_lanes)(const Mechanism *);
    /* Write what Mechanism.limbs points to, for its limb_lanes, to memory aligned to 64 bytes; return the doubles needed,
     * which is all that happens without memory. */
    ptrdiff_t (*fold)(const Mechanism *, double *memory);
} Dynamics;

extern const Dynamics dynamics_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Dynamics dynamics_avx2, dynamics_avx512;
#endif

#endif
