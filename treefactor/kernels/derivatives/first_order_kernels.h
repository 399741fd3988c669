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
#include "../dynamics/placements.h"
#include "../dynamics/inertias.h"
#include "../dynamics/rnea.h"
#include "../dynamics/momenta.h"

typedef struct { real rate[6], dd[6], d[3]; } NAME(Rates);      /* of S_k; of dS only the rotation is needed */
typedef struct { real inertia[6], couple[3], velocity[6], position[6]; } NAME(Wrenches);
#define Rates NAME(Rates)
#define Wrenches NAME(Wrenches)

typedef struct {
    Workspace w;
    Momentum *B;                     /* of every body; of composite bodies in the end */
    Rates *rates;                    /* of every freedom */
} NAME(Work);
#define Work NAME(Work)

/* Rows of the matrices left of the diagonal, and columns above it */
typedef struct { double *H, *dq, *dv, *dq_above, *dv_above; } NAME(Row);
#define Row NAME(Row)

static ptrdiff_t NAME(first_order_size)(const Mechanism *m)
{
    return NAME(workspace_size)(m) + (ptrdiff_t)(m->n * sizeof(Rates)) / 8;
}

static Work NAME(carve_work)(const Mechanism *m, double *workspace)
{
    Work w = {NAME(carve_workspace)(m, workspace), NULL, NULL};
    w.B = (Momentum *)w.w.IA;        /* memory that otherwise only aba and frames use */
    w.rates = (Rates *)(workspace + NAME(workspace_size)(m));
    return w;
}

/* y <- a x b, of motions */
INLINE void NAME(cross_motion)(const real *a, const real *b, real *y)
{
    CROSS(a + 3, b, y);
    ADD_CROSS(a, b + 3, y);
    CROSS(a + 3, b + 3, y + 3);
}

/* y <- a x* f, of a motion a and a force f */
INLINE void NAME(cross_force)(const real *a, const real *f, real *y)
{
    CROSS(a + 3, f, y);
    CROSS(a + 3, f + 3, y + 3);
    ADD_CROSS(a, f, y + 3);
}

/* Return f s + c w, of a force f and a couple c at a motion s and a rotation w: one chain of multiply-adds. */
INLINE real NAME(power_of_both)(const real *f, const real *s, const real *c, const real *w)
{
    real sum = c[0] * w[0];
    sum += c[1] * w[1];
    sum += c[2] * w[2];
    EACH(r, 6) sum += f[r] * s[r];
    return sum;
}

/* Return f s. */
INLINE real NAME(power_in_turn)(const real *f, const real *s)
{
    real sum = f[0] * s[0];
    EACH(r, 5) sum += f[1 + r] * s[1 + r];
    return sum;
}

/* Fill the rates of the freedoms of body i, and the matrix of the body. */
INLINE void NAME(write_rates)(const Mechanism *m, ptrdiff_t i, const Work *w)
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
        NAME(cross_motion)(V, s, d);
        NAME(cross_motion)(sum, s, rate);
        NAME(cross_motion)(A, s, dd);
        ADD_CROSS(V + 3, d, dd);
        ADD_CROSS(V, d + 3, dd);
        ADD_CROSS(V + 3, d + 3, dd + 3);
        EACH(r, 3) x->d[r] = d[3 + r];
        EACH(r, 6) x->dd[r] = dd[r];
        EACH(r, 6) x->rate[r] = rate[r];
    }
}

/* Write entries [e, stop) of the row of a freedom and of its column above the diagonal. */
INLINE void NAME(write_entries)(const Work *w, const ptrdiff_t *column, ptrdiff_t e, ptrdiff_t stop, int above,
                                const Wrenches *f, const Row *to)
{
    for (; e < stop; e++) {
        const real *s = w->w.S[column[e]].e;
        const Rates *x = w->rates + column[e];
        AT(to->H, e) = NAME(power_in_turn)(f->inertia, s);
        AT(to->dq, e) = NAME(power_of_both)(f->inertia, x->dd, f->couple, x->d);
        AT(to->dv, e) = NAME(power_of_both)(f->inertia, x->rate, f->couple, s + 3);
        if (!above) continue;
        AT(to->dq_above, e) = NAME(power_in_turn)(f->position, s);
        AT(to->dv_above, e) = NAME(power_in_turn)(f->velocity, s);
    }
}

/* Write the entries of a free-flying root: its motions are unit vectors, with dS = 0 and a rate V x S. */
INLINE void NAME(write_root_entries)(const real *V, const real *g, const Wrenches *f, const Row *to)
{
    const real zero = {0};
    real turned[6], weight[3];
    NAME(cross_force)(V, f->inertia, turned);
    CROSS(g, f->inertia, weight);
    EACH(e, 6) {
        AT(to->H, e) = f->inertia[e];
        AT(to->dq, e) = e < 3 ? zero : weight[e % 3];
        AT(to->dv, e) = e < 3 ? -turned[e] : f->couple[e % 3] - turned[e];
        AT(to->dq_above, e) = f->position[e];
        AT(to->dv_above, e) = f->velocity[e];
    }
}

/* Write the entries of the freedoms of all ancestors; wrenches are shifted where an ancestor has another local
 * origin. */
INLINE void NAME(write_ancestors)(const Mechanism *m, const Work *w, const Body *b, const ptrdiff_t *column,
                                  Wrenches *f, const Row *to)
{
    ptrdiff_t length = b->above, i = b->local;
    for (; m->body[i].parent >= 0; i = m->body[m->body[i].parent].local) {
        const real *d = w->w.X[i].d;
        NAME(write_entries)(w, column, m->body[i].above, length, 1, f, to);
        ADD_CROSS(d, f->inertia, f->inertia + 3);
        ADD_CROSS(d, f->velocity, f->velocity + 3);
        ADD_CROSS(d, f->position, f->position + 3);
        if (m->body[i].above < length) length = m->body[i].above;
    }
    if (b->copied && b->parent >= 0) NAME(write_root_entries)(w->w.V[i].e, w->w.X[i].g, f, to);
    NAME(write_entries)(w, column, b->parent >= 0 ? b->copied : 0, length, 1, f, to);
}

/* Write row and column of freedom k of body i. */
INLINE void NAME(write_freedom)(const Mechanism *m, const Work *w, ptrdiff_t i, ptrdiff_t k, const Row *to)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Inertia *I = w->w.C + i;
    const Rates *x = w->rates + k;
    const ptrdiff_t *column = m->column + m->start[k], diagonal = m->start[k + 1] - m->start[k] - 1;
    const real *s = w->w.S[k].e;
    real d[6] = {zero, zero, zero}, unused[3];
    Wrenches f;
    EACH(r, 3) d[3 + r] = x->d[r];
    NAME(momentum)(b->carried, I, s, f.inertia);
    NAME(momentum)(b->carried, I, x->rate, f.velocity);
    NAME(momentum)(b->carried, I, x->dd, f.position);
    NAME(apply_momentum)(w->B + i, s, f.velocity, f.couple);
    NAME(apply_momentum)(w->B + i, d, f.position, unused);
    NAME(write_entries)(w, column, b->above, diagonal, 1, &f, to);
    NAME(write_entries)(w, column, diagonal, diagonal + 1, 0, &f, to);
    AT(to->H, diagonal) += m->armature[k];
    ADD_CROSS(s + 3, w->w.F[i].e, f.position);
    ADD_CROSS(s + 3, w->w.F[i].e + 3, f.position + 3);
    ADD_CROSS(s, w->w.F[i].e, f.position + 3);
    NAME(write_ancestors)(m, w, b, column, &f, to);
}

/* y <- a x e, with e the unit vector of axis c */
INLINE void NAME(cross_unit)(const real *a, int c, real *y)
{
    const real zero = {0};
    y[c] = zero;
    y[(c + 1) % 3] = a[(c + 2) % 3];
    y[(c + 2) % 3] = -a[(c + 1) % 3];
}

/* Write column c of a matrix among the first six freedoms of a tree; v is the first. */
INLINE void NAME(write_column)(const Mechanism *m, ptrdiff_t v, int c, const real *x, double *M)
{
    const ptrdiff_t above = m->start[m->n] + m->start[v + c] - (v + c);
    EACH(r, 6) AT(M, r < c ? above + r : m->start[v + r] + c) = x[r];
}

/* Write the matrices among the freedoms of a free-flying root i, whose motions are unit vectors e with dS = 0:
 * columns of those by q and v are I ddS = I (-g x e) and I (V x e) + 2 B e. */
INLINE void NAME(write_root)(const Mechanism *m, const Work *w, ptrdiff_t i, double *H, double *dq, double *dv)
{
    const real zero = {0};
    const double mass = m->body[i].carried;
    const ptrdiff_t v = m->body[i].v;
    const Inertia *I = w->w.C + i;
    const Momentum *B = w->B + i;
    const real *V = w->w.V[i].e, *h = I->h, none[6] = {zero, zero, zero, zero, zero, zero};
    EACH(c, 3) {
        real inertia[6], rate[6], f[6], x[3], y[3];
        EACH(r, 3) inertia[r] = zero + (r == c ? mass : 0.0);
        NAME(cross_unit)(h, c, inertia + 3);
        EACH(r, 6 - c) AT(H, m->start[v + c + r] + c) = inertia[c + r];
        NAME(cross_unit)(V + 3, c, rate + 3);
        EACH(r, 3) f[r] = mass * rate[3 + r];
        EACH(r, 3) f[3 + r] = zero;
        ADD_CROSS(h, rate + 3, f + 3);
        NAME(write_column)(m, v, c, f, dv);
        NAME(write_column)(m, v, c, none, dq);

        EACH(r, 3 - c) AT(H, m->start[v + 3 + c + r] + 3 + c) = I->J[LOWER(c + r, c)];
        NAME(cross_unit)(V, c, rate);
        NAME(momentum)(mass, I, rate, f);
        NAME(cross_unit)(B->p, c, x);
        NAME(cross_unit)(B->L, c, y);
        EACH(r, 3) {
            f[r] -= 2.0 * x[r];
            f[3 + r] += B->E[r > c ? LOWER(r, c) : LOWER(c, r)] - y[r];
        }
        NAME(write_column)(m, v, 3 + c, f, dv);
        NAME(cross_unit)(w->w.X[i].g, c, x);
        EACH(r, 3) f[r] = -mass * x[r];
        EACH(r, 3) f[3 + r] = zero;
        ADD_CROSS(x, h, f + 3);
        NAME(write_column)(m, v, 3 + c, f, dq);
    }
    EACH(r, 6) AT(H, m->start[v + r] + r) += m->armature[v + r];
}

/* tau, H, dq, dv <- inverse dynamics and its derivatives by a, q and v; see first_order_table.h */
static void NAME(rnea_derivatives)(const Mechanism *m, const double *q, const double *v, const double *a,
                                   const double *fext, double *tau, double *H, double *dq, double *dv,
                                   double *workspace)
{
    const Work w = NAME(carve_work)(m, workspace);
    const ptrdiff_t nnz = m->start[m->n];
    NAME(compute_angles)(m, q, &w.w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        NAME(place_body)(m, i, q, &w.w);
        NAME(move_inertia)(b, w.w.X + i, w.w.C + i);
        NAME(write_force)(m, i, &w.w, v, a, fext, 1);
        NAME(write_momentum)(b->mass, w.w.C + i, w.w.V[i].e, w.B + i);
        if (b->parent >= 0 || !b->copied) NAME(write_rates)(m, i, &w);
    }
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const int root = b->parent < 0 && b->copied;
        if (root) NAME(write_root)(m, &w, i, H, dq, dv);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            const ptrdiff_t left = m->start[k] * LANES, above = (nnz + m->start[k] - k) * LANES;
            const Row to = {H + left, dq + left, dv + left, dq + above, dv + above};
            AT(tau, k) = NAME(power)(w.w.F[i].e, w.w.S[k].e) + m->armature[k] * READ(a, k);
            if (!root) NAME(write_freedom)(m, &w, i, k, &to);
        }
        if (b->parent < 0) continue;
        if (b->local == i) {
            NAME(shift_inertia)(b->carried, w.w.X[i].d, w.w.C + i);
            NAME(shift_momentum)(w.w.X[i].d, w.B + i);
        }
        NAME(add_force_to_parent)(m, i, &w.w);
        EACH(r, 3) w.w.C[b->parent].h[r] += w.w.C[i].h[r];
        EACH(r, 6) w.w.C[b->parent].J[r] += w.w.C[i].J[r];
        NAME(add_momentum)(w.B + i, w.B + b->parent);
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
