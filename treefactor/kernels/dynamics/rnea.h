/* Recursive Newton-Euler algorithm: Luh, Walker and Paul (1980), every body in its own axes and about its own origin.
 *
 *     for i = 1 .. bodies, E and p of turns.h, (u, o) = S_i v_i, (u', o') = S_i a_i, gravity g as the base's a = -g:
 *         w = E^T w_parent + o,   w' = E^T w'_parent + E^T w_parent x o + o'
 *         a = E^T (a_parent + K_parent p) + (E^T w_parent + w) x u + u',   K = w' x + w x w x
 *         f_i = m a + K h,   n_i = h x a + J w' + w x J w,   less the external force and moment
 *     for i = bodies .. 1:   tau_i = S_i (f_i, n_i) + armature_i a_i
 *         f_parent += E f_i,   n_parent += E n_i + p x E f_i */

/* K <- w' x + w x w x */
INLINE void NAME(write_field)(const real *w, const real *rate, real *K)
{
    K[0] = -(w[1] * w[1] + w[2] * w[2]);
    K[1] = w[0] * w[1] + rate[2];
    K[2] = w[0] * w[2] - rate[1];
    K[3] = w[0] * w[1] - rate[2];
    K[4] = -(w[0] * w[0] + w[2] * w[2]);
    K[5] = w[1] * w[2] + rate[0];
    K[6] = w[0] * w[2] + rate[1];
    K[7] = w[1] * w[2] - rate[0];
    K[8] = -(w[0] * w[0] + w[1] * w[1]);
}

/* a <- the acceleration that stands for gravity, in the axes of a free-flying root */
INLINE void NAME(turn_gravity)(const Mechanism *m, const Body *b, const double *q, real *a)
{
    const real zero = {0};
    const double *x = q + (b->q + 3) * LANES;
    CONSTANT g[3];
    real u[3], w = READ(x, 3), t, from[3], c[3], d[3];
    ROTATE_BACK(b->R, m->gravity, g);
    EACH(r, 3) u[r] = READ(x, r);
    EACH(r, 3) from[r] = zero - g[r];
    t = 2.0 / (u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + w * w);   /* 2 for a unit quaternion */
    CROSS(u, from, c);
    CROSS(u, c, d);
    EACH(r, 3) a[r] = from[r] + t * (d[r] - w * c[r]);
}

/* T <- rotation and shift of a body; of a free-flying root only the acceleration that stands for gravity is needed */
INLINE void NAME(place)(const Mechanism *m, const Body *b, const double *q, const Angles *angles, int gravity, Turn *T)
{
    if (!NAME(is_free_root)(b)) NAME(write_turn)(b, q, angles, T);
    else if (gravity) NAME(turn_gravity)(m, b, q, T->p);
}

/* x <- w, w' and a of a root body whose joint is at rest, in its axes */
INLINE void NAME(rest)(const Mechanism *m, const Body *b, const Turn *T, int gravity, real *x)
{
    const real zero = {0};
    real g[3];
    EACH(r, 9) x[r] = zero;
    if (!gravity) return;
    if (NAME(is_free_root)(b)) {
        EACH(r, 3) x[6 + r] = T->p[r];
        return;
    }
    EACH(r, 3) g[r] = zero - m->gravity[r];
    NAME(turn_in)(b, T, 1, g, x + 6);
}

/* x <- w, w' and a of a body whose joint is at rest, in its axes; P is the motion of its parent */
INLINE void NAME(carry_motion)(const Body *b, const Turn *T, const Motion *P, real *x)
{
    const real *p = T->p;
    real at_parent[9];
    EACH(r, 3) {
        at_parent[r] = P->w[r];
        at_parent[3 + r] = P->rate[r];
        at_parent[6 + r] = P->a[r] + P->K[r] * p[0] + P->K[3 + r] * p[1] + P->K[6 + r] * p[2];
    }
    NAME(turn_in)(b, T, 3, at_parent, x);
}

/* x += the part of a body's joint, with velocities v and accelerations a of its freedoms; NULL means zero */
INLINE void NAME(add_joint_motion)(const Body *b, const double *v, const double *a, real *x)
{
    real *w = x, *rate = x + 3, *linear = x + 6, s[6];
    if (NAME(is_hinge)(b)) {
        if (v) {
            real speed = READ(v, b->v);
            rate[0] += w[1] * speed;
            rate[1] -= w[0] * speed;
            w[2] += speed;
        }
        if (a) rate[2] += READ(a, b->v);
        return;
    }
    if (v) {
        NAME(joint_motion)(b, v + b->v * LANES, s);
        if (b->parent >= 0) {
            ADD_CROSS(w, s + 3, rate);
            ADD_CROSS(w, s, linear);
        }
        EACH(r, 3) w[r] += s[3 + r];
        ADD_CROSS(w, s, linear);
    }
    if (a) {
        NAME(joint_motion)(b, a + b->v * LANES, s);
        EACH(r, 3) linear[r] += s[r];
        EACH(r, 3) rate[r] += s[3 + r];
    }
}

/* F <- force and moment that give body i the motion X */
INLINE void NAME(inertial_force)(const Mechanism *m, ptrdiff_t i, const Motion *X, real *F)
{
    const real *w = X->w, *rate = X->rate, *a = X->a, *K = X->K;
    Inertia I;
    real L[3];
    NAME(read_inertia)(m, i, &I);
    EACH(r, 3) F[r] = I.mass * a[r] + K[r] * I.h[0] + K[3 + r] * I.h[1] + K[6 + r] * I.h[2];
    NAME(tensor_product)(I.J, w, L);
    NAME(tensor_product)(I.J, rate, F + 3);
    ADD_CROSS(I.h, a, F + 3);
    ADD_CROSS(w, L, F + 3);
}

/* F -= the external force on the joint of a body */
INLINE void NAME(subtract_own_force)(const Body *b, const double *fext, real *F)
{
    const double *f = fext + 6 * b->joint * LANES;
    real at_joint[6], own[6];
    EACH(r, 6) at_joint[r] = READ(f, r);
    ROTATE(b->axes, at_joint, own);
    ROTATE(b->axes, at_joint + 3, own + 3);
    EACH(r, 6) F[r] -= own[r];
}

/* x <- w, w' and a of body i whose joint is at rest, in its axes */
INLINE void NAME(motion_at_rest)(const Mechanism *m, ptrdiff_t i, const Workspace *w, int gravity, real *x)
{
    const Body *b = m->body + i;
    if (b->parent >= 0) NAME(carry_motion)(b, w->turn + i, w->motion + b->parent, x);
    else NAME(rest)(m, b, w->turn + i, gravity, x);
}

/* X <- the motion of body i, whose turn is written and whose parent has moved */
INLINE void NAME(move_body)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const double *v, const double *a,
                            int gravity, Motion *X)
{
    real x[9];
    NAME(motion_at_rest)(m, i, w, gravity, x);
    NAME(add_joint_motion)(m->body + i, v, a, x);
    EACH(r, 3) {
        X->w[r] = x[r];
        X->rate[r] = x[3 + r];
        X->a[r] = x[6 + r];
    }
    NAME(write_field)(X->w, X->rate, X->K);
}

/* w->F <- the force that gives body i the motion X, less the external one */
INLINE void NAME(write_own_force)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const Motion *X,
                                  const double *fext)
{
    const Body *b = m->body + i;
    real F[6];
    NAME(inertial_force)(m, i, X, F);
    if (fext && b->joint >= 0) NAME(subtract_own_force)(b, fext, F);
    EACH(r, 6) w->F[i].e[r] = F[r];
}

/* Fill w->turn and w->F for all bodies: the forces that move them, less the external ones. */
static void NAME(own_forces)(const Mechanism *m, const Workspace *w, const double *q, const double *v,
                             const double *a, const double *fext, int gravity)
{
    NAME(compute_angles)(m, q, &w->angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        Motion X;
        NAME(place)(m, m->body + i, q, &w->angles, gravity, w->turn + i);
        NAME(move_body)(m, i, w, v, a, gravity, &X);
        if (!m->body[i].leaf) w->motion[i] = X;
        NAME(write_own_force)(m, i, w, &X, fext);
    }
}

/* w->F <- sums over the subtrees of the forces on their bodies, tau <- inverse dynamics; a = NULL means zero. */
INLINE void NAME(sum_own_forces)(const Mechanism *m, const Workspace *w, const double *a, double *tau)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        real F[6];
        NAME(receive_force)(m, i, w, F);
        NAME(joint_force)(b, F, tau + b->v * LANES);
        if (a)
            for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
                AT(tau, k) += NAME(armature)(m, k) * READ(a, k);
        if (b->parent < 0) continue;
        NAME(carry_force)(b, w->turn + i, F);
        NAME(hand_force)(m, i, w, F);
    }
}

/* tau <- inverse dynamics */
static void NAME(rnea)(const Mechanism *m, const double *q, const double *v, const double *a, const double *fext,
                       int gravity, double *tau, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(own_forces)(m, &w, q, v, a, fext, gravity);
    NAME(sum_own_forces)(m, &w, a, tau);
}
