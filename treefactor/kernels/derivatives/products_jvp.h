/* Derivative of inverse dynamics along directions dq, dv, da, dfext: rnea.h differentiated, S and the inertia of a body
 * being constant in its own axes. With the displacement (x, t) = S_i dq_i, a change of E is E times t x:
 *
 *     for i = 1 .. bodies:   d(E^T y) = E^T dy + E^T y x t,   d(E^T K_parent p) = E^T (dK_parent p + K_parent E x) + ...
 *         df = m da + dK h,   dn = h x da + J dw' + dw x J w + w x J dw,   less that of the external force
 *     for i = bodies .. 1:   dtau_i = S_i (df, dn) + armature_i da_i
 *         (f, n) changes with its body, too:  df_parent += E (df + t x f),
 *         dn_parent += E (dn + t x n + x x f) + p x the former */

typedef struct { Motion motion; real F[6]; } NAME(BodyDerivative);
#define BodyDerivative NAME(BodyDerivative)

/* dK <- the derivative of K = w' x + w x w x */
INLINE void NAME(differentiate_field)(const real *w, const real *dw, const real *rate, real *dK)
{
    const real xy = w[0] * dw[1] + w[1] * dw[0], xz = w[0] * dw[2] + w[2] * dw[0], yz = w[1] * dw[2] + w[2] * dw[1];
    real square[3];
    EACH(r, 3) square[r] = 2.0 * w[r] * dw[r];
    dK[0] = -(square[1] + square[2]);
    dK[1] = xy + rate[2];
    dK[2] = xz - rate[1];
    dK[3] = xy - rate[2];
    dK[4] = -(square[0] + square[2]);
    dK[5] = yz + rate[0];
    dK[6] = xz + rate[1];
    dK[7] = yz - rate[0];
    dK[8] = -(square[0] + square[1]);
}

/* dx, the derivatives of w, w' and a of the parent's body carried to a hinge <- those of the hinge with the motion X */
INLINE void NAME(differentiate_hinge)(const Body *b, const Motion *X, const double *v, const Directions *d, real *dx)
{
    const real speed = READ(v, b->v);
    dx[3] += dx[1] * speed;
    dx[4] -= dx[0] * speed;
    if (d->v) {
        const real change = READ(d->v, b->v);
        dx[3] += X->w[1] * change;
        dx[4] -= X->w[0] * change;
        dx[2] += change;
    }
    if (d->a) dx[5] += READ(d->a, b->v);
    if (d->q) {
        const real angle = READ(d->q, b->v);
        dx[0] += X->w[1] * angle;
        dx[1] -= X->w[0] * angle;
        dx[3] += X->rate[1] * angle;
        dx[4] -= X->rate[0] * angle;
        dx[6] += X->a[1] * angle;
        dx[7] -= X->a[0] * angle;
    }
}

/* The same of a joint of any other kind, whose displacement is x. */
INLINE void NAME(differentiate_joint)(const Body *b, const Motion *X, const State *state, const Directions *d,
                                      const real *x, real *dx)
{
    const real zero = {0};
    real *w = dx, *rate = dx + 3, *linear = dx + 6, V[6], A[6], s[6], D[6], dd[6], twice[3], slide[3];
    NAME(write_parent_motions)(b, X, state->v, state->a, V, A);
    NAME(joint_motion)(b, state->v + b->v * LANES, s);
    CROSS(s, V + 3, twice);
    EACH(r, 3) A[r] += twice[r];     /* of the point of the parent's body at the origin */
    CROSS(V + 3, x, slide);
    ADD_CROSS(V + 3, x + 3, w);
    ADD_CROSS(A + 3, x + 3, rate);
    ADD_CROSS(A, x + 3, linear);
    ADD_CROSS(A + 3, x, linear);
    ADD_CROSS(V + 3, slide, linear);
    EACH(r, 6) D[r] = dd[r] = zero;
    if (d->v) NAME(joint_motion)(b, d->v + b->v * LANES, D);
    if (d->a) NAME(joint_motion)(b, d->a + b->v * LANES, dd);
    ADD_CROSS(w, s + 3, rate);
    ADD_CROSS(V + 3, D + 3, rate);
    EACH(r, 3) twice[r] = 2.0 * w[r] + D[3 + r];
    ADD_CROSS(twice, s, linear);
    EACH(r, 3) twice[r] = 2.0 * V[3 + r] + s[3 + r];
    ADD_CROSS(twice, D, linear);
    EACH(r, 3) {
        w[r] += D[3 + r];
        linear[r] += dd[r];
        rate[r] += dd[3 + r];
    }
}

/* X <- S dq of one body; dq = NULL is zero */
INLINE void NAME(displacement)(const Body *b, const double *dq, real *X)
{
    const real zero = {0};
    EACH(r, 6) X[r] = zero;
    if (dq) NAME(joint_motion)(b, dq + b->v * LANES, X);
}

/* to <- the derivative of the motion of body i; from: that of its parent's */
INLINE void NAME(differentiate_motion)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const State *state,
                                       const Directions *d, const Motion *from, Motion *to)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Motion *X = w->motion + i;
    real dx[9];
    if (b->parent >= 0) NAME(carry_motion)(b, w->turn + i, from, dx);
    else EACH(r, 9) dx[r] = zero;
    if (NAME(is_hinge)(b)) NAME(differentiate_hinge)(b, X, state->v, d, dx);
    else {
        real x[6];
        NAME(displacement)(b, d->q, x);
        NAME(differentiate_joint)(b, X, state, d, x, dx);
    }
    EACH(r, 3) {
        to->w[r] = dx[r];
        to->rate[r] = dx[3 + r];
        to->a[r] = dx[6 + r];
    }
    NAME(differentiate_field)(X->w, dx, dx + 3, to->K);
}

/* F <- the derivative of the force that gives body i the motion X, less that of the external one; d is that of X */
INLINE void NAME(differentiate_force)(const Mechanism *m, const Body *b, const Inertia *I, const Motion *X,
                                      const Motion *d, const double *dfext, real *F)
{
    const real *h = I->h, *K = d->K;
    real L[3];
    EACH(r, 3) F[r] = I->mass * d->a[r] + K[r] * h[0] + K[3 + r] * h[1] + K[6 + r] * h[2];
    NAME(tensor_product)(I->J, d->rate, F + 3);
    ADD_CROSS(h, d->a, F + 3);
    NAME(tensor_product)(I->J, X->w, L);
    ADD_CROSS(d->w, L, F + 3);
    NAME(tensor_product)(I->J, d->w, L);
    ADD_CROSS(X->w, L, F + 3);
    if (dfext && b->joint >= 0) NAME(subtract_own_force)(b, dfext, F);
}

/* dtau <- the derivative along one direction */
static void NAME(write_derivative)(const Mechanism *m, const Workspace *w, const State *state, const Directions *d,
                                   BodyDerivative *y, double *dtau)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        Inertia I;
        NAME(differentiate_motion)(m, i, w, state, d, &y[b->parent < 0 ? 0 : b->parent].motion, &y[i].motion);
        NAME(read_inertia)(m, i, &I);
        NAME(differentiate_force)(m, b, &I, w->motion + i, &y[i].motion, d->fext, y[i].F);
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
