/* Derivative of inverse dynamics along directions dq, dv, da, dfext: rnea.h differentiated, S and the inertia of a body
 * being constant in its own axes. With the displacement (x, t) = S_i dq_i, a change of E is E times t x:
 *
 *     for i = 1 .. bodies:   d(E^T y) = E^T dy + E^T y x t,   d(E^T K_parent p) = E^T (dK_parent p + K_parent E x) + ...
 *         df = m da + dK h,   dn = h x da + J dw' + dw x J w + w x J dw,   less that of the external force
 *     for i = bodies .. 1:   dtau_i = S_i (df, dn) + armature_i da_i
 *         (f, n) changes with its body, too:  df_parent += E (df + t x f),
 *         dn_parent += E (dn + t x n + x x f) + p x the former */

typedef struct { real w[3], rate[3], a[3], F[6]; } NAME(BodyDerivative);
#define BodyDerivative NAME(BodyDerivative)

/* y <- dK x, of K = w' x + w x w x */
INLINE void NAME(differentiate_field)(const real *w, const BodyDerivative *d, const real *x, real *y)
{
    real speed[3], changed[3];
    CROSS(w, x, speed);
    CROSS(d->w, x, changed);
    CROSS(d->rate, x, y);
    ADD_CROSS(d->w, speed, y);
    ADD_CROSS(w, changed, y);
}

/* dx <- the derivatives of w, w' and a of body i whose joint is at rest; X is the displacement of its joint */
INLINE void NAME(differentiate_rest)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const BodyDerivative *y,
                                     const real *X, const real *rest, real *dx)
{
    const real zero = {0};
    const Body *b = m->body + i;
    if (b->parent >= 0) {
        const Motion *P = w->motion + b->parent;
        const BodyDerivative *d = y + b->parent;
        real at_parent[9], step[3];
        NAME(differentiate_field)(P->w, d, w->turn[i].p, at_parent + 6);
        if (!NAME(is_hinge)(b)) {
            NAME(turn_out)(b, w->turn + i, 1, X, step);
            EACH(r, 3) at_parent[6 + r] += P->K[r] * step[0] + P->K[3 + r] * step[1] + P->K[6 + r] * step[2];
        }
        EACH(r, 3) {
            at_parent[r] = d->w[r];
            at_parent[3 + r] = d->rate[r];
            at_parent[6 + r] += d->a[r];
        }
        NAME(turn_in)(b, w->turn + i, 3, at_parent, dx);
    } else EACH(r, 9) dx[r] = zero;
    if (NAME(is_hinge)(b)) EACH(k, 3) {
        dx[3 * k] += rest[3 * k + 1] * X[5];
        dx[3 * k + 1] -= rest[3 * k] * X[5];
    } else EACH(k, 3) ADD_CROSS(rest + 3 * k, X + 3, dx + 3 * k);
}

/* dx += the derivative of the part of a body's joint; rest: w of the body whose joint is at rest */
INLINE void NAME(differentiate_joint)(const Body *b, const double *v, const Directions *d, const real *rest, real *dx)
{
    const real zero = {0};
    real *w = dx, *rate = dx + 3, *linear = dx + 6, s[6], D[6], dd[6], twice[3];
    if (NAME(is_hinge)(b)) {
        const real speed = READ(v, b->v);
        rate[0] += w[1] * speed;
        rate[1] -= w[0] * speed;
        if (d->v) {
            const real change = READ(d->v, b->v);
            rate[0] += rest[1] * change;
            rate[1] -= rest[0] * change;
            w[2] += change;
        }
        if (d->a) rate[2] += READ(d->a, b->v);
        return;
    }
    EACH(r, 6) D[r] = dd[r] = zero;
    NAME(joint_motion)(b, v + b->v * LANES, s);
    if (d->v) NAME(joint_motion)(b, d->v + b->v * LANES, D);
    if (d->a) NAME(joint_motion)(b, d->a + b->v * LANES, dd);
    ADD_CROSS(w, s + 3, rate);
    ADD_CROSS(rest, D + 3, rate);
    EACH(r, 3) twice[r] = 2.0 * w[r] + D[3 + r];
    ADD_CROSS(twice, s, linear);
    EACH(r, 3) twice[r] = 2.0 * rest[r] + s[3 + r];
    ADD_CROSS(twice, D, linear);
    EACH(r, 3) {
        w[r] += D[3 + r];
        linear[r] += dd[r];
        rate[r] += dd[3 + r];
    }
}

/* y->F <- the derivative of the force that gives a body the motion X */
INLINE void NAME(differentiate_force)(const Mechanism *m, ptrdiff_t i, const Motion *X, BodyDerivative *y)
{
    Inertia I;
    real F[6], L[3];
    NAME(read_inertia)(m, i, &I);
    NAME(differentiate_field)(X->w, y, I.h, F);
    EACH(r, 3) F[r] += I.mass * y->a[r];
    NAME(tensor_product)(I.J, y->rate, F + 3);
    ADD_CROSS(I.h, y->a, F + 3);
    NAME(tensor_product)(I.J, X->w, L);
    ADD_CROSS(y->w, L, F + 3);
    NAME(tensor_product)(I.J, y->w, L);
    ADD_CROSS(X->w, L, F + 3);
    EACH(r, 6) y->F[r] = F[r];
}

/* X <- S dq of one body; dq = NULL is zero */
INLINE void NAME(displacement)(const Body *b, const double *dq, real *X)
{
    const real zero = {0};
    EACH(r, 6) X[r] = zero;
    if (dq) NAME(joint_motion)(b, dq + b->v * LANES, X);
}

/* dtau <- the derivative along one direction */
static void NAME(write_derivative)(const Mechanism *m, const Workspace *w, const State *state, const Directions *d,
                                   BodyDerivative *y, double *dtau)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real X[6], rest[9], dx[9];
        NAME(displacement)(b, d->q, X);
        NAME(motion_before_joint)(m, i, w, state->v, rest);
        NAME(differentiate_rest)(m, i, w, y, X, rest, dx);
        NAME(differentiate_joint)(b, state->v, d, rest, dx);
        EACH(r, 3) {
            y[i].w[r] = dx[r];
            y[i].rate[r] = dx[3 + r];
            y[i].a[r] = dx[6 + r];
        }
        NAME(differentiate_force)(m, i, w->motion + i, y + i);
        if (d->fext && b->joint >= 0) NAME(subtract_own_force)(b, d->fext, y[i].F);
    }
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        real X[6], F[6];
        EACH(r, 6) F[r] = y[i].F[r];
        NAME(joint_force)(b, F, dtau + b->v * LANES);
        if (d->a)
            for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
                AT(dtau, k) += NAME(armature)(m, k) * READ(d->a, k);
        if (b->parent < 0) continue;
        NAME(displacement)(b, d->q, X);
        NAME(add_force_cross)(X, w->F[i].e, F);
        NAME(carry_force)(b, w->turn + i, F);
        EACH(r, 6) y[b->parent].F[r] += F[r];
    }
}

/* tau, dtau <- inverse dynamics and its derivatives along every direction */
static void NAME(jvp)(const Mechanism *m, const State *state, ptrdiff_t vectors, const Directions *d, double *tau,
                      double *dtau, double *workspace)
{
    Workspace w = NAME(motion_and_forces)(m, state, tau, workspace);
    BodyDerivative *y = (BodyDerivative *)(workspace + NAME(workspace_size)(m));
    for (ptrdiff_t s = 0; s < vectors; s++) {
        ptrdiff_t at = s * m->n * LANES, joints = 6 * s * m->joints * LANES;
        Directions one = {d->q ? d->q + at : NULL, d->v ? d->v + at : NULL, d->a ? d->a + at : NULL,
                           d->fext ? d->fext + joints : NULL};
        NAME(write_derivative)(m, &w, state, &one, y, dtau + at);
    }
}
#undef BodyDerivative
