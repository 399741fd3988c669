/* The sweep from the end to the start; riccati_products.h stands before it.
 *
 *     Q = A^T W_vv A + sym. part of [0; W_qv A; 0] + [W_qq in qq] + Hessian of costs
 *     Q_uu + mu I = R^T R,   Y = R^-T [Q_ux | Q_u],   K = -R^-1 Y,   V = Q_xx - Y^T Y + mu I
 *
 * One array Q of m rows holds Q and V, upper triangles, with the gradient as last column. */

/* Arrays of one sweep; rows of Q, A, Z and K have ld entries, those of W, P and B have n. */
typedef struct {
    ptrdiff_t m, ld;
    double *Q, *A, *Z, *K;
    double *W, *B;                   /* W_vv, W_vq */
    double *P;                       /* h V_qq D_v + V_qv */
    double *g;                       /* gradient by dv', n */
    double *inverse;                 /* of the pivots, nu */
    double *input;                   /* numbers of problems side by side */
    double *D_q, *D_v;               /* of one stage, n x n */
    double *S;                       /* rows u of Q before they are factorized, where there are limits */
    double *pull;                    /* V f from column nu on, where there are gaps f */
    double *one;                     /* of one problem within limits */
} NAME(Arrays);

static ptrdiff_t NAME(carve_sweep)(const Sweep *s, NAME(Arrays) *a, double *scratch)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = nu + 2 * n;
    double *next = scratch;
    a->m = m;
    a->ld = (m + SPAN) / SPAN * SPAN;
#define TAKE(x, count) (x) = next, next += ((count) * LANES + 7) / 8 * 8
    TAKE(a->Q, m * a->ld);
    TAKE(a->A, n * a->ld);
    TAKE(a->Z, n * a->ld);
    TAKE(a->K, nu * a->ld);
    TAKE(a->W, n * n);
    TAKE(a->B, n * n);
    TAKE(a->P, s->curved_count ? n * n : 0);
    TAKE(a->g, n);
    TAKE(a->inverse, nu);
    TAKE(a->input, m * (s->hessian.data ? m : n));
    TAKE(a->D_q, s->curved_count ? n * n : 0);
    TAKE(a->D_v, s->curved_count ? n * n : 0);
    TAKE(a->S, s->u.data ? nu * a->ld : 0);
    TAKE(a->pull, s->gaps.data ? a->ld : 0);
#undef TAKE
    a->one = next;
    next += s->u.data ? 2 * nu * nu + 9 * nu : 0;
    return next - scratch;
}

static ptrdiff_t NAME(sweep_scratch)(const Sweep *s)
{
    NAME(Arrays) a;
    return NAME(carve_sweep)(s, &a, NULL);
}

/* X <- X D, of which the rows have ld entries, or with `left` D^T X; D is the unit matrix but for blocks. */
static void NAME(transport)(const Sweep *s, ptrdiff_t count, const double *D, int left, double *X, ptrdiff_t ld)
{
    const ptrdiff_t to_entry = left ? ld : 1, to_line = left ? 1 : ld;
    for (const Coordinates *c = s->curved; c < s->curved + s->curved_count; c++)
        for (ptrdiff_t i = 0; i < count; i++) {
            double *x = X + (i * to_line + c->v * to_entry) * LANES;
            real old[6];
            for (ptrdiff_t k = 0; k < c->nv; k++) old[k] = READ(x, k * to_entry);
            for (ptrdiff_t k = 0; k < c->nv; k++) {
                real sum = {0};
                for (ptrdiff_t l = 0; l < c->nv; l++) sum += old[l] * READ(D, (c->v + l) * s->n + c->v + k);
                AT(x, k * to_entry) = sum;
            }
        }
}

/* B, W <- W_vq and W_vv, g <- the gradient by dv'; the block qq of Q <- W_qq, its last column D_q^T g_q: V is lost. */
INLINE void NAME(pull_back)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t)
{
    const ptrdiff_t n = s->n, ld = a->ld;
    const double h = s->h, *D_q, *D_v;
    double *V_q = ROW(a->Q, s->nu) + s->nu * LANES, *V_v = V_q + n * ld * LANES, *g_q = ROW(a->Q, s->nu) + a->m * LANES;
    const double *V_qv = V_q + n * LANES, *V_vv = V_v + n * LANES;
    for (ptrdiff_t i = 0; i < n; i++) AT(a->g, i) = READ(g_q, i * ld);
    if (!s->curved_count) {
        for (ptrdiff_t i = 0; i < n; i++) {
            AT(a->g, i) = h * READ(a->g, i) + READ(g_q, (n + i) * ld);
            for (ptrdiff_t j = i; j < n; j++) {
                const real x = h * READ(V_q, i * ld + j), above = READ(V_qv, i * ld + j), below = READ(V_qv, j * ld + i);
                const real sum = READ(V_vv, i * ld + j) + h * ((x + above) + below);
                AT(a->B, j * n + i) = x + above;
                AT(a->B, i * n + j) = x + below;
                AT(a->W, i * n + j) = sum;
                AT(a->W, j * n + i) = sum;
            }
        }
        return;
    }
    D_q = NAME(fetch)(&s->step_by_q, problem, t, n * n, a->D_q);
    D_v = NAME(fetch)(&s->step_by_v, problem, t, n * n, a->D_v);
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) {
            if (j > i) AT(V_q, j * ld + i) = READ(V_q, i * ld + j);
            AT(V_v, j * ld + i) = READ(V_qv, i * ld + j);
            AT(a->P, i * n + j) = READ(V_q, i * ld + j);
        }
    NAME(transport)(s, n, D_v, 0, a->P, n);
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) {
            const real x = h * READ(a->P, i * n + j) + READ(V_qv, i * ld + j);
            AT(a->P, i * n + j) = x;
            AT(a->B, j * n + i) = x;
        }
    NAME(transport)(s, n, D_q, 0, a->B, n);
    NAME(transport)(s, n, D_v, 1, a->P, n);
    NAME(transport)(s, n, D_v, 0, V_v, ld);
    NAME(transport)(s, n, D_q, 0, V_q, ld);
    NAME(transport)(s, n, D_q, 1, V_q, ld);
    NAME(transport)(s, 1, D_v, 1, a->g, 1);
    NAME(transport)(s, 1, D_q, 1, g_q, ld);
    for (ptrdiff_t i = 0; i < n; i++) {
        AT(a->g, i) = h * READ(a->g, i) + READ(g_q, (n + i) * ld);
        for (ptrdiff_t j = i; j < n; j++) {
            const real x = READ(V_vv, i * ld + j) + h * (READ(a->P, i * n + j) + READ(V_v, i * ld + j));
            AT(a->W, i * n + j) = x;
            AT(a->W, j * n + i) = x;
        }
    }
}

/* A <- [h a_u | h a_q | I + h a_v] */
INLINE void NAME(read_dynamics)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t)
{
    const ptrdiff_t n = s->n, nu = s->nu, ld = a->ld;
    NAME(fetch_rows)(&s->by_u, problem, t, n, nu, s->h, a->A, ld);
    NAME(fetch_rows)(&s->by_q, problem, t, n, n, s->h, a->A + nu * LANES, ld);
    NAME(fetch_rows)(&s->by_v, problem, t, n, n, s->h, a->A + (nu + n) * LANES, ld);
    for (ptrdiff_t i = 0; i < n; i++) AT(a->A, i * ld + nu + n + i) += 1.0;
}

/* Add the derivatives of the costs at stage t to Q. */
INLINE void NAME(add_costs)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t)
{
    const ptrdiff_t n = s->n, m = a->m, ld = a->ld;
    const double *x = NAME(fetch)(&s->gradient, problem, t, m, a->input);
    double *Q_q = ROW(a->Q, s->nu) + s->nu * LANES;
    for (ptrdiff_t i = 0; i < m; i++) AT(a->Q, i * ld + m) += READ(x, i);
    x = NAME(fetch)(&s->diagonal, problem, t, m, a->input);
    for (ptrdiff_t i = 0; i < m; i++) AT(a->Q, i * ld + i) += READ(x, i);
    x = NAME(fetch)(&s->hessian_q, problem, t, n * n, a->input);
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = i; j < n; j++) AT(Q_q, i * ld + j) += READ(x, i * n + j);
    if (s->hessian.data) {
        x = NAME(fetch)(&s->hessian, problem, t, m * m, a->input);
        for (ptrdiff_t i = 0; i < m; i++)
            for (ptrdiff_t j = i; j < m; j++) AT(a->Q, i * ld + j) += READ(x, i * m + j);
    }
}

/* The gradient of V <- gradient + V f, with the gaps f of stage t; slopes <- slopes - their terms. */
static void NAME(cross_gaps)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, double (*slope)[2])
{
    const ptrdiff_t nu = s->nu, m = a->m, ld = a->ld;
    const double *f = NAME(fetch)(&s->gaps, problem, t, m - nu, a->input);
    double linear[LANES], quadratic[LANES], *to[LANES];
    real sums[2] = {{0}, {0}};
    for (ptrdiff_t i = nu; i < m; i++)
        for (ptrdiff_t j = i + 1; j < m; j++) AT(a->Q, j * ld + i) = READ(a->Q, i * ld + j);
    NAME(set_product)(1, m - nu, f, 1, 0, ROW(a->Q, nu), ld, a->pull, nu, m, 0);
    for (ptrdiff_t i = nu; i < m; i++) {
        AT(a->Q, i * ld + m) += READ(a->pull, i);
        sums[0] += READ(f, i - nu) * READ(a->Q, i * ld + m);
        sums[1] += READ(f, i - nu) * READ(a->pull, i);
    }
    memcpy(linear, &sums[0], sizeof linear);
    memcpy(quadratic, &sums[1], sizeof quadratic);
    for (int l = 0; l < LANES; l++) {
        slope[l][0] -= linear[l];
        slope[l][1] -= quadratic[l];
        to[l] = s->pull + (problem[l] * s->steps + t) * (m - nu);
    }
    NAME(put)(a->pull + nu * LANES, m - nu, to);
}

/* Q <- its value at stage t, from V and its gradient at t + 1 */
INLINE void NAME(expand)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = a->m, ld = a->ld;
    const real zero = {0};
    NAME(pull_back)(s, a, problem, t);
    NAME(read_dynamics)(s, a, problem, t);
    NAME(set_product)(n, n, a->W, n, 1, a->A, ld, a->Z, 0, m, 0);
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = 0; j < n; j++) AT(a->Z, i * ld + nu + j) += READ(a->B, i * n + j);
        AT(a->Z, i * ld + m) = READ(a->g, i);
        for (ptrdiff_t j = nu + n; j < m; j++) AT(a->Q, (nu + i) * ld + j) = zero;
    }
    NAME(set_product)(nu, n, a->A, ld, 1, a->Z, ld, a->Q, 0, m + 1, 1);
    NAME(add_product)(n, n, a->A + nu * LANES, ld, 1, a->Z, ld, ROW(a->Q, nu), nu, m + 1, 1);
    NAME(set_product)(n, n, a->A + (nu + n) * LANES, ld, 1, a->Z, ld, ROW(a->Q, nu + n), nu + n, m + 1, 1);
    NAME(add_product)(n, n, a->B, n, 1, a->A, ld, ROW(a->Q, nu), nu, m, 1);
    NAME(add_costs)(s, a, problem, t);
}

/* Return the inverse root of a pivot: 1 in problems where it is not positive, which are noted. */
INLINE real NAME(invert_pivot)(real d, const ptrdiff_t *problem, int8_t *failed)
{
#if LANES == 1
    if (d > 0.0 && d < INFINITY) return 1.0 / sqrt(d);
    failed[problem[0]] = 1;
    return 1.0;
#else
    typedef long long mask __attribute__((vector_size(REGISTER)));
    const real one = (real){0} + 1.0;
    const mask good = (mask)(d > 0.0) & (mask)(d < INFINITY);
    long long all = -1;
    d = (real)(((mask)d & good) | ((mask)one & ~good));
    EACH(l, LANES) {
        d[l] = sqrt(d[l]);
        all &= good[l];
    }
    if (!all) EACH(l, LANES) if (!good[l]) failed[problem[l]] = 1;
    return 1.0 / d;
#endif
}

/* The rows u of Q <- [R | Y] */
INLINE void NAME(factor_controls)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem)
{
    const ptrdiff_t nu = s->nu, ld = a->ld, end = a->m + 1;
    for (ptrdiff_t first = 0; first < nu; first += NAME(ROWS)) {
        const ptrdiff_t stop = first + NAME(ROWS) < nu ? first + NAME(ROWS) : nu;
        NAME(subtract_product)(stop - first, first, a->Q + first * LANES, ld, 1, a->Q, ld, ROW(a->Q, first), first, end, 1);
        for (ptrdiff_t r = first; r < stop; r++) {
            double *row = ROW(a->Q, r);
            const real x = NAME(invert_pivot)(READ(row, r), problem, s->failed);
            AT(a->inverse, r) = x;
            for (ptrdiff_t c = r / SPAN * SPAN; c < end; c += SPAN) WIDE(row, c) *= x;
            for (ptrdiff_t i = r + 1; i < stop; i++) {
                const real y = READ(row, i);
                for (ptrdiff_t c = i / SPAN * SPAN; c < end; c += SPAN) WIDE(ROW(a->Q, i), c) -= y * READ_WIDE(row, c);
            }
        }
    }
}

/* K <- -R^-1 Y */
INLINE void NAME(solve_gains)(const Sweep *s, const NAME(Arrays) *a)
{
    const ptrdiff_t nu = s->nu, ld = a->ld, end = a->m + 1, from = nu / SPAN * SPAN;
    for (ptrdiff_t r = 0; r < nu; r++)
        for (ptrdiff_t c = from; c < end; c += SPAN) WIDE(ROW(a->K, r), c) = -READ_WIDE(ROW(a->Q, r), c);
    for (ptrdiff_t stop = nu, first; stop > 0; stop = first) {
        first = stop > NAME(ROWS) ? stop - NAME(ROWS) : 0;
        NAME(subtract_product)(stop - first, nu - stop, ROW(a->Q, first) + stop * LANES, 1, ld, ROW(a->K, stop), ld,
                               ROW(a->K, first), from, end, 0);
        for (ptrdiff_t r = stop - 1; r >= first; r--) {
            double *row = ROW(a->K, r);
            const real x = READ(a->inverse, r);
            for (ptrdiff_t i = r + 1; i < stop; i++) {
                const real y = READ(ROW(a->Q, r), i);
                for (ptrdiff_t c = from; c < end; c += SPAN) WIDE(row, c) -= y * READ_WIDE(ROW(a->K, i), c);
            }
            for (ptrdiff_t c = from; c < end; c += SPAN) WIDE(row, c) *= x;
        }
    }
}

/* Where the step of a problem exceeds limits, find the best one within them: S and the last column of Q <- those of the
 * problem without the controls that are at a limit, whose changes are in `change`, 0 of the others; slope <- its expected
 * fall. Returns whether there is such a problem. */
static int NAME(limit_controls)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, int *limited,
                                double (*slope)[2], double *change)
{
    const ptrdiff_t nu = s->nu, m = a->m, ld = a->ld;
    double *H = a->one, *g = H + nu * nu, *lower = g + nu, *upper = lower + nu, *x = upper + nu, *work = x + nu;
    int *free = (int *)(work + nu * nu + 4 * nu), any = 0;
    for (int l = 0; l < LANES; l++) {
        const double *u = s->u.data + problem[l] * s->u.to_problem + t * s->u.to_stage;
        limited[l] = 0;
        for (ptrdiff_t i = 0; i < nu; i++) {
            lower[i] = s->lower[i] - u[i];
            upper[i] = s->upper[i] - u[i];
            x[i] = a->K[(i * ld + m) * LANES + l];
            if (x[i] < lower[i] || x[i] > upper[i]) limited[l] = 1;
        }
        if (!limited[l] || s->failed[problem[l]]) {
            limited[l] = 0;
            continue;
        }
        any = 1;
        for (ptrdiff_t i = 0; i < nu; i++) {
            for (ptrdiff_t j = i; j < nu; j++) H[i * nu + j] = H[j * nu + i] = a->S[(i * ld + j) * LANES + l];
            g[i] = a->S[(i * ld + m) * LANES + l];
        }
        ISA(box_minimum)(nu, H, g, lower, upper, x, free, work);
        slope[l][0] = slope[l][1] = 0.0;
        for (ptrdiff_t i = 0; i < nu; i++) {
            double sum = 0.0;
            for (ptrdiff_t j = 0; j < nu; j++) sum += H[i * nu + j] * x[j];
            slope[l][0] -= g[i] * x[i];
            slope[l][1] += x[i] * sum;
        }
        for (ptrdiff_t i = 0; i < nu; i++) {
            double *row = ROW(a->S, i) + l;
            change[i * LANES + l] = free[i] ? 0.0 : x[i];
            if (!free[i]) {
                for (ptrdiff_t c = nu; c < m; c++) {
                    a->Q[(c * ld + m) * LANES + l] += row[c * LANES] * x[i];
                    row[c * LANES] = 0.0;
                }
                for (ptrdiff_t c = i; c < nu; c++) row[c * LANES] = c == i;
                row[m * LANES] = 0.0;
                continue;
            }
            for (ptrdiff_t j = 0; j < nu; j++)
                if (!free[j]) row[m * LANES] += H[i * nu + j] * x[j];
            for (ptrdiff_t c = i + 1; c < nu; c++)
                if (!free[c]) row[c * LANES] = 0.0;
        }
    }
    return any;
}

static void NAME(sweep)(const Sweep *s, const ptrdiff_t *problem, double *scratch)
{
    const ptrdiff_t n = s->n, nu = s->nu;
    real damping;
    double mu[LANES], fall[LANES], slope[LANES][2] = {{0.0}}, seen[LANES][2], *to[LANES];
    int limited[LANES];
    NAME(Arrays) arrays, *a = &arrays;
    memset(scratch, 0, NAME(carve_sweep)(s, a, scratch) * sizeof(double));
    const ptrdiff_t m = a->m, ld = a->ld;
    for (int l = 0; l < LANES; l++) {
        s->failed[problem[l]] = 0;
        seen[l][0] = seen[l][1] = 0.0;
        mu[l] = s->regularization[problem[l]];
    }
    memcpy(&damping, mu, sizeof damping);
    NAME(add_costs)(s, a, problem, s->steps);
    for (ptrdiff_t i = nu; i < m; i++) AT(a->Q, i * ld + i) += damping;
    for (ptrdiff_t t = s->steps - 1; t >= 0; t--) {
        if (s->gaps.data) NAME(cross_gaps)(s, a, problem, t, seen);
        NAME(expand)(s, a, problem, t);
        for (ptrdiff_t i = 0; i < m; i++) AT(a->Q, i * ld + i) += damping;
        if (s->u.data) memcpy(a->S, a->Q, nu * ld * LANES * sizeof(double));
        NAME(factor_controls)(s, a, problem);
        NAME(solve_gains)(s, a);
        double *change = a->input;
        const int any = s->u.data && NAME(limit_controls)(s, a, problem, t, limited, slope, change);
        if (any) {
            memcpy(a->Q, a->S, nu * ld * LANES * sizeof(double));
            NAME(factor_controls)(s, a, problem);
            NAME(solve_gains)(s, a);
        }
        real falls = {0};
        for (ptrdiff_t r = 0; r < nu; r++) falls += READ(a->Q, r * ld + m) * READ(a->Q, r * ld + m);
        memcpy(fall, &falls, sizeof falls);
        for (int l = 0; l < LANES; l++) {
            const int own = any && limited[l];
            for (int k = 0; k < 2; k++) seen[l][k] += own ? slope[l][k] : fall[l];
            if (own)
                for (ptrdiff_t r = 0; r < nu; r++)
                    if (change[r * LANES + l] != 0.0) a->K[(r * ld + m) * LANES + l] = change[r * LANES + l];
        }
        NAME(subtract_product)(2 * n, nu, a->Q + nu * LANES, ld, 1, a->Q, ld, ROW(a->Q, nu), nu, m + 1, 1);
        for (ptrdiff_t r = 0; r < nu; r++) {
            double *row = ROW(a->K, r);
            for (int l = 0; l < LANES; l++) to[l] = s->gains + ((problem[l] * s->steps + t) * nu + r) * 2 * n;
            NAME(put)(row + nu * LANES, 2 * n, to);
            for (int l = 0; l < LANES; l++) to[l] = s->feedforward + (problem[l] * s->steps + t) * nu + r;
            NAME(put)(row + m * LANES, 1, to);
        }
    }
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < 2; k++) s->slope[2 * problem[l] + k] = seen[l][k];
}
