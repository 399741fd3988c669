/* Kernels on the rows of one matrix; see RowKernels in kernels.h. Included once for every instruction set.
 *
 * All rows of a unit are padded to the same number of registers. */

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

/* f(chain, leaves, ...) for a unit, both constants there */
#define WITH_UNIT(u, f, ...) \
    switch (5 * (u)->chain + (u)->leaves) { \
    case 2: f(0, 2, __VA_ARGS__); break; case 3: f(0, 3, __VA_ARGS__); break; \
    case 4: f(0, 4, __VA_ARGS__); break; case 5: f(1, 0, __VA_ARGS__); break; \
    case 7: f(1, 2, __VA_ARGS__); break; case 8: f(1, 3, __VA_ARGS__); break; \
    case 10: f(2, 0, __VA_ARGS__); break; case 12: f(2, 2, __VA_ARGS__); break; \
    case 15: f(3, 0, __VA_ARGS__); break; default: f(4, 0, __VA_ARGS__); }

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
static void rows_load_packed(const Shape *t, const char *H, ptrdiff_t to_entry, ptrdiff_t first, double *X) {
    for (ptrdiff_t k = first; k < t->n; k++)
        for (ptrdiff_t e = 0; e < t->depth[k]; e++)
            X[t->at[k] + e] = *(const double *)(H + (t->start[k] + e) * to_entry);
}

/* LTDL of the rows of a unit, Featherstone (2008), table 6.3:
 *     for k = last .. first, every ancestor i:   L(k, i) = h(k, i) / D(k);   h(i, 0..i) -= L(k, i) h(k, 0..i)
 * first within the unit, then for every ancestor above it with all rows at once. Depth first, so that what
 * is subtracted from the rows of one path is all there is to keep: `path` holds it, the row of depth i at
 * TRIANGLE(i), padded to registers. H is read once, when its row is eliminated. What stands in padding, or
 * behind the end of a row of H, is nowhere used but in other padding. */
#define TRIANGLE(i) (((i) / W + 1) * ((i) / W * (W / 2) + (i) % W) * W)
#define OWN(r) ((r) < C ? (r) : C)   /* ancestors of row r within its unit */

/* D and the factors L(r, q) within a unit, whose triangle T holds */
INLINE void eliminate_triangle(int C, int S, const ptrdiff_t *node, double T[4][4], double *scale, double *D,
                               double *inverse, ptrdiff_t *failed) {
    UNROLL for (int r = C + S - 1; r >= 0; r--) {
        const ptrdiff_t k = node[r];
        D[k] = T[r][OWN(r)];
        inverse[k] = scale[r] = 1 / T[r][OWN(r)];
        if (!(0 < scale[r] && scale[r] <= DBL_MAX) && k > *failed) *failed = k;
        UNROLL for (int q = OWN(r) - 1; q >= 0; q--) {
            const double a = T[r][q] * scale[r];
            UNROLL for (int s = 0; s <= q; s++) T[q][s] -= a * T[r][s];
            T[r][q] = a;
        }
    }
}

/* rows of at most G registers: h stays in them */
INLINE void eliminate_short(int C, int S, int G, const Shape *t, const Unit *u, const double *H,
                            ptrdiff_t whole, double *path, double *X, double *D, double *inverse,
                            ptrdiff_t *failed) {
    const int R = C + S;
    const ptrdiff_t p = u->depth, *node = t->order + u->first;
    double T[4][4], scale[4], *row[4];
    vec h[4][6];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = X + u->at + r * u->width;
        const double *from = node[r] < whole ? H + t->start[node[r]] : row[r];
        const double *more = path + TRIANGLE(p + r);
        UNROLL for (int g = 0; g < G; g++) h[r][g] = LOOSE(from + g * W);
        UNROLL for (int s = 0; s <= OWN(r); s++) T[r][s] = from[p + s];
        if (r < C) {
            UNROLL for (int g = 0; g < G; g++) h[r][g] += OF(more + g * W);
            UNROLL for (int s = 0; s <= r; s++) T[r][s] += more[p + s];
        }
    }
    UNROLL for (int r = 0; r < C; r++)  /* no row of the path is in use below them */
        UNROLL for (int g = 0; g < G; g++) AT(path + TRIANGLE(p + r) + g * W) = (vec){0};
    eliminate_triangle(C, S, node, T, scale, D, inverse, failed);
    UNROLL for (int r = R - 1; r >= 0; r--) {
        UNROLL for (int q = 0; q < OWN(r); q++)
            UNROLL for (int g = 0; g < G; g++) h[q][g] -= T[r][q] * h[r][g];
        const ptrdiff_t own = p + OWN(r);
        UNROLL for (int g = 0; g < G; g++) {
            const vec l = h[r][g] * scale[r];
            const int whole_register = g < G - 1 - (W + 2) / W;  /* the rows' ends differ by 3 at most */
            AT(row[r] + g * W) =
                whole_register ? l : keep(l, own < g * W ? 0 : own > g * W + W ? W : own - g * W);
        }
    }
    double *above = path;
    UNROLL for (int g = 0; g < G; g++)
        for (ptrdiff_t i = g * W; i < g * W + W && i < p; i++, above += (g + 1) * W)
            UNROLL for (int c = 0; c <= g; c++) {
                vec sum = AT(above + c * W);
                UNROLL for (int r = 0; r < R; r++) sum -= row[r][i] * h[r][c];
                AT(above + c * W) = sum;
            }
}

/* rows of any length */
INLINE void eliminate_long(int C, int S, const Shape *t, const Unit *u, const double *H, ptrdiff_t whole,
                           double *path, double *X, double *D, double *inverse, ptrdiff_t *failed) {
    const int R = C + S;
    const ptrdiff_t p = u->depth, *node = t->order + u->first;
    double T[4][4], scale[4], *row[4];
    const double *from[4], *more[4];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = X + u->at + r * u->width;
        from[r] = node[r] < whole ? H + t->start[node[r]] : row[r];
        more[r] = path + TRIANGLE(p + r);
        UNROLL for (int s = 0; s <= OWN(r); s++) T[r][s] = from[r][p + s] + (r < C ? more[r][p + s] : 0);
    }
    eliminate_triangle(C, S, node, T, scale, D, inverse, failed);
    for (ptrdiff_t c = 0; c < p + OWN(R); c += W) {
        vec h[4];
        UNROLL for (int r = 0; r < R; r++) {
            h[r] = LOOSE(from[r] + c);
            if (r < C) h[r] += OF(more[r] + c);
        }
        UNROLL for (int r = R - 1; r > 0; r--)
            UNROLL for (int q = 0; q < OWN(r); q++) h[q] -= T[r][q] * h[r];
        UNROLL for (int r = 0; r < R; r++) AT(row[r] + c) = h[r];
    }
    if (C) memset(path + TRIANGLE(p), 0, (TRIANGLE(p + C) - TRIANGLE(p)) * sizeof(double));
    double *above = path;
    for (ptrdiff_t i = 0; i < p; i++) {
        double a[4];
        UNROLL for (int r = 0; r < R; r++) a[r] = row[r][i] * scale[r];
        for (ptrdiff_t c = 0; c <= i; c += W, above += W) {
            vec sum = AT(above);
            UNROLL for (int r = 0; r < R; r++) sum -= a[r] * AT(row[r] + c);
            AT(above) = sum;
        }
    }
    UNROLL for (int r = 0; r < R; r++) {
        const ptrdiff_t own = p + OWN(r);
        ptrdiff_t c = 0;
        for (; c + W <= own; c += W) AT(row[r] + c) *= scale[r];
        for (; c < u->width; c += W) AT(row[r] + c) = keep(AT(row[r] + c) * scale[r], own > c ? own - c : 0);
    }
}

INLINE void eliminate_rows(int C, int S, const Shape *t, const Unit *u, const double *H, ptrdiff_t whole,
                           double *path, double *X, double *D, double *inverse, ptrdiff_t *failed) {
    switch ((u->depth + OWN(C + S - 1) + W) / W) {
    case 1: eliminate_short(C, S, 1, t, u, H, whole, path, X, D, inverse, failed); break;
    case 2: eliminate_short(C, S, 2, t, u, H, whole, path, X, D, inverse, failed); break;
    case 3: eliminate_short(C, S, 3, t, u, H, whole, path, X, D, inverse, failed); break;
    case 4: eliminate_short(C, S, 4, t, u, H, whole, path, X, D, inverse, failed); break;
    case 5: eliminate_short(C, S, 5, t, u, H, whole, path, X, D, inverse, failed); break;
    case 6: eliminate_short(C, S, 6, t, u, H, whole, path, X, D, inverse, failed); break;
    default: eliminate_long(C, S, t, u, H, whole, path, X, D, inverse, failed);
    }
}

static ptrdiff_t rows_factor(const Shape *t, ptrdiff_t first, ptrdiff_t stop, const double *H,
                             ptrdiff_t whole, double *path, double *X, double *D, double *inverse) {
    ptrdiff_t failed = -1;
    for (const Unit *u = t->unit + stop; u-- > t->unit + first;)
        WITH_UNIT(u, eliminate_rows, t, u, H, whole, path, X, D, inverse, &failed)
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
INLINE void l_inv_rows(int C, int S, const Shape *t, const Unit *u, const double *L, const double *before,
                       const double *after, double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = u->depth, *node = t->order + u->first;
    const double *row[4];
    vec sum[4];
    double own[4];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = L + u->at + r * u->width;
        sum[r] = (vec){0};
        own[r] = x[node[r]];
        if (before) own[r] *= before[node[r]];
    }
    ptrdiff_t c = 0;
    for (; c + W <= p - 4; c += W)  /* the last entries were stored just now, one by one: no register yet */
        UNROLL for (int r = 0; r < R; r++) sum[r] += OF(row[r] + c) * OF(path + c);
    UNROLL for (int r = 0; r < R; r++) own[r] -= SUM(sum[r]);
    for (; c < p; c++)
        UNROLL for (int r = 0; r < R; r++) own[r] -= row[r][c] * path[c];
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int q = 0; q < OWN(r); q++) own[r] -= row[r][p + q] * own[q];
        if (after) own[r] *= after[node[r]];
        x[node[r]] = own[r];
        if (r < C) path[p + r] = own[r];
    }
}

/* x <- L^-T x:  x(i) = after(i) (x(i) - sum L(k, i) x(k)); path: what descendants contribute */
INLINE void lt_inv_rows(int C, int S, const Shape *t, const Unit *u, const double *L, const double *after,
                        double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = u->depth, *node = t->order + u->first;
    const double *row[4];
    double own[4];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = L + u->at + r * u->width;
        own[r] = r < C ? x[node[r]] - path[p + r] : x[node[r]];
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        if (after) own[r] *= after[node[r]];
        UNROLL for (int q = 0; q < OWN(r); q++) own[q] -= row[r][p + q] * own[r];
        x[node[r]] = own[r];
    }
    for (ptrdiff_t c = 0; c < p; c += W) {
        vec sum = OF(path + c);
        UNROLL for (int r = 0; r < R; r++) sum += own[r] * OF(row[r] + c);
        AT(path + c) = c + W <= p ? sum : keep(sum, p - c);  /* no inf * 0 for the branches still to come */
    }
    UNROLL for (int r = 0; r < C; r++) path[p + r] = 0;
}

/* x <- L x:  x(k) = D(k) x(k) + sum L(k, i) x(i), D = NULL for ones; path: the ancestors' old x */
INLINE void l_mul_rows(int C, int S, const Shape *t, const Unit *u, const double *L, const double *D,
                       double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = u->depth, *node = t->order + u->first;
    const double *row[4];
    vec sum[4];
    double old[4];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = L + u->at + r * u->width;
        sum[r] = (vec){0};
        old[r] = x[node[r]];
        if (r < C) path[p + r] = old[r];
    }
    ptrdiff_t c = 0;
    for (; c + W <= p - 4; c += W)
        UNROLL for (int r = 0; r < R; r++) sum[r] += OF(row[r] + c) * OF(path + c);
    UNROLL for (int r = 0; r < R; r++) {
        double own = old[r] * (D ? D[node[r]] : 1.0) + SUM(sum[r]);
        for (ptrdiff_t e = c; e < p + OWN(r); e++) own += row[r][e] * path[e];
        x[node[r]] = own;
    }
}

/* x <- L^T x:  x(i) = D(i) x(i) + sum L(k, i) x(k), D = NULL for ones; path: what descendants contribute */
INLINE void lt_mul_rows(int C, int S, const Shape *t, const Unit *u, const double *L, const double *D,
                        double *x, double *path) {
    const int R = C + S;
    const ptrdiff_t p = u->depth, *node = t->order + u->first;
    double old[4];
    UNROLL for (int r = 0; r < R; r++) old[r] = x[node[r]];
    for (ptrdiff_t c = 0; c < p + OWN(R - 1); c += W) {
        vec sum = OF(path + c);
        UNROLL for (int r = 0; r < R; r++) sum += old[r] * OF(L + u->at + r * u->width + c);
        AT(path + c) = sum;
    }
    UNROLL for (int r = 0; r < R; r++)
        x[node[r]] = old[r] * (D ? D[node[r]] : 1.0) + (r < C ? path[p + r] : 0);
    for (ptrdiff_t c = p; c < p + OWN(R) || c % W; c++) path[c] = 0;  /* no inf * 0 later */
}

#define ROOT_FIRST(f, ...) \
    for (const Unit *u = t->unit; u < t->unit + t->units; u++) WITH_UNIT(u, f, t, u, __VA_ARGS__)
#define LEAVES_FIRST(f, ...) \
    for (const Unit *u = t->unit + t->units; u-- > t->unit;) WITH_UNIT(u, f, t, u, __VA_ARGS__)

static void rows_apply(const Shape *t, const double *L, const double *D, const double *inverse, int ltdl, int op,
                       double *x, double *path) {
    const double *before = ltdl ? inverse : NULL, *own = ltdl ? NULL : inverse, *diagonal = ltdl ? NULL : D;
    memset(path, 0, (t->deepest + 4) * sizeof(double));
    /* every function once: a second copy in machine code takes long to compile and is no faster */
    if (op == SOLVE || op == SOLVE_LT || op == HALF_SOLVE) LEAVES_FIRST(lt_inv_rows, L, own, x, path)
    if (op == SOLVE || op == SOLVE_L) ROOT_FIRST(l_inv_rows, L, op == SOLVE ? before : NULL, own, x, path)
    if (op == MULTIPLY_L || op == MULTIPLY) ROOT_FIRST(l_mul_rows, L, diagonal, x, path)
    if (op == MULTIPLY) {
        if (ltdl)
            for (ptrdiff_t k = 0; k < t->n; k++) x[k] *= D[k];
        memset(path, 0, (t->deepest + 4) * sizeof(double));
    }
    if (op == MULTIPLY || op == MULTIPLY_LT) LEAVES_FIRST(lt_mul_rows, L, diagonal, x, path)
    if (op == HALF_SOLVE && ltdl)
        for (ptrdiff_t k = 0; k < t->n; k++) x[k] *= sqrt(inverse[k]);
}

/* ------------------------------------------------ the inverse: Y = H^-1, from L Y = D^-1 L^-T, root first
 *     Y(k, j) = -sum L(k, i) Y(i, j) for j < k;   Y(k, k) = 1/D(k) - sum L(k, i) Y(i, k)
 * of LTL divided by L(k, k). Columns are filled MIRRORED rows at a time: whole lines of memory. */
enum { MIRRORED = 8 };

/* row k up to its diagonal; the columns before `whole` stand in all rows above */
INLINE void invert_row(const Shape *t, ptrdiff_t k, ptrdiff_t whole, const double *L, double inverse,
                       double scale, double *Y) {
    const ptrdiff_t n = t->n, p = t->depth[k] - 1, *ancestor = t->column + t->start[k];
    double *y = Y + k * n, own = inverse;
    for (ptrdiff_t j = 0; j < whole; j += MIRRORED) {
        vec sum[MIRRORED / W];
        UNROLL for (int s = 0; s < MIRRORED / W; s++) sum[s] = (vec){0};
        for (ptrdiff_t i = 0; i < p; i++)
            UNROLL for (int s = 0; s < MIRRORED / W; s++)
                sum[s] -= L[i] * LOOSE(Y + ancestor[i] * n + j + s * W);
        UNROLL for (int s = 0; s < MIRRORED / W; s++) *(loose *)(y + j + s * W) = scale * sum[s];
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

static void rows_invert(const Shape *t, const double *L, const double *inverse, int ltdl, double *Y) {
    for (ptrdiff_t k = 0, whole = 0, n = t->n; k < n; k++) {
        invert_row(t, k, whole, L + t->at[k], inverse[k], ltdl ? 1 : inverse[k], Y);
        if (k + 1 < n && k + 1 - whole < MIRRORED) continue;
        for (ptrdiff_t j = 0; j < k; j++)
            for (ptrdiff_t r = whole > j ? whole : j + 1; r <= k; r++) Y[j * n + r] = Y[r * n + j];
        whole = k + 1;
    }
}

static const RowKernels rows = {
    rows_load, rows_load_packed, rows_factor, rows_to_ltl, rows_apply, rows_invert,
};
