/* Derivative of inverse dynamics along directions dq, dv, da, dfext, seen from the moving bodies.
 *
 *     for i = 1 .. bodies:   X_i = S_i dq_i,   D_i = S_i dv_i,   Y_i = Y_l + V_l x X_i + D_i
 *         Z_i = Z_l + A_l x X_i + V_l x (V_l x X_i + D_i) + V_i x D_i + S_i da_i
 *         T_i = I_i Z_i + 2 B_i Y_i - dfext_i
 *     for i = bodies .. 1:   dtau_i = S_i T_i + armature_i da_i,   T_l += T_i + X_i x* F_i */

typedef struct { real X[6], Y[6], Z[6]; } NAME(BodyDerivative);   /* Z: then T */
#define BodyDerivative NAME(BodyDerivative)

/* T += 2 B Y = 2 (y x p, h x (y x v) - omega x K y) for the rotation y of Y, K = trace(J) / 2 - J and the linear
 * momentum p = m v + omega x h */
INLINE void NAME(add_rate_force)(const Inertia *I, const real *V, const real *Y, real *T)
{
    const real zero = {0}, *h = I->h, *omega = V + 3, *y = Y + 3;
    real p[3], force[3] = {zero, zero, zero}, turned[3] = {zero, zero, zero}, couple[3] = {zero, zero, zero};
    real Jy[6], K[3], trace = I->J[LOWER(0, 0)] + I->J[LOWER(1, 1)] + I->J[LOWER(2, 2)];
    EACH(r, 3) p[r] = I->mass * V[r];
    ADD_CROSS(omega, h, p);
    ADD_CROSS(y, p, force);
    ADD_CROSS(y, V, turned);
    ADD_CROSS(h, turned, couple);
    NAME(rotational_momentum)(I, y, Jy);
    EACH(r, 3) K[r] = 0.5 * trace * y[r] - Jy[3 + r];
    ADD_CROSS(K, omega, couple);
    EACH(r, 3) T[r] += 2.0 * force[r];
    EACH(r, 3) T[3 + r] += 2.0 * couple[r];
}

/* Write the derivative of the motion of body i from that of its parent. */
INLINE void NAME(differentiate_body)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const Directions *d,
                                     BodyDerivative *y)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real V[6], A[6], D[6], rate[6], X[6], Y[6], Z[6], T[6];
    EACH(r, 6) X[r] = Y[r] = Z[r] = D[r] = rate[r] = V[r] = zero;
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
        const real *s = w->S[k].e;
        if (d->q) EACH(r, 6) X[r] += s[r] * READ(d->q, k);
        if (d->v) EACH(r, 6) D[r] += s[r] * READ(d->v, k);
        if (d->a) EACH(r, 6) Z[r] += s[r] * READ(d->a, k);
    }
    if (b->parent >= 0) {
        NAME(motion_of_parent)(m, i, w, w->V[b->parent].e, V);
        NAME(motion_of_parent)(m, i, w, w->A[b->parent].e, A);
        NAME(motion_of_parent)(m, i, w, y[b->parent].Y, Y);
        NAME(motion_of_parent)(m, i, w, y[b->parent].Z, T);
        EACH(r, 6) Z[r] += T[r];
        NAME(add_motion_cross)(V, X, rate);
        NAME(add_motion_cross)(A, X, Z);
        EACH(r, 6) rate[r] += D[r];
        NAME(add_motion_cross)(V, rate, Z);
    } else {
        ADD_CROSS(X + 3, w->X[i].g, Z);
        EACH(r, 6) rate[r] = D[r];
    }
    if (d->v) NAME(add_motion_cross)(w->V[i].e, D, Z);
    EACH(r, 6) { y[i].X[r] = X[r]; y[i].Y[r] = Y[r] + rate[r]; y[i].Z[r] = Z[r]; }
}

/* dtau <- the derivative along one direction */
static void NAME(write_derivative)(const Mechanism *m, const Workspace *w, const Directions *d, BodyDerivative *y,
                                   double *dtau)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(differentiate_body)(m, i, w, d, y);
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        real T[6];
        NAME(momentum)(w->C + i, y[i].Z, T);
        NAME(add_rate_force)(w->C + i, w->V[i].e, y[i].Y, T);
        if (d->fext && b->joint >= 0) NAME(subtract_external_force)(b, w->X + i, d->fext, T);
        EACH(r, 6) y[i].Z[r] = T[r];
    }
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        real *T = y[i].Z;
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            AT(dtau, k) = NAME(power)(T, w->S[k].e);
            if (d->a) AT(dtau, k) += NAME(armature)(m, k) * READ(d->a, k);
        }
        if (b->parent < 0) continue;
        if (d->q) NAME(add_force_cross)(y[i].X, w->F[i].e, T);
        NAME(add_force_at_parent)(m, i, w, T, y[b->parent].Z);
    }
}

/* tau, dtau <- inverse dynamics and its derivatives along every direction */
static void NAME(jvp)(const Mechanism *m, const State *state, ptrdiff_t vectors, const Directions *d, double *tau,
                      double *dtau, double *workspace)
{
    Workspace w = NAME(motion_and_forces)(m, state, tau, workspace);
    BodyDerivative *y = (BodyDerivative *)w.IA;      /* memory that otherwise only aba and equation_of_motion use */
    for (ptrdiff_t s = 0; s < vectors; s++) {
        ptrdiff_t at = s * m->n * LANES, joints = 6 * s * m->joints * LANES;
        Directions one = {d->q ? d->q + at : NULL, d->v ? d->v + at : NULL, d->a ? d->a + at : NULL,
                           d->fext ? d->fext + joints : NULL};
        NAME(write_derivative)(m, &w, &one, y, dtau + at);
    }
}
#undef BodyDerivative
