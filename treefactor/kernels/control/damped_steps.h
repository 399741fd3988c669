/* Damped least-squares steps within limits, of one register of lanes: Sugihara (2011), "Solvability-unconcerned inverse
 * kinematics by the Levenberg-Marquardt method", with an active set of limits.
 *
 *     d = 0.02 |e|^2 + 1e-7,   s = z + J^T (J J^T + d 1)^-1 (e - J z)
 *     freedoms at a limit whose step points out keep their place: their columns are zero, and s is computed once more;
 *     a third time solves as many targets and takes 6 % longer
 *
 * z, a part of the way to the posture, moves freedoms that the tasks leave open: s minimizes |J s - e|^2 + d |s - z|^2. */

#ifndef TREEFACTOR_DAMPED_STEPS_H
#define TREEFACTOR_DAMPED_STEPS_H
#define DAMPING 0.02                 /* times the squared error */
#define LEAST_DAMPING 1e-7
#define TOWARD_POSTURE 0.3           /* largest part of the way in one step: the error it adds falls with its square */
#endif

/* rows first .. stop-1 of the lower triangle of G <- those of J J^T */
INLINE void NAME(gram_rows)(int first, int stop, ptrdiff_t m, ptrdiff_t n, const real *J, real *G)
{
    const real zero = {0};
    real sum[36];
    UNROLL for (int r = first; r < stop; r++) UNROLL for (int c = 0; c <= r; c++) sum[6 * r + c] = zero;
    for (ptrdiff_t k = 0; k < n; k++) {
        const real *x = J + k * m;
        UNROLL for (int r = first; r < stop; r++) UNROLL for (int c = 0; c <= r; c++) sum[6 * r + c] += x[r] * x[c];
    }
    UNROLL for (int r = first; r < stop; r++) UNROLL for (int c = 0; c <= r; c++) G[m * r + c] = sum[6 * r + c];
}

/* y <- G^-1 y for the lower triangle of G, which is overwritten by its factor L D L^T: 1/D on the diagonal */
INLINE void NAME(solve_symmetric)(ptrdiff_t m, real *G, real *y)
{
    UNROLL for (ptrdiff_t k = 0; k < m; k++) {
        const real inverse = 1.0 / G[k * m + k];
        UNROLL for (ptrdiff_t r = k + 1; r < m; r++) {
            const real a = G[r * m + k] * inverse;
            UNROLL for (ptrdiff_t c = k + 1; c <= r; c++) G[r * m + c] -= a * G[c * m + k];
        }
        UNROLL for (ptrdiff_t r = k + 1; r < m; r++) {
            G[r * m + k] *= inverse;
            y[r] -= G[r * m + k] * y[k];
        }
        G[k * m + k] = inverse;
    }
    UNROLL for (ptrdiff_t r = m - 1; r >= 0; r--) {
        y[r] *= G[r * m + r];
        UNROLL for (ptrdiff_t c = r + 1; c < m; c++) y[r] -= G[c * m + r] * y[c];
    }
}

/* G <- J J^T for m <= n, else J^T J: its lower triangle */
INLINE void NAME(gram)(ptrdiff_t m, ptrdiff_t n, const real *J, real *G)
{
    const real zero = {0};
    if (m == 6 && n >= 6) {          /* in two parts, so that the sums are registers */
        NAME(gram_rows)(0, 4, 6, n, J, G);
        NAME(gram_rows)(4, 6, 6, n, J, G);
    } else if (m == 3 && n >= 3)
        NAME(gram_rows)(0, 3, 3, n, J, G);
    else if (m <= n)
        for (ptrdiff_t r = 0; r < m; r++)
            for (ptrdiff_t c = 0; c <= r; c++) {
                real sum = zero;
                for (ptrdiff_t k = 0; k < n; k++) sum += J[k * m + r] * J[k * m + c];
                G[r * m + c] = sum;
            }
    else
        for (ptrdiff_t r = 0; r < n; r++)
            for (ptrdiff_t c = 0; c <= r; c++) {
                real sum = zero;
                for (ptrdiff_t k = 0; k < m; k++) sum += J[r * m + k] * J[c * m + k];
                G[r * n + c] = sum;
            }
}

/* s <- J^T (G + d 1)^-1 e, or (G + d 1)^-1 J^T e, for the matrix G of `gram`; e and F are overwritten */
INLINE void NAME(solve_damped)(ptrdiff_t m, ptrdiff_t n, const real *J, const real *G, real d, real *e, real *F, real *s)
{
    const real zero = {0};
    const ptrdiff_t size = m <= n ? m : n;
    UNROLL for (ptrdiff_t r = 0; r < size; r++) {
        UNROLL for (ptrdiff_t c = 0; c < r; c++) F[r * size + c] = G[r * size + c];
        F[r * size + r] = G[r * size + r] + d;
    }
    if (m <= n) NAME(solve_symmetric)(m, F, e);
    for (ptrdiff_t k = 0; k < n; k++) {
        real sum = zero;
        UNROLL for (ptrdiff_t r = 0; r < m; r++) sum += J[k * m + r] * e[r];
        s[k] = sum;
    }
    if (m > n) NAME(solve_symmetric)(n, F, s);
}

/* s <- z + the damped step; rest: workspace for m entries, F: for another G */
INLINE void NAME(damped_step)(const Problem *p, const real *J, const real *G, real d, const real *e, const real *z,
                              real *rest, real *F, real *s)
{
    const ptrdiff_t m = p->rows, n = p->columns;
    real own[36], own_rest[6];       /* of a pose and of a point, whose loops are unrolled: registers */
    for (ptrdiff_t r = 0; r < m; r++) rest[r] = e[r];
    if (z)
        for (ptrdiff_t k = 0; k < n; k++)
            for (ptrdiff_t r = 0; r < m; r++) rest[r] -= J[k * m + r] * z[k];
    if (m == 6 && n >= 6) {
        EACH(r, 6) own_rest[r] = rest[r];
        NAME(solve_damped)(6, n, J, G, d, own_rest, own, s);
    } else if (m == 3 && n >= 3) {
        EACH(r, 3) own_rest[r] = rest[r];
        NAME(solve_damped)(3, n, J, G, d, own_rest, own, s);
    } else NAME(solve_damped)(m, n, J, G, d, rest, F, s);
    if (z) for (ptrdiff_t k = 0; k < n; k++) s[k] += z[k];
}

/* Take column k out of J and of the matrix G of `gram` in the lanes of a mask. */
INLINE void NAME(remove_column)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ISA(I) mask, real *J, real *G)
{
    real *x = J + k * m;
    if (m <= n) {
        UNROLL for (ptrdiff_t r = 0; r < m; r++) {
            const real gone = (real)((ISA(I))x[r] & mask);
            UNROLL for (ptrdiff_t c = 0; c <= r; c++) G[r * m + c] -= gone * x[c];
        }
    } else {
        for (ptrdiff_t c = 0; c < k; c++) G[k * n + c] = (real)((ISA(I))G[k * n + c] & ~mask);
        for (ptrdiff_t r = k; r < n; r++) G[r * n + k] = (real)((ISA(I))G[r * n + k] & ~mask);
    }
    UNROLL for (ptrdiff_t r = 0; r < m; r++) x[r] = (real)((ISA(I))x[r] & ~mask);
}

/* Take the columns out of J and G, and the entries out of z, whose freedoms are at a limit and step out; return whether any
 * lane has one. */
INLINE int NAME(freeze)(const Problem *p, const State *state, int l, real *J, real *G, real *z, const real *s)
{
    const real zero = {0};
    int frozen = 0;
    for (ptrdiff_t k = 0; k < p->columns; k++) {
        const Movable *f = p->movable + k;
        if (f->q < 0) continue;
        const real q = READ(state->q + l, f->q);
        const ISA(I) out = ((ISA(I))(q <= f->lower) & (ISA(I))(s[k] < zero)) |
                           ((ISA(I))(q >= f->upper) & (ISA(I))(s[k] > zero));
        if (!ANY_LANE(out)) continue;
        frozen = 1;
        if (p->rows == 6) NAME(remove_column)(6, p->columns, k, out, J, G);
        else NAME(remove_column)(p->rows, p->columns, k, out, J, G);
        if (z) z[k] = (real)((ISA(I))z[k] & ~out);
    }
    return frozen;
}

/* Move one register of lanes by a step s: entries of q that add up, within their limits; other steps go to state->step. */
INLINE void NAME(move)(const Problem *p, State *state, int l, const real *s)
{
    const ISA(I) running = READ_AS(ISA(I), state->running + l);
    for (ptrdiff_t k = 0; k < p->columns; k++) {
        const Movable *f = p->movable + k;
        const real step = (real)((ISA(I))s[k] & running);
        if (f->q < 0) {
            AT(state->step + l, f->v) = step;
            continue;
        }
        real q = READ(state->q + l, f->q) + step;
        q = SELECT(q < f->lower, 0.0 * step + f->lower, q);
        AT(state->q + l, f->q) = SELECT(q > f->upper, 0.0 * step + f->upper, q);
    }
}

static ptrdiff_t NAME(scratch_size)(const Problem *p)
{
    const ptrdiff_t m = p->rows, n = p->columns, k = m < n ? m : n;
    return 8 * m + WIDTH * (m * n + m + 2 * n + 2 * k * k);
}

static void NAME(improve)(const Problem *p, State *state)
{
    const ptrdiff_t m = p->rows, n = p->columns;
    const real *e = (real *)state->scratch;
    real *J = (real *)(state->scratch + 8 * m), *rest = J + m * n, *s = rest + m, *toward = s + n, *G = toward + n;
    real *F = G + (m < n ? m * m : n * n);
    PASSES {
        if (!ANY_LANE(AS(ISA(I), state->running + l))) {                  /* nor steps of the entries that do not add up */
            const real zero = {0};
            for (ptrdiff_t k = 0; k < n; k++) AT(state->step + l, p->movable[k].v) = zero;
            e += m;
            continue;
        }
        const real d = DAMPING * READ_AS(real, state->square + l) + LEAST_DAMPING;
        real *z = NULL;
        if (p->posture) {
            z = toward;
            for (ptrdiff_t k = 0; k < n; k++) {
                const Movable *f = p->movable + k;
                z[k] = READ(state->toward + l, f->v) * (TOWARD_POSTURE * f->pull / (f->pull + d));
            }
        }
        NAME(jacobian)(p, state, l, J);
        NAME(gram)(m, n, J, G);
        NAME(damped_step)(p, J, G, d, e, z, rest, F, s);
        if (NAME(freeze)(p, state, l, J, G, z, s)) NAME(damped_step)(p, J, G, d, e, z, rest, F, s);
        NAME(move)(p, state, l, s);
        e += m;
    }
}
