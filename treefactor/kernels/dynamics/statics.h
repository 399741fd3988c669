/* Forces at rest: Featherstone (2008), table 5.1, without velocities and accelerations.
 *
 *     for i = 1 .. bodies:   F_i = -(m_i g, h_i x g) - fext_i,   h_i the first moment of the body
 *     for i = bodies .. 1:   tau_i = S_i F_i,   F_parent += F_i */

/* tau <- the generalized forces that hold gravity and external forces; NULL for fext means zero */
static void NAME(static_forces)(const Mechanism *m, const double *q, const double *fext, double *tau,
                                double *workspace)
{
    const real zero = {0};
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(place_bodies)(m, q, &w);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        const real *from = b->parent < 0 ? w.X[i].g : w.A[b->parent].e;
        Inertia own;
        real *g = w.A[i].e, *F = w.F[i].e, h[3];   /* gravity stays in w.A, in the axes of the root body */
        EACH(r, 3) g[r] = from[r];
        NAME(read_inertia)(m, i, &own);
        ROTATE(w.X[i].R, own.h, h);
        EACH(r, 3) h[r] += own.mass * w.X[i].p[r];
        EACH(r, 3) F[r] = -own.mass * g[r];
        EACH(r, 3) F[3 + r] = zero;
        ADD_CROSS(g, h, F + 3);
        if (fext && b->joint >= 0) NAME(subtract_external_force)(b, w.X + i, fext, F);
    }
    NAME(generalized_forces)(m, &w, NULL, tau);
}
