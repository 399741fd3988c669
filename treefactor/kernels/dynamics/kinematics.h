/* Placements, velocities and acceleration biases of all bodies: the outward half of Featherstone (2008), table 5.1,
 * written as records of type BodyMotion (body_motion.h), then the motion subspace of every freedom. */

/* x <- the vectors a and b rotated by R, from the axes of a root body to those of the base */
INLINE void NAME(write_pair)(const real *R, const real *a, const real *b, double *x)
{
    real turned[6];
    ROTATE(R, a, turned);
    ROTATE(R, b, turned + 3);
    EACH(r, 6) AT(x, r) = turned[r];
}

/* x <- the motion s, taken at a local origin o, at the origin of the root body and in the axes of the base */
INLINE void NAME(write_motion)(const real *R, const real *o, const real *s, double *x)
{
    real at_root[6];
    EACH(r, 6) at_root[r] = s[r];
    ADD_CROSS(o, s + 3, at_root);
    NAME(write_pair)(R, at_root, at_root + 3, x);
}

/* frames <- a BodyMotion for every joint, then the unit motion of every freedom */
static void NAME(frames)(const Mechanism *m, const double *q, const double *v, double *frames, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    Pose *base = (Pose *)w.IA;       /* root placements in the base, in memory that otherwise only aba uses */
    NAME(place_bodies)(m, q, &w);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        const real zero = {0}, *R = base[i].R, *o = base[i].d;
        real axes[9], p[3];
        NAME(propagate_motion)(m, i, &w, v, NULL, 0);
        if (b->parent >= 0) {
            base[i] = base[b->parent];
            if (b->local == i) EACH(r, 3) base[i].d[r] += w.X[i].d[r];
        } else {
            EACH(e, 9) base[i].R[e] = zero + b->R[e];
            EACH(r, 3) base[i].p[r] = zero + b->p[r];
            EACH(r, 3) base[i].d[r] = zero;
            NAME(apply_joint)(b, q, &w.angles, base[i].R, base[i].p);
        }
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
            NAME(write_motion)(R, o, w.S[k].e, frames + UNIT_MOTION(m->joints, k) * LANES);
        if (b->joint < 0) continue;
        double *x = frames + RECORD * b->joint * LANES;
        EACH(c, 3) ROTATE(w.X[i].R, b->axes + 3 * c, axes + 3 * c);
        NAME(write_pair)(R, axes, axes + 3, x + FIELD(axes) * LANES);
        EACH(r, 3) p[r] = o[r] + w.X[i].p[r];
        NAME(write_pair)(R, axes + 6, p, x + (FIELD(axes) + 6) * LANES);   /* last axis, origin */
        EACH(r, 3) AT(x, FIELD(root) + r) = base[i].p[r];
        NAME(write_motion)(R, o, w.V[i].e, x + FIELD(velocity) * LANES);
        NAME(write_motion)(R, o, w.A[i].e, x + FIELD(acceleration) * LANES);
    }
}
