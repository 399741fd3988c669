/* Placements of all bodies and the motion subspaces of their joints: Featherstone (2008), sections 4.4 and 5.3.
 *
 *     for i = 1 .. bodies:   X_i = X_parent(i) X_tree(i) X_joint(q_i),   S_i = axes of the joint in X_i
 *
 * Axes are those of the root body. */

/* Return whether the local origin of body i differs from that of its parent. */
INLINE int NAME(is_shifted)(const Mechanism *m, ptrdiff_t i)
{
    return m->body[i].parent >= 0 && m->body[i].local == i;
}

/* s <- the unit motion along (linear) or about (otherwise) one axis of a frame */
INLINE void NAME(write_unit_motion)(const Pose *X, int axis, int linear, Vector *s)
{
    const real zero = {0};
    const real *a = X->R + 3 * axis;
    EACH(r, 3) {
        s->e[r] = linear ? a[r] : zero;
        s->e[3 + r] = linear ? zero : a[r];
    }
    if (!linear) ADD_CROSS(X->p, a, s->e);
}

/* S <- the unit motions of all freedoms of a body */
INLINE void NAME(write_joint_motions)(const Body *b, const Pose *X, Vector *S)
{
    switch (b->kind) {
    case REVOLUTE: case CONTINUOUS:
        NAME(write_unit_motion)(X, 2, 0, S);
        return;
    case HELICAL:
        NAME(write_unit_motion)(X, 2, 0, S);
        EACH(r, 3) S->e[r] += b->pitch * X->R[6 + r];
        return;
    case PRISMATIC:
        NAME(write_unit_motion)(X, 2, 1, S);
        return;
    case PLANAR:
        NAME(write_unit_motion)(X, 0, 1, S);
        NAME(write_unit_motion)(X, 1, 1, S + 1);
        NAME(write_unit_motion)(X, 2, 0, S + 2);
        return;
    }
    for (int k = 0; k < b->freedoms; k++)
        NAME(write_unit_motion)(X, k % 3, b->kind != SPHERICAL && k < 3, S + k);
}

/* Fill w->X and w->S for body i, whose parent is placed: its placement, and the unit motions of its freedoms. */
INLINE void NAME(place_body)(const Mechanism *m, ptrdiff_t i, const double *q, const Workspace *w)
{
    const real zero = {0};
    const Body *b = m->body + i;
    Pose *X = w->X + i;
    if (b->parent < 0 || m->body[b->parent].parent < 0) {   /* the parent's axes are fixed: no rotation */
        EACH(e, 9) X->R[e] = zero + b->R[e];
        EACH(r, 3) X->p[r] = zero + b->p[r];
    } else {
        const Pose *P = w->X + b->parent;
        EACH(c, 3) ROTATE(P->R, b->R + 3 * c, X->R + 3 * c);
        ROTATE(P->R, b->p, X->p);
        EACH(r, 3) X->p[r] += P->p[r];
    }
    NAME(apply_joint)(b, q, &w->angles, X->R, X->p);
    if (b->parent < 0) {
        EACH(c, 3) X->g[c] = X->R[3 * c] * m->gravity[0] + X->R[3 * c + 1] * m->gravity[1]
                           + X->R[3 * c + 2] * m->gravity[2];
        EACH(e, 9) X->R[e] = zero + (double)(e % 4 == 0);
        EACH(r, 3) X->p[r] = zero;
    } else if (b->local == i) {
        EACH(r, 3) X->d[r] = X->p[r];
        EACH(r, 3) X->p[r] = zero;
    }
    NAME(write_joint_motions)(b, X, w->S + b->v);
}

/* Fill w->X and w->S: placements of all bodies and unit motions of all freedoms. */
static void NAME(place_bodies)(const Mechanism *m, const double *q, const Workspace *w)
{
    NAME(compute_angles)(m, q, &w->angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(place_body)(m, i, q, w);
}
