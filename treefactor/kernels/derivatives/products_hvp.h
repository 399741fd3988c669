/* Second derivatives of phi = w . tau along a direction: the gradient of products_vjp.h differentiated as products_jvp.h
 * differentiates forces. With the displacement X = S_i dq_i, every quantity seen from its moving body:
 *
 *     for i = 1 .. bodies:   dW_i = dW_l + (W_l x X) + S_i dw,   dP_i = I_i dW_i,   dQ_i = 2 dB_i^T W_i + 2 B_i^T dW_i
 *     for i = bodies .. 1:   the product rule on the gradients by q, v and a, in which S_k is constant
 *         F, P and Q change with their body, too:   dF_l += dF_i + X x* F_i,   dP_l += dP_i + X x* P_i,
 *         dQ_l += dQ_i + X x Q_i + du x (linear part of P_i) + u x (that of dP_i) */

typedef struct {
    Motion motion;                   /* derivative of that of the body */
    real W[6], dW[6];
    real P[6], dF[6], dP[6], Q[3], dQ[3];
} NAME(Curvature);
#define Curvature NAME(Curvature)

/* Q, dQ <- 2 B^T W of a body that turns with w, and its derivative */
INLINE void NAME(differentiate_couple)(const Inertia *I, const real *w, const real *dw, const real *W, const real *dW,
                                       real *Q, real *dQ)
{
    real twice[3], p[3], dp[3], x[3];
    NAME(write_couple)(I, w, W, Q);
    EACH(r, 3) twice[r] = 2.0 * w[r];
    CROSS(twice, I->h, p);
    EACH(r, 3) twice[r] = 2.0 * dw[r];
    CROSS(twice, I->h, dp);
    CROSS(dw, W + 3, x);
    ADD_CROSS(w, dW + 3, x);
    NAME(spread)(I, x, dQ);
    ADD_CROSS(dp, W, dQ);
    ADD_CROSS(p, dW, dQ);
}

/* Fill y of body i, whose motion and whose parent's y are filled. */
INLINE void NAME(differentiate_body)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const State *state,
                                     const double *weights, const Directions *d, const double *dw, Curvature *y)
{
    const Body *b = m->body + i;
    const Turn *T = w->turn + i;
    const Motion *X = w->motion + i;
    const Curvature *from = b->parent < 0 ? NULL : y + b->parent;
    Curvature *to = y + i;
    Inertia I;
    real x[6], W[6], dW[6];
    NAME(differentiate_motion)(m, i, w, state, d, from ? &from->motion : NULL, &to->motion);
    NAME(carry_velocity)(b, T, from ? from->W : NULL, weights, W);
    NAME(carry_velocity)(b, T, from ? from->dW : NULL, dw, dW);
    if (d->q) {
        if (NAME(is_hinge)(b)) {     /* rotations about its own axis leave W x X as it is */
            const real angle = READ(d->q, b->v);
            dW[0] += W[1] * angle;
            dW[1] -= W[0] * angle;
            dW[3] += W[4] * angle;
            dW[4] -= W[3] * angle;
        } else {
            real own[6];
            NAME(displacement)(b, d->q, x);
            NAME(joint_motion)(b, weights + b->v * LANES, own);
            EACH(r, 6) own[r] = W[r] - own[r];
            NAME(add_motion_cross)(own, x, dW);
        }
    }
    NAME(read_inertia)(m, i, &I);
    NAME(differentiate_force)(m, b, &I, X, &to->motion, d->fext, to->dF);
    NAME(momentum)(&I, W, to->P);
    NAME(momentum)(&I, dW, to->dP);
    NAME(differentiate_couple)(&I, X->w, to->motion.w, W, dW, to->Q, to->dQ);
    EACH(r, 6) {
        to->W[r] = W[r];
        to->dW[r] = dW[r];
    }
}

/* Write the results of a hinge, whose gradient write_joint_gradient has. */
INLINE void NAME(differentiate_hinge_gradient)(const Body *b, const Motion *X, const real *F, const Curvature *y,
                                               double *by_q, double *by_v)
{
    const real *w = X->w, *a = X->a, *K = X->K, *dw = y->motion.w, *da = y->motion.a, *dK = y->motion.K;
    const real *W = y->W, *dW = y->dW, *P = y->P, *dP = y->dP, *Q = y->Q, *dQ = y->dQ, *dF = y->dF;
    AT(by_v, b->v) = dQ[2] + 2.0 * ((dP[3] * w[1] - dP[4] * w[0]) + (P[3] * dw[1] - P[4] * dw[0]));
    AT(by_q, b->v) = ((dF[0] * W[1] - dF[1] * W[0]) + (dF[3] * W[4] - dF[4] * W[3]))
                     + ((F[0] * dW[1] - F[1] * dW[0]) + (F[3] * dW[4] - F[4] * dW[3]))
                     + ((dP[0] * a[1] - dP[1] * a[0]) + (dQ[0] * w[1] - dQ[1] * w[0]))
                     + ((P[0] * da[1] - P[1] * da[0]) + (Q[0] * dw[1] - Q[1] * dw[0]))
                     + (dP[3] * K[6] + dP[4] * K[7] + dP[5] * K[8]) + (P[3] * dK[6] + P[4] * dK[7] + P[5] * dK[8]);
}

/* Write the results of a joint that slides along z. */
INLINE void NAME(differentiate_slide_gradient)(const Body *b, const Motion *X, const real *F, const Curvature *y,
                                               double *by_q, double *by_v)
{
    const real *w = X->w, *K = X->K, *dw = y->motion.w, *dK = y->motion.K;
    const real *W = y->W, *dW = y->dW, *P = y->P, *dP = y->dP, *dF = y->dF;
    AT(by_v, b->v) = 2.0 * ((dP[0] * w[1] - dP[1] * w[0]) + (P[0] * dw[1] - P[1] * dw[0]));
    AT(by_q, b->v) = (dP[0] * K[6] + dP[1] * K[7] + dP[2] * K[8]) + (P[0] * dK[6] + P[1] * dK[7] + P[2] * dK[8])
                     + ((dF[0] * W[4] - dF[1] * W[3]) + (F[0] * dW[4] - F[1] * dW[3]));
}

/* Return where coordinate e of a joint that turns stands in a rigid motion. */
INLINE int NAME(coordinate)(const Body *b, int e)
{
    return b->kind == SPHERICAL || (b->kind == PLANAR && e == 2) ? e + 3 : e;
}

/* y <- y - ad_x^T g / 2, of the coordinates x and the gradient g of one joint: the derivative of the gradient becomes
 * the symmetric second derivative, because motions along the tangent do not commute. */
INLINE void NAME(make_symmetric)(const Body *b, const real *x, const real *gradient, double *y)
{
    const real zero = {0};
    real g[6], half[6];
    EACH(r, 6) g[r] = zero;
    for (int e = 0; e < b->freedoms; e++) g[NAME(coordinate)(b, e)] = 0.5 * gradient[NAME(coordinate)(b, e)];
    NAME(force_cross)(x, g, half);
    for (int e = 0; e < b->freedoms; e++) AT(y, b->v + e) += half[NAME(coordinate)(b, e)];
}

/* Write the results of any other joint by the product rule on write_gradient_forces. */
INLINE void NAME(differentiate_joint_gradient)(const Body *b, const Motion *X, const real *F, const State *state,
                                               const double *weights, const Directions *d, const double *dw,
                                               int symmetric, const Curvature *y, double *by_q, double *by_v)
{
    const real zero = {0};
    const Motion *dX = &y->motion;
    real V[6], A[6], W[6], dV[6], dA[6], dW[6], s[6], D[6], x[6], g[6], h[6], sum[6], d_sum[6], inner[6], d_inner[6];
    NAME(write_parent_motions)(b, X, state->v, state->a, V, A);
    NAME(joint_motion)(b, state->v + b->v * LANES, s);
    NAME(displacement)(b, d->v, D);
    NAME(displacement)(b, d->a, dA);
    EACH(e, 2) {                     /* write_parent_motions differentiated */
        real turned[3];
        CROSS(dX->w, s + 3 * e, turned);
        ADD_CROSS(X->w, D + 3 * e, turned);
        EACH(r, 3) {
            dV[3 * e + r] = e ? dX->w[r] - D[3 + r] : -D[r];
            dA[3 * e + r] = (e ? dX->rate[r] : dX->a[r]) - dA[3 * e + r] - turned[r];
        }
    }
    NAME(joint_motion)(b, weights + b->v * LANES, W);
    NAME(displacement)(b, dw, dW);
    EACH(r, 6) {
        W[r] = y->W[r] - W[r];
        dW[r] = y->dW[r] - dW[r];
        sum[r] = r < 3 ? V[r] : V[r] + X->w[r % 3];
        d_sum[r] = r < 3 ? dV[r] : dV[r] + dX->w[r % 3];
        inner[r] = d_inner[r] = zero;
    }
    EACH(r, 3) {
        inner[3 + r] = -y->Q[r];
        d_inner[3 + r] = -y->dQ[r];
    }
    NAME(add_force_cross)(V, y->P, inner);
    NAME(add_force_cross)(dV, y->P, d_inner);
    NAME(add_force_cross)(V, y->dP, d_inner);
    NAME(force_cross)(dW, F, g);
    NAME(add_force_cross)(W, y->dF, g);
    NAME(add_force_cross)(dA, y->P, g);
    NAME(add_force_cross)(A, y->dP, g);
    EACH(r, 6) g[r] = -g[r];
    NAME(add_force_cross)(dV, inner, g);
    NAME(add_force_cross)(V, d_inner, g);
    NAME(force_cross)(d_sum, y->P, h);
    NAME(add_force_cross)(sum, y->dP, h);
    EACH(r, 6) h[r] = r < 3 ? -h[r] : y->dQ[r % 3] - h[r];
    NAME(joint_force)(b, g, by_q + b->v * LANES);
    NAME(joint_force)(b, h, by_v + b->v * LANES);
    if (!symmetric || !d->q || b->freedoms == 1 || b->kind == TRANSLATION) return;
    NAME(write_gradient_forces)(V, A, W, X->w, F, y->P, y->Q, g, h);
    NAME(displacement)(b, d->q, x);
    NAME(make_symmetric)(b, x, g, by_q);
}

/* u, du <- twice the velocity of the origin of body i about that of its parent, and its derivative, in the axes of the
 * parent; x is the displacement of the joint */
INLINE void NAME(differentiate_approach)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const State *state,
                                         const Directions *d, const Curvature *y, const real *x, real *u, real *du)
{
    const Body *b = m->body + i;
    const Turn *T = w->turn + i;
    NAME(write_approach)(m, i, w, state->v, u);
    CROSS(y[b->parent].motion.w, T->p, du);
    if (!NAME(is_hinge)(b)) {
        real s[6], own[6], turned[6];
        NAME(joint_motion)(b, state->v + b->v * LANES, s);
        NAME(displacement)(b, d->v, own);
        ADD_CROSS(x + 3, s, own);
        EACH(r, 3) own[3 + r] = x[r];
        NAME(turn_out)(b, T, 2, own, turned);
        ADD_CROSS(w->motion[b->parent].w, turned + 3, du);
        EACH(r, 3) du[r] += turned[r];
    }
    EACH(r, 3) du[r] *= 2.0;
}

/* Add what body i hands to its parent. */
INLINE void NAME(hand_derivatives)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const State *state,
                                   const Directions *d, Curvature *y)
{
    const Body *b = m->body + i;
    const Turn *T = w->turn + i;
    Curvature *to = y + b->parent;
    real x[6], F[6], own[24], turned[24], u[3], du[3];
    real *dF = own, *P = own + 6, *dP = own + 12, *Q = own + 18, *dQ = own + 21;
    NAME(displacement)(b, d->q, x);
    EACH(r, 6) {
        F[r] = w->F[i].e[r];
        dF[r] = y[i].dF[r];
        P[r] = y[i].P[r];
        dP[r] = y[i].dP[r];
    }
    EACH(r, 3) {
        Q[r] = y[i].Q[r];
        dQ[r] = y[i].dQ[r];
    }
    if (d->q) {
        if (NAME(is_hinge)(b)) {
            const real angle = READ(d->q, b->v);
            EACH(e, 2) {
                dF[3 * e] -= angle * F[3 * e + 1];
                dF[3 * e + 1] += angle * F[3 * e];
                dP[3 * e] -= angle * P[3 * e + 1];
                dP[3 * e + 1] += angle * P[3 * e];
            }
            dQ[0] -= angle * Q[1];
            dQ[1] += angle * Q[0];
        } else {
            NAME(add_force_cross)(x, F, dF);
            NAME(add_force_cross)(x, P, dP);
            ADD_CROSS(x + 3, Q, dQ);
        }
    }
    if (!state->moved) {
        NAME(carry_force)(b, T, F);
        NAME(hand_force)(m, i, w, F);
    }
    NAME(turn_out)(b, T, 8, own, turned);
    NAME(differentiate_approach)(m, i, w, state, d, y, x, u, du);
    EACH(k, 3) ADD_CROSS(T->p, turned + 6 * k, turned + 6 * k + 3);
    ADD_CROSS(u, turned + 6, turned + 18);
    ADD_CROSS(du, turned + 6, turned + 21);
    ADD_CROSS(u, turned + 12, turned + 21);
    EACH(r, 6) {
        to->dF[r] += turned[r];
        to->P[r] += turned[6 + r];
        to->dP[r] += turned[12 + r];
    }
    EACH(r, 3) {
        to->Q[r] += turned[18 + r];
        to->dQ[r] += turned[21 + r];
    }
}

/* by_q, by_v, by_a <- second derivatives along the direction; see products_table.h. curvatures: memory beyond the
 * workspace */
static void NAME(hvp)(const Mechanism *m, const State *state, const double *weights, const Directions *d,
                      const double *dw, int symmetric, double *by_q, double *by_v, double *by_a, double *workspace,
                      double *curvatures)
{
    const Workspace w = NAME(carve_workspace)(m, workspace);
    Curvature *y = (Curvature *)curvatures;
    if (state->q) NAME(compute_angles)(m, state->q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        if (state->q) NAME(place)(m, m->body + i, state->q, &w.angles, 1, w.turn + i);
        if (!state->moved) {
            NAME(move_body)(m, i, &w, state->v, state->a, 1, w.motion + i);
            NAME(write_own_force)(m, i, &w, w.motion + i, state->fext);
        }
        NAME(differentiate_body)(m, i, &w, state, weights, d, dw, y);
    }
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const Motion *X = w.motion + i;
        const real *F = w.F[i].e;
        if (NAME(is_hinge)(b)) NAME(differentiate_hinge_gradient)(b, X, F, y + i, by_q, by_v);
        else if (b->kind == PRISMATIC) NAME(differentiate_slide_gradient)(b, X, F, y + i, by_q, by_v);
        else NAME(differentiate_joint_gradient)(b, X, F, state, weights, d, dw, symmetric, y + i, by_q, by_v);
        NAME(joint_force)(b, y[i].dP, by_a + b->v * LANES);
        if (dw)
            for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
                AT(by_a, k) += NAME(armature)(m, k) * READ(dw, k);
        if (b->parent >= 0) NAME(hand_derivatives)(m, i, &w, state, d, y);
    }
}
