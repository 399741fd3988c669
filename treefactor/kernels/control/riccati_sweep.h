/* The sweep from the end to the start; riccati_products.h stands before it.
 *
 *     Q = Hessian of costs + [W_qq in qq] + A^T Z + [0; W_qv A; 0],   Z = W_vv A + [0 | W_vq | 0]
 *     Q_uu + mu I = R^T R,   Y = R^-T [Q_ux | Q_u],   K = -R^-1 Y,   V = Q_xx - Y^T Y + mu I
 *
 * of which Q_xx and V are summed in one go. One array Q of m rows holds Q and V, upper triangles, with the gradient as last
 * column. */

/* Arrays of one sweep; rows of Q, A, Z and K have ld entries, those of W, P and B have n. */
typedef struct {
    ptrdiff_t m, ld;
    double *Q, *A, *Z, *K;
    double *W, *B;                   /* W_vv, W_vq */
    double *P;                       /* h V_qq D_v + V_qv */
    double *g;                       /* gradient by dv', n */
    double *inverse;                 /* of the pivots, nu */
    double *S;                       /* rows u of Q before they are factorized, where there are limits */
    double *gap, *pull;              /* gaps f, and V f from column nu on, where there are some */
    double *change;                  /* of controls at limits */
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
    TAKE(a->S, s->u.data ? nu * a->ld : 0);
    TAKE(a->gap, s->gaps.data ? m - nu : 0);
    TAKE(a->pull, s->gaps.data ? a->ld : 0);
    TAKE(a->change, s->u.data ? nu : 0);
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
    for (const Coordinates *c = s->curved; c < s->curved + s->curved_count; D += c->nv * c->nv * STRIDE, c++)
        for (ptrdiff_t i = 0; i < count; i++) {
            double *x = X + (i * to_line + c->v * to_entry) * LANES;
            real old[6];
            for (ptrdiff_t k = 0; k < c->nv; k++) old[k] = READ(x, k * to_entry);
            for (ptrdiff_t k = 0; k < c->nv; k++) {
                real sum = {0};
                for (ptrdiff_t l = 0; l < c->nv; l++) sum += old[l] * INPUT(D, l * c->nv + k);
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
    D_q = NAME(fetch)(&s->step_by_q, problem, t);
    D_v = NAME(fetch)(&s->step_by_v, problem, t);
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
    const double *by_u = NAME(fetch)(&s->by_u, problem, t), *by_q = NAME(fetch)(&s->by_q, problem, t);
    const double *by_v = NAME(fetch)(&s->by_v, problem, t);
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = ROW(a->A, i);
        for (ptrdiff_t j = 0; j < nu; j++) AT(row, j) = s->h * INPUT(by_u, i * nu + j);
        for (ptrdiff_t j = 0; j < n; j++) AT(row, nu + j) = s->h * INPUT(by_q, i * n + j);
        for (ptrdiff_t j = 0; j < n; j++) AT(row, nu + n + j) = s->h * INPUT(by_v, i * n + j);
        AT(row, nu + n + i) += 1.0;
    }
}

/* The gradient of V <- gradient + V f, with the gaps f of stage t; slopes <- slopes - their terms. */
static void NAME(cross_gaps)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, double (*slope)[2])
{
    const ptrdiff_t nu = s->nu, m = a->m, ld = a->ld;
    const NAME(Product) V_f = {m - nu, a->gap, 1, 0, ROW(a->Q, nu)};
    double linear[LANES], quadratic[LANES], *to[LANES];
    const real zero = {0};
    real sums[2] = {zero, zero};
    for (int l = 0; l < LANES; l++) {
        const double *f = s->gaps.data + problem[l] * s->gaps.to_problem + t * s->gaps.to_stage;
        for (ptrdiff_t e = 0; e < m - nu; e++) a->gap[e * LANES + l] = f[e];
    }
    for (ptrdiff_t i = nu; i < m; i++)
        for (ptrdiff_t j = i + 1; j < m; j++) AT(a->Q, j * ld + i) = READ(a->Q, i * ld + j);
    NAME(set_products)(1, 1, 0, &V_f, ld, a->pull, nu, m, 0);
    for (ptrdiff_t i = nu; i < m; i++) {
        const real f = READ(a->gap, i - nu), pull = READ(a->pull, i);
        AT(a->Q, i * ld + m) += pull;
        sums[0] += f * READ(a->Q, i * ld + m);
        sums[1] += f * pull;
    }
    memcpy(linear, &sums[0], sizeof linear);
    memcpy(quadratic, &sums[1], sizeof quadratic);
    for (int l = 0; l < LANES; l++) {
        slope[l][0] -= linear[l];
        slope[l][1] -= quadratic[l];
        to[l] = s->pull + (problem[l] * s->steps + t) * (m - nu);
    }
    NAME(put)(a->pull + nu * LANES, 1, m - nu, to);
}

/* Add the derivatives of the costs at stage t, and mu, to rows first .. stop-1 of Q. */
INLINE void NAME(add_costs)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, real mu,
                            ptrdiff_t first, ptrdiff_t stop)
{
    const ptrdiff_t m = a->m, ld = a->ld, size = s->size, end = s->first + size;
    const double *g = NAME(fetch)(&s->gradient, problem, t), *d = NAME(fetch)(&s->diagonal, problem, t);
    const double *H = NAME(fetch)(&s->hessian, problem, t);
    for (ptrdiff_t i = first; i < stop; i++) {
        double *row = ROW(a->Q, i);
        AT(row, m) += INPUT(g, i);
        AT(row, i) += INPUT(d, i) + mu;
        if (i >= s->first && i < end)
            for (ptrdiff_t j = i; j < end; j++) AT(row, j) += INPUT(H, (i - s->first) * size + j - s->first);
    }
}

/* The rows u of Q <- their values at stage t, from V and its gradient at t + 1; those by the state <- without products */
INLINE void NAME(expand)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, real mu)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = a->m, ld = a->ld;
    const real zero = {0};
    NAME(pull_back)(s, a, problem, t);
    NAME(read_dynamics)(s, a, problem, t);
    const NAME(Product) Z = {n, a->W, n, 1, a->A}, Q = {n, a->A, ld, 1, a->Z};
    NAME(set_products)(n, 1, 0, &Z, ld, a->Z, 0, m, 0);
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = 0; j < n; j++) AT(a->Z, i * ld + nu + j) += READ(a->B, i * n + j);
        AT(a->Z, i * ld + m) = READ(a->g, i);
        for (ptrdiff_t j = nu + n; j < m; j++) AT(a->Q, (nu + i) * ld + j) = zero;
        for (ptrdiff_t j = nu + n + i; j <= m; j++) AT(a->Q, (nu + n + i) * ld + j) = zero;
    }
    NAME(set_products)(nu, 1, 0, &Q, ld, a->Q, 0, m + 1, 1);
    NAME(add_costs)(s, a, problem, t, mu, 0, m);
}

/* The rows of the state of Q <- V and its gradient, when those by u are factorized */
INLINE void NAME(eliminate_controls)(const Sweep *s, const NAME(Arrays) *a)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = a->m, ld = a->ld;
    const NAME(Product) of_q[3] = {
        {n, a->A + nu * LANES, ld, 1, a->Z}, {n, a->B, n, 1, a->A}, {nu, a->Q + nu * LANES, ld, 1, a->Q},
    };
    const NAME(Product) of_v[2] = {{n, a->A + (nu + n) * LANES, ld, 1, a->Z}, {nu, a->Q + (nu + n) * LANES, ld, 1, a->Q}};
    NAME(add_products)(n, 2, 1, of_q, ld, ROW(a->Q, nu), nu, m + 1, 1);     /* the last column of A is 0 */
    NAME(add_products)(n, 1, 1, of_v, ld, ROW(a->Q, nu + n), nu + n, m + 1, 1);
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

/* Rows r .. r + rows - 1 of Q <- those of [R | Y], from those of Q less the products with the rows above */
INLINE void NAME(factor_rows)(const int rows, const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t r)
{
    const ptrdiff_t ld = a->ld, end = a->m + 1;
    double *Q = ROW(a->Q, r);
    real R[NAME(ROWS)][NAME(ROWS)], inverse[NAME(ROWS)];
    EACH(i, rows) {
        real pivot = READ(ROW(Q, i), r + i);
        EACH(k, i) pivot -= R[k][i] * R[k][i];
        AT(a->inverse, r + i) = inverse[i] = NAME(invert_pivot)(pivot, problem, s->failed);
        EACH(j, rows) if (j > i) {
            R[i][j] = READ(ROW(Q, i), r + j);
            EACH(k, i) R[i][j] -= R[k][i] * R[k][j];
            R[i][j] *= inverse[i];
        }
    }
    for (ptrdiff_t c = r / SPAN * SPAN; c < end; c += SPAN) {
        wide y[NAME(ROWS)];
        EACH(i, rows) {
            y[i] = READ_WIDE(ROW(Q, i), c);
            EACH(k, i) y[i] -= R[k][i] * y[k];
            y[i] *= inverse[i];
            WIDE(ROW(Q, i), c) = y[i];
        }
    }
}

/* The rows u of Q <- [R | Y] */
INLINE void NAME(factor_controls)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem)
{
    const ptrdiff_t nu = s->nu, ld = a->ld, end = a->m + 1;
    for (ptrdiff_t r = 0; r < nu; r += NAME(ROWS)) {
        const ptrdiff_t rows = r + NAME(ROWS) < nu ? NAME(ROWS) : nu - r;
        const NAME(Product) above = {r, a->Q + r * LANES, ld, 1, a->Q};
        NAME(add_products)(rows, 0, 1, &above, ld, ROW(a->Q, r), r, end, 1);
        switch (rows) {
        case 3: NAME(factor_rows)(3, s, a, problem, r); break;
        case 2: NAME(factor_rows)(2, s, a, problem, r); break;
        default: NAME(factor_rows)(1, s, a, problem, r);
        }
    }
}

/* Rows r .. r + rows - 1 of K <- their values, from the products of R with the rows below */
INLINE void NAME(solve_rows)(const int rows, const Sweep *s, const NAME(Arrays) *a, ptrdiff_t r)
{
    const ptrdiff_t ld = a->ld, end = a->m + 1;
    double *Q = ROW(a->Q, r), *K = ROW(a->K, r);
    real R[NAME(ROWS)][NAME(ROWS)], minus[NAME(ROWS)];
    EACH(i, rows) {
        minus[i] = -READ(a->inverse, r + i);
        EACH(j, rows) if (j > i) R[i][j] = READ(ROW(Q, i), r + j);
    }
    for (ptrdiff_t c = s->nu / SPAN * SPAN; c < end; c += SPAN) {
        wide y[NAME(ROWS)];
        EACH(k, rows) {
            const int i = rows - 1 - k;
            y[i] = READ_WIDE(ROW(Q, i), c) + READ_WIDE(ROW(K, i), c);
            EACH(j, rows) if (j > i) y[i] += R[i][j] * y[j];
            y[i] *= minus[i];
            WIDE(ROW(K, i), c) = y[i];
        }
    }
}

/* K <- -R^-1 Y */
INLINE void NAME(solve_gains)(const Sweep *s, const NAME(Arrays) *a)
{
    const ptrdiff_t nu = s->nu, ld = a->ld, end = a->m + 1;
    for (ptrdiff_t stop = nu, r; stop > 0; stop = r) {
        r = stop > NAME(ROWS) ? stop - NAME(ROWS) : 0;
        const NAME(Product) below = {nu - stop, ROW(a->Q, r) + stop * LANES, 1, ld, ROW(a->K, stop)};
        NAME(set_products)(stop - r, 1, 0, &below, ld, ROW(a->K, r), nu / SPAN * SPAN, end, 0);
        switch (stop - r) {
        case 3: NAME(solve_rows)(3, s, a, r); break;
        case 2: NAME(solve_rows)(2, s, a, r); break;
        default: NAME(solve_rows)(1, s, a, r);
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
        ISA(box_slope)(nu, H, g, x, slope[l]);
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

static void NAME(sweep)(const Sweep *s, const ptrdiff_t *problem, ptrdiff_t begin, ptrdiff_t end, double *scratch)
{
    const ptrdiff_t n = s->n, nu = s->nu;
    real damping;
    double mu[LANES], fall[LANES], slope[LANES][2] = {{0.0}}, seen[LANES][2], *to[LANES];
    int limited[LANES];
    NAME(Arrays) arrays, *a = &arrays;
    const ptrdiff_t size = NAME(carve_sweep)(s, a, scratch), m = a->m, ld = a->ld;
    for (int l = 0; l < LANES; l++) mu[l] = s->regularization[problem[l]];
    memcpy(&damping, mu, sizeof damping);
    if (end == s->steps) {
        memset(scratch, 0, size * sizeof(double));
        for (int l = 0; l < LANES; l++) {
            s->failed[problem[l]] = 0;
            for (int k = 0; k < 2; k++) s->slope[2 * problem[l] + k] = 0.0;
        }
        NAME(add_costs)(s, a, problem, end, damping, nu, m);
    }
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < 2; k++) seen[l][k] = s->slope[2 * problem[l] + k];
    for (ptrdiff_t t = end - 1; t >= begin; t--) {
        if (s->gaps.data) NAME(cross_gaps)(s, a, problem, t, seen);
        NAME(expand)(s, a, problem, t, damping);
        if (s->u.data) memcpy(a->S, a->Q, nu * ld * LANES * sizeof(double));
        NAME(factor_controls)(s, a, problem);
        NAME(solve_gains)(s, a);
        const int any = s->u.data && NAME(limit_controls)(s, a, problem, t, limited, slope, a->change);
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
                    if (a->change[r * LANES + l] != 0.0) a->K[(r * ld + m) * LANES + l] = a->change[r * LANES + l];
        }
        NAME(eliminate_controls)(s, a);
        for (ptrdiff_t r = 0; r < nu; r++) {
            for (int l = 0; l < LANES; l++) to[l] = s->gains + ((problem[l] * s->steps + t) * nu + r) * 2 * n;
            NAME(put)(ROW(a->K, r) + nu * LANES, 1, 2 * n, to);
        }
        for (int l = 0; l < LANES; l++) to[l] = s->feedforward + (problem[l] * s->steps + t) * nu;
        NAME(put)(a->K + m * LANES, ld, nu, to);
    }
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < 2; k++) s->slope[2 * problem[l] + k] = seen[l][k];
}
