/* Composite-rigid-body algorithm, every body in its own axes and about its own origin: Featherstone (2008), table 6.2.
 *
 *     for i = bodies .. 1:   Ic_parent(i) += Ic_i
 *         for every freedom k of body i:   F = Ic_i S_k,   H_kj = F S_j for every freedom j <= k of i, + armature_k
 *             for every body j from the parent of i to the root, F carried there:   H_kj = F S_j */

/* Write entries of a row of H left of those of body i: F is the force that its freedom needs, in the axes of body i. */
INLINE void NAME(write_row_above)(const Mechanism *m, const Workspace *w, ptrdiff_t i, real *F, double *row)
{
    for (ptrdiff_t j = m->body[i].parent; j >= 0; i = j, j = m->body[i].parent) {
        const Body *b = m->body + j;
        NAME(carry_force)(m->body + i, w->turn + i, F);
        NAME(joint_force)(b, F, row + b->above * LANES);
    }
}

/* Write the row of the freedom of a hinge with the composite inertia I. */
INLINE void NAME(write_hinge_row)(const Mechanism *m, const Workspace *w, ptrdiff_t i, const Inertia *I, double *H)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real F[6] = {-I->h[1], I->h[0], zero, I->J[3], I->J[4], I->J[5]};
    double *row = H + m->start[b->v] * LANES;
    AT(row, b->above) = F[5] + NAME(armature)(m, b->v);
    NAME(write_row_above)(m, w, i, F, row);
}

/* Write the rows of all freedoms of body i with the composite inertia I. */
INLINE void NAME(write_rows)(const Mechanism *m, const Workspace *w, ptrdiff_t i, const Inertia *I, double *H)
{
    const Body *b = m->body + i;
    real F[6], s[6];
    for (ptrdiff_t k = 0; k < b->freedoms; k++) {
        double *row = H + m->start[b->v + k] * LANES;
        NAME(unit_motion)(b, k, s);
        NAME(momentum)(I, s, F);
        for (ptrdiff_t j = 0; j <= k; j++) {
            NAME(unit_motion)(b, j, s);
            AT(row, b->above + j) = NAME(power)(F, s);
        }
        AT(row, b->above + k) += NAME(armature)(m, b->v + k);
        NAME(write_row_above)(m, w, i, F, row);
    }
}

/* Write the rows of a free-flying root with the composite inertia I. */
INLINE void NAME(write_root_rows)(const Mechanism *m, const Body *b, const Inertia *I, double *H)
{
    real A[21];
    NAME(write_spatial_inertia)(I, A);
    EACH(k, 6) {
        A[LOWER(k, k)] += NAME(armature)(m, b->v + k);
        EACH(j, k + 1) AT(H, m->start[b->v + k] + j) = A[LOWER(k, j)];
    }
}

/* H <- packed rows of the joint-space inertia matrix; w->turn is filled. */
static void NAME(inertia_matrix)(const Mechanism *m, const Workspace *w, double *H)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        Inertia I;
        NAME(read_inertia)(m, i, &I);
        if (!b->leaf) NAME(add_inertia)(w->C + i, &I);
        if (NAME(is_hinge)(b)) NAME(write_hinge_row)(m, w, i, &I, H);
        else if (NAME(is_free_root)(b)) NAME(write_root_rows)(m, b, &I, H);
        else NAME(write_rows)(m, w, i, &I, H);
        if (b->parent < 0) continue;
        NAME(carry_inertia)(b, w->turn + i, &I);
        if (!b->last) NAME(add_inertia)(w->C + b->parent, &I);
        w->C[b->parent] = I;
    }
}

/* H <- packed rows of the joint-space inertia matrix */
static void NAME(crba)(const Mechanism *m, const double *q, double *H, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(compute_angles)(m, q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++)
        if (m->body[i].parent >= 0) NAME(write_turn)(m->body + i, q, &w.angles, w.turn + i);
    NAME(inertia_matrix)(m, &w, H);
}

/* H, bias <- both sides' terms of H a + bias = tau */
static void NAME(equation_of_motion)(const Mechanism *m, const double *q, const double *v, const double *fext,
                                     double *H, double *bias, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(rnea)(m, q, v, NULL, fext, 1, bias, workspace);
    NAME(inertia_matrix)(m, &w, H);
}
