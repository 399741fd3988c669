/* Rows of first derivatives left of the diagonal and columns above it, from the composite body of a freedom; included
 * by first_order_kernels.h. */

/* Write entries [e, stop) of the row of a freedom, and of its column above the diagonal. */
INLINE void NAME(write_entries)(const Work *w, int parts, const ptrdiff_t *column, ptrdiff_t e, ptrdiff_t stop,
                                int above, const Wrenches *f, const Row *to)
{
    for (; e < stop; e++) {
        const real *s = w->w.S[column[e]].e;
        const Rates *x = w->rates + column[e];
        if (parts & VELOCITY) {
            AT(to->H, e) = NAME(power_in_one_chain)(f->inertia, s);
            AT(to->dv, e) = NAME(power_with_couple)(f->inertia, x->rate, f->couple, s + 3);
            if (above) AT(to->dv_above, e) = NAME(power_in_one_chain)(f->velocity, s);
        }
        if (parts & POSITION) {
            AT(to->dq, e) = NAME(power_with_couple)(f->inertia, x->dd, f->couple, x->d);
            if (above) AT(to->dq_above, e) = NAME(power_in_one_chain)(f->position, s);
        }
    }
}

/* Write the entries of a free-flying root: its motions are unit vectors, with dS = 0 and a rate V x S. */
INLINE void NAME(write_root_entries)(int parts, const real *V, const real *g, const Wrenches *f, const Row *to)
{
    const real zero = {0};
    real turned[6], weight[3];
    if (parts & VELOCITY) {
        NAME(force_cross)(V, f->inertia, turned);
        EACH(e, 6) {
            AT(to->H, e) = f->inertia[e];
            AT(to->dv, e) = e < 3 ? -turned[e] : f->couple[e % 3] - turned[e];
            AT(to->dv_above, e) = f->velocity[e];
        }
    }
    if (parts & POSITION) {
        CROSS(g, f->inertia, weight);
        EACH(e, 6) {
            AT(to->dq, e) = e < 3 ? zero : weight[e % 3];
            AT(to->dq_above, e) = f->position[e];
        }
    }
}

/* Write the entries of the freedoms of all ancestors; wrenches are shifted where an ancestor has another local
 * origin. */
INLINE void NAME(write_ancestors)(const Mechanism *m, const Work *w, int parts, const Body *b,
                                  const ptrdiff_t *column, Wrenches *f, const Row *to)
{
    ptrdiff_t length = b->above, i = b->local;
    for (; m->body[i].parent >= 0; i = m->body[m->body[i].parent].local) {
        const real *d = w->w.X[i].d;
        NAME(write_entries)(w, parts, column, m->body[i].above, length, 1, f, to);
        ADD_CROSS(d, f->inertia, f->inertia + 3);
        if (parts & VELOCITY) ADD_CROSS(d, f->velocity, f->velocity + 3);
        if (parts & POSITION) ADD_CROSS(d, f->position, f->position + 3);
        if (m->body[i].above < length) length = m->body[i].above;
    }
    if (b->copied && b->parent >= 0) NAME(write_root_entries)(parts, w->w.V[i].e, w->w.X[i].g, f, to);
    NAME(write_entries)(w, parts, column, b->parent >= 0 ? b->copied : 0, length, 1, f, to);
}

/* Write row and column of freedom k of body i. */
INLINE void NAME(write_freedom)(const Mechanism *m, const Work *w, int parts, ptrdiff_t i, ptrdiff_t k, const Row *to)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Inertia *I = w->w.C + i;
    const Rates *x = w->rates + k;
    const ptrdiff_t *column = m->column + m->start[k], diagonal = m->start[k + 1] - m->start[k] - 1;
    const real *s = w->w.S[k].e, *F = w->w.F[i].e;
    real d[6] = {zero, zero, zero}, unused[3];
    Wrenches f;
    if (parts & VELOCITY) {
        NAME(momentum)(I, s, f.inertia);
        NAME(momentum)(I, x->rate, f.velocity);
        NAME(apply_momentum)(w->B + i, s, f.velocity, f.couple);
        if (parts == VELOCITY) w->wrenches[k] = f;
    } else f = w->wrenches[k];
    if (parts & POSITION) {
        EACH(r, 3) d[3 + r] = x->d[r];
        NAME(momentum)(I, x->dd, f.position);
        NAME(apply_momentum)(w->B + i, d, f.position, unused);
    }
    NAME(write_entries)(w, parts, column, b->above, diagonal, 1, &f, to);
    NAME(write_entries)(w, parts, column, diagonal, diagonal + 1, 0, &f, to);
    if (parts & VELOCITY) AT(to->H, diagonal) += NAME(armature)(m, k);
    if (parts & POSITION) NAME(add_force_cross)(s, F, f.position);
    NAME(write_ancestors)(m, w, parts, b, column, &f, to);
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

/* Write H and the derivatives by v among the freedoms of a free-flying root i, whose motions are unit vectors e with
 * dS = 0: columns of the latter are I (V x e) + 2 B e. */
INLINE void NAME(write_root_velocity)(const Mechanism *m, const Work *w, ptrdiff_t i, double *H, double *dv)
{
    const real zero = {0};
    const ptrdiff_t v = m->body[i].v;
    const Inertia *I = w->w.C + i;
    const real mass = I->mass;
    const Momentum *B = w->B + i;
    const real *V = w->w.V[i].e, *h = I->h;
    EACH(c, 3) {
        real inertia[6], rate[6], f[6], x[3], y[3];
        EACH(r, 3) inertia[r] = r == c ? mass : zero;
        NAME(cross_unit)(h, c, inertia + 3);
        EACH(r, 6 - c) AT(H, m->start[v + c + r] + c) = inertia[c + r];
        NAME(cross_unit)(V + 3, c, rate + 3);
        EACH(r, 3) f[r] = mass * rate[3 + r];
        CROSS(h, rate + 3, f + 3);
        NAME(write_column)(m, v, c, f, dv);
        EACH(r, 3 - c) AT(H, m->start[v + 3 + c + r] + 3 + c) = I->J[LOWER(c + r, c)];
        NAME(cross_unit)(V, c, rate);
        NAME(momentum)(I, rate, f);
        NAME(cross_unit)(B->p, c, x);
        NAME(cross_unit)(B->L, c, y);
        EACH(r, 3) {
            f[r] -= 2.0 * x[r];
            f[3 + r] += B->E[r > c ? LOWER(r, c) : LOWER(c, r)] - y[r];
        }
        NAME(write_column)(m, v, 3 + c, f, dv);
    }
    EACH(r, 6) AT(H, m->start[v + r] + r) += NAME(armature)(m, v + r);
}

/* Write the derivatives by q among the freedoms of a free-flying root i: columns I ddS = I (-g x e). */
INLINE void NAME(write_root_position)(const Mechanism *m, const Work *w, ptrdiff_t i, double *dq)
{
    const real zero = {0}, none[6] = {zero, zero, zero, zero, zero, zero};
    EACH(c, 3) {
        real f[6], x[3];
        NAME(cross_unit)(w->w.X[i].g, c, x);
        EACH(r, 3) f[r] = -w->w.C[i].mass * x[r];
        CROSS(x, w->w.C[i].h, f + 3);
        NAME(write_column)(m, m->body[i].v, c, none, dq);
        NAME(write_column)(m, m->body[i].v, 3 + c, f, dq);
    }
}
