/* Composite-rigid-body algorithm in the axes of the root body: Featherstone (2008), table 6.2.
 *
 *     for i = bodies .. 1:   Ic_parent(i) += Ic_i
 *         for every freedom k of body i:   F = Ic_i S_k
 *             H_kk = S_k F + armature_k,   H_kj = F S_j for every freedom j between body i and the root */

/* Write one row of H, of a freedom of body b: f S_j for every freedom j up to the root; f is shifted where an ancestor
 * has another local origin, and S_j of a free-flying root are unit vectors, so that f itself is copied. */
INLINE void NAME(write_row)(const Mechanism *m, const Workspace *w, const Body *b, const ptrdiff_t *column,
                            ptrdiff_t length, real *f, double *row)
{
    ptrdiff_t e;
    for (ptrdiff_t i = b->local; m->body[i].parent >= 0; i = m->body[m->body[i].parent].local) {
        for (e = m->body[i].above; e < length; e++) AT(row, e) = NAME(power)(f, w->S[column[e]].e);
        ADD_CROSS(w->X[i].d, f, f + 3);
        length = m->body[i].above;
    }
    e = 0;
    for (; e < b->copied && e < length; e++) AT(row, e) = f[e];
    for (; e < length; e++) AT(row, e) = NAME(power)(f, w->S[column[e]].e);
}

/* H <- packed rows, from the leaves to the root; w->C becomes the composite inertias Ic. */
static void NAME(composite_bodies)(const Mechanism *m, const Workspace *w, double *H)
{
    real f[6];
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            ptrdiff_t length = m->start[k + 1] - m->start[k];
            double *row = H + m->start[k] * LANES;
            NAME(momentum)(w->C + i, w->S[k].e, f);
            NAME(write_row)(m, w, b, m->column + m->start[k], length, f, row);
            AT(row, length - 1) += NAME(armature)(m, k);
        }
        if (b->parent >= 0) {
            if (b->local == i) NAME(shift_inertia)(w->X[i].d, w->C + i);
            NAME(add_inertia)(w->C + i, w->C + b->parent);
        }
    }
}
