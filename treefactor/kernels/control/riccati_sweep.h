/* The sweep from the end to the start; riccati_products.h stands before it. States are ordered (v, q) here, so that
 *
 *     Q = Hessian of costs + [W_qq in qq] + A^T Z + [0; 0; W_qv A],   Z = W_vv A + [0 | 0 | W_vq]
 *
 * needs W_qv A in its block qq only. Controls are eliminated without roots, whose latency no other work hides:
 *
 *     Q_uu + mu I = U^T D U,   [D U | Y] = U^-T [Q_uu + mu I | Q_ux | Q_u],   K = -U^-1 D^-1 Y,   V = Q_xx - Y^T D^-1 Y + mu I
 *
 * One array Q of m rows holds Q and V, upper triangles, with the gradient as last column. */

/* Arrays of one sweep, whose rows have ld entries. The rows of Z, A and E follow each other. */
typedef struct {
    ptrdiff_t m, ld;
    double *Q;
    double *Z, *A, *E;               /* E = [0 | 0 | W_vq | gradient by dv'] */
    double *K;                       /* -D^-1 [D U | Y], then the gains */
    double *W;                       /* W_vv, n x n */
    double *P;                       /* [D_v^T V_qq | D_v^T g_q], n rows of wide columns, where rotations are curved */
    double *minus;                   /* minus the inverse pivots, nu */
    double *S, *tried, *held, *change;   /* where there are limits: rows u of Q before they are factorized; steps without
                                      * limits in the last column; gradient by the state and changes of controls at limits */
    double *gap, *pull;              /* gaps f, and V f from column nu on, where there are some */
    double *one;                     /* of one problem within limits */
} NAME(Arrays);

/* Columns of P */
static ptrdiff_t NAME(turned_columns)(const Sweep *s)
{
    return (s->n + SPAN) / SPAN * SPAN;
}

static ptrdiff_t NAME(carve_sweep)(const Sweep *s, NAME(Arrays) *a, double *scratch)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = nu + 2 * n;
    double *next = scratch;
    a->m = m;
    a->ld = (m + SPAN) / SPAN * SPAN;
#define TAKE(x, count) (x) = next, next += ((count) * LANES + 7) / 8 * 8
    TAKE(a->Q, m * a->ld);
    TAKE(a->Z, 3 * n * a->ld);
    a->A = a->Z + n * a->ld * LANES;
    a->E = a->A + n * a->ld * LANES;
    TAKE(a->K, nu * a->ld);
    TAKE(a->W, n * n);
    TAKE(a->P, s->curved_count ? n * NAME(turned_columns)(s) : 0);
    TAKE(a->minus, nu);
    TAKE(a->S, s->u.data ? nu * a->ld : 0);
    TAKE(a->tried, s->u.data ? nu * a->ld : 0);
    TAKE(a->held, s->u.data ? m - nu : 0);
    TAKE(a->change, s->u.data ? nu : 0);
    TAKE(a->gap, s->gaps.data ? m - nu : 0);
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

/* X <- D^T X, `size` rows of `count` columns; those of the last SPAN are all turned */
INLINE void NAME(turn_rows)(const int size, ptrdiff_t count, const double *D, double *X, ptrdiff_t ld)
{
    for (ptrdiff_t c = 0; c < count; c += SPAN) {
        wide old[6];
        EACH(l, size) old[l] = READ_WIDE(ROW(X, l), c);
        EACH(k, size) {
            wide sum = INPUT(D, k) * old[0];
            for (int l = 1; l < size; l++) sum += INPUT(D, l * size + k) * old[l];
            WIDE(ROW(X, k), c) = sum;
        }
    }
}

/* X <- X D, `count` rows of `size` columns */
INLINE void NAME(turn_columns)(const int size, ptrdiff_t count, const double *D, double *X, ptrdiff_t ld)
{
    enum { SPANS = (6 + SPAN - 1) / SPAN };
    const int spans = (size + SPAN - 1) / SPAN;
    wide d[6][SPANS];
    memset(d, 0, sizeof d);
    EACH(l, size) EACH(k, size) AT((double *)d[l], k) = INPUT(D, l * size + k);
    for (ptrdiff_t i = 0; i < count; i++, X += ld * LANES) {
        wide sum[SPANS];
        EACH(j, spans) sum[j] = READ(X, 0) * d[0][j];
        for (int l = 1; l < size; l++) EACH(j, spans) sum[j] += READ(X, l) * d[l][j];
        memcpy(X, sum, size * LANES * sizeof(double));
    }
}

/* X <- D^T X and X <- X D, for coordinates of rotations in the plane, of rotations, and in space */
static void NAME(turn_some_rows)(ptrdiff_t size, ptrdiff_t count, const double *D, double *X, ptrdiff_t ld)
{
    if (size == 6) NAME(turn_rows)(6, count, D, X, ld);
    else NAME(turn_rows)(3, count, D, X, ld);
}

static void NAME(turn_some_columns)(ptrdiff_t size, ptrdiff_t count, const double *D, double *X, ptrdiff_t ld)
{
    if (size == 6) NAME(turn_columns)(6, count, D, X, ld);
    else NAME(turn_columns)(3, count, D, X, ld);
}

/* E, W <- [0 | 0 | W_vq | gradient by dv'] and W_vv; the block qq of Q <- W_qq, its last column D_q^T g_q: V is lost.
 *
 *     F = h D_v^T V_qq + V_vq,   W_vq = F D_q,   W_vv = h (F D_v + (V_vq D_v)^T) + V_vv,   W_qq = D_q^T V_qq D_q */
INLINE void NAME(pull_back)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t)
{
    const ptrdiff_t n = s->n, nu = s->nu, ld = a->ld, of_P = NAME(turned_columns)(s);
    const double h = s->h;
    double *V_v = ROW(a->Q, nu) + nu * LANES, *V_vq = V_v + n * LANES, *g_v = V_vq + n * LANES;
    double *V_q = ROW(a->Q, nu + n) + (nu + n) * LANES, *g_q = V_q + n * LANES, *E = a->E + (nu + n) * LANES;
    const double *F_D = E;           /* F D_v */
    ptrdiff_t of_F = ld;
    if (!s->curved_count) {
        for (ptrdiff_t i = 0; i < n; i++) {
            for (ptrdiff_t j = 0; j < i; j++) AT(E, i * ld + j) = h * READ(V_q, j * ld + i) + READ(V_vq, i * ld + j);
            for (ptrdiff_t j = i; j < n; j++) AT(E, i * ld + j) = h * READ(V_q, i * ld + j) + READ(V_vq, i * ld + j);
            AT(E, i * ld + n) = h * READ(g_q, i * ld) + READ(g_v, i * ld);
        }
    } else {
        const double *D_q = NAME(fetch)(&s->step_by_q, problem, t), *D_v = NAME(fetch)(&s->step_by_v, problem, t);
        const Coordinates *const stop = s->curved + s->curved_count;
        const double *D = D_v;
        for (ptrdiff_t i = 0; i < n; i++) {
            for (ptrdiff_t j = 0; j < i; j++) AT(a->P, i * of_P + j) = READ(V_q, j * ld + i);
            for (ptrdiff_t j = i; j <= n; j++) AT(a->P, i * of_P + j) = READ(V_q, i * ld + j);
        }
        for (const Coordinates *c = s->curved; c < stop; D += c->nv * c->nv * STRIDE, c++)
            NAME(turn_some_rows)(c->nv, n + 1, D, a->P + c->v * of_P * LANES, of_P);
        for (ptrdiff_t i = 0; i < n; i++) {
            for (ptrdiff_t j = 0; j < n; j++) {
                const real x = h * READ(a->P, i * of_P + j) + READ(V_vq, i * ld + j);
                AT(a->P, i * of_P + j) = x;
                AT(E, i * ld + j) = x;
            }
            AT(E, i * ld + n) = h * READ(a->P, i * of_P + n) + READ(g_v, i * ld);
        }
        D = D_v;
        for (const Coordinates *c = s->curved; c < stop; D += c->nv * c->nv * STRIDE, c++) {
            NAME(turn_some_columns)(c->nv, n, D, a->P + c->v * LANES, of_P);
            NAME(turn_some_columns)(c->nv, n, D, V_vq + c->v * LANES, ld);
        }
        D = D_q;
        for (const Coordinates *c = s->curved; c < stop; D += c->nv * c->nv * STRIDE, c++) {
            const ptrdiff_t column = (nu + n + c->v) / SPAN * SPAN;
            double *rows = V_q + c->v * ld * LANES;
            NAME(turn_some_columns)(c->nv, n, D, E + c->v * LANES, ld);
            for (ptrdiff_t i = c->v; i < c->v + c->nv; i++)
                for (ptrdiff_t j = i + 1; j < c->v + c->nv; j++) AT(V_q, j * ld + i) = READ(V_q, i * ld + j);
            NAME(turn_some_rows)(c->nv, a->m + 1 - column, D, ROW(a->Q, nu + n + c->v) + column * LANES, ld);
            NAME(turn_some_columns)(c->nv, c->v + c->nv, D, V_q + c->v * LANES, ld);
            (void)rows;
        }
        F_D = a->P;
        of_F = of_P;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = i; j < n; j++) {
            const real x = READ(V_v, i * ld + j) + h * (READ(F_D, i * of_F + j) + READ(V_vq, j * ld + i));
            AT(a->W, i * n + j) = x;
            AT(a->W, j * n + i) = x;
        }
}

/* A <- [h a_u | I + h a_v | h a_q] */
INLINE void NAME(read_dynamics)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t)
{
    const ptrdiff_t n = s->n, nu = s->nu, ld = a->ld;
    const double *by_u = NAME(fetch)(&s->by_u, problem, t), *by_q = NAME(fetch)(&s->by_q, problem, t);
    const double *by_v = NAME(fetch)(&s->by_v, problem, t);
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = ROW(a->A, i);
        NAME(scale)(nu, s->h, by_u + i * nu * STRIDE, row);
        NAME(scale)(n, s->h, by_v + i * n * STRIDE, row + nu * LANES);
        NAME(scale)(n, s->h, by_q + i * n * STRIDE, row + (nu + n) * LANES);
        AT(row, nu + i) += 1.0;
    }
}

/* The gradient of V <- gradient + V f, with the gaps f of stage t; slopes <- slopes - their terms. */
static void NAME(cross_gaps)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, double (*slope)[2])
{
    const ptrdiff_t n = s->n, nu = s->nu, m = a->m, ld = a->ld;
    const NAME(Product) V_f = {m - nu, a->gap, 1, 0, ROW(a->Q, nu), ld};
    double linear[LANES], quadratic[LANES], *to[LANES];
    const real zero = {0};
    real sums[2] = {zero, zero};
    for (int l = 0; l < LANES; l++) {
        const double *f = s->gaps.data + problem[l] * s->gaps.to_problem + t * s->gaps.to_stage;
        for (ptrdiff_t e = 0; e < m - nu; e++) a->gap[e * LANES + l] = f[e < n ? e + n : e - n];
    }
    for (ptrdiff_t i = nu; i < m; i++)
        for (ptrdiff_t j = i + 1; j < m; j++) AT(a->Q, j * ld + i) = READ(a->Q, i * ld + j);
    NAME(set_products)(1, 1, &V_f, ld, NULL, a->pull, nu, m, 0);
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
    NAME(put)(a->pull + nu * LANES, 1, m - nu, 0, n, to);
}

/* Add the derivatives of the costs at stage t, and mu, to the rows of Q of the controls, or of the state. */
INLINE void NAME(add_costs)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, real mu, int of_state)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = a->m, ld = a->ld, size = s->size, first = s->first;
    const double *g = NAME(fetch)(&s->gradient, problem, t), *d = NAME(fetch)(&s->diagonal, problem, t);
    const double *H = NAME(fetch)(&s->hessian, problem, t);
    if (!of_state) {
        for (ptrdiff_t i = 0; i < nu; i++) {
            AT(a->Q, i * ld + m) += INPUT(g, i);
            AT(a->Q, i * ld + i) += INPUT(d, i) + mu;
        }
        if (first) return;
        for (ptrdiff_t i = 0; i < nu; i++) {
            const double *own = H + i * size * STRIDE;
            double *row = ROW(a->Q, i);
            NAME(add)(nu - i, own + i * STRIDE, row + i * LANES);
            NAME(add)(n, own + nu * STRIDE, row + (nu + n) * LANES);
            NAME(add)(n, own + (nu + n) * STRIDE, row + nu * LANES);
        }
        return;
    }
    double *of_v = ROW(a->Q, nu) + nu * LANES, *of_q = ROW(a->Q, nu + n) + (nu + n) * LANES;
    for (ptrdiff_t i = 0; i < n; i++) {
        AT(of_q, i * ld + n) += INPUT(g, nu + i);
        AT(of_v, i * ld + 2 * n) += INPUT(g, nu + n + i);
        AT(of_q, i * ld + i) += INPUT(d, nu + i) + mu;
        AT(of_v, i * ld + i) += INPUT(d, nu + n + i) + mu;
    }
    H += (nu - first) * (size + 1) * STRIDE;
    for (ptrdiff_t i = 0; i < n; i++) NAME(add)(n - i, H + (i * size + i) * STRIDE, of_q + (i * ld + i) * LANES);
    if (first + size == nu + n) return;
    for (ptrdiff_t i = 0; i < n; i++) {
        NAME(add)(n - i, H + ((n + i) * size + n + i) * STRIDE, of_v + (i * ld + i) * LANES);
        for (ptrdiff_t j = 0; j < n; j++) AT(of_v, i * ld + n + j) += INPUT(H, j * size + n + i);
    }
}

/* The rows u of Q <- their values at stage t, the block qq those without products, from V and its gradient at t + 1 */
INLINE void NAME(expand)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, real mu)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = a->m, ld = a->ld, by_q = (nu + n) / SPAN * SPAN;
    const NAME(Product) Z = {n, a->W, n, 1, a->A, ld}, Q = {n, a->A, ld, 1, a->Z, ld};
    NAME(read_dynamics)(s, a, problem, t);
    NAME(pull_back)(s, a, problem, t);
    NAME(set_products)(n, 1, &Z, ld, NULL, a->Z, 0, by_q, 0);
    NAME(add_products)(n, 1, &Z, ld, a->E, a->Z, by_q, m + 1, 0);   /* the last column of A is 0 */
    NAME(set_products)(nu, 1, &Q, ld, NULL, a->Q, 0, m + 1, 1);
    NAME(add_costs)(s, a, problem, t, mu, 0);
}

/* The rows of the state of Q <- V and its gradient without costs, when those by u are factorized */
INLINE void NAME(eliminate_controls)(const Sweep *s, const NAME(Arrays) *a)
{
    const ptrdiff_t n = s->n, nu = s->nu, m = a->m, ld = a->ld;
    const double *A_v = a->A + nu * LANES, *A_q = A_v + n * LANES, *K_v = a->K + nu * LANES, *K_q = K_v + n * LANES;
    double *V_v = ROW(a->Q, nu), *V_q = ROW(a->Q, nu + n);
    const NAME(Product) of_v[2] = {{n, A_v, ld, 1, a->Z, ld}, {nu, K_v, ld, 1, a->Q, ld}};
    const NAME(Product) of_q[2] = {{2 * n, A_q, ld, 1, a->Z, ld}, {nu, K_q, ld, 1, a->Q, ld}};  /* [A; E]^T [Z; A] */
    NAME(set_products)(n, 2, of_v, ld, NULL, V_v, nu, m + 1, 1);
    NAME(add_products)(n, 2, of_q, ld, V_q, V_q, nu + n, m + 1, 1);
}

/* Return minus the inverse of a pivot: -1 in problems where it is not positive, which are noted. */
INLINE real NAME(invert_pivot)(real d, const ptrdiff_t *problem, int8_t *failed)
{
#if LANES == 1
    if (d > 0.0 && d < INFINITY) return -1.0 / d;
    failed[problem[0]] = 1;
    return -1.0;
#else
    typedef long long mask __attribute__((vector_size(REGISTER)));
    const real one = (real){0} + 1.0;
    const mask good = (mask)(d > 0.0) & (mask)(d < INFINITY), bad = ~good;
    d = (real)(((mask)d & good) | ((mask)one & ~good));
    if (ANY_LANE(bad)) EACH(l, LANES) if (bad[l]) failed[problem[l]] = 1;
    return -1.0 / d;
#endif
}

/* Rows r .. r + rows - 1 of Q <- those of [D U | Y], from those of Q; K <- -D^-1 times them */
INLINE void NAME(factor_rows)(const int rows, const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t r)
{
    const ptrdiff_t ld = a->ld;
    const NAME(Product) above = {r, a->K, ld, 1, a->Q, ld};
    NAME(Target) to = {.from = a->Q, .to = a->Q, .scaled = a->K};
    real R[NAME(ROWS)][NAME(ROWS)];
    EACH(i, rows) EACH(j, rows) if (j >= i) R[i][j] = READ(ROW(a->Q, r + i), r + j);
    for (ptrdiff_t k = 0; k < r; k++)
        EACH(i, rows) {
            const real u = READ(ROW(a->K, k), r + i);
            EACH(j, rows) if (j >= i) R[i][j] += u * READ(ROW(a->Q, k), r + j);
        }
    EACH(i, rows) {
        const real minus = NAME(invert_pivot)(R[i][i], problem, s->failed);
        EACH(k, rows) if (k > i) {
            const real u = minus * R[i][k];
            EACH(j, rows) if (j >= k) R[k][j] += u * R[i][j];
        }
        AT(a->minus, r + i) = to.minus[i] = minus;
        EACH(j, rows) if (j > i) to.R[i][j] = R[i][j];
    }
    NAME(row_of_tiles)(FACTORED, rows, 1, &above, ld, r, r / SPAN * SPAN, a->m + 1, &to);
}

/* The rows u of Q <- [D U | Y], and K <- -D^-1 times them */
INLINE void NAME(factor_controls)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem)
{
#define HEIGHT(h) case h: NAME(factor_rows)(h, s, a, problem, r); break
    for (ptrdiff_t r = 0, high; r < s->nu; r += high) {
        high = NAME(part)(s->nu - r, NAME(ROWS));
        switch (high) { EACH_HEIGHT(HEIGHT); }
    }
#undef HEIGHT
}

/* Rows r .. r + rows - 1 of K <- their values, from the rows below */
INLINE void NAME(solve_rows)(const int rows, const Sweep *s, const NAME(Arrays) *a, ptrdiff_t r, ptrdiff_t from, double *K)
{
    const ptrdiff_t ld = a->ld, last = s->nu - 1;
    const NAME(Product) below = {last + 1 - r - rows, a->Q + last * LANES, -1, ld, ROW(K, last), -ld};
    NAME(Target) to = {.from = a->Q, .to = K};
    EACH(i, rows) {
        to.minus[i] = READ(a->minus, r + i);
        EACH(j, rows) if (j > i) to.R[i][j] = READ(ROW(a->Q, r + i), r + j);
    }
    NAME(row_of_tiles)(SOLVED, rows, 1, &below, ld, r, from / SPAN * SPAN, a->m + 1, &to);
}

/* K <- -U^-1 D^-1 Y, from column `from` on */
INLINE void NAME(solve_gains)(const Sweep *s, const NAME(Arrays) *a, ptrdiff_t from, double *K)
{
#define HEIGHT(h) case h: NAME(solve_rows)(h, s, a, stop - h, from, K); break
    for (ptrdiff_t stop = s->nu, high; stop > 0; stop -= high) {
        high = NAME(part)(stop, NAME(ROWS));
        switch (high) { EACH_HEIGHT(HEIGHT); }
    }
#undef HEIGHT
}

/* Where the step of a problem exceeds limits, find the best one within them: S <- that of the problem without the controls
 * that are at a limit, whose changes are in `change`, 0 of the others; `held` is what they add to the gradient by the
 * state; slope <- the expected fall. Returns whether there is such a problem. */
static int NAME(limit_controls)(const Sweep *s, const NAME(Arrays) *a, const ptrdiff_t *problem, ptrdiff_t t, int *limited,
                                double (*slope)[2])
{
    const ptrdiff_t nu = s->nu, m = a->m, ld = a->ld;
    double *H = a->one, *g = H + nu * nu, *lower = g + nu, *upper = lower + nu, *x = upper + nu, *work = x + nu;
    int *free = (int *)(work + nu * nu + 4 * nu), any = 0;
    memset(a->held, 0, (m - nu) * LANES * sizeof(double));
    for (int l = 0; l < LANES; l++) {
        const double *u = s->u.data + problem[l] * s->u.to_problem + t * s->u.to_stage;
        limited[l] = 0;
        for (ptrdiff_t i = 0; i < nu; i++) {
            lower[i] = s->lower[i] - u[i];
            upper[i] = s->upper[i] - u[i];
            x[i] = a->tried[(i * ld + m) * LANES + l];
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
            a->change[i * LANES + l] = free[i] ? 0.0 : x[i];
            if (!free[i]) {
                for (ptrdiff_t c = nu; c < m; c++) {
                    a->held[(c - nu) * LANES + l] += row[c * LANES] * x[i];
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
        NAME(add_costs)(s, a, problem, end, damping, 1);
    }
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < 2; k++) seen[l][k] = s->slope[2 * problem[l] + k];
    for (ptrdiff_t t = end - 1; t >= begin; t--) {
        int any = 0;
        if (s->gaps.data) NAME(cross_gaps)(s, a, problem, t, seen);
        NAME(expand)(s, a, problem, t, damping);
        if (s->u.data) memcpy(a->S, a->Q, nu * ld * LANES * sizeof(double));
        NAME(factor_controls)(s, a, problem);
        if (s->u.data) {
            NAME(solve_gains)(s, a, m, a->tried);
            any = NAME(limit_controls)(s, a, problem, t, limited, slope);
        }
        if (any) {
            memcpy(a->Q, a->S, nu * ld * LANES * sizeof(double));
            NAME(factor_controls)(s, a, problem);
        }
        real falls = {0};
        for (ptrdiff_t r = 0; r < nu; r++) falls -= READ(a->Q, r * ld + m) * READ(a->K, r * ld + m);
        memcpy(fall, &falls, sizeof falls);
        NAME(eliminate_controls)(s, a);
        if (any)
            for (ptrdiff_t c = nu; c < m; c++) AT(a->Q, c * ld + m) += READ(a->held, c - nu);
        NAME(solve_gains)(s, a, nu, a->K);
        for (int l = 0; l < LANES; l++) {
            const int own = any && limited[l];
            for (int k = 0; k < 2; k++) seen[l][k] += own ? slope[l][k] : fall[l];
            if (own)
                for (ptrdiff_t r = 0; r < nu; r++)
                    if (a->change[r * LANES + l] != 0.0) a->K[(r * ld + m) * LANES + l] = a->change[r * LANES + l];
        }
        for (int l = 0; l < LANES; l++) to[l] = s->gains + (problem[l] * s->steps + t) * nu * 2 * n;
        NAME(put)(a->K + nu * LANES, nu, 2 * n, ld, n, to);
        for (int l = 0; l < LANES; l++) to[l] = s->feedforward + (problem[l] * s->steps + t) * nu;
        NAME(put)(a->K + m * LANES, nu, 1, ld, 0, to);
        NAME(add_costs)(s, a, problem, t, damping, 1);
    }
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < 2; k++) s->slope[2 * problem[l] + k] = seen[l][k];
}
