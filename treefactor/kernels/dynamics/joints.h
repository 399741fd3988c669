/* Displacements of joints, for one kind of number; recursions.h lists the names that must be defined.
 *
 * Sines and cosines of all revolute and helical joints are computed first, in one call, because `sincos` then fills
 * whole registers. */

typedef struct { real *angle, *sine, *cosine; } NAME(Angles);   /* of every revolute or helical joint */
#define Angles NAME(Angles)

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

/* w <- angles of all revolute and helical joints, their sines and cosines */
INLINE void NAME(compute_angles)(const Mechanism *m, const double *q, const Angles *w)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        if (b->angle >= 0) w->angle[b->angle] = NAME(joint_position)(b, q);
    }
    ISA(sincos)(m->angles * (ptrdiff_t)(sizeof(real) / 8), (double *)w->angle, (double *)w->sine, (double *)w->cosine);
}

/* R, p <- the frame R, p displaced by the joint of the body. */
INLINE void NAME(apply_joint)(const Body *b, const double *q, const Angles *w, real *R, real *p)
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
