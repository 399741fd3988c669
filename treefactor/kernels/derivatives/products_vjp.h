/* Gradient of phi = w . tau for the inverse dynamics tau: rows of the matrices of first_order_kernels.h, added up with
 * the weights w before any entry is formed. With the parent l of body i, and V, A, dS_k, ddS_k, rate_k and B of there:
 *
 *     for i = 1 .. bodies:   W_i = W_l + S_i w,   P_i = I_i W_i,   Q_i = 2 B_i^T W_i, a moment
 *     for i = bodies .. 1:   by a_k:  S_k P_i + armature_k w_k,   by v_k:  rate_k P_i + S_k Q_i,
 *                            by q_k:  ddS_k P_i + dS_k Q_i + (W_l x S_k) F_i
 *         by fext_i:  -W_i,   by the inertia:  coefficients of W_i F_i
 *         P_l += P_i,   Q_l += Q_i + u x (linear part of P_i): u of flows.h */

typedef struct { real W[6], P[6], Q[3]; } NAME(Adjoint);
#define Adjoint NAME(Adjoint)

/* y <- (tr(J) - 2 J) x */
INLINE void NAME(spread)(const Inertia *I, const real *x, real *y)
{
    const real trace = I->J[LOWER(0, 0)] + I->J[LOWER(1, 1)] + I->J[LOWER(2, 2)];
    real Jx[3];
    NAME(tensor_product)(I->J, x, Jx);
    EACH(r, 3) y[r] = trace * x[r] - 2.0 * Jx[r];
}

/* Q <- 2 B^T W of a body that turns with w:  2 (w x h) x y + (tr(J) - 2 J) (w x u)  with W = (y, u) */
INLINE void NAME(write_couple)(const Inertia *I, const real *w, const real *W, real *Q)
{
    real twice[3], p[3], x[3];
    EACH(r, 3) twice[r] = 2.0 * w[r];
    CROSS(twice, I->h, p);
    CROSS(w, W + 3, x);
    NAME(spread)(I, x, Q);
    ADD_CROSS(p, W, Q);
}

/* Fill y: the motions W of all bodies at joint velocities x, and P and Q of every body. */
static void NAME(adjoint_motions)(const Mechanism *m, const Workspace *w, const double *x, Adjoint *y)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        Inertia I;
        real W[6], P[6], Q[3];
        NAME(carry_velocity)(b, w->turn + i, b->parent < 0 ? NULL : y[b->parent].W, x, W);
        NAME(read_inertia)(m, i, &I);
        NAME(momentum)(&I, W, P);
        NAME(write_couple)(&I, w->motion[i].w, W, Q);
        EACH(r, 6) {
            y[i].W[r] = W[r];
            y[i].P[r] = P[r];
        }
        EACH(r, 3) y[i].Q[r] = Q[r];
    }
}

/* by_v, by_q <- forces whose power at S_k are the gradients by v_k and q_k. V, A, W are motions of the parent and w that
 * of the body:  Q - (V + w) x* P,   V x* (V x* P - Q) - A x* P - W x* F */
INLINE void NAME(write_gradient_forces)(const real *V, const real *A, const real *W, const real *w, const real *F,
                                        const real *P, const real *Q, real *by_q, real *by_v)
{
    real sum[6], inner[6], weight[6];
    EACH(r, 6) sum[r] = r < 3 ? V[r] : V[r] + w[r % 3];
    NAME(force_cross)(sum, P, by_v);
    NAME(force_cross)(V, P, inner);
    EACH(r, 3) inner[3 + r] -= Q[r];
    NAME(force_cross)(V, inner, by_q);
    NAME(force_cross)(A, P, weight);
    NAME(add_force_cross)(W, F, weight);
    EACH(r, 6) {
        by_q[r] -= weight[r];
        by_v[r] = r < 3 ? -by_v[r] : Q[r % 3] - by_v[r];
    }
}

/* Write the gradients by q and v of body i. */
INLINE void NAME(write_joint_gradient)(const Mechanism *m, ptrdiff_t i, const Workspace *work, const State *state,
                                       const double *x, const Adjoint *y, double *by_q, double *by_v)
{
    const Body *b = m->body + i;
    const Motion *X = work->motion + i;
    const real *w = X->w, *a = X->a, *K = X->K, *F = work->F[i].e, *W = y->W, *P = y->P, *Q = y->Q;
    if (NAME(is_hinge)(b)) {         /* the rates of write_hinge_entry */
        AT(by_v, b->v) = Q[2] + 2.0 * (P[3] * w[1] - P[4] * w[0]);
        AT(by_q, b->v) = ((F[0] * W[1] - F[1] * W[0]) + (F[3] * W[4] - F[4] * W[3]))
                         + ((P[0] * a[1] - P[1] * a[0]) + (Q[0] * w[1] - Q[1] * w[0]))
                         + (P[3] * K[6] + P[4] * K[7] + P[5] * K[8]);
        return;
    }
    if (b->kind == PRISMATIC) {      /* those of write_slide_entry */
        AT(by_v, b->v) = 2.0 * (P[0] * w[1] - P[1] * w[0]);
        AT(by_q, b->v) = (P[0] * K[6] + P[1] * K[7] + P[2] * K[8]) + (F[0] * W[4] - F[1] * W[3]);
        return;
    }
    real V[6], A[6], rest[6], g[6], h[6];
    NAME(write_parent_motions)(b, X, state->v, state->a, V, A);
    NAME(joint_motion)(b, x + b->v * LANES, rest);
    EACH(r, 6) rest[r] = W[r] - rest[r];
    NAME(write_gradient_forces)(V, A, rest, w, F, P, Q, g, h);
    NAME(joint_force)(b, g, by_q + b->v * LANES);
    NAME(joint_force)(b, h, by_v + b->v * LANES);
}

/* Write the gradients by q, v and a, from the leaves to the root. */
static void NAME(write_gradients)(const Mechanism *m, const Workspace *work, const State *state, Adjoint *y,
                                  const double *x, double *by_q, double *by_v, double *by_a)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const Turn *T = work->turn + i;
        NAME(write_joint_gradient)(m, i, work, state, x, y + i, by_q, by_v);
        if (by_a) {
            NAME(joint_force)(b, y[i].P, by_a + b->v * LANES);
            for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
                AT(by_a, k) += NAME(armature)(m, k) * READ(x, k);
        }
        if (b->parent < 0) continue;
        Adjoint *to = y + b->parent;
        real own[9], turned[9], u[3];
        EACH(r, 9) own[r] = r < 6 ? y[i].P[r] : y[i].Q[r % 3];
        NAME(turn_out)(b, T, 3, own, turned);
        NAME(write_approach)(m, i, work, state->v, u);
        ADD_CROSS(T->p, turned, turned + 3);
        ADD_CROSS(u, turned, turned + 6);
        EACH(r, 6) to->P[r] += turned[r];
        EACH(r, 3) to->Q[r] += turned[6 + r];
    }
}

/* Write the gradients by external forces and by inertias; NULL: not wanted. */
static void NAME(write_body_gradients)(const Mechanism *m, const Workspace *w, const Adjoint *y, double *by_fext,
                                       double *by_inertia)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real W[6];                       /* in the axes of the joint */
        if (b->joint < 0) continue;
        NAME(turn_to_joint)(b, y[i].W, W);
        NAME(turn_to_joint)(b, y[i].W + 3, W + 3);
        if (by_fext) EACH(r, 6) AT(by_fext, 6 * b->joint + r) = -W[r];
        if (by_inertia) NAME(write_inertia_gradient)(b, w->motion + i, W, by_inertia + 10 * b->joint * LANES);
    }
}

/* tau, g <- inverse dynamics and the gradients of w . tau for every vector w of weights */
static void NAME(vjp)(const Mechanism *m, const State *state, ptrdiff_t vectors, const double *w, double *tau,
                      const Gradients *g, double *workspace)
{
    Workspace work = NAME(motion_and_forces)(m, state, tau, workspace);
    Adjoint *y = (Adjoint *)(workspace + NAME(workspace_size)(m));
    for (ptrdiff_t s = 0; s < vectors; s++) {
        ptrdiff_t at = s * m->n * LANES, joints = s * m->joints * LANES;
        NAME(adjoint_motions)(m, &work, w + at, y);
        if (g->fext || g->inertia)
            NAME(write_body_gradients)(m, &work, y, g->fext ? g->fext + 6 * joints : NULL,
                                       g->inertia ? g->inertia + 10 * joints : NULL);
        NAME(write_gradients)(m, &work, state, y, w + at, g->q + at, g->v + at, g->a ? g->a + at : NULL);
    }
}
