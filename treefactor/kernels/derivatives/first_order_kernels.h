/* First derivatives of inverse dynamics, for one kind of number: Singh, Russell, Wensing (2022), Efficient analytical
 * derivatives of rigid-body dynamics using spatial vector algebra, every body in its own axes and about its own origin.
 *
 * The motion S_k of a freedom k displaces its body i and all that i carries. With the parent l of i,
 *
 *     dS_k = V_l x S_k,   ddS_k = A_l x S_k + V_l x dS_k,   rate_k = (V_l + V_i) x S_k,
 *
 * the composite body of i with inertia I, matrix B (flows.h) and force F gives
 *
 *     inertia = I S_k,   couple = 2 B^T S_k,   velocity = I rate_k + 2 B S_k,
 *     position = S_k x* F + I ddS_k + 2 B dS_k,
 *
 * and for every freedom j between body i and the root
 *
 *     H_kj = inertia S_j,   dtau_k/dq_j = inertia ddS_j + couple dS_j,   dtau_k/dv_j = inertia rate_j + couple S_j,
 *     dtau_j/dq_k = position S_j,   dtau_j/dv_k = velocity S_j.
 *
 * Derivatives by q are along `integrate`. Freedoms of one body turn with it: among them `position` is without
 * S_k x* F. Velocities are relative to the origin of the body in whose axes they are: where wrenches move on to the
 * parent, about whose origin that of i moves with u / 2, `couple` becomes couple + u x (linear part of inertia), and the
 * others change as forces do. */
#include "../dynamics/workspace.h"
#include "../common/motion_cross.h"
#include "../dynamics/inertias.h"
#include "../dynamics/turns.h"
#include "../dynamics/handovers.h"
#include "../dynamics/rnea.h"
#include "../dynamics/crba.h"
#include "../dynamics/flows.h"
#include "motion_and_forces.h"

typedef struct { real rate[6], dd[6], d[3]; } NAME(Rates);      /* of S_k; of dS only the rotation is needed */
typedef struct { real inertia[6], couple[3], velocity[6], position[6]; } NAME(Wrenches);
#define Rates NAME(Rates)
#define Wrenches NAME(Wrenches)

typedef struct {
    Workspace w;
    Vector *u;                       /* of every body: twice the velocity of its origin about that of its parent */
    Flow *B;                         /* of every body: flows of the composite bodies that it carries */
    Rates *rates;                    /* of every freedom that needs them */
} NAME(Work);
#define Work NAME(Work)

/* Rows of the matrices left of the diagonal, and columns above it */
typedef struct { double *H, *dq, *dv, *dq_above, *dv_above; } NAME(Row);
#define Row NAME(Row)

static ptrdiff_t NAME(first_order_size)(const Mechanism *m)
{
    return NAME(workspace_size)(m)
           + (ptrdiff_t)(m->bodies * (sizeof(Vector) + sizeof(Flow)) + m->n * sizeof(Rates)) / 8;
}

/* Return whether the rates of a body's freedoms are not simple enough to be computed where they are needed. */
INLINE int NAME(needs_rates)(const Body *b)
{
    return !NAME(is_hinge)(b) && b->kind != PRISMATIC && !NAME(is_free_root)(b);
}

/* Fill the rates of the freedoms of body i. */
INLINE void NAME(write_rates)(const Mechanism *m, ptrdiff_t i, const Work *w, const double *v)
{
    const Body *b = m->body + i;
    real rest[9], joint[6], V[6], A[6], sum[6], s[6];       /* V, A of the parent; V_l + V_i */
    NAME(motion_at_rest)(m, i, &w->w, 1, rest);
    NAME(joint_motion)(b, v + b->v * LANES, joint);
    EACH(r, 3) {
        V[r] = sum[r] = -joint[r];
        V[3 + r] = rest[r];
        sum[3 + r] = rest[r] + w->w.motion[i].w[r];
        A[r] = rest[6 + r];
        A[3 + r] = rest[3 + r];
    }
    ADD_CROSS(rest, joint, A);
    for (ptrdiff_t k = 0; k < b->freedoms; k++) {
        Rates *x = w->rates + b->v + k;
        real d[6];
        NAME(unit_motion)(b, k, s);
        NAME(motion_cross)(V, s, d);
        NAME(motion_cross)(sum, s, x->rate);
        NAME(motion_cross)(V, d, x->dd);
        NAME(add_motion_cross)(A, s, x->dd);
        EACH(r, 3) x->d[r] = d[3 + r];
    }
}

#include "first_order_rows.h"

/* H, dq, dv <- derivatives of inverse dynamics by a, q and v, from the leaves to the root */
INLINE void NAME(write_derivatives)(const Mechanism *m, const Work *w, const double *v, double *H, double *dq,
                                    double *dv)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        Inertia I;
        Flow B;
        NAME(read_inertia)(m, i, &I);
        NAME(write_flow)(&I, w->w.motion[i].w, &B);
        if (!b->leaf) {
            NAME(add_inertia)(w->w.C + i, &I);
            NAME(add_flow)(w->B + i, &B);
        }
        if (NAME(is_hinge)(b)) NAME(write_hinge)(m, w, i, &I, &B, v, H, dq, dv);
        else if (b->kind == PRISMATIC) NAME(write_slide)(m, w, i, &I, &B, v, H, dq, dv);
        else if (NAME(is_free_root)(b)) {
            real slide[3];
            EACH(r, 3) slide[r] = READ(v, b->v + r);
            NAME(write_root_rows)(m, b, &I, H);
            NAME(write_root_columns)(m, b, &I, &B, w->w.motion[i].w, slide, w->w.turn[i].p, dq, dv);
        } else NAME(write_freedoms)(m, w, i, &I, &B, v, H, dq, dv);
        if (b->parent < 0) continue;
        NAME(carry_inertia)(b, w->w.turn + i, &I);
        NAME(carry_flow)(b, w->w.turn + i, w->u[i].e, &I, &B);
        if (!b->last) {
            NAME(add_inertia)(w->w.C + b->parent, &I);
            NAME(add_flow)(w->B + b->parent, &B);
        }
        w->w.C[b->parent] = I;
        w->B[b->parent] = B;
    }
}

/* tau, H, dq, dv <- inverse dynamics and its derivatives by a, q and v; see first_order_table.h */
static void NAME(rnea_derivatives)(const Mechanism *m, const State *x, double *tau, double *H, double *dq, double *dv,
                                   double *workspace)
{
    Work w;
    w.w = NAME(motion_and_forces)(m, x, tau, workspace);
    w.u = (Vector *)(workspace + NAME(workspace_size)(m));
    w.B = (Flow *)(w.u + m->bodies);
    w.rates = (Rates *)(w.B + m->bodies);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        if (m->body[i].parent >= 0) NAME(write_approach)(m, i, &w.w, x->v, w.u[i].e);
        if (NAME(needs_rates)(m->body + i)) NAME(write_rates)(m, i, &w, x->v);
    }
    NAME(write_derivatives)(m, &w, x->v, H, dq, dv);
}

#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef Turn
#undef Motion
#undef Pivot
#undef Flow
#undef Rates
#undef Wrenches
#undef Work
#undef Row
#undef LOWER
#undef SYMMETRIC
