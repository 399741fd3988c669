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

#if LANES == 1
/* Where the subtrees of all bodies are numbered without gaps, forces of one configuration are carried for a whole
 * subtree together, in registers: freedom k has column n - 1 - k, so that those of a subtree stand side by side when
 * its root is reached, and columns behind them are written later. */

/* Return the doubles between the rows of columns. */
INLINE ptrdiff_t NAME(columns_stride)(const Mechanism *m) { return m->n + WIDTH - 1; }

/* Return the columns: in memory that crba does not use otherwise. */
INLINE double *NAME(force_columns)(const Workspace *w) { return (double *)w->V; }

/* Store F as the column of freedom k. */
INLINE void NAME(store_column)(const Mechanism *m, ptrdiff_t k, const real *F, double *columns)
{
    EACH(r, 6) columns[r * NAME(columns_stride)(m) + m->n - 1 - k] = F[r];
}

/* Carry six registers of forces to the axes and the origin of the parent of body b, and store them from F on. */
INLINE void NAME(carry_registers)(ptrdiff_t turn, const Turn *T, const ISA(V) *x, ptrdiff_t stride, double *F)
{
    const double s = T->s, c = T->c;
    ISA(V) y[6];
    switch (turn) {
    case ANY_TURN:
        ROTATE(T->E, x, y);
        ROTATE(T->E, x + 3, y + 3);
        break;
#define AXES(i, j, k, sign) EACH(h, 2) { \
        y[3 * h + i] = c * x[3 * h] - s * x[3 * h + 1]; \
        y[3 * h + j] = c * x[3 * h + 1] + s * x[3 * h]; \
        y[3 * h + k] = sign x[3 * h + 2]; }
    case ALONG_X: AXES(1, 2, 0, +) break;
    case AGAINST_X: AXES(2, 1, 0, -) break;
    case ALONG_Y: AXES(2, 0, 1, +) break;
    case AGAINST_Y: AXES(0, 2, 1, -) break;
    case ALONG_Z: AXES(0, 1, 2, +) break;
    default: AXES(1, 0, 2, -)
#undef AXES
    }
    ADD_CROSS(T->p, y, y + 3);
    EACH(r, 6) memcpy(F + r * stride, y + r, sizeof *y);
}

/* x <- registers of six rows from F on */
INLINE void NAME(load_columns)(const double *F, ptrdiff_t stride, ISA(V) *x)
{
    EACH(r, 6) memcpy(x + r, F + r * stride, sizeof *x);
}

/* Carry the columns of the subtree of body b to the axes and the origin of its parent. own: the force of its single
 * freedom, which is not stored yet, or NULL: a register stored whole can be loaded before it reaches the cache. */
INLINE void NAME(carry_columns)(const Mechanism *m, const Body *b, const Turn *T, const real *own, double *columns)
{
    const ptrdiff_t stride = NAME(columns_stride)(m), stored = b->below - (own != NULL), rest = stored % WIDTH;
    double *F = columns + m->n - b->v - b->below;
    ISA(V) x[6], old[6];
    for (double *end = F + stored - rest; F < end; F += WIDTH) {
        NAME(load_columns)(F, stride, x);
        NAME(carry_registers)(b->turn, T, x, stride, F);
    }
    if (own) {
        EACH(r, 6) x[r] = own[r] + (ISA(V)){0};
        if (rest) {
            ISA(I) lane;
            EACH(l, WIDTH) lane[l] = l;
            NAME(load_columns)(F, stride, old);
            EACH(r, 6) x[r] = ISA(choose)(lane == rest, x[r], old[r]);
        }
    } else if (rest) NAME(load_columns)(F, stride, x);
    else return;
    NAME(carry_registers)(b->turn, T, x, stride, F);
}

/* Write the entries of H of the freedoms of body j and of those of the subtree of its child i, whose columns are carried
 * to j. */
INLINE void NAME(write_columns)(const Mechanism *m, ptrdiff_t i, ptrdiff_t j, const double *columns, double *H)
{
    const Body *child = m->body + i, *b = m->body + j;
    const ptrdiff_t stride = NAME(columns_stride)(m), *start = m->start + child->v;
    const double *F = columns + m->n - 1 - child->v;
    double *row = H + b->above;
    if (NAME(is_hinge)(b)) {
        for (ptrdiff_t k = 0; k < child->below; k++) row[start[k]] = F[5 * stride - k];
        return;
    }
    for (ptrdiff_t k = 0; k < child->below; k++) {
        real force[6];
        EACH(r, 6) force[r] = F[r * stride - k];
        NAME(joint_force)(b, force, row + start[k]);
    }
}
#endif

/* Write the row of the freedom of a hinge with the composite inertia I; together: by columns. */
INLINE void NAME(write_hinge_row)(const Mechanism *m, const Workspace *w, ptrdiff_t i, const Inertia *I, int together,
                                  double *H)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real F[6] = {-I->h[1], I->h[0], zero, I->J[3], I->J[4], I->J[5]};
    double *row = H + m->start[b->v] * LANES;
    AT(row, b->above) = F[5] + NAME(armature)(m, b->v);
#if LANES == 1
    if (together) {
        if (b->parent < 0) return;
        NAME(carry_columns)(m, b, w->turn + i, F, NAME(force_columns)(w));
        NAME(write_columns)(m, i, b->parent, NAME(force_columns)(w), H);
        return;
    }
#endif
    NAME(write_row_above)(m, w, i, F, row);
}

/* Write the rows of all freedoms of body i with the composite inertia I; together: by columns. */
INLINE void NAME(write_rows)(const Mechanism *m, const Workspace *w, ptrdiff_t i, const Inertia *I, int together,
                             double *H)
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
#if LANES == 1
        if (together) {
            NAME(store_column)(m, b->v + k, F, NAME(force_columns)(w));
            continue;
        }
#endif
        NAME(write_row_above)(m, w, i, F, row);
    }
#if LANES == 1
    if (together && b->parent >= 0) {
        NAME(carry_columns)(m, b, w->turn + i, NULL, NAME(force_columns)(w));
        NAME(write_columns)(m, i, b->parent, NAME(force_columns)(w), H);
    }
#endif
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
INLINE void NAME(write_matrix)(const Mechanism *m, const Workspace *w, int together, double *H)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        Inertia I;
        NAME(read_inertia)(m, i, &I);
        if (!b->leaf) NAME(receive_inertia)(m, i, w, &I);
        if (NAME(is_hinge)(b)) NAME(write_hinge_row)(m, w, i, &I, together, H);
        else if (NAME(is_free_root)(b)) NAME(write_root_rows)(m, b, &I, H);
        else NAME(write_rows)(m, w, i, &I, together, H);
        if (b->parent < 0) continue;
        NAME(carry_inertia)(b, w->turn + i, &I);
        NAME(hand_inertia)(m, i, w, &I);
    }
}

#if LANES == 1
static void NAME(inertia_matrix_together)(const Mechanism *m, const Workspace *w, double *H)
{
    NAME(write_matrix)(m, w, 1, H);
}
#endif

/* The same: a text of its own for each way, which takes a few per cent less time than asking for every body. */
static void NAME(inertia_matrix)(const Mechanism *m, const Workspace *w, double *H)
{
#if LANES == 1
    if (m->bodies && m->body[0].below) {
        NAME(inertia_matrix_together)(m, w, H);
        return;
    }
#endif
    NAME(write_matrix)(m, w, 0, H);
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
