/* Reactions in the joints and on the base: the inward half of Featherstone (2008), table 5.1, without S_i F_i.
 *
 *     for i = bodies .. 1:   f_i = F_i at the origin of joint i, in its axes;   F_parent += F_i */

/* f <- the force F on a subtree, taken at a local origin, at the origin of its joint and in the joint's axes */
INLINE void NAME(write_reaction)(const Body *b, const Pose *X, const real *F, double *f)
{
    real at_joint[6], own[6], found[6];
    EACH(r, 6) at_joint[r] = F[r];
    ADD_CROSS(F, X->p, at_joint + 3);   /* n - p x f */
    ROTATE_BACK(X->R, at_joint, own);
    ROTATE_BACK(X->R, at_joint + 3, own + 3);
    ROTATE_BACK(b->axes, own, found);
    ROTATE_BACK(b->axes, own + 3, found + 3);
    EACH(r, 6) AT(f, r) = found[r];
}

/* base -= the force F on a root body, at the origin and in the axes of the base */
INLINE void NAME(subtract_from_base)(const Body *b, const double *q, const Workspace *w, const real *F, double *base)
{
    const real zero = {0};
    real R[9], p[3], f[6];
    EACH(e, 9) R[e] = zero + b->R[e];
    EACH(r, 3) p[r] = zero + b->p[r];
    NAME(apply_joint)(b, q, &w->angles, R, p);
    ROTATE(R, F, f);
    ROTATE(R, F + 3, f + 3);
    ADD_CROSS(p, f, f + 3);
    EACH(r, 6) AT(base, r) -= f[r];
}

/* joints, base <- forces and moments in the joints and on the base; see bodies.h */
static void NAME(reactions)(const Mechanism *m, const double *q, const double *v, const double *a, const double *fext,
                            double *joints, double *base, double *workspace)
{
    const real zero = {0};
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(place_bodies)(m, q, &w);
    NAME(move_inertias)(m, &w);
    NAME(body_forces)(m, &w, v, a, fext, 1);
    if (base) EACH(r, 6) AT(base, r) = zero;
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        const real *F = w.F[i].e;
        if (joints && b->joint >= 0) NAME(write_reaction)(b, w.X + i, F, joints + 6 * b->joint * LANES);
        if (b->parent >= 0) NAME(add_force_to_parent)(m, i, &w);
        else if (base) NAME(subtract_from_base)(b, q, &w, F, base);
    }
}
