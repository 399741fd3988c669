/* Kernels on dense fronts (Duff & Reid 1983); see FrontKernels in kernels.h. Included once for every instruction
 * set, after registers.h.
 *
 * A front is a dense symmetric matrix of `size` rows, `stride` doubles apart; only its upper triangle counts:
 *
 *        width     size - width   padding
 *      [ pivots  |  coupled rows |  0  ]      width of elimination
 *      [         |  Schur compl. |  0  ]      added to the front above by extend_add
 *
 * Rows are padded to full registers. Padding and entries left of the diagonal never contribute to a result; in
 * the rows of pivots, the entries left of the diagonal become zeros as far as registers reach.
 *
 * The triangle of L of PANEL pivots is inverted: a solve has no chain of operations that wait for each other, and
 * takes 0.35 to 0.55 times as long for fronts of 3 to 81 pivots. */

#if REGISTER == 64
typedef double wide __attribute__((vector_size(16 * WIDTH), may_alias, aligned(8 * WIDTH)));
#endif

/* Compute y[0..n) += a x[0..n). */
INLINE void add_multiple(ptrdiff_t n, double a, const double *restrict x, double *restrict y) {
    for (ptrdiff_t c = 0; c < n; c++) y[c] += a * x[c];
}

/* Subtract pivots first .. stop - 1 from C rows below them; registers hold sums over these pivots of the plain loop
 *     for i, j, k: F(i, j) -= F(k, i) / F(k, k) F(k, j) */
#define REDUCE_COLUMNS(T, j) do { \
    T sum[4]; \
    UNROLL for (int r = 0; r < C; r++) sum[r] = AS(T, F + (i + r) * stride + j); \
    for (ptrdiff_t k = first; k < stop; k++) { \
        const T Fkj = inverse[k] * READ_AS(T, F + k * stride + j); \
        UNROLL for (int r = 0; r < C; r++) sum[r] -= F[k * stride + i + r] * Fkj; \
    } \
    UNROLL for (int r = 0; r < C; r++) AS(T, F + (i + r) * stride + j) = sum[r]; \
} while (0)

INLINE void reduce_rows(int C, ptrdiff_t i, ptrdiff_t first, ptrdiff_t stop, ptrdiff_t stride, double *F,
                        const double *inverse) {
    ptrdiff_t j = i / WIDTH * WIDTH;
#if REGISTER == 64
    for (; j + 2 * WIDTH <= stride; j += 2 * WIDTH) REDUCE_COLUMNS(wide, j);
#endif
    for (; j < stride; j += WIDTH) REDUCE_COLUMNS(vec, j);
}

/* Turn the rows of pivots first .. stop - 1 from D L^T into rows of the inverse, less the identity: with the rows
 * U = [U11 U12] of L^T, N = [U11^-1 - 1, -U11^-1 U12]. The plain loop, from the last row:
 *     for k, j: N(k, j) = -U(k, j);  for i in k + 1 .. stop - 1, j: N(k, j) -= U(k, i) N(i, j) */
INLINE void invert_panel(ptrdiff_t first, ptrdiff_t stop, ptrdiff_t stride, double *F, const double *inverse) {
    for (ptrdiff_t k = stop - 1; k >= first; k--) {
        double *Fk = F + k * stride, U[PANEL];
        for (ptrdiff_t i = k + 1; i < stop; i++) U[i - first] = Fk[i] * inverse[k];
        const ptrdiff_t own = k / WIDTH * WIDTH;
        for (ptrdiff_t j = own; j < stride; j += WIDTH) {
            const ptrdiff_t rows = j + WIDTH < stop ? j + WIDTH : stop;  /* the others are 0 here */
            vec sum = inverse[k] * READ_AS(vec, Fk + j);
            for (ptrdiff_t i = k + 1; i < rows; i++) sum += U[i - first] * READ_AS(vec, F + i * stride + j);
            if (j == own) sum -= keep(sum, k + 1 - own);
            AS(vec, Fk + j) = -sum;
        }
    }
}

/* Eliminate pivots first .. stop - 1 among themselves; return the first whose reciprocal is of no use, or -1. */
INLINE ptrdiff_t eliminate_panel(ptrdiff_t first, ptrdiff_t stop, ptrdiff_t stride, double *F, double *inverse,
                                 int definite) {
    for (ptrdiff_t k = first; k < stop; k++) {
        const double *Fk = F + k * stride;
        inverse[k] = 1 / Fk[k];
        const double size = definite ? inverse[k] : fabs(inverse[k]);
        if (!(0 < size && size <= DBL_MAX)) return k;
        for (ptrdiff_t i = k + 1; i < stop; i++) {
            const double a = Fk[i] * inverse[k];
            double *Fi = F + i * stride;
            for (ptrdiff_t j = i / WIDTH * WIDTH; j < stride; j += WIDTH) AS(vec, Fi + j) -= a * READ_AS(vec, Fk + j);
        }
    }
    return -1;
}

/* Eliminate the pivots: their rows become N, `inverse` 1 / D, the rest the Schur complement. */
INLINE ptrdiff_t eliminate_pivots(const Front *f, double *F, double *inverse, int definite) {
    const ptrdiff_t stride = f->stride;
    for (ptrdiff_t first = 0; first < f->width; first += PANEL) {
        const ptrdiff_t stop = first + PANEL < f->width ? first + PANEL : f->width;
        const ptrdiff_t failed = eliminate_panel(first, stop, stride, F, inverse, definite);
        if (failed >= 0) return failed;
        ptrdiff_t i = stop;
        for (; i + 4 <= f->size; i += 4) reduce_rows(4, i, first, stop, stride, F, inverse);
        for (; i < f->size; i++) reduce_rows(1, i, first, stop, stride, F, inverse);
        invert_panel(first, stop, stride, F, inverse);
    }
    return -1;
}

static ptrdiff_t fronts_eliminate(const Front *f, double *F, double *inverse) {
    return eliminate_pivots(f, F, inverse, 1);
}

static ptrdiff_t fronts_eliminate_indefinite(const Front *f, double *F, double *inverse) {
    return eliminate_pivots(f, F, inverse, 0);
}

/* Add four rows of U from their diagonal on, F(at[a], at[b]) += U(a, b): each place is read once for all of them. */
INLINE void add_four_rows(ptrdiff_t size, ptrdiff_t a, ptrdiff_t stride, const double *U, const ptrdiff_t *at,
                          ptrdiff_t above, double *F) {
    const double *from = U + a * stride;
    double *to[4];
    UNROLL for (int r = 0; r < 4; r++) {
        to[r] = F + at[a + r] * above;
        for (ptrdiff_t b = a + r; b < a + 4; b++) to[r][at[b]] += from[r * stride + b];
    }
    for (ptrdiff_t b = a + 4; b < size; b++) {
        const ptrdiff_t place = at[b];
        UNROLL for (int r = 0; r < 4; r++) to[r][place] += from[r * stride + b];
    }
}

/* Add the Schur complement U of f to the front above, F(at[a], at[b]) += U(a, b); rows whose places are
 * consecutive are added as vectors. */
static void fronts_extend_add(const Front *f, const double *U, const ptrdiff_t *at, const Front *above, double *F) {
    const ptrdiff_t size = f->size, last = at[size - 1] - (size - 1);
    ptrdiff_t a = f->width;
    for (; a + 4 <= size && at[a] - a != last; a += 4) add_four_rows(size, a, f->stride, U, at, above->stride, F);
    for (; a < size; a++) {
        const double *from = U + a * f->stride;
        double *to = F + at[a] * above->stride;
        if (at[a] - a == last) add_multiple(size - a, 1, from + a, to + at[a]);
        else for (ptrdiff_t b = a; b < size; b++) to[at[b]] += from[b];
    }
}

/* Compute F(at[a], at[b]) += weight z[a] z[b] in the upper triangle. */
static void fronts_rank_one_update(const Front *f, double *F, ptrdiff_t count, const ptrdiff_t *at,
                                   const double *z, double weight) {
    for (ptrdiff_t a = 0; a < count; a++) {
        double *row = F + at[a] * f->stride;
        const double scaled = weight * z[a];
        if (at[count - 1] - at[a] == count - 1 - a) {
            add_multiple(count - a, scaled, z + a, row + at[a]);
            continue;
        }
        for (ptrdiff_t b = a; b < count; b++) row[at[b]] += scaled * z[b];
    }
}

/* Gather WIDTH entries of x, zeros behind the first m. */
INLINE vec gather(ptrdiff_t m, const ptrdiff_t *at, const double *x) {
    vec y = {0};
#if WIDTH == 4
    if (m >= 4) return (vec){x[at[0]], x[at[1]], x[at[2]], x[at[3]]};
    if (m == 3) return (vec){x[at[0]], x[at[1]], x[at[2]], 0};
#endif
    y[0] = x[at[0]];
    if (m >= 2) y[1] = x[at[1]];
    return y;
}

/* Compute x = D^-1 L^-1 x for `width` pivots, and what they change in the other of `size` entries:
 *     for j, k: x(at[j]) += N(k, j) x(at[k]) */
INLINE void solve_down(ptrdiff_t width, ptrdiff_t size, ptrdiff_t stride, const ptrdiff_t *at, const double *N,
                       const double *inverse, double *x) {
    double pivot[PANEL];
    for (ptrdiff_t k = 0; k < width; k++) pivot[k] = x[at[k]];
    for (ptrdiff_t j = 0; j < size; j += WIDTH) {
        const ptrdiff_t rows = j + WIDTH < width ? j + WIDTH : width;
        vec sum = gather(size - j, at + j, x);
        for (ptrdiff_t k = 0; k < rows; k++) sum += pivot[k] * READ_AS(vec, N + k * stride + j);
        UNROLL for (int c = 0; c < WIDTH; c++)
            if (j + c < size) x[at[j + c]] = j + c < width ? sum[c] * inverse[j + c] : sum[c];
    }
}

/* Compute x = L^-T x for `width` pivots:  for k, j: x(at[k]) += N(k, j) x(at[j]) */
INLINE void solve_up(ptrdiff_t width, ptrdiff_t size, ptrdiff_t stride, const ptrdiff_t *at, const double *N, double *x) {
    vec sum[PANEL] = {{0}};
    for (ptrdiff_t j = 0; j < size; j += WIDTH) {
        const ptrdiff_t rows = j + WIDTH < width ? j + WIDTH : width;
        const vec y = gather(size - j, at + j, x);
        for (ptrdiff_t k = 0; k < rows; k++) sum[k] += READ_AS(vec, N + k * stride + j) * y;
    }
    for (ptrdiff_t k = 0; k < width; k++) x[at[k]] += sum_of(sum[k]);
}

/* Compute x = S^-1 x, S the matrix of all fronts. */
static void fronts_solve(ptrdiff_t count, const Front *front, const ptrdiff_t *index, const double *values,
                         const double *inverse, double *x) {
    for (const Front *f = front; f < front + count; f++) {
        const ptrdiff_t *at = index + f->index;
        if (f->size == 1) x[*at] *= inverse[f->first];
        else for (ptrdiff_t k = 0; k < f->width; k += PANEL)
            solve_down(f->width - k < PANEL ? f->width - k : PANEL, f->size - k, f->stride, at + k,
                       values + f->at + k * f->stride + k, inverse + f->first + k, x);
    }
    for (const Front *f = front + count - 1; f >= front; f--) {
        if (f->size == 1) continue;
        for (ptrdiff_t k = (f->width - 1) / PANEL * PANEL; k >= 0; k -= PANEL)
            solve_up(f->width - k < PANEL ? f->width - k : PANEL, f->size - k, f->stride, index + f->index + k,
                     values + f->at + k * f->stride + k, x);
    }
}

/* Sum first and second derivatives of the penalty along a line search, per row
 *     s = delta impulse - gap - t slope, slope = other - gap,  slope clip(s, 0, delta upper) and, where s is
 *     not clipped, slope^2. Masks replace the two branches. */
static void fronts_line_search_sums(ptrdiff_t m, const double *gap, const double *other, const double *impulse,
                                    const double *upper, double delta, double t, double *sums) {
    typedef long long mask __attribute__((vector_size(8 * WIDTH), may_alias));
    vec force = {0}, bend = {0};
    for (ptrdiff_t i = 0; i < m; i += WIDTH) {
        const vec from = READ_AS(loose, gap + i), cap = delta * READ_AS(loose, upper + i);
        const vec slope = READ_AS(loose, other + i) - from;
        const vec s = delta * READ_AS(loose, impulse + i) - from - t * slope;
        const mask above = s > 0, below = s <= cap;
        const vec held = (vec)(above & ((below & (mask)s) | (~below & (mask)cap)));
        force += slope * held;
        bend += (vec)(above & below & (mask)(slope * slope));
    }
    sums[0] = sum_of(force);
    sums[1] = sum_of(bend);
}

static const FrontKernels fronts = {fronts_eliminate, fronts_extend_add, fronts_rank_one_update, fronts_solve,
                                    fronts_line_search_sums, fronts_eliminate_indefinite};
