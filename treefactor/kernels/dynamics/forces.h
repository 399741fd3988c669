/* Forces on bodies in the axes of the root body: Featherstone (2008), table 5.1.
 *
 *     for i = 1 .. bodies:   V_i = V_parent + S_i v_i,   A_i = A_parent + S_i a_i + V_i x S_i v_i
 *                            F_i = I_i A_i + V_i x* I_i V_i - fext_i
 *     for i = bodies .. 1:   F_parent += F_i */

/* Compute V and A of body i from those of its parent; v = NULL or a = NULL means zero. */
INLINE void NAME(propagate_motion)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const double *v,
                                   const double *a, int gravity)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real *V = w->V[i].e, *A = w->A[i].e, joint[6];
    EACH(r, 6) {
        V[r] = b->parent < 0 ? zero : w->V[b->parent].e[r];
        A[r] = b->parent < 0 ? zero : w->A[b->parent].e[r];
        joint[r] = zero;
    }
    if (gravity && b->parent < 0) EACH(r, 3) A[r] = -w->X[i].g[r];
    if (NAME(is_shifted)(m, i)) {
        ADD_CROSS(V + 3, w->X[i].d, V);
        ADD_CROSS(A + 3, w->X[i].d, A);
    }
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
        const real *s = w->S[k].e;
        if (v) EACH(r, 6) joint[r] += s[r] * READ(v, k);
        if (a) EACH(r, 6) A[r] += s[r] * READ(a, k);
    }
    if (v) {   /* A += V x joint; the joint's own motion in V contributes nothing, since joint x joint = 0 */
        ADD_CROSS(V + 3, joint, A);
        ADD_CROSS(V, joint + 3, A);
        ADD_CROSS(V + 3, joint + 3, A + 3);
        EACH(r, 6) V[r] += joint[r];
    }
}

/* F -= the external force on the joint of a body */
INLINE void NAME(subtract_external_force)(const Body *b, const Pose *X, const double *fext, real *F)
{
    const double *f = fext + 6 * b->joint * LANES;
    real at_joint[6], here[6], world[6];
    EACH(r, 6) at_joint[r] = READ(f, r);
    ROTATE(b->axes, at_joint, here);
    ROTATE(b->axes, at_joint + 3, here + 3);
    ROTATE(X->R, here, world);
    ROTATE(X->R, here + 3, world + 3);
    ADD_CROSS(X->p, world, world + 3);
    EACH(r, 6) F[r] -= world[r];
}

/* Fill w->V, w->A and w->F for body i, whose parent has V and A: the force that accelerates it, minus the external
 * one; v = NULL or a = NULL means zero. a = A + w x V is the classical acceleration of the point at the local origin;
 * the velocity of that point cancels elsewhere:
 *     f = m a + w' x h + w x (w x h),   n = J w' + h x a + w x J w                                        */
INLINE void NAME(write_force)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const double *v, const double *a,
                              const double *fext, int gravity)
{
    const Body *b = m->body + i;
    real *V = w->V[i].e, *F = w->F[i].e, A[6], P[6], *omega = V + 3;
    NAME(propagate_motion)(m, i, w, v, a, gravity);
    EACH(r, 6) A[r] = w->A[i].e[r];
    if (v) ADD_CROSS(omega, V, A);
    NAME(momentum)(w->C + i, A, F);
    if (v) {
        NAME(rotational_momentum)(w->C + i, omega, P);
        ADD_CROSS(omega, P, F);
        ADD_CROSS(omega, P + 3, F + 3);
    }
    if (fext && b->joint >= 0) NAME(subtract_external_force)(b, w->X + i, fext, F);
}

/* Add the force on body i to that on its parent. */
INLINE void NAME(add_force_to_parent)(const Mechanism *m, ptrdiff_t i, const Workspace *w)
{
    real *F = w->F[i].e;
    if (m->body[i].local == i) ADD_CROSS(w->X[i].d, F, F + 3);
    EACH(r, 6) w->F[m->body[i].parent].e[r] += F[r];
}
