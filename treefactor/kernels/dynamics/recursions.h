/* Recursions over the bodies of a tree (Featherstone 2008, ch. 5 to 7), on real: a double, or a register of them.
 * Included with   REAL   LANES (numbers side by side in memory)   NAME(f)   f for this type and instruction set
 *
 * Every vector is expressed in the axes of the root body of its tree, so no recursion rotates anything, and how far
 * away the base stands does not matter. Moments are taken about a local origin, which a body shares with its parent
 * unless the model gives it one of its own (treefactor/dynamics/bodies.py says when): only there anything is shifted, by the
 * vector d between both. A motion is (linear, angular) as in Pinocchio, a force (force, moment). All freedoms of a
 * joint are treated one after the other, as if there were massless bodies between them.
 */
#include "../common/spatial.h"
#define ENTRY(r, c) ((r) * ((r) + 1) / 2 + (c))   /* of a lower triangle, row by row */

typedef struct {
    real R[9], p[3];                 /* p from the local origin */
    union {
        real g[3];                   /* of a root: gravity */
        real d[3];                   /* of another body with an origin of its own: from that of its parent to it */
    };
} NAME(Pose);
typedef struct { real h[3], J[6]; } NAME(Inertia);        /* first moment, lower triangle of the tensor */
typedef struct { real e[6]; } NAME(Vector);
typedef struct { real e[21]; } NAME(Articulated);         /* lower triangle */
#define Pose NAME(Pose)
#define Inertia NAME(Inertia)
#define Vector NAME(Vector)
#define Articulated NAME(Articulated)

typedef struct {
    Pose *X;
    Inertia *C;
    Vector *V, *A, *F;
    Articulated *IA;
    Vector *S, *U;                   /* of freedoms */
    real *u, *inverse;
    real *angle, *sine, *cosine;
} NAME(Room);
#define Room NAME(Room)

static ptrdiff_t NAME(room)(const Mechanism *m)
{
    ptrdiff_t body = sizeof(Pose) + sizeof(Inertia) + 3 * sizeof(Vector) + sizeof(Articulated);
    return (m->bodies * body + m->n * (2 * sizeof(Vector) + 2 * sizeof(real)) + 3 * m->angles * sizeof(real)) / 8;
}

static Room NAME(divide)(const Mechanism *m, double *room)
{
    Room w;
    w.X = (Pose *)room;
    w.C = (Inertia *)(w.X + m->bodies);
    w.V = (Vector *)(w.C + m->bodies);
    w.A = w.V + m->bodies;
    w.F = w.A + m->bodies;
    w.IA = (Articulated *)(w.F + m->bodies);
    w.S = (Vector *)(w.IA + m->bodies);
    w.U = w.S + m->n;
    w.u = (real *)(w.U + m->n);
    w.inverse = w.u + m->n;
    w.angle = w.inverse + m->n;
    w.sine = w.angle + m->angles;
    w.cosine = w.sine + m->angles;
    return w;
}

/* R <- R times the turn about its z axis */
INLINE void NAME(turn)(real *R, real s, real c)
{
    EACH(r, 3) {
        real x = c * R[r] + s * R[3 + r];
        R[3 + r] = c * R[3 + r] - s * R[r];
        R[r] = x;
    }
}

/* R <- R times the rotation of the quaternion x y z w, whose length need not be 1 exactly */
INLINE void NAME(rotate)(real *R, real x, real y, real z, real w)
{
    real t = 2.0 / (x * x + y * y + z * z + w * w), E[9], from[9];
    E[0] = 1.0 - t * (y * y + z * z); E[1] = t * (x * y + z * w); E[2] = t * (x * z - y * w);
    E[3] = t * (x * y - z * w); E[4] = 1.0 - t * (x * x + z * z); E[5] = t * (y * z + x * w);
    E[6] = t * (x * z + y * w); E[7] = t * (y * z - x * w); E[8] = 1.0 - t * (x * x + y * y);
    EACH(e, 9) from[e] = R[e];
    EACH(c, 3) ROTATE(from, E + 3 * c, R + 3 * c);
}

/* Whether a body has another local origin than its parent. */
INLINE int NAME(is_shifted)(const Mechanism *m, ptrdiff_t i)
{
    return m->body[i].parent >= 0 && m->body[i].local == i;
}

/* Angle or distance of a joint with one. */
INLINE real NAME(position)(const Body *b, const double *q)
{
    real x = READ(q, b->q);
    if (b->circle) {
        double c[sizeof(real) / 8], s[sizeof(real) / 8];
        memcpy(c, &x, sizeof x);
        memcpy(s, q + (b->q + 1) * LANES, sizeof x);
        for (size_t l = 0; l < sizeof(real) / 8; l++) c[l] = atan2(s[l], c[l]);
        memcpy(&x, c, sizeof x);
    }
    return b->ratio * x + b->offset;
}

/* Move the frame R, p of a body as its joint does. */
INLINE void NAME(move)(const Body *b, const double *q, const Room *w, real *R, real *p)
{
    const real zero = {0};
    const double *x = q + b->q * LANES;
    real d[3] = {zero, zero, zero}, step[3];
    switch (b->kind) {
    case REVOLUTE: case HELICAL:   /* the axis stays where it is */
        if (b->kind == HELICAL) EACH(r, 3) p[r] += R[6 + r] * (b->pitch * w->angle[b->angle]);
        NAME(turn)(R, w->sine[b->angle], w->cosine[b->angle]);
        return;
    case CONTINUOUS:
        NAME(turn)(R, READ(x, 1), READ(x, 0));
        return;
    case PRISMATIC:
        EACH(r, 3) p[r] += R[6 + r] * NAME(position)(b, q);
        return;
    case SPHERICAL:
        NAME(rotate)(R, READ(x, 0), READ(x, 1), READ(x, 2), READ(x, 3));
        return;
    }
    EACH(r, 2) d[r] = READ(x, r);
    if (b->kind != PLANAR) d[2] = READ(x, 2);
    ROTATE(R, d, step);
    EACH(r, 3) p[r] += step[r];
    if (b->kind == PLANAR)
        NAME(turn)(R, READ(x, 3), READ(x, 2));
    else if (b->kind == FREEFLYER)
        NAME(rotate)(R, READ(x, 3), READ(x, 4), READ(x, 5), READ(x, 6));
}

/* s <- the motion along (linear) or about (else) axis `axis` of a frame */
INLINE void NAME(unit)(const Pose *X, int axis, int linear, Vector *s)
{
    const real zero = {0};
    const real *a = X->R + 3 * axis;
    EACH(r, 3) {
        s->e[r] = linear ? a[r] : zero;
        s->e[3 + r] = linear ? zero : a[r];
    }
    if (!linear) ADD_CROSS(X->p, a, s->e);
}

/* Motions of the freedoms of a body. */
INLINE void NAME(motions)(const Body *b, const Pose *X, Vector *S)
{
    switch (b->kind) {
    case REVOLUTE: case CONTINUOUS:
        NAME(unit)(X, 2, 0, S);
        return;
    case HELICAL:
        NAME(unit)(X, 2, 0, S);
        EACH(r, 3) S->e[r] += b->pitch * X->R[6 + r];
        return;
    case PRISMATIC:
        NAME(unit)(X, 2, 1, S);
        return;
    case PLANAR:
        NAME(unit)(X, 0, 1, S);
        NAME(unit)(X, 1, 1, S + 1);
        NAME(unit)(X, 2, 0, S + 2);
        return;
    }
    for (int k = 0; k < b->freedoms; k++)
        NAME(unit)(X, k % 3, b->kind != SPHERICAL && k < 3, S + k);
}

/* X, S: poses and motions of all bodies. */
static void NAME(place)(const Mechanism *m, const double *q, const Room *w)
{
    const real zero = {0};
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        if (b->angle >= 0) w->angle[b->angle] = NAME(position)(b, q);
    }
    ISA(sincos)(m->angles * (ptrdiff_t)(sizeof(real) / 8), (double *)w->angle, (double *)w->sine, (double *)w->cosine);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        Pose *X = w->X + i;
        if (b->parent < 0 || m->body[b->parent].parent < 0) {   /* what carries it does not turn here */
            EACH(e, 9) X->R[e] = zero + b->R[e];
            EACH(r, 3) X->p[r] = zero + b->p[r];
        } else {
            const Pose *P = w->X + b->parent;
            EACH(c, 3) ROTATE(P->R, b->R + 3 * c, X->R + 3 * c);
            ROTATE(P->R, b->p, X->p);
            EACH(r, 3) X->p[r] += P->p[r];
        }
        NAME(move)(b, q, w, X->R, X->p);
        if (b->parent < 0) {
            EACH(c, 3) X->g[c] = X->R[3 * c] * m->gravity[0] + X->R[3 * c + 1] * m->gravity[1]
                               + X->R[3 * c + 2] * m->gravity[2];
            EACH(e, 9) X->R[e] = zero + (double)(e % 4 == 0);
            EACH(r, 3) X->p[r] = zero;
        } else if (b->local == i) {
            EACH(r, 3) X->d[r] = X->p[r];
            EACH(r, 3) X->p[r] = zero;
        }
        NAME(motions)(b, X, w->S + b->v);
    }
}

/* Inertia about another origin, from which that of I is seen at p: h + m p, and the tensor
 *     J + p (h + h') 1 - p h'^T - h p^T   with h' = h + m p                                               */
INLINE void NAME(shift_inertia)(double mass, const real *p, Inertia *I)
{
    real from[3], trace, *h = I->h, *J = I->J;
    EACH(r, 3) from[r] = h[r];
    EACH(r, 3) h[r] += mass * p[r];
    trace = p[0] * (h[0] + from[0]) + p[1] * (h[1] + from[1]) + p[2] * (h[2] + from[2]);
    EACH(r, 3) {
        EACH(c, r + 1) J[ENTRY(r, c)] -= p[r] * h[c] + from[r] * p[c];
        J[ENTRY(r, r)] += trace;
    }
}

/* C: inertias of all bodies. */
static void NAME(inertias)(const Mechanism *m, const Room *w)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        const real *R = w->X[i].R;
        real RI[9];
        Inertia I;
        ROTATE(R, b->first, I.h);
        EACH(c, 3) ROTATE(R, b->tensor + 3 * c, RI + 3 * c);
        EACH(r, 3) EACH(c, r + 1) I.J[ENTRY(r, c)] = RI[r] * R[c] + RI[3 + r] * R[3 + c] + RI[6 + r] * R[6 + c];
        NAME(shift_inertia)(b->mass, w->X[i].p, &I);
        w->C[i] = I;
    }
}

/* f <- I (0, w): w x h, J w */
INLINE void NAME(spin)(const Inertia *I, const real *w, real *f)
{
    const real zero = {0}, *J = I->J;
    EACH(r, 3) f[r] = zero;
    ADD_CROSS(w, I->h, f);
    f[3] = J[0] * w[0] + J[1] * w[1] + J[3] * w[2];
    f[4] = J[1] * w[0] + J[2] * w[1] + J[4] * w[2];
    f[5] = J[3] * w[0] + J[4] * w[1] + J[5] * w[2];
}

/* f <- I s */
INLINE void NAME(momentum)(double mass, const Inertia *I, const real *s, real *f)
{
    NAME(spin)(I, s + 3, f);
    EACH(r, 3) f[r] += mass * s[r];
    ADD_CROSS(I->h, s, f + 3);
}

INLINE real NAME(product)(const real *f, const real *s)
{
    return (f[0] * s[0] + f[1] * s[1] + f[2] * s[2]) + (f[3] * s[3] + f[4] * s[4] + f[5] * s[5]);
}

/* The row of H of a freedom of body b: f S_i for every freedom i up to the root. */
INLINE void NAME(write_row)(const Mechanism *m, const Room *w, const Body *b, const ptrdiff_t *column, ptrdiff_t length,
                            real *f, double *row)
{
    ptrdiff_t e;
    for (ptrdiff_t i = b->local; m->body[i].parent >= 0; i = m->body[m->body[i].parent].local) {
        for (e = m->body[i].above; e < length; e++) AT(row, e) = NAME(product)(f, w->S[column[e]].e);
        ADD_CROSS(w->X[i].d, f, f + 3);
        length = m->body[i].above;
    }
    e = 0;
    for (; e < b->copied && e < length; e++) AT(row, e) = f[e];
    for (; e < length; e++) AT(row, e) = NAME(product)(f, w->S[column[e]].e);
}

/* Table 6.2: F = Ic_i S_k, and H_ki = F S_i for every freedom i up to the root; C becomes Ic. */
static void NAME(compose)(const Mechanism *m, const Room *w, double *H)
{
    real f[6];
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            ptrdiff_t length = m->start[k + 1] - m->start[k];
            double *row = H + m->start[k] * LANES;
            NAME(momentum)(b->carried, w->C + i, w->S[k].e, f);
            NAME(write_row)(m, w, b, m->column + m->start[k], length, f, row);
            AT(row, length - 1) += m->armature[k];
        }
        if (b->parent >= 0) {
            Inertia *P = w->C + b->parent;
            if (b->local == i) NAME(shift_inertia)(b->carried, w->X[i].d, w->C + i);
            EACH(r, 3) P->h[r] += w->C[i].h[r];
            EACH(r, 6) P->J[r] += w->C[i].J[r];
        }
    }
}

/* V, A of body i from those of what carries it; A holds the part of a, v = NULL or a = NULL for rest. */
INLINE void NAME(rates)(const Mechanism *m, ptrdiff_t i, const Room *w, const double *v, const double *a, int gravity)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real *V = w->V[i].e, *A = w->A[i].e, joint[6];
    EACH(r, 6) {
        V[r] = b->parent < 0 ? zero : w->V[b->parent].e[r];
        A[r] = b->parent < 0 ? zero : w->A[b->parent].e[r];
        joint[r] = zero;
    }
    if (gravity && b->parent < 0) EACH(r, 3) A[r] = -w->X[i].g[r];
    if (NAME(is_shifted)(m, i)) {
        ADD_CROSS(V + 3, w->X[i].d, V);
        ADD_CROSS(A + 3, w->X[i].d, A);
    }
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
        const real *s = w->S[k].e;
        if (v) EACH(r, 6) joint[r] += s[r] * READ(v, k);
        if (a) EACH(r, 6) A[r] += s[r] * READ(a, k);
    }
    if (v) {   /* A += V x joint: V may or may not hold the joint's own motion, whose product with it is 0 */
        ADD_CROSS(V + 3, joint, A);
        ADD_CROSS(V, joint + 3, A);
        ADD_CROSS(V + 3, joint + 3, A + 3);
        EACH(r, 6) V[r] += joint[r];
    }
}

/* F: forces that move the bodies, v = NULL or a = NULL for rest. With the acceleration a = A + w x V of the point at
 * the local origin, whose own velocity cancels out of everything else,
 *     f = m a + w' x h + w x (w x h),   n = J w' + h x a + w x J w                                        */
static void NAME(forces)(const Mechanism *m, const Room *w, const double *v, const double *a, const double *fext,
                         int gravity)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real *V = w->V[i].e, *F = w->F[i].e, A[6], P[6], *omega = V + 3;
        NAME(rates)(m, i, w, v, a, gravity);
        EACH(r, 6) A[r] = w->A[i].e[r];
        if (v) ADD_CROSS(omega, V, A);
        NAME(momentum)(b->mass, w->C + i, A, F);
        if (v) {
            NAME(spin)(w->C + i, omega, P);
            ADD_CROSS(omega, P, F);
            ADD_CROSS(omega, P + 3, F + 3);
        }
        if (fext && b->joint >= 0) {
            const double *f = fext + 6 * b->joint * LANES;
            real given[6], here[6], world[6];
            EACH(r, 6) given[r] = READ(f, r);
            ROTATE(b->axes, given, here);
            ROTATE(b->axes, given + 3, here + 3);
            ROTATE(w->X[i].R, here, world);
            ROTATE(w->X[i].R, here + 3, world + 3);
            ADD_CROSS(w->X[i].p, world, world + 3);
            EACH(r, 6) F[r] -= world[r];
        }
    }
}

/* Force on what carries body i. */
INLINE void NAME(pass_on)(const Mechanism *m, ptrdiff_t i, const Room *w)
{
    real *F = w->F[i].e;
    if (m->body[i].local == i) ADD_CROSS(w->X[i].d, F, F + 3);
    EACH(r, 6) w->F[m->body[i].parent].e[r] += F[r];
}

/* Table 5.1: tau_k = S_k F, where F sums up from the leaves. */
static void NAME(project)(const Mechanism *m, const Room *w, const double *a, double *tau)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            AT(tau, k) = NAME(product)(w->F[i].e, w->S[k].e);
            if (a) AT(tau, k) += m->armature[k] * READ(a, k);
        }
        if (b->parent >= 0) NAME(pass_on)(m, i, w);
    }
}

/* x: a motion or two vectors of the frame of a root body, in the axes of the base, where R is that root's rotation */
INLINE void NAME(write_pair)(const real *R, const real *a, const real *b, double *x)
{
    real turned[6];
    ROTATE(R, a, turned);
    ROTATE(R, b, turned + 3);
    EACH(r, 6) AT(x, r) = turned[r];
}

/* x: the motion s of the local origin, of the point at the root body's origin, from which that one is seen at o */
INLINE void NAME(write_motion)(const real *R, const real *o, const real *s, double *x)
{
    real at_root[6];
    EACH(r, 6) at_root[r] = s[r];
    ADD_CROSS(o, s + 3, at_root);
    NAME(write_pair)(R, at_root, at_root + 3, x);
}

/* Of the body of every joint 27 numbers: its axes, that is the columns of its rotation; its origin from that of the
 * root body; that of the root body; its velocity V, and its acceleration A where the freedoms have none. Then of every
 * freedom its motion S, 6 numbers. All in the axes of the base; V, A and S of the point at the root body's origin. */
static void NAME(frames)(const Mechanism *m, const double *q, const double *v, double *frames, double *room)
{
    Room w = NAME(divide)(m, room);
    Pose *base = (Pose *)w.IA;       /* of the root of every body in the base, in room that only aba needs */
    double *S = frames + 27 * m->joints * LANES;
    NAME(place)(m, q, &w);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        const real zero = {0}, *R = base[i].R, *o = base[i].d;
        real axes[9], p[3];
        NAME(rates)(m, i, &w, v, NULL, 0);
        if (b->parent >= 0) {
            base[i] = base[b->parent];
            if (b->local == i) EACH(r, 3) base[i].d[r] += w.X[i].d[r];
        } else {
            EACH(e, 9) base[i].R[e] = zero + b->R[e];
            EACH(r, 3) base[i].p[r] = zero + b->p[r];
            EACH(r, 3) base[i].d[r] = zero;
            NAME(move)(b, q, &w, base[i].R, base[i].p);
        }
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
            NAME(write_motion)(R, o, w.S[k].e, S + 6 * k * LANES);
        if (b->joint < 0) continue;
        double *x = frames + 27 * b->joint * LANES;
        EACH(c, 3) ROTATE(w.X[i].R, b->axes + 3 * c, axes + 3 * c);
        NAME(write_pair)(R, axes, axes + 3, x);
        EACH(r, 3) p[r] = o[r] + w.X[i].p[r];
        NAME(write_pair)(R, axes + 6, p, x + 6 * LANES);
        EACH(r, 3) AT(x, 12 + r) = base[i].p[r];
        NAME(write_motion)(R, o, w.V[i].e, x + 15 * LANES);
        NAME(write_motion)(R, o, w.A[i].e, x + 21 * LANES);
    }
}

static void NAME(crba)(const Mechanism *m, const double *q, double *H, double *room)
{
    Room w = NAME(divide)(m, room);
    NAME(place)(m, q, &w);
    NAME(inertias)(m, &w);
    NAME(compose)(m, &w, H);
}

static void NAME(rnea)(const Mechanism *m, const double *q, const double *v, const double *a, const double *fext,
                       int gravity, double *tau, double *room)
{
    Room w = NAME(divide)(m, room);
    NAME(place)(m, q, &w);
    NAME(inertias)(m, &w);
    NAME(forces)(m, &w, v, a, fext, gravity);
    NAME(project)(m, &w, a, tau);
}

static void NAME(motion)(const Mechanism *m, const double *q, const double *v, const double *fext, double *H,
                         double *bias, double *room)
{
    Room w = NAME(divide)(m, room);
    NAME(place)(m, q, &w);
    NAME(inertias)(m, &w);
    NAME(forces)(m, &w, v, NULL, fext, 1);
    NAME(project)(m, &w, NULL, bias);
    NAME(compose)(m, &w, H);
}

/* A <- the 6 x 6 matrix of an inertia */
INLINE void NAME(expand)(double mass, const Inertia *I, real *A)
{
    const real zero = {0}, *h = I->h;
    EACH(r, 3) EACH(c, r + 1) {
        A[ENTRY(r, c)] = zero + (r == c ? mass : 0.0);
        A[ENTRY(r + 3, c + 3)] = I->J[ENTRY(r, c)];
    }
    A[ENTRY(3, 0)] = zero; A[ENTRY(3, 1)] = -h[2]; A[ENTRY(3, 2)] = h[1];
    A[ENTRY(4, 0)] = h[2]; A[ENTRY(4, 1)] = zero; A[ENTRY(4, 2)] = -h[0];
    A[ENTRY(5, 0)] = -h[1]; A[ENTRY(5, 1)] = h[0]; A[ENTRY(5, 2)] = zero;
}

/* A <- the 6 x 6 matrix about another origin, from which its own is seen at d. Its blocks are M, N^T; N, J:
 *     N' = N + dx M,   J' = J + dx N^T + (dx N'^T)^T                                                      */
INLINE void NAME(shift_articulated)(const real *d, real *A)
{
    real M[9], N[9], turned[9];      /* in columns; rows of N */
    EACH(r, 3) EACH(c, 3) {
        M[3 * c + r] = A[r > c ? ENTRY(r, c) : ENTRY(c, r)];
        N[3 * r + c] = A[ENTRY(3 + r, c)];
        turned[3 * c + r] = A[ENTRY(3 + (r > c ? r : c), 3 + (r > c ? c : r))];
    }
    EACH(c, 3) ADD_CROSS(d, N + 3 * c, turned + 3 * c);   /* J + dx N^T */
    EACH(c, 3) {
        real moved[3] = {N[c], N[3 + c], N[6 + c]};
        ADD_CROSS(d, M + 3 * c, moved);
        EACH(r, 3) N[3 * r + c] = moved[r];
    }
    EACH(r, 3) {
        real row[3] = {turned[r], turned[3 + r], turned[6 + r]};
        ADD_CROSS(d, N + 3 * r, row);
        EACH(c, 3) A[ENTRY(3 + r, c)] = N[3 * r + c];
        EACH(c, r + 1) A[ENTRY(3 + r, 3 + c)] = row[c];
    }
}

/* Eliminate one freedom (Table 7.1): U = A s, D = s U, u = tau - s F, then A -= U U^T / D and F += U u / D. */
INLINE real NAME(eliminate)(const real *s, real armature, real tau, real *A, real *F, real *U, real *u, real *inverse)
{
    real d, step;
    EACH(r, 6) {
        U[r] = A[ENTRY(r, 0)] * s[0];
        EACH(c, 5) U[r] += A[r > c ? ENTRY(r, c + 1) : ENTRY(c + 1, r)] * s[c + 1];
    }
    d = NAME(product)(U, s) + armature;
    *inverse = 1.0 / d;
    *u = tau - NAME(product)(F, s);
    EACH(r, 6) {
        step = *inverse * U[r];
        EACH(c, r + 1) A[ENTRY(r, c)] -= step * U[c];
        F[r] += step * *u;
    }
    return d;
}

/* Table 7.1, on the forces of the body at rest: qdd_k = (u_k - U_k A) / D_k. */
static void NAME(aba)(const Mechanism *m, const double *q, const double *v, const double *tau, const double *fext,
                      double *qdd, double *D, double *room)
{
    const real zero = {0};
    Room w = NAME(divide)(m, room);
    NAME(place)(m, q, &w);
    NAME(inertias)(m, &w);
    NAME(forces)(m, &w, v, NULL, fext, 1);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(expand)(m->body[i].mass, w.C + i, w.IA[i].e);
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        for (ptrdiff_t k = b->v + b->freedoms - 1; k >= b->v; k--)
            AT(D, k) = NAME(eliminate)(w.S[k].e, zero + m->armature[k], READ(tau, k), w.IA[i].e, w.F[i].e,
                                       w.U[k].e, w.u + k, w.inverse + k);
        if (b->parent >= 0) {
            if (b->local == i) NAME(shift_articulated)(w.X[i].d, w.IA[i].e);
            EACH(e, 21) w.IA[b->parent].e[e] += w.IA[i].e[e];
            NAME(pass_on)(m, i, &w);
        }
    }
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real *A = w.A[i].e;
        EACH(r, 6) A[r] = b->parent < 0 ? zero : w.A[b->parent].e[r];
        if (NAME(is_shifted)(m, i)) ADD_CROSS(A + 3, w.X[i].d, A);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            real x = w.inverse[k] * (w.u[k] - NAME(product)(w.U[k].e, A));
            AT(qdd, k) = x;
            EACH(r, 6) A[r] += w.S[k].e[r] * x;
        }
    }
}

#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Room
