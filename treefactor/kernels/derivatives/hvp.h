/* Second derivatives of phi = w . (inverse dynamics) along a direction, in O(n): the derivative of the gradient of phi
 * (reverse recursion of Carpentier, Mansard (2018), RSS) along the direction, every quantity seen from its moving body.
 *
 * With the parent l of body i, X = S dq, D = S dv, J = S v, and Q(V, W) the moment of 2 B^T W (momenta.h):
 *
 *     W_i = W_l + S w,   turned = T_l + W_l x X,   T_i = turned + S dw
 *     rate = Y_l + V_l x X,   Y_i = rate + D
 *     pushed = Z_l + A_l x X,   Z_i = pushed + S da + rate x J + V_l x D
 *     P_i = I W_i,   dP = I T_i,   dF = I Z_i + Y_i x* I V_i + V_i x* I Y_i,   dQ = Q(Y_i, W_i) + Q(V_i, T_i)
 *
 * are summed up the tree, for instance dF_l += dF_i + X x* F_i. The gradient of a freedom k of body i is
 *
 *     by q: S_k (-W_l x* F - A_l x* P + V_l x* (V_l x* P - Q)),   by v: S_k (Q - (V_l + V_i) x* P),   by a: S_k P
 *
 * with the sums F, P, Q of the subtree; the result is its derivative, in which S_k is constant. */

typedef struct {
    real W[6], T[6], Y[6], Z[6];     /* weights and their derivative; derivatives of velocity and acceleration */
    real X[6], rate[6], pushed[6], turned[6];   /* displacement; derivatives of parent's motions seen from the body */
    real P[6], dP[6], dF[6], Q[3], dQ[3];
} NAME(Derivative);
#define Derivative NAME(Derivative)

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

/* Fill the motions of a body along the direction; Z holds those of the parent's derivative. */
INLINE void NAME(differentiate_motion)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const Weighted *x,
                                       Derivative *derivative)
{
    const real zero = {0};
    const Body *b = m->body + i;
    Derivative *to = derivative + i, *from = derivative + (b->parent < 0 ? 0 : b->parent);
    real V[6], A[6], J[6], D[6];
    NAME(write_parent_motions)(m, i, w, V, A);
    EACH(r, 6) to->X[r] = J[r] = D[r] = zero;
    NAME(add_joint_motion)(b, w, x->dq, to->X);
    NAME(add_joint_motion)(b, w, x->v, J);
    NAME(add_joint_motion)(b, w, x->dv, D);
    NAME(motion_of_parent)(m, i, w, from->W, to->W);
    NAME(motion_of_parent)(m, i, w, from->T, to->turned);
    NAME(motion_of_parent)(m, i, w, from->Y, to->rate);
    NAME(motion_of_parent)(m, i, w, from->Z, to->pushed);
    NAME(add_motion_cross)(to->W, to->X, to->turned);
    NAME(add_motion_cross)(V, to->X, to->rate);
    NAME(add_motion_cross)(A, to->X, to->pushed);
    EACH(r, 6) {
        to->T[r] = to->turned[r];
        to->Y[r] = to->rate[r] + D[r];
        to->Z[r] = to->pushed[r];
    }
    NAME(add_joint_motion)(b, w, x->w, to->W);
    NAME(add_joint_motion)(b, w, x->dw, to->T);
    NAME(add_joint_motion)(b, w, x->da, to->Z);
    NAME(add_motion_cross)(to->rate, J, to->Z);
    NAME(add_motion_cross)(V, D, to->Z);
}

/* P, turning <- I s, and the part of it without the linear part of s */
INLINE void NAME(momentum_parts)(const Inertia *I, const real *s, real *P, real *turning)
{
    NAME(rotational_momentum)(I, s + 3, turning);
    EACH(r, 3) P[r] = turning[r] + I->mass * s[r];
    EACH(r, 3) P[3 + r] = turning[3 + r];
    ADD_CROSS(I->h, s, P + 3);
}

/* y <- 2 K x, of the second moments K = tr(J) / 2 - J of a body */
INLINE void NAME(second_moments)(const Inertia *I, const real *x, real *y)
{
    const real *J = I->J, trace = J[0] + J[2] + J[5];
    y[0] = trace * x[0] - 2.0 * (J[0] * x[0] + J[1] * x[1] + J[3] * x[2]);
    y[1] = trace * x[1] - 2.0 * (J[1] * x[0] + J[2] * x[1] + J[4] * x[2]);
    y[2] = trace * x[2] - 2.0 * (J[3] * x[0] + J[4] * x[1] + J[5] * x[2]);
}

/* Fill the forces of one body: Q(V, W) = 2 (p x W_l + V_l x (W_a x h) + K (V_a x W_a)) with the linear momentum p.
 * As in rnea.h, the velocity of the point at the local origin enters dF by the classical acceleration only. */
INLINE void NAME(differentiate_forces)(const Inertia *I, const real *V, Derivative *x)
{
    const real zero = {0};
    real A[6], p[6], dp[6], spin[6], d_spin[6], of_w[6], of_t[6], turn[3] = {zero, zero, zero};
    real d_turn[3] = {zero, zero, zero}, moment[3] = {zero, zero, zero}, d_moment[3] = {zero, zero, zero};
    EACH(r, 6) A[r] = x->Z[r];
    ADD_CROSS(x->Y + 3, V, A);
    ADD_CROSS(V + 3, x->Y, A);
    NAME(momentum)(I, A, x->dF);
    NAME(rotational_momentum)(I, V + 3, spin);
    NAME(rotational_momentum)(I, x->Y + 3, d_spin);
    ADD_CROSS(x->Y + 3, spin, x->dF);
    ADD_CROSS(V + 3, d_spin, x->dF);
    ADD_CROSS(x->Y + 3, spin + 3, x->dF + 3);
    ADD_CROSS(V + 3, d_spin + 3, x->dF + 3);
    NAME(momentum_parts)(I, x->W, x->P, of_w);
    NAME(momentum_parts)(I, x->T, x->dP, of_t);
    EACH(r, 3) {
        p[r] = I->mass * V[r] + spin[r];
        dp[r] = I->mass * x->Y[r] + d_spin[r];
    }
    ADD_CROSS(p, x->W, moment);
    ADD_CROSS(V, of_w, moment);
    ADD_CROSS(dp, x->W, d_moment);
    ADD_CROSS(p, x->T, d_moment);
    ADD_CROSS(x->Y, of_w, d_moment);
    ADD_CROSS(V, of_t, d_moment);
    ADD_CROSS(V + 3, x->W + 3, turn);
    ADD_CROSS(x->Y + 3, x->W + 3, d_turn);
    ADD_CROSS(V + 3, x->T + 3, d_turn);
    NAME(second_moments)(I, turn, x->Q);
    NAME(second_moments)(I, d_turn, x->dQ);
    EACH(r, 3) x->Q[r] += 2.0 * moment[r];
    EACH(r, 3) x->dQ[r] += 2.0 * d_moment[r];
}

/* by_q, by_v <- forces whose power at S_k are the derivatives of the gradient by q_k and v_k; gradient <- the force
 * of the gradient by q. V, A: motions of the parent. */
INLINE void NAME(differentiate_gradient)(const real *V, const real *A, const real *W, const real *own, const real *F,
                                       const Derivative *x, real *by_q, real *by_v, real *gradient)
{
    const real zero = {0};
    real inner[6], d_inner[6], sum[6], d_sum[6];
    EACH(r, 6) {
        inner[r] = r < 3 ? zero : -x->Q[r % 3];
        d_inner[r] = r < 3 ? zero : -x->dQ[r % 3];
        by_v[r] = r < 3 ? zero : -x->dQ[r % 3];
        by_q[r] = gradient[r] = zero;
        sum[r] = V[r] + own[r];
        d_sum[r] = x->rate[r] + x->Y[r];
    }
    NAME(add_force_cross)(V, x->P, inner);
    NAME(add_force_cross)(x->rate, x->P, d_inner);
    NAME(add_force_cross)(V, x->dP, d_inner);
    NAME(add_force_cross)(x->turned, F, by_q);
    NAME(add_force_cross)(W, x->dF, by_q);
    NAME(add_force_cross)(x->pushed, x->P, by_q);
    NAME(add_force_cross)(A, x->dP, by_q);
    EACH(r, 6) by_q[r] = -by_q[r];
    NAME(add_force_cross)(x->rate, inner, by_q);
    NAME(add_force_cross)(V, d_inner, by_q);
    NAME(add_force_cross)(d_sum, x->P, by_v);
    NAME(add_force_cross)(sum, x->dP, by_v);
    NAME(add_force_cross)(W, F, gradient);
    NAME(add_force_cross)(A, x->P, gradient);
    EACH(r, 6) gradient[r] = -gradient[r];
    NAME(add_force_cross)(V, inner, gradient);
}

/* Return where coordinate e of a joint that turns stands in a rigid motion. */
INLINE int NAME(coordinate)(const Body *b, int e)
{
    return b->kind == SPHERICAL || (b->kind == PLANAR && e == 2) ? e + 3 : e;
}

/* y <- y - ad_x^T g / 2, of the coordinates x and the gradient g of one joint: the derivative of the gradient becomes
 * the symmetric second derivative, because motions along the tangent do not commute */
INLINE void NAME(make_symmetric)(const Body *b, const Workspace *w, const real *gradient, const double *dq, double *y)
{
    const real zero = {0};
    real x[6] = {zero, zero, zero, zero, zero, zero}, g[6], half[6] = {zero, zero, zero, zero, zero, zero};
    EACH(r, 6) g[r] = zero;
    for (int e = 0; e < b->freedoms; e++) {
        x[NAME(coordinate)(b, e)] = READ(dq, b->v + e);
        g[NAME(coordinate)(b, e)] = 0.5 * NAME(power)(gradient, w->S[b->v + e].e);
    }
    NAME(add_force_cross)(x, g, half);
    for (int e = 0; e < b->freedoms; e++) AT(y, b->v + e) += half[NAME(coordinate)(b, e)];
}

/* Add the forces on body i to those on its parent. */
INLINE void NAME(add_derivative_to_parent)(const Mechanism *m, ptrdiff_t i, const Workspace *w, Derivative *derivative)
{
    const real *d = w->X[i].d;
    Derivative *x = derivative + i, *to = derivative + m->body[i].parent;
    NAME(add_force_cross)(x->X, w->F[i].e, x->dF);
    NAME(add_force_cross)(x->X, x->P, x->dP);
    ADD_CROSS(x->X + 3, x->Q, x->dQ);
    if (m->body[i].local == i) {
        ADD_CROSS(d, x->dF, x->dF + 3);
        ADD_CROSS(d, x->P, x->P + 3);
        ADD_CROSS(d, x->dP, x->dP + 3);
    }
    EACH(r, 6) {
        to->dF[r] += x->dF[r];
        to->P[r] += x->P[r];
        to->dP[r] += x->dP[r];
    }
    EACH(r, 3) {
        to->Q[r] += x->Q[r];
        to->dQ[r] += x->dQ[r];
    }
    NAME(add_force_to_parent)(m, i, w);
}

/* y_q, y_v, y_a <- second derivatives along the direction; see second_order_table.h */
static void NAME(hvp)(const Mechanism *m, const Weighted *x, int symmetric, double *y_q, double *y_v, double *y_a,
                      double *workspace)
{
    const Workspace w = NAME(carve_workspace)(m, workspace);
    Derivative *derivative = (Derivative *)(workspace + NAME(workspace_size)(m));
    NAME(place_bodies)(m, x->q, &w);
    NAME(move_inertias)(m, &w);
    NAME(body_forces)(m, &w, x->v, x->a, x->fext, 1);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        NAME(differentiate_motion)(m, i, &w, x, derivative);
        NAME(differentiate_forces)(w.C + i, w.V[i].e, derivative + i);
    }
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        real V[6], A[6], W[6], by_q[6], by_v[6], gradient[6];
        NAME(write_parent_motions)(m, i, &w, V, A);
        NAME(motion_of_parent)(m, i, &w, derivative[b->parent < 0 ? 0 : b->parent].W, W);
        NAME(differentiate_gradient)(V, A, W, w.V[i].e, w.F[i].e, derivative + i, by_q, by_v, gradient);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            const real *s = w.S[k].e;
            AT(y_q, k) = NAME(power)(by_q, s);
            AT(y_v, k) = -NAME(power)(by_v, s);
            AT(y_a, k) = NAME(power)(derivative[i].dP, s);
            if (x->dw) AT(y_a, k) += NAME(armature)(m, k) * READ(x->dw, k);
        }
        if (symmetric && x->dq && b->freedoms > 1 && b->kind != TRANSLATION)
            NAME(make_symmetric)(b, &w, gradient, x->dq, y_q);
        if (b->parent >= 0) NAME(add_derivative_to_parent)(m, i, &w, derivative);
    }
}
