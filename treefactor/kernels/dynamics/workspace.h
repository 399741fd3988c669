/* Types of the recursions, and how the caller's block of doubles is carved into their arrays.
 * `real` is a double or a SIMD register; see recursions.h for the names that must be defined. */
#include "../common/spatial.h"
#include "joints.h"
#ifndef CONSTANT
#define CONSTANT double              /* type of the constants of a body */
#endif
#define LOWER(r, c) ((r) * ((r) + 1) / 2 + (c))   /* index into a lower triangle stored row by row */
#define SYMMETRIC(r, c) ((r) > (c) ? LOWER(r, c) : LOWER(c, r))

typedef struct {
    real R[9], p[3];                 /* rotation, and p measured from the local origin */
    union {
        real g[3];                   /* root body: gravity in its axes */
        real d[3];                   /* shifted body: from the local origin of its parent to its own */
    };
} NAME(Pose);
typedef struct { real mass, h[3], J[6]; } NAME(Inertia);  /* first moment, lower triangle of the tensor */
typedef struct { real e[6]; } NAME(Vector);
typedef struct { real e[21]; } NAME(Articulated);         /* lower triangle of the 6 x 6 matrix */
typedef struct {
    real s, c;                       /* of the angle about z, where E = C Rz: see turns.h */
    real p[3];
    real E[9];                       /* in columns, of all other joints */
} NAME(Turn);
typedef struct { real w[3], rate[3], a[3], K[9]; } NAME(Motion);   /* of a body in its own axes: see rnea.h */
typedef struct { real U[6], u, inverse; } NAME(Pivot);    /* of a freedom of the ABA; inverse: 1 / D */
#define Pose NAME(Pose)
#define Inertia NAME(Inertia)
#define Vector NAME(Vector)
#define Articulated NAME(Articulated)
#define Turn NAME(Turn)
#define Motion NAME(Motion)
#define Pivot NAME(Pivot)

typedef struct {
    Pose *X;                         /* of every body, to IA */
    Inertia *C;                      /* rigid-body inertias; composite inertias once crba has added them up */
    Vector *V, *A, *F;               /* velocities, accelerations, forces */
    Articulated *IA;                 /* articulated-body inertias */
    Vector *S, *U;                   /* of every freedom: unit motion, and a second vector */
    Angles angles;
    Turn *turn;                      /* of recursions in the bodies' own axes, in the memory of X, */
    Motion *motion;                  /* of IA, */
    Pivot *pivot;                    /* and of S and U */
} NAME(Workspace);
#define Workspace NAME(Workspace)

static ptrdiff_t NAME(workspace_size)(const Mechanism *m)
{
    ptrdiff_t body = sizeof(Pose) + sizeof(Inertia) + 3 * sizeof(Vector) + sizeof(Articulated);
    return (m->bodies * body + m->n * 2 * sizeof(Vector) + 3 * m->angles * sizeof(real)) / 8;
}

static Workspace NAME(carve_workspace)(const Mechanism *m, double *workspace)
{
    Workspace w;
    w.X = (Pose *)workspace;
    w.C = (Inertia *)(w.X + m->bodies);
    w.V = (Vector *)(w.C + m->bodies);
    w.A = w.V + m->bodies;
    w.F = w.A + m->bodies;
    w.IA = (Articulated *)(w.F + m->bodies);
    w.S = (Vector *)(w.IA + m->bodies);
    w.U = w.S + m->n;
    w.angles.angle = (real *)(w.U + m->n);
    w.angles.sine = w.angles.angle + m->angles;
    w.angles.cosine = w.angles.sine + m->angles;
    w.turn = (Turn *)w.X;
    w.motion = (Motion *)w.IA;
    w.pivot = (Pivot *)w.S;
    return w;
}
