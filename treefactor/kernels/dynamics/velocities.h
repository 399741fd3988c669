/* Velocities of all bodies: the outward half of Featherstone (2008), table 5.1, without accelerations.
 *
 *     for i = 1 .. bodies:   V_i = V_parent + S_i v_i */

/* Fill w->V. */
static void NAME(propagate_velocities)(const Mechanism *m, const Workspace *w, const double *v)
{
    const real zero = {0};
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real *V = w->V[i].e;
        EACH(r, 6) V[r] = b->parent < 0 ? zero : w->V[b->parent].e[r];
        if (NAME(is_shifted)(m, i)) ADD_CROSS(V + 3, w->X[i].d, V);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) EACH(r, 6) V[r] += w->S[k].e[r] * READ(v, k);
    }
}
