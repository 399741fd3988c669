/* Kinetic and potential energy, with the velocity u, o of a body's frame in its own axes, and its centre c in the base:
 *
 *     T = sum_i (u . (m u + 2 o x h) + o . J o) / 2  +  sum_k armature_k v_k^2 / 2,      U = -g . sum_i m_i c_i
 *
 * Featherstone (2008), sections 2.14 and 9.1. */

/* Return twice the kinetic energy of a body with the velocity V in its own axes. */
INLINE real NAME(twice_kinetic_energy)(const Mechanism *m, ptrdiff_t i, const real *V)
{
    const real *u = V, *o = V + 3;
    Inertia I;
    real f[3], n[6];
    NAME(read_inertia)(m, i, &I);
    NAME(rotational_momentum)(&I, o, n);   /* o x h, J o */
    EACH(r, 3) f[r] = I.mass * u[r] + 2.0 * n[r];
    return (u[0] * f[0] + u[1] * f[1] + u[2] * f[2]) + (o[0] * n[3] + o[1] * n[4] + o[2] * n[5]);
}

/* Return twice the kinetic energy of all bodies, whose turns are written. */
INLINE real NAME(kinetic_energy_of_bodies)(const Mechanism *m, const Workspace *w, const double *v)
{
    real sum = {0};
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real *V = w->V[i].e;
        NAME(carry_velocity)(b, w->turn + i, b->parent < 0 ? NULL : w->V[b->parent].e, v, V);
        sum += NAME(twice_kinetic_energy)(m, i, V);
    }
    for (ptrdiff_t k = 0; k < m->n; k++) sum += NAME(armature)(m, k) * READ(v, k) * READ(v, k);
    return sum;
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
        const real *own = w->F[i].e, mass = own[3];
        if (b->parent >= 0) {
            real *sum = w->F[b->parent].e;
            NAME(turn_out)(b, w->turn + i, 1, own, h);
            EACH(r, 3) sum[r] += h[r] + mass * w->turn[i].p[r];
            sum[3] += mass;
            continue;
        }
        EACH(e, 9) R[e] = zero + b->R[e];
        EACH(r, 3) p[r] = zero + b->p[r];
        NAME(apply_joint)(b, q, &w->angles, R, p);
        ROTATE(R, own, h);
        EACH(r, 3) U -= m->gravity[r] * (h[r] + mass * p[r]);
    }
    return U;
}

/* energy <- the kinetic energy unless v is NULL, plus the potential energy if it is wanted */
static void NAME(energy)(const Mechanism *m, const double *q, const double *v, int potential, double *energy,
                         double *workspace)
{
    real sum = {0};
    const Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(compute_angles)(m, q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(place)(m, m->body + i, q, &w.angles, 0, w.turn + i);
    if (v) sum += 0.5 * NAME(kinetic_energy_of_bodies)(m, &w, v);
    if (potential) sum += NAME(potential_energy)(m, q, &w);
    AT(energy, 0) = sum;
}
