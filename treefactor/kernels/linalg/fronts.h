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
 * the rows of pivots, the entries left of the diagonal become zeros as far as registers reach. */

/* Compute y[0..n) += a x[0..n). */
INLINE void add_multiple(ptrdiff_t n, double a, const double *restrict x, double *restrict y) {
    for (ptrdiff_t c = 0; c < n; c++) y[c] += a * x[c];
}

/* Compute C rows of the Schur complement; registers hold sums over all pivots of the plain loop
 *     for i, j, k: F(i, j) -= F(k, i) / F(k, k) F(k, j) */
INLINE void reduce_rows(int C, ptrdiff_t i, ptrdiff_t width, ptrdiff_t stride, double *F, const double *inverse) {
    for (ptrdiff_t j = i / WIDTH * WIDTH; j < stride; j += WIDTH) {
        vec sum[4];
        UNROLL for (int r = 0; r < C; r++) sum[r] = AS(vec, F + (i + r) * stride + j);
        for (ptrdiff_t k = 0; k < width; k++) {
            const vec Fkj = inverse[k] * READ_AS(vec, F + k * stride + j);
            UNROLL for (int r = 0; r < C; r++) sum[r] -= F[k * stride + i + r] * Fkj;
        }
        UNROLL for (int r = 0; r < C; r++) AS(vec, F + (i + r) * stride + j) = sum[r];
    }
}

/* Eliminate the pivots: rows of pivots become L^T, `inverse` 1 / D, the rest the Schur complement. */
INLINE ptrdiff_t eliminate_pivots(const Front *f, double *F, double *inverse, int definite) {
    const ptrdiff_t width = f->width, stride = f->stride;
    for (ptrdiff_t k = 0; k < width; k++) {
        const double *Fk = F + k * stride;
        inverse[k] = 1 / Fk[k];
        const double size = definite ? inverse[k] : fabs(inverse[k]);
        if (!(0 < size && size <= DBL_MAX)) return k;
        for (ptrdiff_t i = k + 1; i < width; i++) {
            const double a = Fk[i] * inverse[k];
            double *Fi = F + i * stride;
            for (ptrdiff_t j = i / WIDTH * WIDTH; j < stride; j += WIDTH) AS(vec, Fi + j) -= a * READ_AS(vec, Fk + j);
        }
    }
    ptrdiff_t i = width;
    for (; i + 4 <= f->size; i += 4) reduce_rows(4, i, width, stride, F, inverse);
    for (; i < f->size; i++) reduce_rows(1, i, width, stride, F, inverse);
    for (ptrdiff_t k = 0; k < width; k++) {
        double *Fk = F + k * stride;
        for (ptrdiff_t j = k / WIDTH * WIDTH; j < stride; j += WIDTH) AS(vec, Fk + j) *= inverse[k];
        for (ptrdiff_t j = k / WIDTH * WIDTH; j <= k; j++) Fk[j] = 0;
    }
    return -1;
}

static ptrdiff_t fronts_eliminate(const Front *f, double *F, double *inverse) {
    return eliminate_pivots(f, F, inverse, 1);
}

static ptrdiff_t fronts_eliminate_indefinite(const Front *f, double *F, double *inverse) {
    return eliminate_pivots(f, F, inverse, 0);
}

/* Add the Schur complement U of f to the front above, F(at[a], at[b]) += U(a, b); rows whose places are
 * consecutive are added as vectors. */
static void fronts_extend_add(const Front *f, const double *U, const ptrdiff_t *at, const Front *above, double *F) {
    const ptrdiff_t size = f->size;
    for (ptrdiff_t a = f->width; a < size; a++) {
        const double *from = U + a * f->stride;
        double *to = F + at[a] * above->stride;
        if (at[size - 1] - at[a] == size - 1 - a) {
            add_multiple(size - a, 1, from + a, to + at[a]);
            continue;
        }
        for (ptrdiff_t b = a; b < size; b++) to[at[b]] += from[b];
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

/* Gather the entries of x that belong to a front, padded by zeros. */
INLINE void gather(const Front *f, const ptrdiff_t *at, const double *x, double *y) {
    for (ptrdiff_t a = 0; a < f->size; a++) y[a] = x[at[a]];
    for (ptrdiff_t a = f->size; a < f->stride; a++) y[a] = 0;
}

/* Compute x = L^-1 x for the pivots of a front: first the triangle, then the rows below it. */
INLINE void solve_down(const Front *f, const ptrdiff_t *at, const double *F, double *x, double *y, double *z) {
    const ptrdiff_t width = f->width, stride = f->stride;
    gather(f, at, x, y);
    for (ptrdiff_t k = 0; k < width; k++) {
        const double yk = y[k];
        for (ptrdiff_t j = k + 1; j < width; j++) y[j] -= yk * F[k * stride + j];
        x[at[k]] = yk;
    }
    for (ptrdiff_t j = width / WIDTH * WIDTH; j < stride; j += WIDTH) {
        vec sum = READ_AS(vec, y + j);
        for (ptrdiff_t k = 0; k < width; k++) sum -= y[k] * READ_AS(vec, F + k * stride + j);
        AS(vec, z + j) = sum;
    }
    for (ptrdiff_t j = width; j < f->size; j++) x[at[j]] = z[j];
}

/* Compute x = L^-T D^-1 x for the pivots of a front: first the rows below, then the triangle. */
INLINE void solve_up(const Front *f, const ptrdiff_t *at, const double *F, const double *inverse, double *x,
                     double *y, double *z) {
    const ptrdiff_t width = f->width, stride = f->stride;
    gather(f, at, x, y);
    for (ptrdiff_t k = 0; k < width; k++) z[k] = y[k] * inverse[k];
    for (ptrdiff_t k = width / WIDTH * WIDTH; k < width; k++) y[k] = 0;
    for (ptrdiff_t k = 0; k < width; k++) {
        vec sum = {0};
        for (ptrdiff_t j = width / WIDTH * WIDTH; j < stride; j += WIDTH)
            sum += READ_AS(vec, F + k * stride + j) * READ_AS(vec, y + j);
        z[k] -= sum_of(sum);
    }
    for (ptrdiff_t k = width - 1; k >= 0; k--) {
        double sum = z[k];
        for (ptrdiff_t j = width - 1; j > k; j--) sum -= F[k * stride + j] * z[j];
        x[at[k]] = z[k] = sum;
    }
}

/* Compute x = S^-1 x, S the matrix of all fronts; y and z are workspaces as long as the longest padded row. */
static void fronts_solve(ptrdiff_t count, const Front *front, const ptrdiff_t *index, const double *values,
                         const double *inverse, double *x, double *y, double *z) {
    for (const Front *f = front; f < front + count; f++)
        if (f->size > 1) solve_down(f, index + f->index, values + f->at, x, y, z);
    for (const Front *f = front + count - 1; f >= front; f--)
        if (f->size > 1)
            solve_up(f, index + f->index, values + f->at, inverse + f->first, x, y, z);
        else
            x[index[f->index]] *= inverse[f->first];
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
