/* Mass properties of subtrees: composite-rigid-body sums about the origins of the bodies, Featherstone (2008),
 * section 6.2. */

#define LOWER(r, c) ((r) * ((r) + 1) / 2 + (c))   /* index into a lower triangle stored row by row */

/* y <- J x for the lower triangle of a symmetric matrix */
INLINE void NAME(times)(const real *J, const real *x, real *y)
{
    y[0] = J[0] * x[0] + J[1] * x[1] + J[3] * x[2];
    y[1] = J[1] * x[0] + J[2] * x[1] + J[4] * x[2];
    y[2] = J[3] * x[0] + J[4] * x[1] + J[5] * x[2];
}

/* J += (a . b) 1 - (a b^T + b a^T) / 2 */
INLINE void NAME(add_product)(const real *a, const real *b, real *J)
{
    const real dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    EACH(r, 3) {
        EACH(c, r + 1) J[LOWER(r, c)] -= 0.5 * (a[r] * b[c] + b[r] * a[c]);
        J[LOWER(r, r)] += dot;
    }
}

/* J <- tensor of a body about its origin, in the axes of the base */
INLINE void NAME(turn_tensor)(const Body *b, const real *R, real *J)
{
    real RI[9];
    EACH(c, 3) ROTATE(R, b->tensor + 3 * c, RI + 3 * c);
    EACH(r, 3) EACH(c, r + 1) J[LOWER(r, c)] = RI[r] * R[c] + RI[3 + r] * R[3 + c] + RI[6 + r] * R[6 + c];
}

/* J <- rate of a tensor J of a body that turns by w: (w x) J - J (w x) */
INLINE void NAME(rate_of_tensor)(const real *w, const real *J, real *rate)
{
    const real zero = {0};
    real column[3], turned[9];
    EACH(c, 3) {
        EACH(r, 3) column[r] = J[r > c ? LOWER(r, c) : LOWER(c, r)];
        EACH(r, 3) turned[3 * c + r] = zero;
        ADD_CROSS(w, column, turned + 3 * c);
    }
    EACH(r, 3) EACH(c, r + 1) rate[LOWER(r, c)] = turned[3 * c + r] + turned[3 * r + c];
}

/* w->L, N of body i <- its own; J is its own tensor */
INLINE void NAME(weigh_moments)(ptrdiff_t i, const Work *w)
{
    const Motion *V = w->V + i, *A = w->A + i;
    real *L = w->L[i].e, *N = w->N[i].e;
    NAME(times)(w->J[i].e, V->w, L);
    NAME(times)(w->J[i].e, A->w, N);
    ADD_CROSS(V->w, L, N);
    ADD_CROSS(w->h[i].e, A->v, N);
    ADD_CROSS(w->h[i].e, V->v, L);
}

/* w->h, P, F, J, dJ, L, N of body i <- its own */
INLINE void NAME(weigh_body)(const Plan *plan, ptrdiff_t i, const Work *w)
{
    const Body *b = plan->m.body + i;
    real *h = w->h[i].e;
    ROTATE(w->X[i].R, b->first, h);
    if (plan->order > 0) {
        const Motion *V = w->V + i;
        const real zero = {0};
        real turning[3] = {zero, zero, zero};
        ADD_CROSS(V->w, h, turning);
        EACH(r, 3) w->P[i].e[r] = b->mass * V->v[r] + turning[r];
        if (plan->order > 1) {
            const Motion *A = w->A + i;
            real *F = w->F[i].e;
            EACH(r, 3) F[r] = b->mass * A->v[r];
            ADD_CROSS(A->w, h, F);
            ADD_CROSS(V->w, turning, F);
        }
    }
    if (plan->sums > FIRST_MOMENTS) NAME(turn_tensor)(b, w->X[i].R, w->J[i].e);
    if (plan->sums > TENSORS) NAME(rate_of_tensor)(w->V[i].w, w->J[i].e, w->dJ[i].e);
    if (plan->sums > TENSOR_RATES) NAME(weigh_moments)(i, w);
}

/* Add the tensor of the subtree of body i, and its rate, to those of its parent, whose origin is at -d from here and
 * moves by -rate: J + 2 (d . (h + m d / 2)) 1 - .. is symmetric in d and h + m d / 2. */
INLINE void NAME(add_tensor)(const Plan *plan, ptrdiff_t i, ptrdiff_t parent, const real *d, const Work *w)
{
    const double mass = plan->m.body[i].carried;
    real twice[3];
    EACH(r, 3) twice[r] = 2.0 * w->h[i].e[r] + mass * d[r];
    EACH(e, 6) w->J[parent].e[e] += w->J[i].e[e];
    NAME(add_product)(d, twice, w->J[parent].e);
    if (plan->sums > TENSORS) {
        real rate[3], twice_rate[3];
        EACH(r, 3) {
            rate[r] = w->V[i].v[r] - w->V[parent].v[r];
            twice_rate[r] = 2.0 * (w->P[i].e[r] - mass * w->V[i].v[r]) + mass * rate[r];
        }
        EACH(e, 6) w->dJ[parent].e[e] += w->dJ[i].e[e];
        NAME(add_product)(rate, twice, w->dJ[parent].e);
        NAME(add_product)(d, twice_rate, w->dJ[parent].e);
    }
}

/* Add the moments of the subtree of body i to those of its parent, as add_tensor does. */
INLINE void NAME(add_moments)(ptrdiff_t i, ptrdiff_t parent, const real *d, const Work *w)
{
    EACH(r, 3) {
        w->L[parent].e[r] += w->L[i].e[r];
        w->N[parent].e[r] += w->N[i].e[r];
    }
    ADD_CROSS(d, w->P[i].e, w->L[parent].e);
    ADD_CROSS(d, w->F[i].e, w->N[parent].e);
}

/* Fill w->h, P, F, J, dJ, L, N: sums over the subtree of every body, those of the whole model in entry -1, where P
 * and F are complete and the tensors and moments are not needed. */
INLINE void NAME(weigh)(const Plan *plan, const Work *w)
{
    const real zero = {0};
    const ptrdiff_t bodies = plan->m.bodies;
    EACH(r, 3) w->h[-1].e[r] = zero;
    if (plan->order > 0) EACH(r, 3) w->P[-1].e[r] = zero;
    if (plan->order > 1) EACH(r, 3) w->F[-1].e[r] = zero;
    for (ptrdiff_t i = 0; i < bodies; i++) NAME(weigh_body)(plan, i, w);
    for (ptrdiff_t i = bodies - 1; i >= 0; i--) {
        const ptrdiff_t parent = plan->m.body[i].parent;
        real d[3];
        if (parent < 0) EACH(r, 3) d[r] = w->root[i].e[r] - w->root[0].e[r];
        else EACH(r, 3) d[r] = w->X[i].p[r] - w->X[parent].p[r];
        if (plan->sums > FIRST_MOMENTS && parent >= 0) NAME(add_tensor)(plan, i, parent, d, w);
        if (plan->sums > TENSOR_RATES && parent >= 0) NAME(add_moments)(i, parent, d, w);
        EACH(r, 3) w->h[parent].e[r] += w->h[i].e[r] + plan->m.body[i].carried * d[r];
        if (plan->order > 0) EACH(r, 3) w->P[parent].e[r] += w->P[i].e[r];
        if (plan->order > 1) EACH(r, 3) w->F[parent].e[r] += w->F[i].e[r];
    }
}

/* w->arm <- way from the centre of mass of the whole model to the origin of every body */
INLINE void NAME(find_arms)(const Plan *plan, const Work *w)
{
    for (ptrdiff_t i = 0; i < plan->m.bodies; i++) {
        const ptrdiff_t parent = plan->m.body[i].parent;
        if (parent < 0) EACH(r, 3)
            w->arm[i].e[r] = (w->root[i].e[r] - w->root[0].e[r]) - w->h[-1].e[r] / plan->mass;
        else EACH(r, 3) w->arm[i].e[r] = w->arm[parent].e[r] + (w->X[i].p[r] - w->X[parent].p[r]);
    }
}
