/* Placements of all bodies and the motion subspaces of their joints: Featherstone (2008), sections 4.4 and 5.3.
 *
 *     for i = 1 .. bodies:   X_i = X_parent(i) X_tree(i) X_joint(q_i),   S_i = axes of the joint in X_i
 *
 * Axes are those of the root body. Sines and cosines of all revolute and helical joints are computed first, in one
 * call, because `sincos` then fills whole registers. */

/* R <- R times the rotation about z with sine s and cosine c */
INLINE void NAME(rotate_about_z)(real *R, real s, real c)
{
    EACH(r, 3) {
        real x = c * R[r] + s * R[3 + r];
        R[3 + r] = c * R[3 + r] - s * R[r];
        R[r] = x;
    }
}

/* R <- R times the rotation of the quaternion x y z w, which is normalized here: its length may differ from 1 */
INLINE void NAME(rotate_by_quaternion)(real *R, real x, real y, real z, real w)
{
    real t = 2.0 / (x * x + y * y + z * z + w * w), E[9], from[9];
    E[0] = 1.0 - t * (y * y + z * z); E[1] = t * (x * y + z * w); E[2] = t * (x * z - y * w);
    E[3] = t * (x * y - z * w); E[4] = 1.0 - t * (x * x + z * z); E[5] = t * (y * z + x * w);
    E[6] = t * (x * z + y * w); E[7] = t * (y * z - x * w); E[8] = 1.0 - t * (x * x + y * y);
    EACH(e, 9) from[e] = R[e];
    EACH(c, 3) ROTATE(from, E + 3 * c, R + 3 * c);
}

/* Return whether the local origin of body i differs from that of its parent. */
INLINE int NAME(is_shifted)(const Mechanism *m, ptrdiff_t i)
{
    return m->body[i].parent >= 0 && m->body[i].local == i;
}

/* Return the angle or distance of a joint with one freedom: ratio q + offset. */
INLINE real NAME(joint_position)(const Body *b, const double *q)
{
    real x = READ(q, b->q);
    if (b->circle) {
        double c[sizeof(real) / 8], s[sizeof(real) / 8];
        memcpy(c, &x, sizeof x);
        memcpy(s, q + (b->q + 1) * LANES, sizeof x);
        for (size_t l = 0; l < sizeof(real) / 8; l++) c[l] = atan2(s[l], c[l]);
        memcpy(&x, c, sizeof x);
    }
    return b->ratio * x + b->offset;
}

/* R, p <- the frame R, p displaced by the joint of the body. */
INLINE void NAME(apply_joint)(const Body *b, const double *q, const Workspace *w, real *R, real *p)
{
    const real zero = {0};
    const double *x = q + b->q * LANES;
    real d[3] = {zero, zero, zero}, step[3];
    switch (b->kind) {
    case REVOLUTE: case HELICAL:   /* the axis does not move */
        if (b->kind == HELICAL) EACH(r, 3) p[r] += R[6 + r] * (b->pitch * w->angle[b->angle]);
        NAME(rotate_about_z)(R, w->sine[b->angle], w->cosine[b->angle]);
        return;
    case CONTINUOUS:
        NAME(rotate_about_z)(R, READ(x, 1), READ(x, 0));
        return;
    case PRISMATIC:
        EACH(r, 3) p[r] += R[6 + r] * NAME(joint_position)(b, q);
        return;
    case SPHERICAL:
        NAME(rotate_by_quaternion)(R, READ(x, 0), READ(x, 1), READ(x, 2), READ(x, 3));
        return;
    }
    EACH(r, 2) d[r] = READ(x, r);
    if (b->kind != PLANAR) d[2] = READ(x, 2);
    ROTATE(R, d, step);
    EACH(r, 3) p[r] += step[r];
    if (b->kind == PLANAR)
        NAME(rotate_about_z)(R, READ(x, 3), READ(x, 2));
    else if (b->kind == FREEFLYER)
        NAME(rotate_by_quaternion)(R, READ(x, 3), READ(x, 4), READ(x, 5), READ(x, 6));
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

/* Fill w->angle, w->sine and w->cosine of all revolute and helical joints. */
INLINE void NAME(write_angles)(const Mechanism *m, const double *q, const Workspace *w)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        if (b->angle >= 0) w->angle[b->angle] = NAME(joint_position)(b, q);
    }
    ISA(sincos)(m->angles * (ptrdiff_t)(sizeof(real) / 8), (double *)w->angle, (double *)w->sine, (double *)w->cosine);
}

/* Fill w->X and w->S: placements of all bodies and unit motions of all freedoms. */
static void NAME(place_bodies)(const Mechanism *m, const double *q, const Workspace *w)
{
    const real zero = {0};
    NAME(write_angles)(m, q, w);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
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
        NAME(apply_joint)(b, q, w, X->R, X->p);
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
}
