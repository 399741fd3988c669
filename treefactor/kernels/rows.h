/* Kernels on the rows of one matrix; see RowKernels in kernels.h. Included once for every instruction set.
 *
 * All rows of a block are padded to the same number of registers. What stands in the padding of H is nowhere
 * used, but in other padding.
 */

#if REGISTER > 16                    /* rows are short: 32 bytes do better than 64 */
#define W 4                          /* entries of a register */
#define SUM(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
static const long long KEEP[8] = {-1, -1, -1, -1};  /* KEEP + W - m keeps m entries */
#else
#define W 2
#define SUM(v) ((v)[0] + (v)[1])
static const long long KEEP[4] = {-1, -1};
#endif
typedef double vec __attribute__((vector_size(8 * W), may_alias));
typedef double loose __attribute__((vector_size(8 * W), may_alias, aligned(8)));
#define AT(p) (*(vec *)(p))
#define OF(p) (*(const vec *)(p))
#define LOOSE(p) (*(const loose *)(p))

/* the first m entries of a register, zeros behind them */
INLINE vec keep(vec v, ptrdiff_t m) {
    typedef long long mask __attribute__((vector_size(8 * W), may_alias, aligned(8)));
    return (vec)((mask)v & *(const mask *)(KEEP + W - m));
}

static void rows_load(const Shape *t, const char *H, ptrdiff_t to_row, ptrdiff_t to_column, double *X) {
    for (const Run *run = t->run; run < t->run + t->runs; run++) {
        const char *from = H + run->row * to_row + run->column * to_column;
        double *to = X + run->at;
        ptrdiff_t e = 0;
        if (to_column == sizeof(double))  /* what is copied too much is overwritten by the next run, or padding */
            for (; e < run->length && run->column + e + W <= t->n; e += W)
                *(loose *)(to + e) = LOOSE(from + e * sizeof(double));
        for (; e < run->length; e++) to[e] = *(const double *)(from + e * to_column);
    }
}
/* LTDL of the rows of one block, Featherstone (2008), table 6.3:
 *     for k = last .. first, every ancestor i:   L(k, i) = h(k, i) / D(k);   h(i, 0..i) -= L(k, i) h(k, 0..i)
 * first within the block, then for every ancestor above it with all rows at once. */
INLINE void eliminate(int R, const Shape *t, const Block *b, double *X, double *D, double *inverse,
                      ptrdiff_t *failed) {
    const ptrdiff_t p = b->depth;
    double T[TILE][TILE], scale[TILE], *row[TILE];
    for (int r = 0; r < R; r++) {
        row[r] = X + t->at[b->node[r]];
        for (int s = 0; s <= r; s++) T[r][s] = row[r][p + s];
    }
    for (int r = R - 1; r >= 0; r--) {
        const ptrdiff_t k = b->node[r];
        const double d = T[r][r];
        if (!(0 < d && d <= DBL_MAX) && k > *failed) *failed = k;
        D[k] = d;
        inverse[k] = scale[r] = 1 / d;
        for (int q = r - 1; q >= 0; q--) {
            const double a = T[r][q] * scale[r];
            for (int s = 0; s <= q; s++) T[q][s] -= a * T[r][s];
            T[r][q] = a;
        }
    }
    if (R > 1)
        for (ptrdiff_t c = 0; c < p + R - 1; c += W) {
            vec h[TILE];
            for (int r = 0; r < R; r++) h[r] = AT(row[r] + c);
            for (int r = R - 1; r > 0; r--)
                for (int q = 0; q < r; q++) h[q] -= T[r][q] * h[r];
            for (int r = 0; r < R - 1; r++) AT(row[r] + c) = h[r];
        }
    const ptrdiff_t *ancestor = t->column + t->start[b->node[0]];
    for (ptrdiff_t i = 0; i < p; i++) {
        double *Hi = X + t->at[ancestor[i]], a[TILE];
        for (int r = 0; r < R; r++) a[r] = row[r][i] * scale[r];
        for (ptrdiff_t c = 0; c <= i; c += W) {
            vec h = AT(Hi + c);
            for (int r = 0; r < R; r++) h -= a[r] * AT(row[r] + c);
            AT(Hi + c) = h;
        }
    }
    for (int r = 0; r < R; r++) {
        ptrdiff_t c = 0;
        for (; c + W <= p + r; c += W) AT(row[r] + c) *= scale[r];
        for (; c < p + R; c += W) AT(row[r] + c) = keep(AT(row[r] + c) * scale[r], p + r > c ? p + r - c : 0);
    }
}

static ptrdiff_t rows_factor(const Shape *t, double *X, double *D, double *inverse) {
    ptrdiff_t failed = -1;
    for (ptrdiff_t j = t->blocks; j-- > 0;) {
        const Block *b = t->block + t->elimination[j];
        WITH_ROWS(b->rows, eliminate, t, b, X, D, inverse, &failed)
    }
    return failed;
}

/* L <- sqrt(D) L */
static void rows_to_ltl(const Shape *t, double *X, double *D, double *inverse) {
    for (ptrdiff_t k = 0; k < t->n; k++) {
        D[k] = sqrt(D[k]);
        inverse[k] = 1 / D[k];
        for (ptrdiff_t c = 0; c < t->depth[k]; c += W) AT(X + t->at[k] + c) *= D[k];
    }
}

/* ------------------------------------------------------ one vector: Featherstone (2008), table 6.5, in place
 *   Depth first, so that the ancestors of a node are a contiguous path. */

/* x <- L^-1 x:  x(k) = after(k) (before(k) x(k) - sum L(k, i) x(i)); path: the ancestors' x */
INLINE void l_inv_rows(int R, const Shape *t, const Block *b, const double *L, const double *before,
                       const double *after, double *x, double *path) {
    const ptrdiff_t p = b->depth;
    const double *row[TILE];
    vec sum[TILE];
    double own[TILE];
    for (int r = 0; r < R; r++) {
        row[r] = L + t->at[b->node[r]];
        sum[r] = (vec){0};
        own[r] = x[b->node[r]];
        if (before) own[r] *= before[b->node[r]];
    }
    ptrdiff_t c = 0;
    for (; c + W <= p - TILE; c += W)  /* the last entries were stored just now, one by one: no register yet */
        for (int r = 0; r < R; r++) sum[r] += OF(row[r] + c) * OF(path + c);
    for (int r = 0; r < R; r++) own[r] -= SUM(sum[r]);
    for (; c < p; c++)
        for (int r = 0; r < R; r++) own[r] -= row[r][c] * path[c];
    for (int r = 0; r < R; r++) {
        for (int q = 0; q < r; q++) own[r] -= row[r][p + q] * own[q];
        if (after) own[r] *= after[b->node[r]];
        x[b->node[r]] = path[p + r] = own[r];
    }
}

/* x <- L^-T x:  x(i) = after(i) (x(i) - sum L(k, i) x(k)); path: what descendants contribute */
INLINE void lt_inv_rows(int R, const Shape *t, const Block *b, const double *L, const double *after, double *x,
                        double *path) {
    const ptrdiff_t p = b->depth;
    const double *row[TILE];
    double own[TILE];
    for (int r = 0; r < R; r++) {
        row[r] = L + t->at[b->node[r]];
        own[r] = x[b->node[r]] - path[p + r];
    }
    for (int r = R - 1; r >= 0; r--) {
        if (after) own[r] *= after[b->node[r]];
        for (int q = 0; q < r; q++) own[q] -= row[r][p + q] * own[r];
        x[b->node[r]] = own[r];
    }
    for (ptrdiff_t c = 0; c < p; c += W) {
        vec sum = OF(path + c);
        for (int r = 0; r < R; r++) sum += own[r] * OF(row[r] + c);
        AT(path + c) = sum;
    }
    for (int r = 0; r < R; r++) path[p + r] = 0;
}

/* x <- L x:  x(k) = D(k) x(k) + sum L(k, i) x(i), D = NULL for ones; path: the ancestors' old x */
INLINE void l_mul_rows(int R, const Shape *t, const Block *b, const double *L, const double *D, double *x,
                       double *path) {
    const ptrdiff_t p = b->depth;
    const double *row[TILE];
    vec sum[TILE];
    for (int r = 0; r < R; r++) {
        row[r] = L + t->at[b->node[r]];
        sum[r] = (vec){0};
        path[p + r] = x[b->node[r]];
    }
    ptrdiff_t c = 0;
    for (; c + W <= p - TILE; c += W)
        for (int r = 0; r < R; r++) sum[r] += OF(row[r] + c) * OF(path + c);
    for (int r = 0; r < R; r++) {
        double own = path[p + r] * (D ? D[b->node[r]] : 1.0) + SUM(sum[r]);
        for (ptrdiff_t e = c; e < p + r; e++) own += row[r][e] * path[e];
        x[b->node[r]] = own;
    }
}

/* x <- L^T x:  x(i) = D(i) x(i) + sum L(k, i) x(k), D = NULL for ones; path: what descendants contribute */
INLINE void lt_mul_rows(int R, const Shape *t, const Block *b, const double *L, const double *D, double *x,
                        double *path) {
    const ptrdiff_t p = b->depth;
    double own[TILE];
    for (int r = 0; r < R; r++) own[r] = x[b->node[r]];
    for (ptrdiff_t c = 0; c < p + R - 1; c += W) {
        vec sum = OF(path + c);
        for (int r = 0; r < R; r++) sum += own[r] * OF(L + t->at[b->node[r]] + c);
        AT(path + c) = sum;
    }
    for (int r = 0; r < R; r++) {
        x[b->node[r]] = own[r] * (D ? D[b->node[r]] : 1.0) + path[p + r];
        path[p + r] = 0;
    }
}

#define ROOT_FIRST(f, ...) \
    for (const Block *b = t->block; b < t->block + t->blocks; b++) WITH_ROWS(b->rows, f, t, b, __VA_ARGS__)
#define LEAVES_FIRST(f, ...) \
    for (const Block *b = t->block + t->blocks; b-- > t->block;) WITH_ROWS(b->rows, f, t, b, __VA_ARGS__)

static void rows_apply(const Shape *t, const double *L, const double *D, const double *inverse, int ltdl, int op,
                       double *x, double *path) {
    const double *none = NULL, *own = ltdl ? NULL : inverse, *diagonal = ltdl ? NULL : D;
    memset(path, 0, (t->deepest + 4) * sizeof(double));
    switch (op) {
    case SOLVE:
        LEAVES_FIRST(lt_inv_rows, L, own, x, path)
        ROOT_FIRST(l_inv_rows, L, ltdl ? inverse : none, own, x, path)
        break;
    case SOLVE_L: ROOT_FIRST(l_inv_rows, L, none, own, x, path) break;
    case SOLVE_LT: case HALF_SOLVE: LEAVES_FIRST(lt_inv_rows, L, own, x, path) break;
    case MULTIPLY_L: ROOT_FIRST(l_mul_rows, L, diagonal, x, path) break;
    case MULTIPLY:
        ROOT_FIRST(l_mul_rows, L, diagonal, x, path)
        if (ltdl)
            for (ptrdiff_t k = 0; k < t->n; k++) x[k] *= D[k];
        memset(path, 0, (t->deepest + 4) * sizeof(double));
        LEAVES_FIRST(lt_mul_rows, L, diagonal, x, path)
        break;
    case MULTIPLY_LT: LEAVES_FIRST(lt_mul_rows, L, diagonal, x, path) break;
    }
    if (op == HALF_SOLVE && ltdl)
        for (ptrdiff_t k = 0; k < t->n; k++) x[k] *= sqrt(inverse[k]);
}

static const RowKernels rows = {rows_load, rows_factor, rows_to_ltl, rows_apply};
