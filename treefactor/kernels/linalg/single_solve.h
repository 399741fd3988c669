/* Solve and multiply with the factor of one matrix, and invert; see SingleKernels in kernels.h. Included once for
 * every instruction set.
 *
 * One vector, in place, Featherstone (2008), table 6.5: supernodes are visited depth first, so that the ancestors
 * of a node are a contiguous path. The plain loop of L^-1, the others are alike:
 *
 *     for (k = 0; k < n; k++)
 *         for (e = 0; e < depth[k] - 1; e++) x[k] -= L(k, e) * x[column[start[k] + e]];
 *
 * Apart from lanes_solve.h: one vector through those kernels, L in every lane, takes 2.7 times as long on a chain of
 * 7, 3.1 times on a random tree of 38, 9 times on a chain of 60 (AVX2, lanes filled and emptied included). */

/* x <- L^-1 x:  x(k) = after(k) (x(k) - sum L(k, i) x(i)); path: the ancestors' x
 *
 * Reading a register right after storing its entries one by one stalls: the last 4 ancestors, just stored, are read
 * one by one, and without a loop, which compilers vectorize. */
INLINE void l_inv_rows(int C, int S, const Shape *t, const Supernode *sn, const double *L, const double *after,
                       double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = sn->depth, width = sn->width, *node = t->order + sn->first;
    const double *row = L + sn->at;
    double own[4];
    ptrdiff_t c = 0;
    UNROLL for (int r = 0; r < R; r++) own[r] = x[node[r]];
    if (p & 1) {
        UNROLL for (int r = 0; r < R; r++) own[r] -= row[r * width] * path[0];
        c = 1;
    }
    if (p & 2) {
        UNROLL for (int e = 0; e < 2; e++)
            UNROLL for (int r = 0; r < R; r++) own[r] -= row[r * width + c + e] * path[c + e];
        c += 2;
    }
    if (p >= 8) {
        vec sum[4];
        UNROLL for (int r = 0; r < R; r++) sum[r] = (vec){0};
        for (; c < p - 4; c += WIDTH)
            UNROLL for (int r = 0; r < R; r++)
                sum[r] += READ_AS(loose, row + r * width + c) * READ_AS(loose, path + c);
        UNROLL for (int r = 0; r < R; r++) own[r] -= sum_of(sum[r]);
    }
    if (p >= 4)
        UNROLL for (int e = 0; e < 4; e++)
            UNROLL for (int r = 0; r < R; r++) own[r] -= row[r * width + c + e] * path[c + e];
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int q = 0; q < OWN(r); q++) own[r] -= row[r * width + p + q] * own[q];
        if (after) own[r] *= after[node[r]];
        if (r < C) path[p + r] = own[r];
    }
    UNROLL for (int r = 0; r < R; r++) x[node[r]] = own[r];
}

/* y <- L^-T x, x <- scale y:  y(i) = after(i) (x(i) - sum L(k, i) y(k)); path: what descendants contribute
 *
 * Subtrees add to the same path one after the other: what one adds is summed up apart from it. The path is stored in
 * the registers that it is read in. */
INLINE void lt_inv_rows(int C, int S, const Shape *t, const Supernode *sn, const double *L, const double *after,
                        const double *scale, double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = sn->depth, width = sn->width, *node = t->order + sn->first;
    const double *row = L + sn->at;
    double own[4];
    UNROLL for (int r = 0; r < R; r++) own[r] = r < C ? x[node[r]] - path[p + r] : x[node[r]];
    UNROLL for (int r = R - 1; r >= 0; r--) {
        if (after) own[r] *= after[node[r]];
        UNROLL for (int q = 0; q < OWN(r); q++) own[q] -= row[r * width + p + q] * own[r];
    }
    ptrdiff_t c = 0;
    for (; c < p; c += WIDTH) {
        vec sum = own[R - 1] * READ_AS(vec, row + (R - 1) * width + c);
        UNROLL for (int r = R - 2; r >= 0; r--) sum += own[r] * READ_AS(vec, row + r * width + c);
        sum += READ_AS(vec, path + c);
        AS(vec, path + c) = c + WIDTH <= p ? sum : keep(sum, p - c);  /* no infinity in padding */
    }
    for (; c < p + C; c += WIDTH) AS(vec, path + c) = (vec){0};
    UNROLL for (int r = 0; r < R; r++) x[node[r]] = scale ? scale[node[r]] * own[r] : own[r];
}

/* x <- L x:  x(k) = D(k) x(k) + sum L(k, i) x(i), D = NULL for ones; path: the ancestors' old x */
INLINE void l_mul_rows(int C, int S, const Shape *t, const Supernode *sn, const double *L, const double *D,
                       double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = sn->depth, *node = t->order + sn->first;
    const double *row[4];
    vec sum[4];
    double old[4];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = L + sn->at + r * sn->width;
        sum[r] = (vec){0};
        old[r] = x[node[r]];
        if (r < C) path[p + r] = old[r];
    }
    ptrdiff_t c = 0;
    for (; c + WIDTH <= p - 4; c += WIDTH)
        UNROLL for (int r = 0; r < R; r++) sum[r] += READ_AS(vec, row[r] + c) * READ_AS(vec, path + c);
    UNROLL for (int r = 0; r < R; r++) {
        double own = old[r] * (D ? D[node[r]] : 1.0) + sum_of(sum[r]);
        for (ptrdiff_t e = c; e < p + OWN(r); e++) own += row[r][e] * path[e];
        x[node[r]] = own;
    }
}

/* x <- L^T x:  x(i) = D(i) x(i) + sum L(k, i) x(k), D = NULL for ones; path: what descendants contribute */
INLINE void lt_mul_rows(int C, int S, const Shape *t, const Supernode *sn, const double *L, const double *D,
                        double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = sn->depth, *node = t->order + sn->first;
    double old[4];
    UNROLL for (int r = 0; r < R; r++) old[r] = x[node[r]];
    for (ptrdiff_t c = 0; c < p + OWN(R - 1); c += WIDTH) {
        vec sum = READ_AS(vec, path + c);
        UNROLL for (int r = 0; r < R; r++) sum += old[r] * READ_AS(vec, L + sn->at + r * sn->width + c);
        AS(vec, path + c) = sum;
    }
    UNROLL for (int r = 0; r < R; r++)
        x[node[r]] = old[r] * (D ? D[node[r]] : 1.0) + (r < C ? path[p + r] : 0);
    for (ptrdiff_t c = p; c < p + OWN(R) || c % WIDTH; c++) path[c] = 0;  /* no infinity in padding */
}

#define ROOT_FIRST(f, ...) \
    for (const Supernode *sn = t->supernode; sn < t->supernode + t->supernodes; sn++) \
        WITH_SUPERNODE(sn, f, t, sn, __VA_ARGS__)
#define LEAVES_FIRST(f, ...) \
    for (const Supernode *sn = t->supernode + t->supernodes; sn-- > t->supernode;) \
        WITH_SUPERNODE(sn, f, t, sn, __VA_ARGS__)

/* path <- 0, whole registers */
static void clear_path(const Shape *t, double *path) {
    for (ptrdiff_t c = 0; c < t->deepest; c += WIDTH) AS(vec, path + c) = (vec){0};
}

static void single_apply(const Shape *t, const double *L, const double *D, const double *inverse, int ltdl, int op,
                       double *x, double *path) {
    const double *own = ltdl ? NULL : inverse, *diagonal = ltdl ? NULL : D;
    const double *scale = ltdl && op == SOLVE ? inverse : NULL;
    clear_path(t, path);
    /* each function is inlined once: a second copy takes long to compile and is not faster */
    if (op == SOLVE || op == SOLVE_LT || op == HALF_SOLVE) LEAVES_FIRST(lt_inv_rows, L, own, scale, x, path)
    if (op == SOLVE || op == SOLVE_L) ROOT_FIRST(l_inv_rows, L, own, x, path)
    if (op == MULTIPLY_L || op == MULTIPLY) ROOT_FIRST(l_mul_rows, L, diagonal, x, path)
    if (op == MULTIPLY) {
        if (ltdl)
            for (ptrdiff_t k = 0; k < t->n; k++) x[k] *= D[k];
        clear_path(t, path);
    }
    if (op == MULTIPLY || op == MULTIPLY_LT) LEAVES_FIRST(lt_mul_rows, L, diagonal, x, path)
    if (op == HALF_SOLVE && ltdl)
        for (ptrdiff_t k = 0; k < t->n; k++) x[k] *= sqrt(inverse[k]);
}

/* The inverse Y = H^-1 from L Y = D^-1 L^-T, root first:
 *     Y(k, j) = -sum L(k, i) Y(i, j) for j < k;   Y(k, k) = 1/D(k) - sum L(k, i) Y(i, k)
 * of LTL divided by L(k, k). Columns are filled MIRRORED rows at a time: full lines of memory. */
enum { MIRRORED = 8 };

/* row k up to its diagonal; the columns before `whole` stand in all rows above */
INLINE void invert_row(const Shape *t, ptrdiff_t k, ptrdiff_t whole, const double *L, double inverse,
                       double scale, double *Y) {
    const ptrdiff_t n = t->n, p = t->depth[k] - 1, *ancestor = t->column + t->start[k];
    double *y = Y + k * n, own = inverse;
    for (ptrdiff_t j = 0; j < whole; j += MIRRORED) {
        vec sum[MIRRORED / WIDTH];
        UNROLL for (int s = 0; s < MIRRORED / WIDTH; s++) sum[s] = (vec){0};
        for (ptrdiff_t i = 0; i < p; i++)
            UNROLL for (int s = 0; s < MIRRORED / WIDTH; s++)
                sum[s] -= L[i] * READ_AS(loose, Y + ancestor[i] * n + j + s * WIDTH);
        UNROLL for (int s = 0; s < MIRRORED / WIDTH; s++) AS(loose, y + j + s * WIDTH) = scale * sum[s];
    }
    for (ptrdiff_t j = whole; j < k; j++) {
        double sum = 0;
        for (ptrdiff_t i = 0; i < p; i++)
            sum -= L[i] * (ancestor[i] < j ? Y[j * n + ancestor[i]] : Y[ancestor[i] * n + j]);
        y[j] = scale * sum;
    }
    for (ptrdiff_t i = 0; i < p; i++) own -= L[i] * y[ancestor[i]];
    y[k] = scale * own;
}

static void single_invert(const Shape *t, const double *L, const double *inverse, int ltdl, double *Y) {
    for (ptrdiff_t k = 0, whole = 0, n = t->n; k < n; k++) {
        invert_row(t, k, whole, L + t->at[k], inverse[k], ltdl ? 1 : inverse[k], Y);
        if (k + 1 < n && k + 1 - whole < MIRRORED) continue;
        for (ptrdiff_t j = 0; j < k; j++)
            for (ptrdiff_t r = whole > j ? whole : j + 1; r <= k; r++) Y[j * n + r] = Y[r * n + j];
        whole = k + 1;
    }
}

/* Many right-hand sides, in place, in strips of columns that stay in registers; the plain loops with accumulators. */
enum { STRIP = 16 };

static void single_solve_strip(const Shape *t, const double *L, const double *inverse, double *x, ptrdiff_t r) {
    vec sum[STRIP / WIDTH];
    for (ptrdiff_t at = t->n - 1; at >= 0; at--) {
        const ptrdiff_t k = t->order[at], d = t->depth[k];
        UNROLL for (int s = 0; s < STRIP / WIDTH; s++) sum[s] = READ_AS(loose, x + k * r + s * WIDTH);
        for (ptrdiff_t p = at + 1; p < t->n && t->depth[t->order[p]] > d; p++) {   /* descendants */
            const ptrdiff_t j = t->order[p];
            const double l = L[t->at[j] + d - 1];
            UNROLL for (int s = 0; s < STRIP / WIDTH; s++) sum[s] -= l * READ_AS(loose, x + j * r + s * WIDTH);
        }
        UNROLL for (int s = 0; s < STRIP / WIDTH; s++) AS(loose, x + k * r + s * WIDTH) = sum[s];
    }
    for (ptrdiff_t at = 0; at < t->n; at++) {
        const ptrdiff_t k = t->order[at], *ancestor = t->column + t->start[k];
        UNROLL for (int s = 0; s < STRIP / WIDTH; s++)
            sum[s] = inverse[k] * READ_AS(loose, x + k * r + s * WIDTH);
        for (ptrdiff_t p = 0; p < t->depth[k] - 1; p++) {
            const double l = L[t->at[k] + p];
            UNROLL for (int s = 0; s < STRIP / WIDTH; s++)
                sum[s] -= l * READ_AS(loose, x + ancestor[p] * r + s * WIDTH);
        }
        UNROLL for (int s = 0; s < STRIP / WIDTH; s++) AS(loose, x + k * r + s * WIDTH) = sum[s];
    }
}

static void single_solve_many(const Shape *t, const double *L, const double *inverse, double *x, ptrdiff_t r) {
    for (ptrdiff_t c = 0; c < r; c += STRIP) single_solve_strip(t, L, inverse, x + c, r);
}

static const SingleKernels single = {
    single_load, single_load_packed, single_factor, single_to_ltl, single_apply, single_invert,
    single_solve_many,
};
