/* Rows of first derivatives left of the diagonal and columns above it, from the composite body of a freedom; included
 * by first_order_kernels.h. */

/* Return where the row and the column of freedom k begin. */
INLINE Row NAME(row_of)(const Mechanism *m, ptrdiff_t k, double *H, double *dq, double *dv)
{
    const ptrdiff_t left = m->start[k] * LANES, above = (m->start[m->n] + m->start[k] - k) * LANES;
    return (Row){H + left, dq + left, dv + left, dq + above, dv + above};
}

/* Write entry e of a row, of a hinge with the motion X: its rates are
 *     dS = (0, w x z),   rate = 2 dS,   ddS = (a x z, w' x z + w x (w x z)) */
INLINE void NAME(write_hinge_entry)(const Motion *X, const Wrenches *f, ptrdiff_t e, const Row *to)
{
    const real *w = X->w, *a = X->a, *K = X->K, *P = f->inertia, *couple = f->couple;
    AT(to->H, e) = P[5];
    AT(to->dv, e) = couple[2] + 2.0 * (P[3] * w[1] - P[4] * w[0]);
    AT(to->dq, e) = ((P[0] * a[1] - P[1] * a[0]) + (couple[0] * w[1] - couple[1] * w[0]))
                    + (P[3] * K[6] + P[4] * K[7] + P[5] * K[8]);
}

/* Write entry e of a row, of a joint that slides along z with its body of motion X:
 *     dS = (w x z, 0),   rate = 2 dS,   ddS = (w' x z + w x (w x z), 0) */
INLINE void NAME(write_slide_entry)(const Motion *X, const Wrenches *f, ptrdiff_t e, const Row *to)
{
    const real *w = X->w, *K = X->K, *P = f->inertia;
    AT(to->H, e) = P[2];
    AT(to->dv, e) = 2.0 * (P[0] * w[1] - P[1] * w[0]);
    AT(to->dq, e) = P[0] * K[6] + P[1] * K[7] + P[2] * K[8];
}

/* Write entry e of a row, of a freedom with the motion s. */
INLINE void NAME(write_entry)(const Rates *x, const real *s, const Wrenches *f, ptrdiff_t e, const Row *to)
{
    const real *couple = f->couple;
    AT(to->H, e) = NAME(power)(f->inertia, s);
    AT(to->dv, e) = NAME(power)(f->inertia, x->rate) + (couple[0] * s[3] + couple[1] * s[4] + couple[2] * s[5]);
    AT(to->dq, e) = NAME(power)(f->inertia, x->dd)
                    + (couple[0] * x->d[0] + couple[1] * x->d[1] + couple[2] * x->d[2]);
}

/* Write entry e of a column above the diagonal. */
INLINE void NAME(write_entry_above)(const real *s, const Wrenches *f, ptrdiff_t e, const Row *to)
{
    AT(to->dv_above, e) = NAME(power)(f->velocity, s);
    AT(to->dq_above, e) = NAME(power)(f->position, s);
}

/* Write the entries of a free-flying root: its motions are unit vectors, with dS_a = 0, ddS = (g x S_a, 0) and
 * rate = (w x S_l - v x S_a, w x S_a); g is the acceleration that stands for gravity. */
INLINE void NAME(write_root_entries)(const real *w, const real *v, const real *g, const Wrenches *f, const Row *to)
{
    const real zero = {0};
    const real *P = f->inertia;
    real slide[3], turn[3], weight[3];
    CROSS(P, w, slide);
    CROSS(P + 3, w, turn);
    ADD_CROSS(v, P, turn);
    CROSS(P, g, weight);
    EACH(r, 3) {
        AT(to->dv, r) = slide[r];
        AT(to->dv, 3 + r) = turn[r] + f->couple[r];
        AT(to->dq, r) = zero;
        AT(to->dq, 3 + r) = weight[r];
    }
    EACH(r, 6) {
        AT(to->H, r) = P[r];
        AT(to->dv_above, r) = f->velocity[r];
        AT(to->dq_above, r) = f->position[r];
    }
}

/* Carry wrenches to the axes of the parent where E = C Rz, and C has columns along axes x, y and sign times z. */
INLINE void NAME(carry_wrenches_along)(int x, int y, int z, double sign, const Turn *T, const real *u, Wrenches *f)
{
    real *wrench[3] = {f->velocity, f->position, f->inertia}, *own = f->couple, couple[3];
    EACH(k, 3) {
        real *F = wrench[k], turned[6];
        EACH(e, 2) {
            turned[3 * e + x] = T->c * F[3 * e] - T->s * F[3 * e + 1];
            turned[3 * e + y] = T->c * F[3 * e + 1] + T->s * F[3 * e];
            turned[3 * e + z] = sign * F[3 * e + 2];
        }
        ADD_CROSS(T->p, turned, turned + 3);
        EACH(r, 6) F[r] = turned[r];
    }
    couple[x] = T->c * own[0] - T->s * own[1];
    couple[y] = T->c * own[1] + T->s * own[0];
    couple[z] = sign * own[2];
    ADD_CROSS(u, f->inertia, couple);
    EACH(r, 3) own[r] = couple[r];
}

/* f <- the wrenches f on body b, in the axes and about the origin of its parent, about which that of b moves with
 * u / 2 */
INLINE void NAME(carry_wrenches)(const Body *b, const Turn *T, const real *u, Wrenches *f)
{
    real couple[3];
#define AXES(x, y, z, sign) NAME(carry_wrenches_along)(x, y, z, sign 1.0, T, u, f);
    if (b->turn != ANY_TURN) {
        EACH_TURN(b->turn, AXES)
        return;
    }
#undef AXES
    real *wrench[3] = {f->velocity, f->position, f->inertia};
    EACH(k, 3) {
        real *F = wrench[k], turned[6];
        ROTATE(T->E, F, turned);
        ROTATE(T->E, F + 3, turned + 3);
        ADD_CROSS(T->p, turned, turned + 3);
        EACH(r, 6) F[r] = turned[r];
    }
    ROTATE(T->E, f->couple, couple);
    ADD_CROSS(u, f->inertia, couple);
    EACH(r, 3) f->couple[r] = couple[r];
}

/* Write the entries of the freedoms of all ancestors of body i; f is in its axes. */
INLINE void NAME(write_ancestors)(const Mechanism *m, const Work *w, ptrdiff_t i, const double *v, Wrenches *f,
                                  const Row *to)
{
    for (ptrdiff_t j = m->body[i].parent; j >= 0; i = j, j = m->body[i].parent) {
        const Body *b = m->body + j;
        const Motion *X = w->w.motion + j;
        NAME(carry_wrenches)(m->body + i, w->w.turn + i, w->u[i].e, f);
        if (NAME(is_hinge)(b)) {
            NAME(write_hinge_entry)(X, f, b->above, to);
            AT(to->dv_above, b->above) = f->velocity[5];
            AT(to->dq_above, b->above) = f->position[5];
        } else if (b->kind == PRISMATIC) {
            NAME(write_slide_entry)(X, f, b->above, to);
            AT(to->dv_above, b->above) = f->velocity[2];
            AT(to->dq_above, b->above) = f->position[2];
        } else if (NAME(is_free_root)(b)) {
            real slide[3];
            EACH(r, 3) slide[r] = READ(v, b->v + r);
            NAME(write_root_entries)(X->w, slide, w->w.turn[j].p, f, to);
        } else for (ptrdiff_t k = 0; k < b->freedoms; k++) {
            real s[6];
            NAME(unit_motion)(b, k, s);
            NAME(write_entry)(w->rates + b->v + k, s, f, b->above + k, to);
            NAME(write_entry_above)(s, f, b->above + k, to);
        }
    }
}

/* Write row and column of the freedom of a hinge i; S = z, and write_hinge_entry has its rates. */
INLINE void NAME(write_hinge)(const Mechanism *m, const Work *w, ptrdiff_t i, const Inertia *I, const Flow *B,
                              const double *v, double *H, double *dq, double *dv)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Motion *X = w->w.motion + i;
    const Row to = NAME(row_of)(m, b->v, H, dq, dv);
    const real *h = I->h, *J = I->J, *p = B->p, *G = B->G, *a = X->a, *dd = X->K + 6, *F = w->w.F[i].e;
    const real d[2] = {X->w[1], -X->w[0]}, both = G[0] + G[4];
    Wrenches f = {
        {-h[1], h[0], zero, J[3], J[4], J[5]},
        {-G[2], -G[5], both},
        {d[1] * (2.0 * h[2]) - p[1], p[0] - d[0] * (2.0 * h[2]), 2.0 * (d[0] * h[1] - d[1] * h[0]),
         2.0 * (J[0] * d[0] + J[1] * d[1]) - G[6], 2.0 * (J[1] * d[0] + J[2] * d[1]) - G[7],
         2.0 * (J[3] * d[0] + J[4] * d[1]) + both},
    };
    NAME(rotational_momentum)(I, dd, f.position);
    f.position[0] += I->mass * a[1] + (d[1] * p[2] - F[1]);
    f.position[1] += (F[0] - d[0] * p[2]) - I->mass * a[0];
    f.position[2] += d[0] * p[1] - d[1] * p[0];
    f.position[3] += h[2] * a[0] + ((G[4] + G[8]) * d[0] - G[3] * d[1]) - F[4];
    f.position[4] += h[2] * a[1] + ((G[0] + G[8]) * d[1] - G[1] * d[0]) + F[3];
    f.position[5] -= (h[0] * a[0] + h[1] * a[1]) + (G[2] * d[0] + G[5] * d[1]);
    NAME(write_hinge_entry)(X, &f, b->above, &to);
    AT(to.H, b->above) += NAME(armature)(m, b->v);
    NAME(write_ancestors)(m, w, i, v, &f, &to);
}

/* Write row and column of the freedom of a joint i that slides along z; write_slide_entry has its rates. */
INLINE void NAME(write_slide)(const Mechanism *m, const Work *w, ptrdiff_t i, const Inertia *I, const Flow *B,
                              const double *v, double *H, double *dq, double *dv)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Motion *X = w->w.motion + i;
    const Row to = NAME(row_of)(m, b->v, H, dq, dv);
    const real *h = I->h, *dd = X->K + 6, *F = w->w.F[i].e, mass = I->mass;
    const real rate[3] = {2.0 * X->w[1], -2.0 * X->w[0], zero};
    Wrenches f = {{zero, zero, mass, h[1], -h[0], zero}, {B->p[1], -B->p[0], zero}};
    EACH(r, 3) {
        f.velocity[r] = mass * rate[r];
        f.position[r] = mass * dd[r];
    }
    CROSS(h, rate, f.velocity + 3);
    CROSS(h, dd, f.position + 3);
    f.position[3] -= F[1];
    f.position[4] += F[0];
    NAME(write_slide_entry)(X, &f, b->above, &to);
    AT(to.H, b->above) += NAME(armature)(m, b->v);
    NAME(write_ancestors)(m, w, i, v, &f, &to);
}

/* f <- the wrenches of a freedom with the motion s, of a composite body, where `position` is without S x* F */
INLINE void NAME(write_wrenches)(const Inertia *I, const Flow *B, const real *s, const Rates *x, Wrenches *f)
{
    real turned[3];
    NAME(momentum)(I, s, f->inertia);
    NAME(flow_couple)(B, s, f->couple);
    NAME(momentum)(I, x->rate, f->velocity);
    NAME(flow_product)(B, s + 3, turned);
    ADD_CROSS(s + 3, B->p, f->velocity);
    EACH(r, 3) f->velocity[3 + r] += turned[r];
    NAME(momentum)(I, x->dd, f->position);
    NAME(flow_product)(B, x->d, turned);
    ADD_CROSS(x->d, B->p, f->position);
    EACH(r, 3) f->position[3 + r] += turned[r];
}

/* Write rows and columns of the freedoms of body i. */
INLINE void NAME(write_freedoms)(const Mechanism *m, const Work *w, ptrdiff_t i, const Inertia *I, const Flow *B,
                                 const double *v, double *H, double *dq, double *dv)
{
    const Body *b = m->body + i;
    for (ptrdiff_t k = 0; k < b->freedoms; k++) {
        const Row to = NAME(row_of)(m, b->v + k, H, dq, dv);
        real s[6], own[6];
        Wrenches f;
        NAME(unit_motion)(b, k, own);
        NAME(write_wrenches)(I, B, own, w->rates + b->v + k, &f);
        for (ptrdiff_t j = 0; j <= k; j++) {
            NAME(unit_motion)(b, j, s);
            NAME(write_entry)(w->rates + b->v + j, s, &f, b->above + j, &to);
            if (j < k) NAME(write_entry_above)(s, &f, b->above + j, &to);
        }
        AT(to.H, b->above + k) += NAME(armature)(m, b->v + k);
        NAME(add_force_cross)(own, w->w.F[i].e, f.position);
        NAME(write_ancestors)(m, w, i, v, &f, &to);
    }
}

/* y <- a x e, with e the unit vector of axis c */
INLINE void NAME(cross_unit)(const real *a, int c, real *y)
{
    const real zero = {0};
    y[c] = zero;
    y[(c + 1) % 3] = a[(c + 2) % 3];
    y[(c + 2) % 3] = -a[(c + 1) % 3];
}

/* Write column c of a matrix among the freedoms of a free-flying root, the first ones of its tree. */
INLINE void NAME(write_column)(const Mechanism *m, const Body *b, int c, const real *x, double *M)
{
    const ptrdiff_t above = m->start[m->n] + m->start[b->v + c] - (b->v + c);
    EACH(r, 6) AT(M, r < c ? above + r : m->start[b->v + r] + c) = x[r];
}

/* Write the derivatives among the freedoms of a free-flying root that turns with w and has the linear velocity v:
 * columns I ddS of dq, and I rate + 2 B S of dv, with the rates of write_root_entries. */
INLINE void NAME(write_root_columns)(const Mechanism *m, const Body *b, const Inertia *I, const Flow *B, const real *w,
                                     const real *v, const real *g, double *dq, double *dv)
{
    const real zero = {0}, none[6] = {zero, zero, zero, zero, zero, zero};
    const real trace = B->G[0] + B->G[4] + B->G[8];
    EACH(c, 3) {
        real f[6], rate[6], x[3], slide[3];
        NAME(cross_unit)(g, c, x);
        EACH(r, 3) f[r] = I->mass * x[r];
        CROSS(I->h, x, f + 3);
        NAME(write_column)(m, b, c, none, dq);
        NAME(write_column)(m, b, 3 + c, f, dq);
        NAME(cross_unit)(w, c, rate + 3);
        EACH(r, 3) f[r] = I->mass * rate[3 + r];
        CROSS(I->h, rate + 3, f + 3);
        NAME(write_column)(m, b, c, f, dv);
        NAME(cross_unit)(v, c, x);
        EACH(r, 3) rate[r] = -x[r];
        NAME(momentum)(I, rate, f);
        NAME(cross_unit)(B->p, c, slide);
        EACH(r, 3) {
            f[r] -= slide[r];
            f[3 + r] -= B->G[3 * c + r];
        }
        f[3 + c] += trace;
        NAME(write_column)(m, b, 3 + c, f, dv);
    }
}
