/* Gradient of phi = W . tau for the inverse dynamics tau: rnea.h backwards. A bar is the gradient of phi by a symbol
 * of rnea.h, with (y, u) those of the force f_i and the moment n_i, the motion of the body at joint velocities W:
 *
 *     for i = 1 .. bodies:   u = E^T u_parent + o W,   y = E^T (y_parent + u_parent x p) + S W
 *         a- = m y + u x h,   w'- = J u,   w- = (trace J - 2 J) (w x u) - w x J u,   K- = y h^T
 *     for i = bodies .. 1:   w'- += axial vector of K-,   w- += (K- + K-^T) w - 2 trace(K-) w
 *         by v_i:  S_i (a- x (2 E^T w_parent + o), w- + w'- x E^T w_parent + s x a-) with the velocities s, o of the joint
 *         by a_i:  S_i (a-, w'-) + armature_i W_i
 *         by fext_i:  -(y, u),   by the inertia:  coefficients of y f + u n
 *         w- += o x w'- + 2 s x a-:  now that of E^T w_parent
 *         by q_i:  S_i (E^T K_parent^T E a- + f x u,   f x y + n x u + the sum of x- x x of all motions x from the parent)
 *         a-, w'- and w- of the parent += E times these,   K-_parent += E a- p^T */

typedef struct { real W[6], a[3], rate[3], w[3], K[9]; } NAME(Adjoint);      /* W: y, then u; K in columns */
#define Adjoint NAME(Adjoint)

/* w <- (trace J - 2 J) (omega x u) - omega x Ju: gradient of u . (omega x J omega) by omega */
INLINE void NAME(write_gyroscopic_gradient)(const Inertia *I, const real *omega, const real *u, const real *Ju, real *w)
{
    real x[3], Jx[3], trace = I->J[LOWER(0, 0)] + I->J[LOWER(1, 1)] + I->J[LOWER(2, 2)];
    CROSS(omega, u, x);
    NAME(tensor_product)(I->J, x, Jx);
    CROSS(Ju, omega, w);
    EACH(r, 3) w[r] += trace * x[r] - 2.0 * Jx[r];
}

/* Fill y: the motions W of all bodies at joint velocities x, and what the force on each body gives. */
static void NAME(adjoint_motions)(const Mechanism *m, const Workspace *w, const double *x, Adjoint *y)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        Inertia I;
        real W[6], Ju[3];
        NAME(carry_velocity)(b, w->turn + i, b->parent < 0 ? NULL : y[b->parent].W, x, W);
        NAME(read_inertia)(m, i, &I);
        NAME(tensor_product)(I.J, W + 3, Ju);
        NAME(write_gyroscopic_gradient)(&I, w->motion[i].w, W + 3, Ju, y[i].w);
        CROSS(W + 3, I.h, y[i].a);
        EACH(r, 3) {
            y[i].a[r] += I.mass * W[r];
            y[i].rate[r] = Ju[r];
            EACH(c, 3) y[i].K[3 * c + r] = W[r] * I.h[c];
        }
        EACH(r, 6) y[i].W[r] = W[r];
    }
}

/* rate, w += what the gradient by K gives by w' and by w */
INLINE void NAME(add_field_gradient)(const real *K, const real *omega, real *rate, real *w)
{
    const real trace = K[0] + K[4] + K[8];
    rate[0] += K[5] - K[7];
    rate[1] += K[6] - K[2];
    rate[2] += K[1] - K[3];
    EACH(r, 3) {
        EACH(c, 3) w[r] += (K[3 * c + r] + K[3 * r + c]) * omega[c];
        w[r] -= 2.0 * trace * omega[r];
    }
}

/* Write the gradients by q and v of a hinge, of which rest holds the motion before it turns; w becomes the gradient by E^T w_parent. */
INLINE void NAME(write_hinge_gradient)(const Body *b, const real *rest, const real *F, const real *W, const real *a,
                                       const real *rate, real *w, const double *v, double *by_q, double *by_v)
{
    const real speed = READ(v, b->v);
    AT(by_v, b->v) = w[2] + (rate[0] * rest[1] - rate[1] * rest[0]);
    w[0] -= speed * rate[1];
    w[1] += speed * rate[0];
    AT(by_q, b->v) = ((F[0] * W[1] - F[1] * W[0]) + (F[3] * W[4] - F[4] * W[3]))
                     + ((w[0] * rest[1] - w[1] * rest[0]) + (rate[0] * rest[4] - rate[1] * rest[3]))
                     + (a[0] * rest[7] - a[1] * rest[6]);
}

/* Write the gradients by q and v of any joint; w becomes the gradient by E^T w_parent. */
INLINE void NAME(write_joint_gradient)(const Mechanism *m, ptrdiff_t i, const Workspace *work, const real *rest,
                                       const real *F, const real *W, const real *a, const real *rate, real *w,
                                       const double *x, const double *v, double *by_q, double *by_v)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Turn *T = work->turn + i;
    real s[6], S[6], at_rest[6], twice[3];                  /* S v; S W; W before the joint moves */
    real g[6] = {zero, zero, zero, zero, zero, zero}, h[6] = {zero, zero, zero, w[0], w[1], w[2]};
    NAME(joint_motion)(b, v + b->v * LANES, s);
    NAME(joint_motion)(b, x + b->v * LANES, S);
    EACH(r, 6) at_rest[r] = W[r] - S[r];
    EACH(r, 3) twice[r] = 2.0 * rest[r] + s[3 + r];
    CROSS(a, twice, h);
    ADD_CROSS(rate, rest, h + 3);
    ADD_CROSS(s, a, h + 3);
    NAME(joint_force)(b, h, by_v + b->v * LANES);
    ADD_CROSS(s + 3, rate, w);
    EACH(r, 3) s[r] *= 2.0;
    ADD_CROSS(s, a, w);
    if (b->parent >= 0) {
        const real *K = work->motion[b->parent].K;
        real turned[3], by_p[3];
        NAME(turn_out)(b, T, 1, a, turned);
        EACH(c, 3) by_p[c] = K[3 * c] * turned[0] + K[3 * c + 1] * turned[1] + K[3 * c + 2] * turned[2];
        NAME(turn_in)(b, T, 1, by_p, g);
        ADD_CROSS(F, at_rest + 3, g);
    }
    ADD_CROSS(F, at_rest, g + 3);
    ADD_CROSS(F + 3, at_rest + 3, g + 3);
    ADD_CROSS(w, rest, g + 3);
    ADD_CROSS(rate, rest + 3, g + 3);
    ADD_CROSS(a, rest + 6, g + 3);
    NAME(joint_force)(b, g, by_q + b->v * LANES);
}

/* Write the gradients by q, v and a, from the leaves to the root. */
static void NAME(write_gradients)(const Mechanism *m, const Workspace *work, const State *state, Adjoint *y,
                                  const double *x, double *by_q, double *by_v, double *by_a)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const real *F = work->F[i].e, *W = y[i].W;
        real rest[9], bars[9], *a = bars, *rate = bars + 3, *w = bars + 6;
        EACH(r, 3) {
            a[r] = y[i].a[r];
            rate[r] = y[i].rate[r];
            w[r] = y[i].w[r];
        }
        NAME(add_field_gradient)(y[i].K, work->motion[i].w, rate, w);
        if (by_a) {
            NAME(joint_force)(b, bars, by_a + b->v * LANES);
            for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
                AT(by_a, k) += NAME(armature)(m, k) * READ(x, k);
        }
        NAME(motion_before_joint)(m, i, work, state->v, rest);
        if (NAME(is_hinge)(b)) NAME(write_hinge_gradient)(b, rest, F, W, a, rate, w, state->v, by_q, by_v);
        else NAME(write_joint_gradient)(m, i, work, rest, F, W, a, rate, w, x, state->v, by_q, by_v);
        if (b->parent < 0) continue;
        Adjoint *to = y + b->parent;
        const real *p = work->turn[i].p;
        real turned[9];
        NAME(turn_out)(b, work->turn + i, 3, bars, turned);
        EACH(r, 3) {
            to->a[r] += turned[r];
            to->rate[r] += turned[3 + r];
            to->w[r] += turned[6 + r];
            EACH(c, 3) to->K[3 * c + r] += turned[r] * p[c];
        }
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
#undef Adjoint
