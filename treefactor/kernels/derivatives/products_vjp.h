/* Gradient of w . tau for the inverse dynamics tau: every body carries one wrench that serves all its freedoms.
 *
 *     for i = 1 .. bodies:   W_i = W_l + S_i w_i,   P_i = I_i W_i,   (0, Q_i) = 2 B_i^T W_i
 *     for i = bodies .. 1, with F, P, Q summed over the subtree of i, R = (0, Q) - V_l x* P:
 *         by q_k:  -S_k (W_l x* F + A_l x* P + V_l x* R)       by v_k:  S_k (R - V_i x* P)
 *         by a_k:  S_k P + armature_k w_k                      by fext_i:  -W_i */

typedef struct { real W[6], P[6], Q[3]; } NAME(Adjoint);
#define Adjoint NAME(Adjoint)

/* Q <- the couple 2 B^T W = 2 (p x W_linear + v x (W_angular x h) + (trace(J) / 2 - J) (omega x W_angular)) with the
 * linear momentum p = m v + omega x h */
INLINE void NAME(write_couple)(const Inertia *I, const real *V, const real *W, real *Q)
{
    const real zero = {0}, *h = I->h;
    real p[3], turned[3] = {zero, zero, zero}, u[3] = {zero, zero, zero}, Ju[6];
    real trace = I->J[LOWER(0, 0)] + I->J[LOWER(1, 1)] + I->J[LOWER(2, 2)];
    EACH(r, 3) p[r] = I->mass * V[r];
    ADD_CROSS(V + 3, h, p);
    ADD_CROSS(W + 3, h, turned);
    ADD_CROSS(V + 3, W + 3, u);
    NAME(rotational_momentum)(I, u, Ju);
    EACH(r, 3) Q[r] = 0.5 * trace * u[r] - Ju[3 + r];
    ADD_CROSS(p, W, Q);
    ADD_CROSS(V, turned, Q);
    EACH(r, 3) Q[r] *= 2.0;
}

/* Fill y: the motions W of all bodies at joint velocities x, and what they give at each body. */
static void NAME(adjoint_motions)(const Mechanism *m, const Workspace *w, const double *x, Adjoint *y)
{
    const real zero = {0};
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real W[6] = {zero, zero, zero, zero, zero, zero};
        if (b->parent >= 0) NAME(motion_of_parent)(m, i, w, y[b->parent].W, W);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) EACH(r, 6) W[r] += w->S[k].e[r] * READ(x, k);
        NAME(momentum)(w->C + i, W, y[i].P);
        NAME(write_couple)(w->C + i, w->V[i].e, W, y[i].Q);
        EACH(r, 6) y[i].W[r] = W[r];
    }
}

/* Write the gradients by q, v and a, from the leaves to the root; P and Q of y become sums over subtrees. */
static void NAME(write_gradients)(const Mechanism *m, const Workspace *w, Adjoint *y, const double *x, double *by_q,
                                  double *by_v, double *by_a)
{
    const real zero = {0};
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const real *P = y[i].P, *Q = y[i].Q;
        real V[6], A[6], W[6], own[6];   /* V, A, W of the parent, then all four negative */
        real R[6] = {zero, zero, zero, Q[0], Q[1], Q[2]}, T[6] = {zero, zero, zero, zero, zero, zero};
        if (b->parent >= 0) {
            NAME(motion_of_parent)(m, i, w, w->V[b->parent].e, V);
            NAME(motion_of_parent)(m, i, w, w->A[b->parent].e, A);
            NAME(motion_of_parent)(m, i, w, y[b->parent].W, W);
            EACH(r, 6) { V[r] = -V[r]; A[r] = -A[r]; W[r] = -W[r]; }
            NAME(add_force_cross)(V, P, R);
            NAME(add_force_cross)(W, w->F[i].e, T);
            NAME(add_force_cross)(A, P, T);
            NAME(add_force_cross)(V, R, T);
        } else {
            ADD_CROSS(w->X[i].g, P, T + 3);
        }
        EACH(r, 6) own[r] = -w->V[i].e[r];
        NAME(add_force_cross)(own, P, R);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            const real *s = w->S[k].e;
            AT(by_q, k) = NAME(power)(T, s);
            AT(by_v, k) = NAME(power)(R, s);
            if (by_a) AT(by_a, k) = NAME(power)(P, s) + NAME(armature)(m, k) * READ(x, k);
        }
        if (b->parent < 0) continue;
        NAME(add_force_at_parent)(m, i, w, P, y[b->parent].P);
        EACH(r, 3) y[b->parent].Q[r] += Q[r];
    }
}

/* Write the gradients by external forces and by inertias; NULL: not wanted. */
static void NAME(write_body_gradients)(const Mechanism *m, const Workspace *w, const Adjoint *y, double *by_fext,
                                       double *by_inertia)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        const Pose *X = w->X + i;
        real W[6];                       /* at the origin of the joint, in its axes */
        if (b->joint < 0) continue;
        NAME(turn_motion_to_joint)(b, X, y[i].W, W);
        if (by_fext) EACH(r, 6) AT(by_fext, 6 * b->joint + r) = -W[r];
        if (by_inertia)
            NAME(write_inertia_gradient)(b, X, w->V[i].e, w->A[i].e, W, by_inertia + 10 * b->joint * LANES);
    }
}

/* tau, g <- inverse dynamics and the gradients of w . tau for every vector w of weights */
static void NAME(vjp)(const Mechanism *m, const State *state, ptrdiff_t vectors, const double *w, double *tau,
                      const Gradients *g, double *workspace)
{
    Workspace work = NAME(motion_and_forces)(m, state, tau, workspace);
    Adjoint *y = (Adjoint *)work.IA; /* memory that otherwise only aba and equation_of_motion use */
    for (ptrdiff_t s = 0; s < vectors; s++) {
        ptrdiff_t at = s * m->n * LANES, joints = s * m->joints * LANES;
        NAME(adjoint_motions)(m, &work, w + at, y);
        if (g->fext || g->inertia)
            NAME(write_body_gradients)(m, &work, y, g->fext ? g->fext + 6 * joints : NULL,
                                       g->inertia ? g->inertia + 10 * joints : NULL);
        NAME(write_gradients)(m, &work, y, w + at, g->q + at, g->v + at, g->a ? g->a + at : NULL);
    }
}
#undef Adjoint
