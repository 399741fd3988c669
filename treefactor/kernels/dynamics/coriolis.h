/* Coriolis matrix C with C v = bias - gravity and dH/dt = C + C^T: Echeandia and Wensing (2021), algorithm 1.
 *
 *     B_i = (V_i x* I_i - I_i V_i x + (I_i V_i) x*) / 2,   dS_k = V_i x S_k for every freedom k of body i
 *     for i = bodies .. 1:   Ic_parent(i) += Ic_i,   Bc_parent(i) += Bc_i
 *         for every freedom k of body i, for every freedom j between body i and the root:
 *             C_jk = S_j (Ic_i dS_k + Bc_i S_k),   C_kj = dS_j (Ic_i S_k) + S_j (Bc_i^T S_k)
 *
 * momenta.h has B. In the bodies' own axes every pair of freedoms needs two wrenches and a couple carried, 38 operations
 * where its products take 15: that took 0.92 to 1.3 times as long (least on solo12, most on icub). */

/* Write the row of freedom k left of the diagonal and on it, and the column above the diagonal: forces F of
 * Ic dS_k + Bc S_k, P of Ic S_k, and the couple of Bc^T S_k; w->U holds dS. */
INLINE void NAME(write_coriolis)(const Mechanism *m, const Workspace *w, const Body *b, const ptrdiff_t *column,
                                 ptrdiff_t length, real *F, real *P, const real *couple, double *row, double *above)
{
    const ptrdiff_t diagonal = length - 1;
    for (ptrdiff_t i = b->local;; i = m->body[m->body[i].parent].local) {
        for (ptrdiff_t e = m->body[i].above; e < length; e++) {
            const real *s = w->S[column[e]].e;
            AT(row, e) = NAME(power)(P, w->U[column[e]].e)
                       + (couple[0] * s[3] + couple[1] * s[4] + couple[2] * s[5]);
            if (e < diagonal) AT(above, e) = NAME(power)(F, s);
        }
        if (m->body[i].parent < 0) return;
        ADD_CROSS(w->X[i].d, F, F + 3);
        ADD_CROSS(w->X[i].d, P, P + 3);
        length = m->body[i].above;
    }
}

/* Fill w->U with the rates dS of the unit motions, and B with the momenta of all bodies. */
static void NAME(write_rates)(const Mechanism *m, const Workspace *w, Momentum *B)
{
    const real zero = {0};
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        const real *V = w->V[i].e;
        NAME(write_momentum)(w->C + i, V, B + i);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            const real *s = w->S[k].e;
            real *rate = w->U[k].e;
            EACH(r, 6) rate[r] = zero;
            ADD_CROSS(V + 3, s, rate);
            ADD_CROSS(V, s + 3, rate);
            ADD_CROSS(V + 3, s + 3, rate + 3);
        }
    }
}

/* C <- packed rows of the lower triangle, then the entries above the diagonal in the same order, transposed */
static void NAME(coriolis)(const Mechanism *m, const double *q, const double *v, double *C, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    Momentum *B = (Momentum *)w.IA;  /* memory that otherwise only aba and frames use */
    real F[6], P[6], half[6], couple[3];
    NAME(place_bodies)(m, q, &w);
    NAME(move_inertias)(m, &w);
    NAME(propagate_velocities)(m, &w, v);
    NAME(write_rates)(m, &w, B);
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        Inertia *I = w.C + i;
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            ptrdiff_t start = m->start[k];
            NAME(momentum)(I, w.U[k].e, F);
            NAME(momentum)(I, w.S[k].e, P);
            EACH(r, 6) half[r] = 0.5 * w.S[k].e[r];
            NAME(apply_momentum)(B + i, half, F, couple);
            NAME(write_coriolis)(m, &w, b, m->column + start, m->start[k + 1] - start, F, P, couple,
                                 C + start * LANES, C + (m->start[m->n] + start - k) * LANES);
        }
        if (b->parent < 0) continue;
        if (b->local == i) {
            NAME(shift_inertia)(w.X[i].d, I);
            NAME(shift_momentum)(w.X[i].d, B + i);
        }
        NAME(add_inertia)(I, w.C + b->parent);
        NAME(add_momentum)(B + i, B + b->parent);
    }
}
