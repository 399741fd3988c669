/* Second derivatives of phi = w . (inverse dynamics) as matrices, in O(n depth): contraction of the second-order
 * derivatives of Singh, Russell, Wensing (2022) with w before any of their entries is formed.
 *
 * With the parent l of body i, for every freedom k of i, and the weights W of the bodies (products_vjp.h)
 *
 *     d = V_l x S_k,   dd = A_l x S_k + V_l x d,   rate = (V_l + V_i) x S_k,   turned = W_l x S_k
 *
 * and of the composite body of i: inertia I, matrices B and B' of the velocities V and of the weights W (momenta.h),
 * force F, momentum P of the weights, couple Q = 2 B^T W summed over the bodies. For every freedom j between body i
 * and the root
 *
 *     qq = turned_j f4 + d_j c2 + dd_j c3,   v_k q_j = turned_j f3 + d_j c4,   a_k q_j = turned_j f1,
 *     q_k v_j = rate_j c3 + S_j c2,   vv = S_j c4,   q_k a_j = S_j c3;
 *     f1 = I S,   f3 = I rate + 2 B S,   f4 = I dd + 2 B d + S x* F,
 *     c2 = 2 B^T turned - 2 B' d + 2 d x* P + S x* Q,   c3 = I turned + S x* P,   c4 = 2 S x* P - 2 B' S.
 *
 * Between freedoms k, j of one body, the first line holds for both orders and gives the derivative of the gradient;
 * vv = (S_j x S_k) P - S_k 2 B'^T S_j there. */

typedef struct {
    Momentum of_v, of_w;             /* of velocities, of weights; of composite bodies in the end */
    real W[6], Q[3];
} NAME(Adjoint);
typedef struct { real d[6], dd[6], rate[6], turned[6]; } NAME(Rates);
typedef struct { real f1[6], f3[6], f4[6], c2[6], c3[6], c4[6], twice[3]; } NAME(Wrenches);  /* -2 B'^T S: a couple */
#define Adjoint NAME(Adjoint)
#define Rates NAME(Rates)
#define Wrenches NAME(Wrenches)

/* Where the row of a freedom begins in the results, and its column above the diagonal */
typedef struct { double *qq, *qv, *vv, *qa, *qq_above, *qv_above, *qa_above; } NAME(Targets);
#define Targets NAME(Targets)

/* y <- a motion of the parent of body i at the local origin of that body */
INLINE void NAME(motion_of_parent)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const real *x, real *y)
{
    const real zero = {0};
    EACH(r, 6) y[r] = m->body[i].parent < 0 ? zero : x[r];
    if (NAME(is_shifted)(m, i)) ADD_CROSS(y + 3, w->X[i].d, y);
}

/* V, A <- velocity and acceleration of the parent at the local origin of body i; A of the base is that of gravity */
INLINE void NAME(write_parent_motions)(const Mechanism *m, ptrdiff_t i, const Workspace *w, real *V, real *A)
{
    const ptrdiff_t l = m->body[i].parent;
    NAME(motion_of_parent)(m, i, w, w->V[l < 0 ? 0 : l].e, V);
    NAME(motion_of_parent)(m, i, w, w->A[l < 0 ? 0 : l].e, A);
    if (l < 0) EACH(r, 3) A[r] = -w->X[i].g[r];
}

/* y <- y + S x, of the freedoms of a body; x = NULL is zero */
INLINE void NAME(add_joint_motion)(const Body *b, const Workspace *w, const double *x, real *y)
{
    if (!x) return;
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) EACH(r, 6) y[r] += w->S[k].e[r] * READ(x, k);
}

/* Fill the rates of the freedoms of body i, its weights and momenta. */
INLINE void NAME(prepare_body)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const double *weights,
                               Adjoint *adjoint, Rates *rates)
{
    const real zero = {0};
    const Body *b = m->body + i;
    Adjoint *to = adjoint + i;
    real V[6], A[6], sum[6], W[6], unused[6] = {zero, zero, zero, zero, zero, zero};
    NAME(write_parent_motions)(m, i, w, V, A);
    NAME(motion_of_parent)(m, i, w, adjoint[b->parent < 0 ? 0 : b->parent].W, W);
    EACH(r, 6) {
        sum[r] = V[r] + w->V[i].e[r];
        to->W[r] = W[r];
    }
    NAME(add_joint_motion)(b, w, weights, to->W);
    NAME(write_momentum)(w->C + i, w->V[i].e, &to->of_v);
    NAME(write_momentum)(w->C + i, to->W, &to->of_w);
    NAME(apply_momentum)(&to->of_v, to->W, unused, to->Q);
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
        const real *s = w->S[k].e;
        Rates *x = rates + k;
        EACH(r, 6) x->d[r] = x->dd[r] = x->rate[r] = x->turned[r] = zero;
        NAME(add_motion_cross)(V, s, x->d);
        NAME(add_motion_cross)(A, s, x->dd);
        NAME(add_motion_cross)(V, x->d, x->dd);
        NAME(add_motion_cross)(sum, s, x->rate);
        NAME(add_motion_cross)(W, s, x->turned);
    }
}

/* f <- the wrenches of a freedom with motion s */
INLINE void NAME(write_wrenches)(const Inertia *I, const Adjoint *a, const real *F, const real *s,
                                 const Rates *x, Wrenches *f)
{
    const real zero = {0};
    real twice[6], minus[6], d[6], minus_d[6], P[6], unused[6] = {zero, zero, zero, zero, zero, zero};
    EACH(r, 6) {
        twice[r] = 2.0 * s[r];
        minus[r] = -s[r];
        d[r] = 2.0 * x->d[r];
        minus_d[r] = -x->d[r];
        P[r] = r < 3 ? a->of_w.p[r % 3] : a->of_w.L[r % 3];
        f->c2[r] = f->c4[r] = zero;
    }
    NAME(momentum)(I, s, f->f1);
    NAME(momentum)(I, x->rate, f->f3);
    NAME(momentum)(I, x->dd, f->f4);
    NAME(momentum)(I, x->turned, f->c3);
    NAME(apply_momentum)(&a->of_v, x->turned, unused, f->c2 + 3);
    NAME(apply_momentum)(&a->of_v, s, f->f3, f->twice);
    NAME(apply_momentum)(&a->of_v, x->d, f->f4, f->twice);
    NAME(apply_momentum)(&a->of_w, minus_d, f->c2, f->twice);
    NAME(apply_momentum)(&a->of_w, minus, f->c4, f->twice);
    NAME(add_force_cross)(s, F, f->f4);
    NAME(add_force_cross)(d, P, f->c2);
    NAME(add_force_cross)(twice, P, f->c4);
    NAME(add_force_cross)(s, P, f->c3);
    ADD_CROSS(s + 3, a->Q, f->c2 + 3);
}

/* Write the entries of freedoms k and j of one body; f and x: wrenches and rates of its freedoms. */
INLINE void NAME(write_own)(const Workspace *w, const Body *b, int k, int j, const Adjoint *a, int symmetric,
                            const Wrenches *f, const Rates *x, const Targets *to)
{
    const real zero = {0}, *s = w->S[b->v + k].e, *t = w->S[b->v + j].e;
    const ptrdiff_t e = b->above + j;
    real kj = NAME(power)(f[k].f4, x[j].turned) + NAME(power)(f[k].c2, x[j].d) + NAME(power)(f[k].c3, x[j].dd);
    real jk = NAME(power)(f[j].f4, x[k].turned) + NAME(power)(f[j].c2, x[k].d) + NAME(power)(f[j].c3, x[k].dd);
    real commutator[6] = {zero, zero, zero, zero, zero, zero}, P[6];
    EACH(r, 3) {
        P[r] = a->of_w.p[r];
        P[3 + r] = a->of_w.L[r];
    }
    NAME(add_motion_cross)(t, s, commutator);
    AT(to->qq, e) = symmetric ? 0.5 * (kj + jk) : kj;
    AT(to->vv, e) = NAME(power)(P, commutator)
                  + (f[j].twice[0] * s[3] + f[j].twice[1] * s[4] + f[j].twice[2] * s[5]);
    AT(to->qv, e) = NAME(power)(f[j].f3, x[k].turned) + NAME(power)(f[j].c4, x[k].d);
    AT(to->qa, e) = NAME(power)(f[j].f1, x[k].turned);
    if (j == k) return;
    if (!symmetric) AT(to->qq_above, e) = jk;
    AT(to->qv_above, e) = NAME(power)(f[k].f3, x[j].turned) + NAME(power)(f[k].c4, x[j].d);
    AT(to->qa_above, e) = NAME(power)(f[k].f1, x[j].turned);
}

/* Write the entries of the freedoms column[e .. stop), of ancestors that have parents. */
INLINE void NAME(write_pairs)(const Workspace *w, const Rates *rates, const ptrdiff_t *column, ptrdiff_t e,
                              ptrdiff_t stop, int symmetric, const Wrenches *f, const Targets *to)
{
    for (; e < stop; e++) {
        const real *s = w->S[column[e]].e;
        const Rates *x = rates + column[e];
        real both = NAME(power)(f->f4, x->turned) + NAME(power)(f->c2, x->d) + NAME(power)(f->c3, x->dd);
        AT(to->qq, e) = both;
        if (!symmetric) AT(to->qq_above, e) = both;
        AT(to->qv, e) = NAME(power)(f->c3, x->rate) + NAME(power)(f->c2, s);
        AT(to->qv_above, e) = NAME(power)(f->f3, x->turned) + NAME(power)(f->c4, x->d);
        AT(to->vv, e) = NAME(power)(f->c4, s);
        AT(to->qa, e) = NAME(power)(f->c3, s);
        AT(to->qa_above, e) = NAME(power)(f->f1, x->turned);
    }
}

/* Write the entries of the freedoms of the root body, the first ones of a row: d and turned are zero there, and dd is
 * the linear motion that gravity adds. */
INLINE void NAME(write_root_pairs)(const Workspace *w, const Rates *rates, const ptrdiff_t *column, ptrdiff_t stop,
                                   int symmetric, const Wrenches *f, const Targets *to)
{
    const real zero = {0};
    for (ptrdiff_t e = 0; e < stop; e++) {
        const real *s = w->S[column[e]].e, *dd = rates[column[e]].dd;
        real both = f->c3[0] * dd[0] + f->c3[1] * dd[1] + f->c3[2] * dd[2];
        AT(to->qq, e) = both;
        if (!symmetric) AT(to->qq_above, e) = both;
        AT(to->qv, e) = NAME(power)(f->c3, rates[column[e]].rate) + NAME(power)(f->c2, s);
        AT(to->qv_above, e) = zero;
        AT(to->vv, e) = NAME(power)(f->c4, s);
        AT(to->qa, e) = NAME(power)(f->c3, s);
        AT(to->qa_above, e) = zero;
    }
}

/* Write the entries of the freedoms of all ancestors; wrenches are shifted where an ancestor has another local
 * origin. */
INLINE void NAME(write_ancestors)(const Mechanism *m, const Workspace *w, const Rates *rates, const Body *b,
                                  const ptrdiff_t *column, int symmetric, Wrenches *f, const Targets *to)
{
    ptrdiff_t length = b->above, i = b->local;
    if (b->parent < 0) return;
    for (; m->body[i].parent >= 0; i = m->body[m->body[i].parent].local) {
        const real *d = w->X[i].d;
        NAME(write_pairs)(w, rates, column, m->body[i].above, length, symmetric, f, to);
        ADD_CROSS(d, f->f1, f->f1 + 3);
        ADD_CROSS(d, f->f3, f->f3 + 3);
        ADD_CROSS(d, f->f4, f->f4 + 3);
        ADD_CROSS(d, f->c2, f->c2 + 3);
        ADD_CROSS(d, f->c3, f->c3 + 3);
        ADD_CROSS(d, f->c4, f->c4 + 3);
        if (m->body[i].above < length) length = m->body[i].above;
    }
    const ptrdiff_t root = m->body[i].freedoms < length ? m->body[i].freedoms : length;
    NAME(write_pairs)(w, rates, column, root, length, symmetric, f, to);
    NAME(write_root_pairs)(w, rates, column, root, symmetric, f, to);
}

/* Add the composite body i to that of its parent. */
INLINE void NAME(add_adjoint_to_parent)(const Mechanism *m, ptrdiff_t i, const Workspace *w, Adjoint *adjoint)
{
    const Body *b = m->body + i;
    Adjoint *to = adjoint + b->parent;
    if (b->local == i) {
        NAME(shift_inertia)(w->X[i].d, w->C + i);
        NAME(shift_momentum)(w->X[i].d, &adjoint[i].of_v);
        NAME(shift_momentum)(w->X[i].d, &adjoint[i].of_w);
    }
    NAME(add_force_to_parent)(m, i, w);
    NAME(add_inertia)(w->C + i, w->C + b->parent);
    NAME(add_momentum)(&adjoint[i].of_v, &to->of_v);
    NAME(add_momentum)(&adjoint[i].of_w, &to->of_w);
    EACH(r, 3) to->Q[r] += adjoint[i].Q[r];
}

/* Return where the row of a freedom is written, and its column above the diagonal. */
INLINE Targets NAME(targets_of)(const Mechanism *m, ptrdiff_t k, double *qq, double *qv, double *vv, double *qa)
{
    const ptrdiff_t left = m->start[k] * LANES, above = (m->start[m->n] + m->start[k] - k) * LANES;
    return (Targets){qq + left, qv + left, vv + left, qa + left, qq + above, qv + above, qa + above};
}

/* qq, qv, vv, qa <- second derivatives; see second_order_table.h */
static void NAME(hessian)(const Mechanism *m, const State *x, const double *weights, int symmetric, double *qq,
                          double *qv, double *vv, double *qa, double *workspace)
{
    const Workspace w = NAME(carve_workspace)(m, workspace);
    Adjoint *adjoint = (Adjoint *)(workspace + NAME(workspace_size)(m));
    Rates *rates = (Rates *)(adjoint + m->bodies);
    Wrenches f[6];
    NAME(place_bodies)(m, x->q, &w);
    NAME(move_inertias)(m, &w);
    NAME(body_forces)(m, &w, x->v, x->a, x->fext, 1);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(prepare_body)(m, i, &w, weights, adjoint, rates);
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        for (int k = 0; k < b->freedoms; k++)
            NAME(write_wrenches)(w.C + i, adjoint + i, w.F[i].e, w.S[b->v + k].e, rates + b->v + k, f + k);
        for (int k = 0; k < b->freedoms; k++) {
            const Targets to = NAME(targets_of)(m, b->v + k, qq, qv, vv, qa);
            for (int j = 0; j <= k; j++)
                NAME(write_own)(&w, b, k, j, adjoint + i, symmetric, f, rates + b->v, &to);
        }
        for (int k = 0; k < b->freedoms; k++) {
            const Targets to = NAME(targets_of)(m, b->v + k, qq, qv, vv, qa);
            NAME(write_ancestors)(m, &w, rates, b, m->column + m->start[b->v + k], symmetric, f + k, &to);
        }
        if (b->parent >= 0) NAME(add_adjoint_to_parent)(m, i, &w, adjoint);
    }
}
