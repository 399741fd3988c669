/* First derivatives of inverse dynamics, for one kind of number: Singh, Russell, Wensing (2022), Efficient analytical
 * derivatives of rigid-body dynamics using spatial vector algebra.
 *
 * The motion S_k of a freedom k displaces its body i and all that i carries. With the parent l of i,
 *
 *     dS_k = V_l x S_k,   ddS_k = A_l x S_k + V_l x dS_k,   rate_k = (V_l + V_i) x S_k,
 *
 * the composite body of i with inertia I, matrix B (momenta.h) and force F gives
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
 * S_k x* F. */
#include "../dynamics/workspace.h"
#include "../common/motion_cross.h"
#include "../dynamics/placements.h"
#include "../dynamics/inertias.h"
#include "../dynamics/forces.h"
#include "../dynamics/momenta.h"

typedef struct { real rate[6], dd[6], d[3]; } NAME(Rates);      /* of S_k; of dS only the rotation is needed */
typedef struct { real inertia[6], couple[3], velocity[6], position[6]; } NAME(Wrenches);
#define Rates NAME(Rates)
#define Wrenches NAME(Wrenches)

typedef struct {
    Workspace w;
    Momentum *B;                     /* of every body; of composite bodies in the end */
    Rates *rates;                    /* of every freedom */
    Wrenches *wrenches;              /* of every freedom, where the parts are computed one after the other: */
    Vector *change, *push;           /* of every body: what a adds to A; force that a below it adds */
} NAME(Work);
#define Work NAME(Work)

/* Rows of the matrices left of the diagonal, and columns above it */
typedef struct { double *H, *dq, *dv, *dq_above, *dv_above; } NAME(Row);
#define Row NAME(Row)

static ptrdiff_t NAME(first_order_size)(const Mechanism *m)
{
    return NAME(workspace_size)(m) + (ptrdiff_t)(m->n * sizeof(Rates)) / 8;
}

/* doubles of workspace where the parts are computed one after the other */
static ptrdiff_t NAME(parts_size)(const Mechanism *m)
{
    return NAME(first_order_size)(m) + (ptrdiff_t)(m->n * sizeof(Wrenches) + 2 * m->bodies * sizeof(Vector)) / 8;
}

static Work NAME(carve_work)(const Mechanism *m, double *workspace)
{
    Work w;
    w.w = NAME(carve_workspace)(m, workspace);
    w.B = (Momentum *)w.w.IA;        /* memory that otherwise only aba and frames use */
    w.rates = (Rates *)(workspace + NAME(workspace_size)(m));
    w.wrenches = (Wrenches *)(w.rates + m->n);
    w.change = (Vector *)(w.wrenches + m->n);
    w.push = w.change + m->bodies;
    return w;
}

/* Return f . s + c . w: power of the force f at the motion s and of the couple c at the rotation w, as one chain of
 * multiply-adds. */
INLINE real NAME(power_with_couple)(const real *f, const real *s, const real *c, const real *w)
{
    real sum = c[0] * w[0];
    sum += c[1] * w[1];
    sum += c[2] * w[2];
    EACH(r, 6) sum += f[r] * s[r];
    return sum;
}

/* Return f . s as one chain of multiply-adds, where `power` has two short ones. */
INLINE real NAME(power_in_one_chain)(const real *f, const real *s)
{
    real sum = f[0] * s[0];
    EACH(r, 5) sum += f[1 + r] * s[1 + r];
    return sum;
}

/* Fill the rates of the freedoms of body i; without POSITION, ddS is V_l x dS only. */
INLINE void NAME(write_rates)(const Mechanism *m, ptrdiff_t i, const Work *w, int parts)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real V[6], A[6], sum[6];         /* of the parent, at the local origin of the body; V_l + V_i */
    EACH(r, 6) {
        V[r] = b->parent < 0 ? zero : w->w.V[b->parent].e[r];
        A[r] = b->parent < 0 ? zero : w->w.A[b->parent].e[r];
    }
    if (b->parent < 0) EACH(r, 3) A[r] = -w->w.X[i].g[r];
    if (NAME(is_shifted)(m, i)) {
        ADD_CROSS(V + 3, w->w.X[i].d, V);
        ADD_CROSS(A + 3, w->w.X[i].d, A);
    }
    EACH(r, 6) sum[r] = V[r] + w->w.V[i].e[r];
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
        const real *s = w->w.S[k].e;
        Rates *x = w->rates + k;
        real d[6], dd[6], rate[6];
        NAME(motion_cross)(V, s, d);
        NAME(motion_cross)(sum, s, rate);
        NAME(motion_cross)(V, d, dd);
        if (parts & POSITION) NAME(add_motion_cross)(A, s, dd);
        EACH(r, 3) x->d[r] = d[3 + r];
        EACH(r, 6) x->dd[r] = dd[r];
        EACH(r, 6) x->rate[r] = rate[r];
    }
}

#include "first_order_rows.h"

/* Add inertia, matrix and force of composite body i to those of its parent. */
INLINE void NAME(add_to_parent)(const Mechanism *m, const Work *w, ptrdiff_t i)
{
    const ptrdiff_t parent = m->body[i].parent;
    const real *d = w->w.X[i].d;
    Inertia I = w->w.C[i];
    Momentum B = w->B[i];
    Vector F = w->w.F[i];
    if (m->body[i].local == i) {
        NAME(shift_inertia)(d, &I);
        NAME(shift_momentum)(d, &B);
        ADD_CROSS(d, F.e, F.e + 3);
    }
    NAME(add_inertia)(&I, w->w.C + parent);
    NAME(add_momentum)(&B, w->B + parent);
    EACH(r, 6) w->w.F[parent].e[r] += F.e[r];
}

/* Return whether body i is a free-flying root, whose motions are unit vectors. */
INLINE int NAME(is_free_root)(const Mechanism *m, ptrdiff_t i)
{
    return m->body[i].parent < 0 && m->body[i].copied;
}

/* Fill placements, inertias, velocities, forces and rates; a = NULL means zero. */
INLINE void NAME(move_bodies)(const Mechanism *m, const Work *w, int parts, const double *q, const double *v,
                              const double *a, const double *fext)
{
    NAME(compute_angles)(m, q, &w->w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        NAME(place_body)(m, i, q, &w->w);
        NAME(move_inertia)(m, i, w->w.X + i, w->w.C + i);
        NAME(write_force)(m, i, &w->w, v, a, fext, 1);
        NAME(write_momentum)(w->w.C + i, w->w.V[i].e, w->B + i);
        if (!NAME(is_free_root)(m, i)) NAME(write_rates)(m, i, w, parts);
    }
}

/* tau, H, dv, and dq in the same round <- generalized forces, and their derivatives by a, v and q */
INLINE void NAME(sum_bodies)(const Mechanism *m, const Work *w, int parts, const double *a, double *tau, double *H,
                             double *dq, double *dv)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const int root = NAME(is_free_root)(m, i);
        if (root) NAME(write_root_velocity)(m, w, i, H, dv);
        if (root && (parts & POSITION)) NAME(write_root_position)(m, w, i, dq);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            const ptrdiff_t left = m->start[k] * LANES, above = (m->start[m->n] + m->start[k] - k) * LANES;
            const Row to = {H + left, dq + left, dv + left, dq + above, dv + above};
            AT(tau, k) = NAME(power)(w->w.F[i].e, w->w.S[k].e);
            if (a) AT(tau, k) += NAME(armature)(m, k) * READ(a, k);
            if (!root) NAME(write_freedom)(m, w, parts, i, k, &to);
        }
        if (b->parent >= 0) NAME(add_to_parent)(m, w, i);
    }
}

/* tau, H, dq, dv <- inverse dynamics and its derivatives by a, q and v; see first_order_table.h */
static void NAME(rnea_derivatives)(const Mechanism *m, const double *q, const double *v, const double *a,
                                   const double *fext, double *tau, double *H, double *dq, double *dv,
                                   double *workspace)
{
    const Work w = NAME(carve_work)(m, workspace);
    NAME(move_bodies)(m, &w, VELOCITY | POSITION, q, v, a, fext);
    NAME(sum_bodies)(m, &w, VELOCITY | POSITION, a, tau, H, dq, dv);
}

/* bias, H, dv <- inverse dynamics at zero acceleration, and its derivatives by a and v */
static void NAME(velocity_part)(const Mechanism *m, const double *q, const double *v, const double *fext, double *bias,
                                double *H, double *dv, double *workspace)
{
    const Work w = NAME(carve_work)(m, workspace);
    NAME(move_bodies)(m, &w, VELOCITY, q, v, NULL, fext);
    NAME(sum_bodies)(m, &w, VELOCITY, NULL, bias, H, NULL, dv);
}

/* Add to body i, whose parent is done, what the accelerations a add: to A, and to ddS of its freedoms. */
INLINE void NAME(accelerate)(const Mechanism *m, const Work *w, ptrdiff_t i, const double *a)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real A[6], *change = w->change[i].e;
    EACH(r, 6) {
        A[r] = b->parent < 0 ? zero : w->w.A[b->parent].e[r];
        change[r] = b->parent < 0 ? zero : w->change[b->parent].e[r];
        w->push[i].e[r] = zero;
    }
    if (b->parent < 0) EACH(r, 3) A[r] = -w->w.X[i].g[r];
    if (NAME(is_shifted)(m, i)) {
        ADD_CROSS(A + 3, w->w.X[i].d, A);
        ADD_CROSS(change + 3, w->w.X[i].d, change);
    }
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
        NAME(add_motion_cross)(A, w->w.S[k].e, w->rates[k].dd);
        EACH(r, 6) change[r] += w->w.S[k].e[r] * READ(a, k);
    }
    EACH(r, 6) w->w.A[i].e[r] += change[r];
}

/* dq <- the derivatives of inverse dynamics by q at the accelerations a, after velocity_part with its workspace. A
 * composite body needs the force F + I change + push, where push sums `inertia` times a of all freedoms below it. */
static void NAME(position_part)(const Mechanism *m, const double *a, double *dq, double *workspace)
{
    const Work w = NAME(carve_work)(m, workspace);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(accelerate)(m, &w, i, a);
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const int root = NAME(is_free_root)(m, i);
        real push[6], force[6];
        NAME(momentum)(w.w.C + i, w.change[i].e, force);
        EACH(r, 6) {
            push[r] = w.push[i].e[r];
            w.w.F[i].e[r] += force[r] + push[r];
        }
        if (root) NAME(write_root_position)(m, &w, i, dq);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms && !root; k++) {
            const ptrdiff_t left = m->start[k] * LANES, above = (m->start[m->n] + m->start[k] - k) * LANES;
            const Row to = {NULL, dq + left, NULL, dq + above, NULL};
            NAME(write_freedom)(m, &w, POSITION, i, k, &to);
            EACH(r, 6) push[r] += w.wrenches[k].inertia[r] * READ(a, k);
        }
        if (b->parent < 0) continue;
        if (b->local == i) ADD_CROSS(w.w.X[i].d, push, push + 3);
        EACH(r, 6) w.push[b->parent].e[r] += push[r];
    }
}

#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef Momentum
#undef Rates
#undef Wrenches
#undef Work
#undef Row
#undef LOWER
