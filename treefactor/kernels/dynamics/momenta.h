/* Momenta of bodies, and the matrix of twelve numbers by which they enter the equation of motion.
 *
 * Of a body with velocity V, B = (V x* I - I V x + (I V) x*) / 2, where f x* is the matrix that turns a motion s into
 * s x* f. With the momentum (p, L) = I V and the rate E of the tensor J about the fixed local origin,
 * B = [0, -px; 0, (E - Lx) / 2]. Sums over bodies are those of p, L and E. */

typedef struct { real p[3], L[3], E[6]; } NAME(Momentum);   /* E: lower triangle */
#define Momentum NAME(Momentum)

/* B <- momentum and rate of the tensor: E = w x J + (w x J)^T - h v^T - v h^T + 2 (v . h) 1 */
INLINE void NAME(write_momentum)(const Inertia *I, const real *V, Momentum *B)
{
    const real *h = I->h;
    real f[6], M[9], trace = 2.0 * (V[0] * h[0] + V[1] * h[1] + V[2] * h[2]);   /* M in columns */
    NAME(momentum)(I, V, f);
    EACH(r, 3) B->p[r] = f[r];
    EACH(r, 3) B->L[r] = f[3 + r];
    EACH(c, 3) {
        real J[3];
        NAME(tensor_column)(I, c, J);
        EACH(r, 3) M[3 * c + r] = -h[r] * V[c];
        ADD_CROSS(V + 3, J, M + 3 * c);
    }
    EACH(r, 3) {
        EACH(c, r + 1) B->E[LOWER(r, c)] = M[3 * c + r] + M[3 * r + c];
        B->E[LOWER(r, r)] += trace;
    }
}

/* Shift B to another origin, from which its present origin is seen at d: L' = L + d x p,
 *     E' = E - p d^T - d p^T + 2 (d . p) 1                                                                  */
INLINE void NAME(shift_momentum)(const real *d, Momentum *B)
{
    const real *p = B->p;
    real trace = 2.0 * (d[0] * p[0] + d[1] * p[1] + d[2] * p[2]);
    ADD_CROSS(d, p, B->L);
    EACH(r, 3) {
        EACH(c, r + 1) B->E[LOWER(r, c)] -= p[r] * d[c] + d[r] * p[c];
        B->E[LOWER(r, r)] += trace;
    }
}

/* P <- P + B */
INLINE void NAME(add_momentum)(const Momentum *B, Momentum *P)
{
    EACH(r, 3) P->p[r] += B->p[r];
    EACH(r, 3) P->L[r] += B->L[r];
    EACH(r, 6) P->E[r] += B->E[r];
}

/* F <- 2 B s added to F, and couple <- the moment of 2 B^T s, whose force is zero */
INLINE void NAME(apply_momentum)(const Momentum *B, const real *s, real *F, real *couple)
{
    const real *w = s + 3, *E = B->E;
    real turned[3], slid[3];
    couple[0] = E[0] * w[0] + E[1] * w[1] + E[3] * w[2];
    couple[1] = E[1] * w[0] + E[2] * w[1] + E[4] * w[2];
    couple[2] = E[3] * w[0] + E[4] * w[1] + E[5] * w[2];
    CROSS(B->L, w, turned);
    CROSS(w, B->p, slid);
    EACH(r, 3) F[r] += 2.0 * slid[r];
    EACH(r, 3) F[3 + r] += couple[r] - turned[r];
    CROSS(B->p, s, slid);
    EACH(r, 3) couple[r] += turned[r] + 2.0 * slid[r];
}
