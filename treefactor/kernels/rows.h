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
static void rows_load_packed(const Shape *t, const char *H, ptrdiff_t to_entry, double *X) {
    ptrdiff_t k = 0, whole = to_entry == sizeof(double) ? t->n : 0;
    while (whole > 0 && t->start[whole - 1] + t->depth[whole - 1] + W > t->start[t->n]) whole--;
    for (; k < whole; k++) {
        const char *from = H + t->start[k] * sizeof(double);
        double *to = X + t->at[k], *end = to + t->depth[k];
        for (; to < end; to += W, from += W * sizeof(double)) AT(to) = LOOSE(from);
    }
    for (; k < t->n; k++)
        for (ptrdiff_t e = 0; e < t->depth[k]; e++)
            X[t->at[k] + e] = *(const double *)(H + (t->start[k] + e) * to_entry);
}

/* LTDL of the rows of a unit, Featherstone (2008), table 6.3:
 *     for k = last .. first, every ancestor i:   L(k, i) = h(k, i) / D(k);   h(i, 0..i) -= L(k, i) h(k, 0..i)
 * first within the unit, then for every ancestor above it with all rows at once. */

/* the triangle of a unit: D, and the factors L(r, q) within it; siblings have none */
INLINE void eliminate_triangle(int R, int siblings, const Unit *u, double **row, double T[TILE][TILE], double *D,
                               double *inverse, ptrdiff_t *failed) {
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s <= r; s++)
            if (!siblings || s == 0) T[r][s] = row[r][u->depth + s];
    UNROLL for (int r = R - 1; r >= 0; r--) {
        const ptrdiff_t k = u->node[r];
        const double d = T[r][siblings ? 0 : r];
        D[k] = d;
        inverse[k] = 1 / d;
        if (!(0 < inverse[k] && inverse[k] <= DBL_MAX) && k > *failed) *failed = k;
        UNROLL for (int q = r - 1; q >= 0 && !siblings; q--) {
            const double a = T[r][q] * inverse[k];
            UNROLL for (int s = 0; s <= q; s++) T[q][s] -= a * T[r][s];
            T[r][q] = a;
        }
    }
}

/* where the row of the ancestor i of a node is changed */
INLINE double *row_above(const Shape *t, const ptrdiff_t *ancestor, ptrdiff_t i, ptrdiff_t depth, double *above,
                         double *X) {
    return i < depth ? above + i * ((depth + 3) & -4) : X + t->at[ancestor[i]];
}

/* rows of at most G registers: h stays in them */
INLINE void eliminate_short(int R, int siblings, int G, const Shape *t, const Unit *u, ptrdiff_t depth,
                            double *above, double *X, double *D, double *inverse, ptrdiff_t *failed) {
    const ptrdiff_t p = u->depth;
    double T[TILE][TILE], *row[TILE];
    vec h[TILE][4];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = X + t->at[u->node[r]];
        UNROLL for (int g = 0; g < G; g++) h[r][g] = AT(row[r] + g * W);
    }
    eliminate_triangle(R, siblings, u, row, T, D, inverse, failed);
    UNROLL for (int r = R - 1; r >= 0; r--) {
        const ptrdiff_t own = siblings ? p : p + r;
        if (!siblings)
            UNROLL for (int q = 0; q < r; q++)
                UNROLL for (int g = 0; g < G; g++) h[q][g] -= T[r][q] * h[r][g];
        UNROLL for (int g = 0; g < G; g++) {
            const vec l = h[r][g] * inverse[u->node[r]];
            AT(row[r] + g * W) = g < G - 2 ? l : keep(l, own < g * W ? 0 : own > g * W + W ? W : own - g * W);
        }
    }
    const ptrdiff_t *ancestor = t->column + t->start[u->node[0]];
    UNROLL for (int g = 0; g < G; g++)
        for (ptrdiff_t i = g * W; i < g * W + W && i < p; i++) {
            double *Hi = row_above(t, ancestor, i, depth, above, X);
            UNROLL for (int c = 0; c <= g; c++) {
                vec sum = AT(Hi + c * W);
                UNROLL for (int r = 0; r < R; r++) sum -= row[r][i] * h[r][c];
                AT(Hi + c * W) = sum;
            }
        }
}

/* rows of any length */
INLINE void eliminate_long(int R, int siblings, const Shape *t, const Unit *u, ptrdiff_t depth, double *above,
                           double *X, double *D, double *inverse, ptrdiff_t *failed) {
    const ptrdiff_t p = u->depth, width = siblings ? p + 1 : p + R;
    double T[TILE][TILE], scale[TILE], *row[TILE];
    UNROLL for (int r = 0; r < R; r++) row[r] = X + t->at[u->node[r]];
    eliminate_triangle(R, siblings, u, row, T, D, inverse, failed);
    UNROLL for (int r = 0; r < R; r++) scale[r] = inverse[u->node[r]];
    if (R > 1 && !siblings)
        for (ptrdiff_t c = 0; c < width - 1; c += W) {
            vec h[TILE];
            UNROLL for (int r = 0; r < R; r++) h[r] = AT(row[r] + c);
            UNROLL for (int r = R - 1; r > 0; r--)
                UNROLL for (int q = 0; q < r; q++) h[q] -= T[r][q] * h[r];
            UNROLL for (int r = 0; r < R - 1; r++) AT(row[r] + c) = h[r];
        }
    const ptrdiff_t *ancestor = t->column + t->start[u->node[0]];
    for (ptrdiff_t i = 0; i < p; i++) {
        double *Hi = row_above(t, ancestor, i, depth, above, X), a[TILE];
        UNROLL for (int r = 0; r < R; r++) a[r] = row[r][i] * scale[r];
        for (ptrdiff_t c = 0; c <= i; c += W) {
            vec sum = AT(Hi + c);
            UNROLL for (int r = 0; r < R; r++) sum -= a[r] * AT(row[r] + c);
            AT(Hi + c) = sum;
        }
    }
    UNROLL for (int r = 0; r < R; r++) {
        const ptrdiff_t own = siblings ? p : p + r;
        ptrdiff_t c = 0;
        for (; c + W <= own; c += W) AT(row[r] + c) *= scale[r];
        for (; c < width; c += W) AT(row[r] + c) = keep(AT(row[r] + c) * scale[r], own > c ? own - c : 0);
    }
}

INLINE void eliminate_rows(int R, int siblings, const Shape *t, const Unit *u, ptrdiff_t depth, double *above,
                           double *X, double *D, double *inverse, ptrdiff_t *failed) {
    switch ((u->depth + (siblings ? 1 : R) + W - 1) / W) {
    case 1: eliminate_short(R, siblings, 1, t, u, depth, above, X, D, inverse, failed); break;
    case 2: eliminate_short(R, siblings, 2, t, u, depth, above, X, D, inverse, failed); break;
    case 3: eliminate_short(R, siblings, 3, t, u, depth, above, X, D, inverse, failed); break;
    case 4: eliminate_short(R, siblings, 4, t, u, depth, above, X, D, inverse, failed); break;
    default: eliminate_long(R, siblings, t, u, depth, above, X, D, inverse, failed);
    }
}

INLINE ptrdiff_t eliminate_units(const Shape *t, ptrdiff_t first, ptrdiff_t stop, ptrdiff_t depth, double *above,
                                 double *X, double *D, double *inverse) {
    ptrdiff_t failed = -1;
    for (const Unit *u = t->unit + stop; u-- > t->unit + first;)
        if (u->siblings) WITH_ROWS(u->rows, eliminate_rows, 1, t, u, depth, above, X, D, inverse, &failed)
        else WITH_ROWS(u->rows, eliminate_rows, 0, t, u, depth, above, X, D, inverse, &failed)
    return failed;
}

static ptrdiff_t rows_factor(const Shape *t, ptrdiff_t first, ptrdiff_t stop, ptrdiff_t depth, double *above,
                             double *X, double *D, double *inverse) {
    if (depth == 0) return eliminate_units(t, first, stop, 0, NULL, X, D, inverse);  /* a constant costs nothing */
    return eliminate_units(t, first, stop, depth, above, X, D, inverse);
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
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = L + t->at[b->node[r]];
        sum[r] = (vec){0};
        own[r] = x[b->node[r]];
        if (before) own[r] *= before[b->node[r]];
    }
    ptrdiff_t c = 0;
    for (; c + W <= p - TILE; c += W)  /* the last entries were stored just now, one by one: no register yet */
        UNROLL for (int r = 0; r < R; r++) sum[r] += OF(row[r] + c) * OF(path + c);
    UNROLL for (int r = 0; r < R; r++) own[r] -= SUM(sum[r]);
    for (; c < p; c++)
        UNROLL for (int r = 0; r < R; r++) own[r] -= row[r][c] * path[c];
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int q = 0; q < r; q++) own[r] -= row[r][p + q] * own[q];
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
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = L + t->at[b->node[r]];
        own[r] = x[b->node[r]] - path[p + r];
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        if (after) own[r] *= after[b->node[r]];
        UNROLL for (int q = 0; q < r; q++) own[q] -= row[r][p + q] * own[r];
        x[b->node[r]] = own[r];
    }
    for (ptrdiff_t c = 0; c < p; c += W) {
        vec sum = OF(path + c);
        UNROLL for (int r = 0; r < R; r++) sum += own[r] * OF(row[r] + c);
        AT(path + c) = c + W <= p ? sum : keep(sum, p - c);  /* no inf * 0 for the branches still to come */
    }
    UNROLL for (int r = 0; r < R; r++) path[p + r] = 0;
}

/* x <- L x:  x(k) = D(k) x(k) + sum L(k, i) x(i), D = NULL for ones; path: the ancestors' old x */
INLINE void l_mul_rows(int R, const Shape *t, const Block *b, const double *L, const double *D, double *x,
                       double *path) {
    const ptrdiff_t p = b->depth;
    const double *row[TILE];
    vec sum[TILE];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = L + t->at[b->node[r]];
        sum[r] = (vec){0};
        path[p + r] = x[b->node[r]];
    }
    ptrdiff_t c = 0;
    for (; c + W <= p - TILE; c += W)
        UNROLL for (int r = 0; r < R; r++) sum[r] += OF(row[r] + c) * OF(path + c);
    UNROLL for (int r = 0; r < R; r++) {
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
    UNROLL for (int r = 0; r < R; r++) own[r] = x[b->node[r]];
    for (ptrdiff_t c = 0; c < p + R - 1; c += W) {
        vec sum = OF(path + c);
        UNROLL for (int r = 0; r < R; r++) sum += own[r] * OF(L + t->at[b->node[r]] + c);
        AT(path + c) = sum;
    }
    UNROLL for (int r = 0; r < R; r++) {
        x[b->node[r]] = own[r] * (D ? D[b->node[r]] : 1.0) + path[p + r];
        path[p + r] = 0;
    }
    for (ptrdiff_t c = p + R; c % W; c++) path[c] = 0;  /* no inf * 0 for the branches still to come */
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

static const RowKernels rows = {rows_load, rows_load_packed, rows_factor, rows_to_ltl, rows_apply};
