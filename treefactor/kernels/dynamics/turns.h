/* Rotations and shifts between a body's own axes and origin and its parent's: Featherstone (2008), section 2.8.
 *
 *     x_parent = E x,   E = R_tree R_joint(q),   the body's origin is at p in the parent's axes
 *
 * E = C Rz, where C permutes axes and Rz turns about z, for most joints of most robots: Body.turn. */

/* Call AXES(a, b, c, sign) for the permutation whose columns are the unit vectors a and b and sign times c. */
#define EACH_TURN(turn, AXES) \
    switch (turn) { \
    case ALONG_X: AXES(1, 2, 0, +) break; \
    case AGAINST_X: AXES(2, 1, 0, -) break; \
    case ALONG_Y: AXES(2, 0, 1, +) break; \
    case AGAINST_Y: AXES(0, 2, 1, -) break; \
    case ALONG_Z: AXES(0, 1, 2, +) break; \
    default: AXES(1, 0, 2, -) }

/* Return whether a body turns about its z axis only. */
INLINE int NAME(is_hinge)(const Body *b) { return b->kind == REVOLUTE || b->kind == CONTINUOUS; }

/* Return whether a body moves freely relative to the base. */
INLINE int NAME(is_free_root)(const Body *b) { return b->parent < 0 && b->kind == FREEFLYER; }

/* T <- rotation and shift of body b */
INLINE void NAME(write_turn)(const Body *b, const double *q, const Angles *w, Turn *T)
{
    const real zero = {0};
    real E[9], p[3];
    EACH(r, 3) p[r] = zero + b->p[r];
    if (b->turn == ANY_TURN) {
        EACH(e, 9) E[e] = zero + b->R[e];
        NAME(apply_joint)(b, q, w, E, p);
        EACH(e, 9) T->E[e] = E[e];
    } else if (b->kind == REVOLUTE) {
        T->s = w->sine[b->angle];
        T->c = w->cosine[b->angle];
    } else if (b->kind == CONTINUOUS) {
        T->s = READ(q, b->q + 1);
        T->c = READ(q, b->q);
    } else {                         /* prismatic */
        real x = NAME(joint_position)(b, q);
        EACH(r, 3) p[r] += b->R[6 + r] * x;
        T->s = zero;
        T->c = zero + 1.0;
    }
    EACH(r, 3) T->p[r] = p[r];
}

/* y <- E^T x, of `count` vectors */
INLINE void NAME(turn_in)(const Body *b, const Turn *T, int count, const real *x, real *y)
{
    real t[9];
    if (b->turn == ANY_TURN) {
        EACH(k, count) ROTATE_BACK(T->E, x + 3 * k, y + 3 * k);
        return;
    }
#define AXES(a, b, c, sign) EACH(k, count) { \
        t[3 * k] = x[3 * k + a]; t[3 * k + 1] = x[3 * k + b]; t[3 * k + 2] = sign x[3 * k + c]; }
    EACH_TURN(b->turn, AXES)
#undef AXES
    EACH(k, count) {
        y[3 * k] = T->c * t[3 * k] + T->s * t[3 * k + 1];
        y[3 * k + 1] = T->c * t[3 * k + 1] - T->s * t[3 * k];
        y[3 * k + 2] = t[3 * k + 2];
    }
}

/* y <- E x, of `count` vectors */
INLINE void NAME(turn_out)(const Body *b, const Turn *T, int count, const real *x, real *y)
{
    real t[30];
    if (b->turn == ANY_TURN) {
        EACH(k, count) ROTATE(T->E, x + 3 * k, y + 3 * k);
        return;
    }
    EACH(k, count) {
        t[3 * k] = T->c * x[3 * k] - T->s * x[3 * k + 1];
        t[3 * k + 1] = T->c * x[3 * k + 1] + T->s * x[3 * k];
        t[3 * k + 2] = x[3 * k + 2];
    }
#define AXES(a, b, c, sign) EACH(k, count) { \
        y[3 * k + a] = t[3 * k]; y[3 * k + b] = t[3 * k + 1]; y[3 * k + c] = sign t[3 * k + 2]; }
    EACH_TURN(b->turn, AXES)
#undef AXES
}

/* F <- the force F on a body, in the axes and about the origin of its parent */
INLINE void NAME(carry_force)(const Body *b, const Turn *T, real *F)
{
    real own[6];
    EACH(r, 6) own[r] = F[r];
    NAME(turn_out)(b, T, 2, own, F);
    ADD_CROSS(T->p, F, F + 3);
}

/* Turn the entries i and i + 1 of the symmetric 2 x 2 block of S, a lower triangle, by Rz. */
INLINE void NAME(turn_block)(real s, real c, int i, real *S)
{
    real *x = S + LOWER(i, i), *y = S + LOWER(i + 1, i), *z = S + LOWER(i + 1, i + 1);
    real a = c * *x - s * *y, b = c * *y - s * *z, d = s * *x + c * *y, e = s * *y + c * *z;
    *x = c * a - s * b;
    *y = s * a + c * b;
    *z = s * d + c * e;
}

/* Turn the pair x, y by Rz. */
INLINE void NAME(turn_pair)(real s, real c, real *x, real *y)
{
    real t = c * *x - s * *y;
    *y = s * *x + c * *y;
    *x = t;
}

/* M <- E M E^T, of a matrix in columns */
INLINE void NAME(turn_matrix)(const Body *b, const Turn *T, real *M)
{
    real t[9];
    if (b->turn == ANY_TURN) {
        const real *E = T->E;
        EACH(c, 3) ROTATE(E, M + 3 * c, t + 3 * c);
        EACH(c, 3) EACH(r, 3) M[3 * c + r] = t[r] * E[c] + t[3 + r] * E[3 + c] + t[6 + r] * E[6 + c];
        return;
    }
    EACH(c, 3) NAME(turn_pair)(T->s, T->c, M + 3 * c, M + 3 * c + 1);
    EACH(r, 3) NAME(turn_pair)(T->s, T->c, M + r, M + 3 + r);
    EACH(e, 9) t[e] = M[e];
#define AXES(a, b, c, sign) \
        M[3 * a + a] = t[0]; M[3 * a + b] = t[1]; M[3 * a + c] = sign t[2]; \
        M[3 * b + a] = t[3]; M[3 * b + b] = t[4]; M[3 * b + c] = sign t[5]; \
        M[3 * c + a] = sign t[6]; M[3 * c + b] = sign t[7]; M[3 * c + c] = t[8];
    EACH_TURN(b->turn, AXES)
#undef AXES
}

/* I <- the inertia I of a body, in the axes and about the origin of its parent */
INLINE void NAME(carry_inertia)(const Body *b, const Turn *T, Inertia *I)
{
    real h[3], J[6], *S = I->J;
    EACH(r, 3) h[r] = I->h[r];
    if (b->turn == ANY_TURN) {
        real EJ[9], column[3];
        const real *E = T->E;
        ROTATE(E, h, I->h);
        EACH(c, 3) {
            NAME(tensor_column)(I, c, column);
            ROTATE(E, column, EJ + 3 * c);
        }
        EACH(r, 3) EACH(c, r + 1) S[LOWER(r, c)] = EJ[r] * E[c] + EJ[3 + r] * E[3 + c] + EJ[6 + r] * E[6 + c];
    } else {
        NAME(turn_pair)(T->s, T->c, h, h + 1);
        NAME(turn_block)(T->s, T->c, 0, S);
        NAME(turn_pair)(T->s, T->c, S + LOWER(2, 0), S + LOWER(2, 1));
        EACH(e, 6) J[e] = S[e];
#define AXES(a, b, c, sign) \
        I->h[a] = h[0]; I->h[b] = h[1]; I->h[c] = sign h[2]; \
        S[LOWER(a, a)] = J[0]; S[SYMMETRIC(a, b)] = J[1]; S[LOWER(b, b)] = J[2]; \
        S[SYMMETRIC(a, c)] = sign J[3]; S[SYMMETRIC(b, c)] = sign J[4]; S[LOWER(c, c)] = J[5];
        EACH_TURN(b->turn, AXES)
#undef AXES
    }
    NAME(shift_inertia)(T->p, I);
}

/* S x of one body in its own axes, x at its first freedom */
INLINE void NAME(joint_motion)(const Body *b, const double *x, real *s)
{
    const real zero = {0};
    EACH(r, 6) s[r] = zero;
    switch (b->kind) {
    case REVOLUTE: case CONTINUOUS: s[5] = READ(x, 0); return;
    case PRISMATIC: s[2] = READ(x, 0); return;
    case HELICAL: s[5] = READ(x, 0); s[2] = b->pitch * s[5]; return;
    case SPHERICAL: EACH(r, 3) s[3 + r] = READ(x, r); return;
    case PLANAR: EACH(r, 2) s[r] = READ(x, r); s[5] = READ(x, 2); return;
    }
    EACH(r, 3) s[r] = READ(x, r);
    if (b->kind == FREEFLYER) EACH(r, 3) s[3 + r] = READ(x, 3 + r);
}

/* V <- the motion of a body at joint velocities x, in its own axes; P: that of its parent, NULL for the base. x = NULL
 * is zero. */
INLINE void NAME(carry_velocity)(const Body *b, const Turn *T, const real *P, const double *x, real *V)
{
    const real zero = {0};
    EACH(r, 6) V[r] = zero;
    if (P) {
        real at_body[6];
        EACH(r, 6) at_body[r] = P[r];
        ADD_CROSS(P + 3, T->p, at_body);
        NAME(turn_in)(b, T, 2, at_body, V);
    }
    if (!x) return;
    if (NAME(is_hinge)(b)) V[5] += READ(x, b->v);
    else {
        real s[6];
        NAME(joint_motion)(b, x + b->v * LANES, s);
        EACH(r, 6) V[r] += s[r];
    }
}

/* to <- the motions `from` of the parent of a body, about the origin and in the axes of the body; the kind of turn is
 * asked for once */
INLINE void NAME(carry_motions)(const Body *b, const Turn *T, ptrdiff_t count, const Vector *from, Vector *to)
{
    const real s = T->s, c = T->c;
    real p[3];
    EACH(r, 3) p[r] = T->p[r];
#define MOVED(e) \
    real x[6]; \
    EACH(r, 6) x[r] = from[e].e[r]; \
    ADD_CROSS(x + 3, p, x);
    if (b->turn == ANY_TURN) {
        for (ptrdiff_t e = 0; e < count; e++) {
            MOVED(e)
            ROTATE_BACK(T->E, x, to[e].e);
            ROTATE_BACK(T->E, x + 3, to[e].e + 3);
        }
        return;
    }
#define AXES(i, j, k, sign) \
    for (ptrdiff_t e = 0; e < count; e++) { \
        MOVED(e) \
        EACH(h, 2) { \
            to[e].e[3 * h] = c * x[3 * h + i] + s * x[3 * h + j]; \
            to[e].e[3 * h + 1] = c * x[3 * h + j] - s * x[3 * h + i]; \
            to[e].e[3 * h + 2] = sign x[3 * h + k]; \
        } \
    }
    EACH_TURN(b->turn, AXES)
#undef AXES
#undef MOVED
}

/* x <- S F of one body */
INLINE void NAME(joint_force)(const Body *b, const real *F, double *x)
{
    switch (b->kind) {
    case REVOLUTE: case CONTINUOUS: AT(x, 0) = F[5]; return;
    case PRISMATIC: AT(x, 0) = F[2]; return;
    case HELICAL: AT(x, 0) = F[5] + b->pitch * F[2]; return;
    case SPHERICAL: EACH(r, 3) AT(x, r) = F[3 + r]; return;
    case PLANAR: EACH(r, 2) AT(x, r) = F[r]; AT(x, 2) = F[5]; return;
    }
    EACH(r, 3) AT(x, r) = F[r];
    if (b->kind == FREEFLYER) EACH(r, 3) AT(x, 3 + r) = F[3 + r];
}

/* Return the axis of the unit motion of freedom k of a body: along 0 to 2, about 3 to 5. */
INLINE ptrdiff_t NAME(axis_of)(const Body *b, ptrdiff_t k)
{
    if (b->kind == SPHERICAL) return 3 + k;
    if (b->kind == PRISMATIC) return 2;
    return b->kind <= HELICAL || (b->kind == PLANAR && k == 2) ? 5 : k;
}

/* s <- the unit motion of freedom k of a body, in its own axes */
INLINE void NAME(unit_motion)(const Body *b, ptrdiff_t k, real *s)
{
    const real zero = {0};
    const ptrdiff_t along = NAME(axis_of)(b, k);
    EACH(r, 6) s[r] = zero + (double)(r == along);
    if (b->kind == HELICAL) s[2] = zero + b->pitch;
}
