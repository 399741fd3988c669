/* Rigid-body inertias (mass, first moment h, tensor J) in the axes of the root body: Featherstone (2008), 2.13. */

/* Shift I to another origin, from which its present origin is seen at p: h' = h + m p, and the tensor
 *     J + p (h + h') 1 - p h'^T - h p^T                                                                     */
INLINE void NAME(shift_inertia)(const real *p, Inertia *I)
{
    real from[3], trace, mass = I->mass, *h = I->h, *J = I->J;
    EACH(r, 3) from[r] = h[r];
    EACH(r, 3) h[r] += mass * p[r];
    trace = p[0] * (h[0] + from[0]) + p[1] * (h[1] + from[1]) + p[2] * (h[2] + from[2]);
    EACH(r, 3) {
        EACH(c, r + 1) J[LOWER(r, c)] -= p[r] * h[c] + from[r] * p[c];
        J[LOWER(r, r)] += trace;
    }
}

/* Return entry e of the constants of a mechanism: all lanes share it, or every lane has its own. */
INLINE real NAME(constant)(const double *x, ptrdiff_t e)
{
    const real zero = {0};
    return OWN_CONSTANTS ? READ(x, e) : zero + x[e];
}

/* Return the armature of freedom k. */
INLINE real NAME(armature)(const Mechanism *m, ptrdiff_t k) { return NAME(constant)(m->armature, k); }

/* I <- the inertia of body i about its own origin and in its own axes */
INLINE void NAME(read_inertia)(const Mechanism *m, ptrdiff_t i, Inertia *I)
{
    I->mass = NAME(constant)(m->inertias, 10 * i);
    EACH(r, 3) I->h[r] = NAME(constant)(m->inertias, 10 * i + 1 + r);
    EACH(r, 6) I->J[r] = NAME(constant)(m->inertias, 10 * i + 4 + r);
}

/* column <- column c of the tensor of I */
INLINE void NAME(tensor_column)(const Inertia *I, int c, real *column)
{
    EACH(r, 3) column[r] = I->J[r > c ? LOWER(r, c) : LOWER(c, r)];
}

/* moved <- the inertia of body i about its local origin */
INLINE void NAME(move_inertia)(const Mechanism *m, ptrdiff_t i, const Pose *X, Inertia *moved)
{
    const real *R = X->R;
    real RI[9], column[3];
    Inertia own, I;
    NAME(read_inertia)(m, i, &own);
    I.mass = own.mass;
    ROTATE(R, own.h, I.h);
    EACH(c, 3) {
        NAME(tensor_column)(&own, c, column);
        ROTATE(R, column, RI + 3 * c);
    }
    EACH(r, 3) EACH(c, r + 1) I.J[LOWER(r, c)] = RI[r] * R[c] + RI[3 + r] * R[3 + c] + RI[6 + r] * R[6 + c];
    NAME(shift_inertia)(X->p, &I);
    *moved = I;
}

/* sum <- sum + I */
INLINE void NAME(add_inertia)(const Inertia *I, Inertia *sum)
{
    sum->mass += I->mass;
    EACH(r, 3) sum->h[r] += I->h[r];
    EACH(e, 6) sum->J[e] += I->J[e];
}

/* Fill w->C: inertias of all bodies about their local origins. */
static void NAME(move_inertias)(const Mechanism *m, const Workspace *w)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(move_inertia)(m, i, w->X + i, w->C + i);
}

/* y <- J w, of a lower triangle J */
INLINE void NAME(tensor_product)(const real *J, const real *w, real *y)
{
    y[0] = J[0] * w[0] + J[1] * w[1] + J[3] * w[2];
    y[1] = J[1] * w[0] + J[2] * w[1] + J[4] * w[2];
    y[2] = J[3] * w[0] + J[4] * w[1] + J[5] * w[2];
}

/* f <- I (0, w) = (w x h, J w): momentum of a rotation */
INLINE void NAME(rotational_momentum)(const Inertia *I, const real *w, real *f)
{
    CROSS(w, I->h, f);
    NAME(tensor_product)(I->J, w, f + 3);
}

/* f <- I s: momentum of the motion s */
INLINE void NAME(momentum)(const Inertia *I, const real *s, real *f)
{
    NAME(rotational_momentum)(I, s + 3, f);
    EACH(r, 3) f[r] += I->mass * s[r];
    ADD_CROSS(I->h, s, f + 3);
}

/* Return f . s: power of the force f at the motion s. */
INLINE real NAME(power)(const real *f, const real *s)
{
    return (f[0] * s[0] + f[1] * s[1] + f[2] * s[2]) + (f[3] * s[3] + f[4] * s[4] + f[5] * s[5]);
}

/* A <- the lower triangle of the 6 x 6 matrix of a rigid-body inertia */
INLINE void NAME(write_spatial_inertia)(const Inertia *I, real *A)
{
    const real zero = {0}, *h = I->h;
    EACH(r, 3) EACH(c, r + 1) {
        A[LOWER(r, c)] = r == c ? I->mass : zero;
        A[LOWER(r + 3, c + 3)] = I->J[LOWER(r, c)];
    }
    A[LOWER(3, 0)] = zero; A[LOWER(3, 1)] = -h[2]; A[LOWER(3, 2)] = h[1];
    A[LOWER(4, 0)] = h[2]; A[LOWER(4, 1)] = zero; A[LOWER(4, 2)] = -h[0];
    A[LOWER(5, 0)] = -h[1]; A[LOWER(5, 1)] = h[0]; A[LOWER(5, 2)] = zero;
}
