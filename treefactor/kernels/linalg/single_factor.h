/* Factorize one matrix by supernodes; see SingleKernels in kernels.h. Included once for every instruction set.
 *
 * All rows of a supernode are padded to the same number of registers. */

/* f(chain, leaves, ...) for a supernode, both as constants. Without a size, its rows in smaller supernodes, the
 * factorization and the solve of one vector take these times as long (AVX2; "6 x (1 + 2)" is a free body with 6
 * chains of 1 freedom that carry 2 leaves each):
 *
 *     chain 4   0.97, 1.17 on talos_reduced; 1.08, 1.17 on panda       0 + 2 leaves   1.08, 1.05 on panda
 *     chain 3   1.15, 1.36 on solo12; 1.11, 1.18 on panda              0 + 3 leaves   1.16, 1.15 on 4 x (4 + 3)
 *     chain 2   1.20, 1.28 on ur5; 1.05, 1.08 on talos_reduced         0 + 4 leaves   1.14, 1.12 on 4 x (4 + 4)
 *     1 + 2 leaves   1.17, 1.25 on 6 x (1 + 2)                         1 + 3 leaves   1.08, 1.22 on 6 x (1 + 3)
 *     2 + 2 leaves   1.00, 1.31 on 6 x (2 + 2)
 *     all of them    1.73, 2.07 on ur5; 1.53, 2.01 on panda; 1.43, 2.12 on solo12; 1.39, 2.05 on talos_reduced */
#define WITH_SUPERNODE(sn, f, ...) \
    switch (5 * (sn)->chain + (sn)->leaves) { \
    case 2: f(0, 2, __VA_ARGS__); break; case 3: f(0, 3, __VA_ARGS__); break; \
    case 4: f(0, 4, __VA_ARGS__); break; case 5: f(1, 0, __VA_ARGS__); break; \
    case 7: f(1, 2, __VA_ARGS__); break; case 8: f(1, 3, __VA_ARGS__); break; \
    case 10: f(2, 0, __VA_ARGS__); break; case 12: f(2, 2, __VA_ARGS__); break; \
    case 15: f(3, 0, __VA_ARGS__); break; default: f(4, 0, __VA_ARGS__); }

static void single_load(const Shape *t, const char *H, ptrdiff_t to_row, ptrdiff_t to_column, double *X) {
    for (const Run *run = t->run; run < t->run + t->runs; run++) {
        const char *from = H + run->row * to_row + run->column * to_column;
        double *to = X + run->at;
        ptrdiff_t e = 0;
        if (to_column == sizeof(double))  /* the excess is overwritten by the next run, or is padding */
            for (; e < run->length && run->column + e + WIDTH <= t->n; e += WIDTH)
                AS(loose, to + e) = READ_AS(loose, from + e * sizeof(double));
        for (; e < run->length; e++) to[e] = *(const double *)(from + e * to_column);
    }
}

static void single_load_packed(const Shape *t, const char *H, ptrdiff_t to_entry, ptrdiff_t first, double *X) {
    for (ptrdiff_t k = first; k < t->n; k++)
        for (ptrdiff_t e = 0; e < t->depth[k]; e++)
            X[t->at[k] + e] = *(const double *)(H + (t->start[k] + e) * to_entry);
}

/* LTDL, Featherstone (2008), table 6.3. The plain loop over packed rows, h(k, .) the row k of H at its turn:
 *
 *     for (k = n - 1; k >= 0; k--)
 *         for (e = depth[k] - 2; e >= 0; e--) {              // ancestors i = column[start[k] + e]
 *             L = h(k, e) / h(k, k);
 *             for (c = 0; c <= e; c++) h(i, c) -= L * h(k, c);
 *             h(k, e) = L;
 *         }
 *
 * Here a supernode is eliminated at once: C rows of a chain, then S leaves below its last row (C = 2, S = 2):
 *
 *     depth     0  1  2  ...      p-1 |  p  p+1     own
 *     chain 0   h  h  h  h  h  h  h   |  D                    h   columns of the p shared ancestors,
 *     chain 1   h  h  h  h  h  h  h   |  l   D                    G registers of WIDTH columns
 *     leaf  0   h  h  h  h  h  h  h   |  l   l   D            l   triangle T of the supernode itself
 *     leaf  1   h  h  h  h  h  h  h   |  l   l       D        D   pivots
 *
 *  1. read_rows             h, T <- rows of H minus the updates of their descendants, kept in `path`
 *  2. eliminate_triangle    D, l <- T, as the plain loop does
 *  3. store_rows            h <- h minus l times the rows below in the supernode;  X <- L = h / D
 *  4. update_ancestors      path <- path - L^T h: every register of an ancestor's row is read and written once
 *                           for all rows of the supernode
 *
 * Supernodes are eliminated depth first, from the last one on: the updates of the rows of one path are all there
 * is to keep. `path` holds those of the row of depth i at TRIANGLE(i), padded to registers. H is read once, when
 * its row is eliminated. Padding, and what stands after the end of a row of H, never contributes to a result.
 *
 * Measured with AVX2: the plain loop, compiled with -O3, takes 1.2 times the time of `Factor.refactor` on a packed
 * chain of 20, 1.1 times on a random tree of 38, 4.0 times on a chain of 60. On a chain of 7 it takes 0.5 times;
 * only the time of `refactor` includes a Python call. */
#define TRIANGLE(i) (((i) / WIDTH + 1) * ((i) / WIDTH * (WIDTH / 2) + (i) % WIDTH) * WIDTH)
#define OWN(r) ((r) < C ? (r) : C)   /* ancestors of row r within its supernode */

/* step 2: D and the factors L(r, q) within a supernode; T holds its triangle */
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

/* step 1: h <- G registers of every row of H minus its updates in the path, which become zeros; T <- the triangle */
INLINE void read_rows(int C, int S, int G, const Shape *t, const Supernode *sn, const double *H, ptrdiff_t whole,
                      double *path, double *row[4], vec h[4][5], double T[4][4]) {
    const ptrdiff_t p = sn->depth, *node = t->order + sn->first;
    UNROLL for (int r = 0; r < C + S; r++) {
        const double *from = node[r] < whole ? H + t->start[node[r]] : row[r];
        const double *update = path + TRIANGLE(p + r);
        UNROLL for (int g = 0; g < G; g++) h[r][g] = READ_AS(loose, from + g * WIDTH);
        UNROLL for (int s = 0; s <= OWN(r); s++) T[r][s] = from[p + s];
        if (r < C) {
            UNROLL for (int g = 0; g < G; g++) h[r][g] += READ_AS(vec, update + g * WIDTH);
            UNROLL for (int s = 0; s <= r; s++) T[r][s] += update[p + s];
        }
    }
    UNROLL for (int r = 0; r < C; r++)  /* no row of the path is in use below them */
        UNROLL for (int g = 0; g < G; g++) AS(vec, path + TRIANGLE(p + r) + g * WIDTH) = (vec){0};
}

/* step 3: h <- rows without the parts of the rows below them in the supernode; X <- L, zeros from its diagonal on */
INLINE void store_rows(int C, int S, int G, ptrdiff_t p, double T[4][4], const double *scale, vec h[4][5],
                       double *row[4]) {
    UNROLL for (int r = C + S - 1; r >= 0; r--) {
        UNROLL for (int q = 0; q < OWN(r); q++)
            UNROLL for (int g = 0; g < G; g++) h[q][g] -= T[r][q] * h[r][g];
        const ptrdiff_t own = p + OWN(r);
        UNROLL for (int g = 0; g < G; g++) {
            const vec l = h[r][g] * scale[r];
            const int full = g < G - 1 - (WIDTH + 2) / WIDTH;  /* the ends of the rows differ by 3 at most */
            AS(vec, row[r] + g * WIDTH) =
                full ? l : keep(l, own < g * WIDTH ? 0 : own > g * WIDTH + WIDTH ? WIDTH : own - g * WIDTH);
        }
    }
}

/* step 4: the rows of the p ancestors in the path lose L^T h */
INLINE void update_ancestors(int R, int G, ptrdiff_t p, double *row[4], vec h[4][5], double *path) {
    double *above = path;
    UNROLL for (int g = 0; g < G; g++)
        for (ptrdiff_t i = g * WIDTH; i < g * WIDTH + WIDTH && i < p; i++, above += (g + 1) * WIDTH)
            UNROLL for (int c = 0; c <= g; c++) {
                vec sum = AS(vec, above + c * WIDTH);
                UNROLL for (int r = 0; r < R; r++) sum -= row[r][i] * h[r][c];
                AS(vec, above + c * WIDTH) = sum;
            }
}

/* supernodes whose rows have at most G registers: h stays in them through all steps */
INLINE void eliminate_short(int C, int S, int G, const Shape *t, const Supernode *sn, const double *H,
                            ptrdiff_t whole, double *path, double *X, double *D, double *inverse,
                            ptrdiff_t *failed) {
    const ptrdiff_t p = sn->depth;
    double T[4][4], scale[4], *row[4];
    vec h[4][5];
    UNROLL for (int r = 0; r < C + S; r++) row[r] = X + sn->at + r * sn->width;
    read_rows(C, S, G, t, sn, H, whole, path, row, h, T);
    eliminate_triangle(C, S, t->order + sn->first, T, scale, D, inverse, failed);
    store_rows(C, S, G, p, T, scale, h, row);
    update_ancestors(C + S, G, p, row, h, path);
}

/* supernodes with rows of any length: the same steps, h one register at a time, through memory */
INLINE void eliminate_long(int C, int S, const Shape *t, const Supernode *sn, const double *H, ptrdiff_t whole,
                           double *path, double *X, double *D, double *inverse, ptrdiff_t *failed) {
    const int R = C + S;
    const ptrdiff_t p = sn->depth, *node = t->order + sn->first;
    double T[4][4], scale[4], *row[4];
    const double *from[4], *update[4];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = X + sn->at + r * sn->width;
        from[r] = node[r] < whole ? H + t->start[node[r]] : row[r];
        update[r] = path + TRIANGLE(p + r);
        UNROLL for (int s = 0; s <= OWN(r); s++) T[r][s] = from[r][p + s] + (r < C ? update[r][p + s] : 0);
    }
    eliminate_triangle(C, S, node, T, scale, D, inverse, failed);
    for (ptrdiff_t c = 0; c < p + OWN(R); c += WIDTH) {
        vec h[4];
        UNROLL for (int r = 0; r < R; r++) {
            h[r] = READ_AS(loose, from[r] + c);
            if (r < C) h[r] += READ_AS(vec, update[r] + c);
        }
        UNROLL for (int r = R - 1; r > 0; r--)
            UNROLL for (int q = 0; q < OWN(r); q++) h[q] -= T[r][q] * h[r];
        UNROLL for (int r = 0; r < R; r++) AS(vec, row[r] + c) = h[r];
    }
    if (C) memset(path + TRIANGLE(p), 0, (TRIANGLE(p + C) - TRIANGLE(p)) * sizeof(double));
    double *above = path;
    for (ptrdiff_t i = 0; i < p; i++) {
        double a[4];
        UNROLL for (int r = 0; r < R; r++) a[r] = row[r][i] * scale[r];
        for (ptrdiff_t c = 0; c <= i; c += WIDTH, above += WIDTH) {
            vec sum = AS(vec, above);
            UNROLL for (int r = 0; r < R; r++) sum -= a[r] * AS(vec, row[r] + c);
            AS(vec, above) = sum;
        }
    }
    UNROLL for (int r = 0; r < R; r++) {
        const ptrdiff_t own = p + OWN(r);
        ptrdiff_t c = 0;
        for (; c + WIDTH <= own; c += WIDTH) AS(vec, row[r] + c) *= scale[r];
        for (; c < sn->width; c += WIDTH)
            AS(vec, row[r] + c) = keep(AS(vec, row[r] + c) * scale[r], own > c ? own - c : 0);
    }
}

/* Each number of registers up to 5 is worth its code: by eliminate_long instead, the whole factorization takes 1.14
 * times as long on ur5 (1 register), 1.09 on panda (2), 1.24 on solo12 (3), 1.02 on talos_reduced (4; AVX2), 1.16 on
 * solo12 (5; baseline). A case of 6 did not win: 0.96 to 1.00 with AVX2 and baseline. */
INLINE void eliminate_rows(int C, int S, const Shape *t, const Supernode *sn, const double *H, ptrdiff_t whole,
                           double *path, double *X, double *D, double *inverse, ptrdiff_t *failed) {
    switch ((sn->depth + OWN(C + S - 1) + WIDTH) / WIDTH) {
    case 1: eliminate_short(C, S, 1, t, sn, H, whole, path, X, D, inverse, failed); break;
    case 2: eliminate_short(C, S, 2, t, sn, H, whole, path, X, D, inverse, failed); break;
    case 3: eliminate_short(C, S, 3, t, sn, H, whole, path, X, D, inverse, failed); break;
    case 4: eliminate_short(C, S, 4, t, sn, H, whole, path, X, D, inverse, failed); break;
    case 5: eliminate_short(C, S, 5, t, sn, H, whole, path, X, D, inverse, failed); break;
    default: eliminate_long(C, S, t, sn, H, whole, path, X, D, inverse, failed);
    }
}

static ptrdiff_t single_factor(const Shape *t, ptrdiff_t first, ptrdiff_t stop, const double *H,
                             ptrdiff_t whole, double *path, double *X, double *D, double *inverse) {
    ptrdiff_t failed = -1;
    for (const Supernode *sn = t->supernode + stop; sn-- > t->supernode + first;)
        WITH_SUPERNODE(sn, eliminate_rows, t, sn, H, whole, path, X, D, inverse, &failed)
    return failed;
}

/* L <- sqrt(D) L */
static void single_to_ltl(const Shape *t, double *X, double *D, double *inverse) {
    for (ptrdiff_t k = 0; k < t->n; k++) {
        D[k] = sqrt(D[k]);
        inverse[k] = 1 / D[k];
        for (ptrdiff_t c = 0; c < t->depth[k]; c += WIDTH) AS(vec, X + t->at[k] + c) *= D[k];
    }
}
