/* Reactions in the joints and on the base: the inward half of rnea.h without S_i F_i.
 *
 *     for i = bodies .. 1:   f_i = F_i in the axes of joint i;   F_parent += F_i, carried there */

/* f <- the force F on a subtree, about the origin and in the axes of its root, in the axes of its joint */
INLINE void NAME(write_reaction)(const Body *b, const real *F, double *f)
{
    real at_joint[6];
    ROTATE_BACK(b->axes, F, at_joint);
    ROTATE_BACK(b->axes, F + 3, at_joint + 3);
    EACH(r, 6) AT(f, r) = at_joint[r];
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
    NAME(own_forces)(m, &w, q, v, a, fext, 1);
    if (base) EACH(r, 6) AT(base, r) = zero;
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        real F[6];
        EACH(r, 6) F[r] = w.F[i].e[r];
        if (joints && b->joint >= 0) NAME(write_reaction)(b, F, joints + 6 * b->joint * LANES);
        if (b->parent >= 0) {
            NAME(carry_force)(b, w.turn + i, F);
            EACH(r, 6) w.F[b->parent].e[r] += F[r];
        } else if (base) NAME(subtract_from_base)(b, q, &w, F, base);
    }
}
