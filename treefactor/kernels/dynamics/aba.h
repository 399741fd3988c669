/* Articulated-body algorithm, every body in its own axes and about its own origin: Featherstone (2008), table 7.1, one
 * freedom after the other.
 *
 *     for i = bodies .. 1, for every freedom k of body i, last first:
 *         U_k = IA_i S_k,   D_k = S_k U_k + armature_k,   u_k = tau_k - S_k F_i
 *         IA_i -= U_k U_k^T / D_k,   F_i += U_k u_k / D_k;   then IA_parent += IA_i, F_parent += F_i, carried there
 *     for i = 1 .. bodies, for every freedom k:   qdd_k = (u_k - U_k A) / D_k,   A += S_k qdd_k
 *
 * F_i starts as the force on the body when all qdd are zero (rnea.h), so velocity products enter once only. */

/* A <- A + the inertia I */
INLINE void NAME(add_rigid_inertia)(const Inertia *I, real *A)
{
    const real *h = I->h;
    EACH(r, 3) A[LOWER(r, r)] += I->mass;
    EACH(r, 3) EACH(c, r + 1) A[LOWER(r + 3, c + 3)] += I->J[LOWER(r, c)];
    A[LOWER(3, 1)] -= h[2]; A[LOWER(3, 2)] += h[1];
    A[LOWER(4, 0)] += h[2]; A[LOWER(4, 2)] -= h[0];
    A[LOWER(5, 0)] -= h[1]; A[LOWER(5, 1)] += h[0];
}

/* Shift A to another origin, from which its present origin is seen at d. With the blocks M, N^T; N, J of A:
 *     N' = N + dx M,   J' = J + dx N^T + (dx N'^T)^T                                                      */
INLINE void NAME(shift_articulated)(const real *d, real *A)
{
    real M[9], N[9], turned[9];      /* in columns; rows of N */
    EACH(r, 3) EACH(c, 3) {
        M[3 * c + r] = A[SYMMETRIC(r, c)];
        N[3 * r + c] = A[LOWER(3 + r, c)];
        turned[3 * c + r] = A[SYMMETRIC(3 + r, 3 + c)];
    }
    EACH(c, 3) ADD_CROSS(d, N + 3 * c, turned + 3 * c);   /* J + dx N^T */
    EACH(c, 3) {
        real shifted[3] = {N[c], N[3 + c], N[6 + c]};
        ADD_CROSS(d, M + 3 * c, shifted);
        EACH(r, 3) N[3 * r + c] = shifted[r];
    }
    EACH(r, 3) {
        real row[3] = {turned[r], turned[3 + r], turned[6 + r]};
        ADD_CROSS(d, N + 3 * r, row);
        EACH(c, 3) A[LOWER(3 + r, c)] = N[3 * r + c];
        EACH(c, r + 1) A[LOWER(3 + r, 3 + c)] = row[c];
    }
}

/* A <- A in the axes of the parent, where E is any rotation */
INLINE void NAME(rotate_articulated)(const real *E, real *A)
{
    EACH(block, 3) {                 /* M, N and J */
        const int row = block ? 3 : 0, column = block == 2 ? 3 : 0;
        real x[3], EB[9];            /* in columns */
        EACH(c, 3) {
            EACH(r, 3) x[r] = A[SYMMETRIC(row + r, column + c)];
            ROTATE(E, x, EB + 3 * c);
        }
        EACH(r, 3) EACH(c, 3)
            if (block == 1 || c <= r)
                A[LOWER(row + r, column + c)] = EB[r] * E[c] + EB[3 + r] * E[3 + c] + EB[6 + r] * E[6 + c];
    }
}

/* A <- the articulated inertia A of a body, in the axes and about the origin of its parent */
INLINE void NAME(carry_articulated)(const Body *b, const Turn *T, real *A)
{
    if (b->turn == ANY_TURN) {
        NAME(rotate_articulated)(T->E, A);
    } else {
        const real s = T->s, c = T->c;
        real B[21];
        EACH(e, 2) {                 /* first the pair of x and y among the forces, then among the moments */
            const int i = 3 * e;
            EACH(k, 6)
                if (k != i && k != i + 1) NAME(turn_pair)(s, c, A + SYMMETRIC(k, i), A + SYMMETRIC(k, i + 1));
            NAME(turn_block)(s, c, i, A);
        }
        EACH_ENTRY(e) B[e] = A[e];
#define AXES(x, y, z, sign) do { \
        const int to[6] = {x, y, z, 3 + x, 3 + y, 3 + z}; \
        EACH(r_, 6) EACH(c_, r_ + 1) \
            A[SYMMETRIC(to[r_], to[c_])] = (r_ % 3 == 2) != (c_ % 3 == 2) ? sign B[LOWER(r_, c_)] : B[LOWER(r_, c_)]; \
        } while (0);
        EACH_TURN(b->turn, AXES)
#undef AXES
    }
    NAME(shift_articulated)(T->p, A);
}

/* Eliminate a freedom with unit motion s: return D. */
INLINE real NAME(eliminate)(const real *s, real armature, real tau, real *A, real *F, Pivot *kept)
{
    real d, step, U[6], inverse, u;
    EACH(r, 6) {
        U[r] = A[LOWER(r, 0)] * s[0];
        EACH(c, 5) U[r] += A[SYMMETRIC(r, c + 1)] * s[c + 1];
    }
    d = NAME(power)(U, s) + armature;
    inverse = 1.0 / d;
    u = tau - NAME(power)(F, s);
    EACH(r, 6) {
        step = inverse * U[r];
        EACH(c, r + 1) A[LOWER(r, c)] -= step * U[c];
        F[r] += step * u;
    }
    EACH(r, 6) kept->U[r] = U[r];
    kept->u = u;
    kept->inverse = inverse;
    return d;
}

/* The same of the rotation about z: what remains of the last row, U - U U_5 / D, is armature / D times it. */
INLINE real NAME(eliminate_hinge)(real armature, real tau, real *A, real *F, Pivot *kept)
{
    real d, step, U[6], inverse, u, x, rest;
    EACH(c, 6) U[c] = A[LOWER(5, c)];
    d = U[5] + armature;
    inverse = 1.0 / d;
    u = tau - F[5];
    x = inverse * u;
    rest = inverse * armature;
    EACH(r, 5) {
        step = inverse * U[r];
        EACH(c, r + 1) A[LOWER(r, c)] -= step * U[c];
    }
    EACH(c, 6) A[LOWER(5, c)] = rest * U[c];
    EACH(r, 6) F[r] += U[r] * x;
    EACH(r, 6) kept->U[r] = U[r];
    kept->u = u;
    kept->inverse = inverse;
    return d;
}

/* Eliminate the freedoms of a free-flying root, whose unit motions are unit vectors: A becomes 1 / D on its diagonal
 * and U left of it, x becomes u. */
INLINE void NAME(eliminate_root)(const Mechanism *m, const Body *b, real *A, real *x, double *D)
{
    EACH(back, 6) {
        const int k = 5 - back;
        real d = A[LOWER(k, k)] + NAME(armature)(m, b->v + k), inverse = 1.0 / d;
        AT(D, b->v + k) = d;
        A[LOWER(k, k)] = inverse;
        EACH(r, k) {
            real step = inverse * A[LOWER(k, r)];
            EACH(c, r + 1) A[LOWER(r, c)] -= step * A[LOWER(k, c)];
            x[r] -= step * x[k];
        }
    }
}

/* qdd, acceleration of a free-flying root <- solution of A qdd = tau - F */
INLINE void NAME(solve_root)(const Mechanism *m, const Body *b, const real *F, const double *tau, real *A, double *D,
                             double *qdd, real *acceleration)
{
    real x[6];
    EACH(k, 6) x[k] = READ(tau, b->v + k) - F[k];
    NAME(eliminate_root)(m, b, A, x, D);
    EACH(k, 6) {
        EACH(c, k) x[k] -= A[LOWER(k, c)] * x[c];
        x[k] *= A[LOWER(k, k)];
        AT(qdd, b->v + k) = acceleration[k] = x[k];
    }
}

/* A, F <- articulated inertia of body i and the force on it when all qdd of its subtree but its own are solved for */
INLINE void NAME(eliminate_body)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const double *tau, real *A,
                                 real *F, double *D)
{
    const Body *b = m->body + i;
    Pivot *pivot = w->pivot;
    if (NAME(is_hinge)(b)) {
        ptrdiff_t k = b->v;
        AT(D, k) = NAME(eliminate_hinge)(NAME(armature)(m, k), READ(tau, k), A, F, pivot + k);
        return;
    }
    for (ptrdiff_t k = b->v + b->freedoms - 1; k >= b->v; k--) {
        real s[6];
        NAME(unit_motion)(b, k - b->v, s);
        AT(D, k) = NAME(eliminate)(s, NAME(armature)(m, k), READ(tau, k), A, F, pivot + k);
    }
}

/* Fill the pivots of all freedoms but those of free-flying roots, of which qdd and w->A are written. */
INLINE void NAME(eliminate_bodies)(const Mechanism *m, const Workspace *w, const double *tau, double *qdd, double *D)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        Inertia I;
        real A[21], F[6];
        NAME(read_inertia)(m, i, &I);
        if (b->leaf) NAME(write_spatial_inertia)(&I, A);
        else {
            NAME(receive_articulated)(m, i, w, A);
            NAME(add_rigid_inertia)(&I, A);
        }
        NAME(receive_force)(m, i, w, F);
        if (NAME(is_free_root)(b)) {
            NAME(solve_root)(m, b, F, tau, A, D, qdd, w->A[i].e);
            continue;
        }
        NAME(eliminate_body)(m, i, w, tau, A, F, D);
        if (b->parent < 0) continue;
        NAME(carry_articulated)(b, w->turn + i, A);
        NAME(carry_force)(b, w->turn + i, F);
        NAME(hand_articulated)(m, i, w, A);
        NAME(hand_force)(m, i, w, F);
    }
}

/* Compute qdd of body i, and its acceleration in w->A, from that of its parent. */
INLINE void NAME(accelerate_body)(const Mechanism *m, ptrdiff_t i, const Workspace *w, double *qdd)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Pivot *pivot = w->pivot;
    real A[6], at_parent[6];
    if (b->parent >= 0) {
        EACH(r, 6) at_parent[r] = w->A[b->parent].e[r];
        ADD_CROSS(at_parent + 3, w->turn[i].p, at_parent);
        NAME(turn_in)(b, w->turn + i, 2, at_parent, A);
    } else EACH(r, 6) A[r] = zero;
    for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
        real s[6], x = pivot[k].inverse * (pivot[k].u - NAME(power)(pivot[k].U, A));
        AT(qdd, k) = x;
        if (NAME(is_hinge)(b)) A[5] += x;
        else {
            NAME(unit_motion)(b, k - b->v, s);
            EACH(r, 6) A[r] += s[r] * x;
        }
    }
    if (!b->leaf) EACH(r, 6) w->A[i].e[r] = A[r];
}

/* qdd <- forward dynamics, D <- the pivots */
static void NAME(aba)(const Mechanism *m, const double *q, const double *v, const double *tau, const double *fext,
                      double *qdd, double *D, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(own_forces)(m, &w, q, v, NULL, fext, 1);
    NAME(eliminate_bodies)(m, &w, tau, qdd, D);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        if (!NAME(is_free_root)(m->body + i)) NAME(accelerate_body)(m, i, &w, qdd);
    }
}
