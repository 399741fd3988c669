/* Regressors for one kind of number: tau = Y pi with the parameters pi of all bodies. Atkeson, An and Hollerbach (1986),
 * Estimation of inertial parameters of manipulator loads and links. recursions.h lists the names that must be defined.
 *
 *     for every body i:   force and moment B_i (6 x 10) of each of its parameters at unit value
 *         for every freedom k between body i and the root:   Y_ki = S_k B_i
 *
 * In the axes of the root body nothing is rotated between bodies; parameters are in the axes E of the joint. */
#include "../dynamics/workspace.h"
#include "../common/motion_cross.h"
#include "../dynamics/placements.h"
#include "../dynamics/inertias.h"
#include "../dynamics/forces.h"
#include "../dynamics/turns.h"
#include "../dynamics/rnea.h"
#include "../derivatives/inertia_gradient.h"

/* Forces and moments, about a local origin, of the parameters of a body; the tensor gives moments only. */
typedef struct { real force[4][3], moment[10][3]; } NAME(Columns);
#define Columns NAME(Columns)

/* Return the inner product of two vectors. */
INLINE real NAME(dot)(const real *a, const real *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* E <- axes of the joint of a body in the axes of the root */
INLINE void NAME(write_joint_axes)(const Body *b, const Pose *X, real *E)
{
    EACH(c, 3) ROTATE(X->R, b->axes + 3 * c, E + 3 * c);
}

/* B <- force and moment that each parameter needs: with the velocity omega, the classical acceleration a of the origin
 * of the joint and the angular one,
 *     f = m a + w' x h + w x (w x h),   n = J w' + h x a + w x J w                                        */
INLINE void NAME(write_columns)(const Body *b, const Pose *X, const real *V, const real *A, int moves, Columns *B)
{
    const real *omega = V + 3, *turn = A + 3;
    real E[9], F[9], a[3], v[3], u[3], o[3];
    NAME(write_joint_axes)(b, X, E);
    EACH(r, 3) { v[r] = V[r]; a[r] = A[r]; }
    ADD_CROSS(turn, X->p, a);
    if (moves) {
        ADD_CROSS(omega, X->p, v);
        ADD_CROSS(omega, v, a);
    }
    EACH(r, 3) B->force[0][r] = a[r];
    CROSS(X->p, a, B->moment[0]);
    EACH(c, 3) {
        const real *e = E + 3 * c;
        real *f = B->force[1 + c], *n = B->moment[1 + c];
        CROSS(turn, e, f);
        u[c] = NAME(dot)(e, turn);
        if (moves) {
            CROSS(omega, e, F + 3 * c);
            ADD_CROSS(omega, F + 3 * c, f);
            o[c] = NAME(dot)(e, omega);
        }
        CROSS(e, a, n);
        ADD_CROSS(X->p, f, n);
    }
    EACH(r, 3) EACH(c, r + 1) {
        real *n = B->moment[4 + LOWER(r, c)];
        EACH(x, 3) {
            n[x] = E[3 * r + x] * u[c];
            if (c < r) n[x] += E[3 * c + x] * u[r];
            if (moves) n[x] += F[3 * r + x] * o[c];
            if (moves && c < r) n[x] += F[3 * c + x] * o[r];
        }
    }
}

/* Y_ec <- S_e B_c for the freedoms e = from .. stop-1 of a path; r leads from the origin of their motions to that of B,
 * unless they are the same. A motion is moved once for ten products, and only its 6 numbers stay in registers. */
INLINE void NAME(write_products)(const Vector *S, const ptrdiff_t *column, const Columns *B, const real *r, int moved,
                                 ptrdiff_t from, ptrdiff_t stop, const ptrdiff_t *to, double *Y)
{
    for (ptrdiff_t e = from; e < stop; e++) {
        const real *turn = S[column[e]].e + 3;
        double *y = Y + to[e] * LANES;
        real s[3];
        EACH(x, 3) s[x] = S[column[e]].e[x];
        if (moved) ADD_CROSS(turn, r, s);
        EACH(c, 10) {
            real sum = NAME(dot)(B->moment[c], turn);
            if (c < 4) sum = sum + B->force[c][0] * s[0] + B->force[c][1] * s[1] + B->force[c][2] * s[2];
            AT(y, c) = sum;
        }
    }
}

/* Y <- coefficients for the freedoms between body i and its root. The motions of a free-flyer at the root are the unit
 * vectors: B ends there. */
INLINE void NAME(write_pairs)(const Mechanism *m, ptrdiff_t i, const Workspace *w, Columns *B, const ptrdiff_t *to,
                              double *Y)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const ptrdiff_t *column = m->column + m->start[b->v + b->freedoms - 1];
    ptrdiff_t k = b->local, stop = m->body[k].above;
    real r[3] = {zero, zero, zero};
    NAME(write_products)(w->S, column, B, r, 0, stop < b->copied ? b->copied : stop, b->above + b->freedoms, to, Y);
    while (m->body[k].parent >= 0) {
        ptrdiff_t from;
        EACH(x, 3) r[x] += w->X[k].d[x];
        k = m->body[m->body[k].parent].local;
        from = m->body[k].above < b->copied ? b->copied : m->body[k].above;
        NAME(write_products)(w->S, column, B, r, 1, from, stop, to, Y);
        stop = m->body[k].above;
    }
    if (!b->copied) return;
    EACH(c, 4) ADD_CROSS(r, B->force[c], B->moment[c]);
    EACH(x, 3) {
        double *y = Y + to[x] * LANES, *n = Y + to[3 + x] * LANES;
        EACH(c, 10) {
            AT(y, c) = c < 4 ? B->force[c < 4 ? c : 0][x] : zero;
            AT(n, c) = B->moment[c][x];
        }
    }
}

/* Return the workspace with placements and motions of all bodies. */
INLINE Workspace NAME(bodies_in_motion)(const Mechanism *m, const double *q, const double *v, const double *a,
                                        int gravity, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(place_bodies)(m, q, &w);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(propagate_motion)(m, i, &w, v, a, gravity);
    return w;
}

/* Y <- 10 coefficients of the generalized force for the pairs of body i, which moves unless the velocity is zero */
static void NAME(write_body)(const Mechanism *m, ptrdiff_t i, const Workspace *w, int moves, const ptrdiff_t *to,
                             double *Y)
{
    Columns B;
    if (moves) NAME(write_columns)(m->body + i, w->X + i, w->V[i].e, w->A[i].e, 1, &B);
    else NAME(write_columns)(m->body + i, w->X + i, w->V[i].e, w->A[i].e, 0, &B);
    NAME(write_pairs)(m, i, w, &B, to, Y);
}

#include "other_regressors.h"

#undef Columns
#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef Turn
#undef Motion
#undef Pivot
#undef LOWER
#undef SYMMETRIC
