/* Kinetic and potential energy, with the velocity u, o of a body's frame in its own axes, and its centre c in the base:
 *
 *     T = sum_i (u . (m u + 2 o x h) + o . J o) / 2  +  sum_k armature_k v_k^2 / 2,      U = -g . sum_i m_i c_i
 *
 * Featherstone (2008), sections 2.14 and 9.1. */

/* Return twice the kinetic energy of a body with the velocity V at its local origin. */
INLINE real NAME(twice_kinetic_energy)(const Mechanism *m, ptrdiff_t i, const Pose *X, const real *V)
{
    Inertia I;
    real at_frame[3], u[3], o[3], f[3], n[6];
    NAME(read_inertia)(m, i, &I);
    EACH(r, 3) at_frame[r] = V[r];
    ADD_CROSS(V + 3, X->p, at_frame);
    ROTATE_BACK(X->R, at_frame, u);
    ROTATE_BACK(X->R, V + 3, o);
    NAME(rotational_momentum)(&I, o, n);   /* o x h, J o */
    EACH(r, 3) f[r] = I.mass * u[r] + 2.0 * n[r];
    return (u[0] * f[0] + u[1] * f[1] + u[2] * f[2]) + (o[0] * n[3] + o[1] * n[4] + o[2] * n[5]);
}

/* Return the potential energy: first moments and masses of subtrees, in the axes of their bodies, are added up in w->F
 * from the leaves to the base. */
INLINE real NAME(potential_energy)(const Mechanism *m, const double *q, const Workspace *w)
{
    const real zero = {0};
    real R[9], p[3], h[3], U = zero;
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        Inertia I;
        NAME(read_inertia)(m, i, &I);
        EACH(r, 3) w->F[i].e[r] = I.h[r];
        w->F[i].e[3] = I.mass;
    }
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        EACH(e, 9) R[e] = zero + b->R[e];
        EACH(r, 3) p[r] = zero + b->p[r];
        NAME(apply_joint)(b, q, &w->angles, R, p);
        ROTATE(R, w->F[i].e, h);
        EACH(r, 3) h[r] += w->F[i].e[3] * p[r];
        if (b->parent >= 0) {
            EACH(r, 3) w->F[b->parent].e[r] += h[r];
            w->F[b->parent].e[3] += w->F[i].e[3];
        } else U -= m->gravity[0] * h[0] + m->gravity[1] * h[1] + m->gravity[2] * h[2];
    }
    return U;
}

/* energy <- the kinetic energy unless v is NULL, plus the potential energy if it is wanted */
static void NAME(energy)(const Mechanism *m, const double *q, const double *v, int potential, double *energy,
                         double *workspace)
{
    real found = {0};
    Workspace w = NAME(carve_workspace)(m, workspace);
    if (!v) {
        NAME(compute_angles)(m, q, &w.angles);
    } else {
        NAME(place_bodies)(m, q, &w);
        NAME(propagate_velocities)(m, &w, v);
        for (ptrdiff_t i = 0; i < m->bodies; i++)
            found += NAME(twice_kinetic_energy)(m, i, w.X + i, w.V[i].e);
        for (ptrdiff_t k = 0; k < m->n; k++) found += NAME(armature)(m, k) * READ(v, k) * READ(v, k);
        found *= 0.5;
    }
    if (potential) found += NAME(potential_energy)(m, q, &w);
    AT(energy, 0) = found;
}
