/* Articulated-body algorithm: Featherstone (2008), table 7.1, one freedom after the other.
 *
 *     for i = bodies .. 1, for every freedom k of body i, last first:
 *         U_k = IA_i S_k,   D_k = S_k U_k + armature_k,   u_k = tau_k - S_k F_i
 *         IA_i -= U_k U_k^T / D_k,   F_i += U_k u_k / D_k;   then IA_parent += IA_i, F_parent += F_i
 *     for i = 1 .. bodies, for every freedom k:   qdd_k = (u_k - U_k A) / D_k,   A += S_k qdd_k
 *
 * F_i starts as the force on the body when all qdd are zero (rnea.h), so velocity products enter once only. */

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

/* Shift A to another origin, from which its present origin is seen at d. With the blocks M, N^T; N, J of A:
 *     N' = N + dx M,   J' = J + dx N^T + (dx N'^T)^T                                                      */
INLINE void NAME(shift_articulated)(const real *d, real *A)
{
    real M[9], N[9], turned[9];      /* in columns; rows of N */
    EACH(r, 3) EACH(c, 3) {
        M[3 * c + r] = A[r > c ? LOWER(r, c) : LOWER(c, r)];
        N[3 * r + c] = A[LOWER(3 + r, c)];
        turned[3 * c + r] = A[LOWER(3 + (r > c ? r : c), 3 + (r > c ? c : r))];
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

#define EACH21(e) _Pragma("GCC unroll 32") for (int e = 0; e < 21; e++)
/* Eliminate one freedom: U = A s, D = s U + armature, u = tau - s F; A -= U U^T / D, F += U u / D. Return D. */
INLINE real NAME(eliminate)(const real *s, real armature, real tau, real *A, real *F, real *U, real *u, real *inverse)
{
    real d, step, found[6], one, rest;
    EACH(r, 6) {
        found[r] = A[LOWER(r, 0)] * s[0];
        EACH(c, 5) found[r] += A[r > c ? LOWER(r, c + 1) : LOWER(c + 1, r)] * s[c + 1];
    }
    d = NAME(power)(found, s) + armature;
    one = 1.0 / d;
    rest = tau - NAME(power)(F, s);
    EACH(r, 6) {
        step = one * found[r];
        EACH(c, r + 1) A[LOWER(r, c)] -= step * found[c];
        F[r] += step * rest;
    }
    EACH(r, 6) U[r] = found[r];
    *u = rest;
    *inverse = one;
    return d;
}

/* qdd <- forward dynamics, D <- the pivots */
static void NAME(aba)(const Mechanism *m, const double *q, const double *v, const double *tau, const double *fext,
                      double *qdd, double *D, double *workspace)
{
    const real zero = {0};
    Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(place_bodies)(m, q, &w);
    NAME(move_inertias)(m, &w);
    NAME(body_forces)(m, &w, v, NULL, fext, 1);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(write_spatial_inertia)(w.C + i, w.IA[i].e);
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        real A[21], F[6];
        EACH21(e) A[e] = w.IA[i].e[e];
        EACH(r, 6) F[r] = w.F[i].e[r];
        for (ptrdiff_t k = b->v + b->freedoms - 1; k >= b->v; k--)
            AT(D, k) = NAME(eliminate)(w.S[k].e, NAME(armature)(m, k), READ(tau, k), A, F,
                                       w.U[k].e, w.u + k, w.inverse + k);
        if (b->parent >= 0) {
            if (b->local == i) {
                NAME(shift_articulated)(w.X[i].d, A);
                ADD_CROSS(w.X[i].d, F, F + 3);
            }
            EACH21(e) w.IA[b->parent].e[e] += A[e];
            EACH(r, 6) w.F[b->parent].e[r] += F[r];
        }
    }
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real A[6];
        EACH(r, 6) A[r] = b->parent < 0 ? zero : w.A[b->parent].e[r];
        if (NAME(is_shifted)(m, i)) ADD_CROSS(A + 3, w.X[i].d, A);
        for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++) {
            real x = w.inverse[k] * (w.u[k] - NAME(power)(w.U[k].e, A));
            AT(qdd, k) = x;
            EACH(r, 6) A[r] += w.S[k].e[r] * x;
        }
        EACH(r, 6) w.A[i].e[r] = A[r];
    }
}
