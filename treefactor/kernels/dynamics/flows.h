/* Flows of mass of bodies: the part of Newton's and Euler's equations that is linear in velocities, in a body's own axes
 * and about its own origin, whose velocity counts as zero, as forces do not depend on it.
 *
 *     p = sum of 2 m v,   G = sum of 2 m v r^T,   over points of mass m and velocity v at r from the origin
 *
 * are all that the matrix B of Singh, Russell, Wensing (2022) needs, for motions x and y = (y_l, y_a):
 *
 *     2 B x = (x_a x p, tr(G) x_a - G x_a),   2 B^T y = (0, p x y_l + tr(G) y_a - G^T y_a) */

typedef struct { real p[3], G[9]; } NAME(Flow);    /* G in columns */
#define Flow NAME(Flow)

/* B <- flows of a body that turns with w about its origin: v = w x r, and sum of m r r^T = tr(J) / 2 - J */
INLINE void NAME(write_flow)(const Inertia *I, const real *w, Flow *B)
{
    const real trace = I->J[0] + I->J[2] + I->J[5];
    real twice[3], moments[3];
    EACH(r, 3) twice[r] = 2.0 * w[r];
    CROSS(twice, I->h, B->p);
    EACH(c, 3) {
        EACH(r, 3) moments[r] = -2.0 * I->J[SYMMETRIC(r, c)];
        moments[c] += trace;
        CROSS(w, moments, B->G + 3 * c);
    }
}

/* B <- the flows B of body b, in the axes of its parent, about whose origin that of b moves with u / 2; I is the
 * inertia that belongs to B, already there: points at r with v are at r + p with v + u / 2. */
INLINE void NAME(carry_flow)(const Body *b, const Turn *T, const real *u, const Inertia *I, Flow *B)
{
    real p[3];
    EACH(r, 3) p[r] = B->p[r];
    NAME(turn_out)(b, T, 1, p, B->p);
    NAME(turn_matrix)(b, T, B->G);
    EACH(c, 3) EACH(r, 3) B->G[3 * c + r] += B->p[r] * T->p[c] + u[r] * I->h[c];
    EACH(r, 3) B->p[r] += I->mass * u[r];
}

/* sum <- sum + B */
INLINE void NAME(add_flow)(const Flow *B, Flow *sum)
{
    EACH(r, 3) sum->p[r] += B->p[r];
    EACH(e, 9) sum->G[e] += B->G[e];
}

/* y <- tr(G) x - G x */
INLINE void NAME(flow_product)(const Flow *B, const real *x, real *y)
{
    const real trace = B->G[0] + B->G[4] + B->G[8];
    real turned[3];
    ROTATE(B->G, x, turned);
    EACH(r, 3) y[r] = trace * x[r] - turned[r];
}

/* y <- the moment of 2 B^T x: p x x_l + tr(G) x_a - G^T x_a */
INLINE void NAME(flow_couple)(const Flow *B, const real *x, real *y)
{
    const real trace = B->G[0] + B->G[4] + B->G[8];
    real turned[3];
    ROTATE_BACK(B->G, x + 3, turned);
    EACH(r, 3) y[r] = trace * x[3 + r] - turned[r];
    ADD_CROSS(B->p, x, y);
}

/* x <- twice the velocity of the origin of body i about that of its parent, in the axes of the parent */
INLINE void NAME(write_approach)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const double *v, real *x)
{
    const Body *b = m->body + i;
    real u[3];
    CROSS(w->motion[b->parent].w, w->turn[i].p, u);
    if (!NAME(is_hinge)(b)) {
        real joint[6], turned[3];
        NAME(joint_motion)(b, v + b->v * LANES, joint);
        NAME(turn_out)(b, w->turn + i, 1, joint, turned);
        EACH(r, 3) u[r] += turned[r];
    }
    EACH(r, 3) x[r] = 2.0 * u[r];
}
