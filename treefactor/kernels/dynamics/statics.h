/* Forces at rest: rnea.h without velocities and accelerations.
 *
 *     for i = 1 .. bodies:   a = E^T a_parent,   F_i = (m a, h x a) - fext_i,   a = -g at the base
 *     for i = bodies .. 1:   tau_i = S_i F_i,   F_parent += F_i, carried there */

/* tau <- the generalized forces that hold gravity and external forces; NULL for fext means zero */
static void NAME(static_forces)(const Mechanism *m, const double *q, const double *fext, double *tau,
                                double *workspace)
{
    const Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(compute_angles)(m, q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        Inertia I;
        real *up = w.A[i].e, F[6];       /* the acceleration that stands for gravity, in the axes of the body */
        NAME(place)(m, b, q, &w.angles, 1, w.turn + i);
        if (b->parent >= 0) NAME(turn_in)(b, w.turn + i, 1, w.A[b->parent].e, up);
        else {
            real rest[9];
            NAME(rest)(m, b, w.turn + i, 1, rest);
            EACH(r, 3) up[r] = rest[6 + r];
        }
        NAME(read_inertia)(m, i, &I);
        EACH(r, 3) F[r] = I.mass * up[r];
        CROSS(I.h, up, F + 3);
        if (fext && b->joint >= 0) NAME(subtract_own_force)(b, fext, F);
        EACH(r, 6) w.F[i].e[r] = F[r];
    }
    NAME(sum_own_forces)(m, &w, NULL, tau);
}
