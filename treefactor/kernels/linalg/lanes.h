/* Kernels on LANES matrices side by side; see LaneKernels in kernels.h.
 *
 * Included once for every instruction set and element type, with
 *     REAL     element type                    LANES    matrices side by side: 64 bytes of them
 *     INDEX    integer of the size of REAL     SIDE     rows and columns of a tile that is transposed
 *     WIDTH    elements of a register          TILE     rows and columns of a tile that stays in registers
 *     LARGEST  largest finite number           ROOT(x)  square root
 *     NAME(f)  f for this instruction set and type
 *
 * Rows of one chain (a block) times up to TILE columns stay in registers while what descendants or ancestors
 * contribute is added up: 2 TILE loads for TILE^2 multiply-adds, one store. Where a register holds fewer than
 * LANES elements everything is done for one part of the lanes after the other.
 */

typedef REAL NAME(vec) __attribute__((vector_size(WIDTH * sizeof(REAL)), may_alias));
#define vec NAME(vec)
#define AT(array, entry) (*(vec *)((array) + (ptrdiff_t)(entry) * LANES))
typedef REAL NAME(loose) __attribute__((vector_size(WIDTH * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
#define LOOSE(array, entry) (*(const NAME(loose) *)((array) + (ptrdiff_t)(entry) * LANES))  /* of any alignment */
#define OF(array, entry) (*(const vec *)((array) + (ptrdiff_t)(entry) * LANES))

/* f(constant number of columns, first column, ...) for all columns below `count` */
#define FOR_COLUMNS(count, f, ...) \
    { ptrdiff_t c_ = 0; \
      for (; c_ + TILE <= (count); c_ += TILE) f(TILE, c_, __VA_ARGS__); \
      WITH_REST((count) - c_, f, c_, __VA_ARGS__) }
#if TILE == 4
#define WITH_REST(rest, f, ...) \
    switch (rest) { case 3: f(3, __VA_ARGS__); break; case 2: f(2, __VA_ARGS__); break; \
                    case 1: f(1, __VA_ARGS__); }
#else
#define WITH_REST(rest, f, ...) switch (rest) { case 2: f(2, __VA_ARGS__); break; case 1: f(1, __VA_ARGS__); }
#endif

/* -------------------------------------------------------------------------------- LTDL: Featherstone (2008),
 *   table 6.3, for k = n-1 .. 0 and the ancestors i of k, with h(k, .) the row before it is divided:
 *       L(k, i) = h(k, i) / D(k);   h(i, 0..i) -= h(k, i) L(k, 0..i)
 *   here left-looking: h(i, c) = H(i, c) - sum over the descendants k of w(k, i) L(k, c), w(k, i) = h(k, i). */

/* columns c .. c + C of the rows of a block */
INLINE void NAME(columns)(int C, ptrdiff_t c, int R, const Shape *t, const Block *b, const REAL *H, REAL *X,
                          const REAL *inverse, const REAL *w) {
    REAL *row[TILE];
    vec T[TILE][TILE];
    UNROLL for (int r = 0; r < R; r++) row[r] = X + t->start[b->node[r]] * LANES;
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s < C; s++) T[r][s] = LOOSE(H, t->start[b->node[r]] + c + s);
    for (ptrdiff_t j = b->below; j < b->stop; j++, w += R * LANES) {
        const REAL *Lk = X + (t->start[t->order[j]] + c) * LANES;
        UNROLL for (int s = 0; s < C; s++) {
            vec l = OF(Lk, s);
            UNROLL for (int r = 0; r < R; r++) T[r][s] -= OF(w, r) * l;
        }
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        UNROLL for (int q = 0; q < r; q++)
            UNROLL for (int s = 0; s < C; s++) T[q][s] -= OF(row[r], b->depth + q) * T[r][s];
        UNROLL for (int s = 0; s < C; s++) AT(row[r], c + s) = T[r][s] * OF(inverse, b->node[r]);
    }
}

/* rows of a block: their own triangle, then all columns left of it */
INLINE void NAME(eliminate)(int R, const Shape *t, const Block *b, const REAL *H, REAL *X, REAL *inverse,
                            REAL *w) {
    const ptrdiff_t p = b->depth;
    REAL *row[TILE], *wk = w;
    vec T[TILE][TILE], a[TILE];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = X + t->start[b->node[r]] * LANES;
        UNROLL for (int s = 0; s <= r; s++) T[r][s] = LOOSE(H, t->start[b->node[r]] + p + s);
    }
    for (ptrdiff_t j = b->below; j < b->stop; j++, wk += R * LANES) {
        const ptrdiff_t k = t->order[j];
        const REAL *Lk = X + (t->start[k] + p) * LANES;
        const vec d = OF(X, t->start[k + 1] - 1);
        UNROLL for (int r = 0; r < R; r++) {
            a[r] = OF(Lk, r);
            const vec h = a[r] * d;
            AT(wk, r) = h;
            UNROLL for (int s = 0; s <= r; s++) T[r][s] -= h * a[s];
        }
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        const vec scale = ((vec){0} + 1) / T[r][r];
        AT(row[r], p + r) = T[r][r];
        AT(inverse, b->node[r]) = scale;
        UNROLL for (int q = r - 1; q >= 0; q--) {
            const vec l = T[r][q] * scale;
            UNROLL for (int s = 0; s <= q; s++) T[q][s] -= l * T[r][s];
            AT(row[r], p + q) = l;
        }
    }
    FOR_COLUMNS(p, NAME(columns), R, t, b, H, X, inverse, w)
}

/* the reciprocal tells: it is not in (0, inf) where the pivot is not, nor where it is too small to divide by */
static void NAME(find_failures)(const Shape *t, REAL *X, REAL *inverse, ptrdiff_t *failed) {
    int bad = 0;
    for (int l = 0; l < LANES; l++) failed[l] = -1;
    for (ptrdiff_t e = 0; e < t->n * LANES; e++) bad |= !(0 < inverse[e] && inverse[e] <= LARGEST);
    if (!bad) return;
    for (int l = 0; l < LANES; l++) {
        for (ptrdiff_t k = t->n - 1; k >= 0 && failed[l] < 0; k--) {
            const REAL scale = inverse[k * LANES + l];
            if (!(0 < scale && scale <= LARGEST)) failed[l] = k;
        }
        if (failed[l] < 0) continue;
        for (ptrdiff_t e = 0; e < t->start[t->n]; e++) X[e * LANES + l] = NAN;
        for (ptrdiff_t k = 0; k < t->n; k++) inverse[k * LANES + l] = NAN;
    }
}

static void NAME(factor)(const Shape *t, const void *H, void *X, void *inverse, void *w, ptrdiff_t *failed) {
    for (int part = 0; part < LANES; part += WIDTH)
        for (const Block *b = t->block + t->blocks; b-- > t->block;)
            WITH_ROWS(b->rows, NAME(eliminate), t, b, (const REAL *)H + part, (REAL *)X + part,
                      (REAL *)inverse + part, (REAL *)w + part)
    NAME(find_failures)(t, X, inverse, failed);
}

/* L <- sqrt(D) L */
static void NAME(to_ltl)(const Shape *t, void *X, void *inverse) {
    for (ptrdiff_t k = 0; k < t->n; k++) {
        REAL *Lk = (REAL *)X + t->start[k] * LANES, *own = Lk + (t->depth[k] - 1) * LANES;
        REAL *inv = (REAL *)inverse + k * LANES;
        for (int l = 0; l < LANES; l++) {
            own[l] = ROOT(own[l]);
            inv[l] = 1 / own[l];
        }
        for (ptrdiff_t e = 0; e < t->depth[k] - 1; e++)
            for (int l = 0; l < LANES; l++) Lk[e * LANES + l] *= own[l];
    }
}

/* ------------------------------------------------ C right-hand sides from column c on: Featherstone, table 6.5
 *   x has r columns; row k, column c stands at x[k * r + c]. `before` and `after` scale a row, where given. */

#define ROW(k) (x + ((k) * r + c) * LANES)

/* x <- L^-1 x, root first:  x(k) = after(k) (before(k) x(k) - sum L(k, i) x(i)) */
INLINE void NAME(l_inv_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const REAL *L,
                              const REAL *before, const REAL *after, REAL *x, ptrdiff_t r) {
    const REAL *row[TILE];
    vec T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++) {
        row[i] = L + t->start[b->node[i]] * LANES;
        UNROLL for (int s = 0; s < C; s++) T[i][s] = OF(ROW(b->node[i]), s);
        if (before)
            UNROLL for (int s = 0; s < C; s++) T[i][s] *= OF(before, b->node[i]);
    }
    const ptrdiff_t *ancestor = t->column + t->start[b->node[0]];
    for (ptrdiff_t p = 0; p < b->depth; p++) {
        const REAL *xp = ROW(ancestor[p]);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] -= OF(row[i], p) * OF(xp, s);
    }
    UNROLL for (int i = 0; i < R; i++) {
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] -= OF(row[i], b->depth + q) * T[q][s];
        if (after)
            UNROLL for (int s = 0; s < C; s++) T[i][s] *= OF(after, b->node[i]);
        UNROLL for (int s = 0; s < C; s++) AT(ROW(b->node[i]), s) = T[i][s];
    }
}

/* x <- L^-T x, leaves first:  x(i) = after(i) (x(i) - sum over the descendants k of L(k, i) x(k)) */
INLINE void NAME(lt_inv_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const REAL *L,
                               const REAL *after, REAL *x, ptrdiff_t r) {
    vec T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) T[i][s] = OF(ROW(b->node[i]), s);
    for (ptrdiff_t j = b->below; j < b->stop; j++) {
        const REAL *Lk = L + (t->start[t->order[j]] + b->depth) * LANES, *xk = ROW(t->order[j]);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] -= OF(Lk, i) * OF(xk, s);
    }
    UNROLL for (int i = R - 1; i >= 0; i--) {
        const REAL *Lk = L + (t->start[b->node[i]] + b->depth) * LANES;
        if (after)
            UNROLL for (int s = 0; s < C; s++) T[i][s] *= OF(after, b->node[i]);
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++) T[q][s] -= OF(Lk, q) * T[i][s];
        UNROLL for (int s = 0; s < C; s++) AT(ROW(b->node[i]), s) = T[i][s];
    }
}

/* y <- L x, leaves first if y is x:  y(k) = L(k, k) x(k) + sum L(k, i) x(i) */
INLINE void NAME(l_mul_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const REAL *L,
                              int diagonal, const REAL *x, REAL *y, ptrdiff_t r) {
    const REAL *row[TILE];
    vec T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++) {
        row[i] = L + t->start[b->node[i]] * LANES;
        UNROLL for (int s = 0; s < C; s++) {
            T[i][s] = OF(ROW(b->node[i]), s);
            if (diagonal != UNIT) T[i][s] *= OF(row[i], b->depth + i);
        }
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] += OF(row[i], b->depth + q) * OF(ROW(b->node[q]), s);
    }
    const ptrdiff_t *ancestor = t->column + t->start[b->node[0]];
    for (ptrdiff_t p = 0; p < b->depth; p++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] += OF(row[i], p) * OF(ROW(ancestor[p]), s);
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) AT(y + (b->node[i] * r + c) * LANES, s) = T[i][s];
}

/* y <- L^T x, root first if y is x; or y <- y + (L^T - diag L^T) x:  y(i) = L(i, i) x(i) + sum L(k, i) x(k) */
INLINE void NAME(lt_mul_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const REAL *L,
                               int diagonal, const REAL *x, REAL *y, ptrdiff_t r) {
    vec T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) {
            vec own = OF(ROW(b->node[i]), s);
            if (diagonal == ADD) T[i][s] = OF(y + (b->node[i] * r + c) * LANES, s);
            else T[i][s] = own;
            if (diagonal == STORED) T[i][s] *= OF(L, t->start[b->node[i] + 1] - 1);
        }
    UNROLL for (int i = 1; i < R; i++) {
        const REAL *Lk = L + (t->start[b->node[i]] + b->depth) * LANES, *xk = ROW(b->node[i]);
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++) T[q][s] += OF(Lk, q) * OF(xk, s);
    }
    for (ptrdiff_t j = b->below; j < b->stop; j++) {
        const REAL *Lk = L + (t->start[t->order[j]] + b->depth) * LANES, *xk = ROW(t->order[j]);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] += OF(Lk, i) * OF(xk, s);
    }
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) AT(y + (b->node[i] * r + c) * LANES, s) = T[i][s];
}
#undef ROW

/* all blocks root first, or leaves first, for one tile of columns */
#define ROOT_FIRST(f, ...) \
    for (const Block *b = t->block; b < t->block + t->blocks; b++) WITH_ROWS(b->rows, f, C, c, t, b, __VA_ARGS__)
#define LEAVES_FIRST(f, ...) \
    for (const Block *b = t->block + t->blocks; b-- > t->block;) WITH_ROWS(b->rows, f, C, c, t, b, __VA_ARGS__)

INLINE void NAME(apply_columns)(int C, ptrdiff_t c, const Shape *t, const REAL *L, const REAL *inverse, int ltdl,
                                int op, REAL *x, ptrdiff_t r) {
    const REAL *before = ltdl ? inverse : NULL, *own = ltdl ? NULL : inverse;
    const int diagonal = ltdl ? UNIT : STORED;
    if (op == SOLVE || op == SOLVE_LT || op == HALF_SOLVE) LEAVES_FIRST(NAME(lt_inv_block), L, own, x, r)
    if (op == SOLVE || op == SOLVE_L)
        ROOT_FIRST(NAME(l_inv_block), L, op == SOLVE ? before : NULL, own, x, r)
    if (op == MULTIPLY_L || op == MULTIPLY) LEAVES_FIRST(NAME(l_mul_block), L, diagonal, x, x, r)
    if (op == MULTIPLY && ltdl)
        for (ptrdiff_t k = 0; k < t->n; k++)
            UNROLL for (int s = 0; s < C; s++) AT(x + (k * r + c) * LANES, s) *= OF(L, t->start[k + 1] - 1);
    if (op == MULTIPLY || op == MULTIPLY_LT) ROOT_FIRST(NAME(lt_mul_block), L, diagonal, x, x, r)
}

static void NAME(apply)(const Shape *t, const void *L, const void *inverse, int ltdl, int op, void *x, ptrdiff_t r) {
    for (int part = 0; part < LANES; part += WIDTH)
        FOR_COLUMNS(r, NAME(apply_columns), t, (const REAL *)L + part, (const REAL *)inverse + part, ltdl, op,
                    (REAL *)x + part, r)
    if (op == HALF_SOLVE && ltdl)
        for (ptrdiff_t k = 0; k < t->n; k++) {
            REAL root[LANES], *xk = (REAL *)x + k * r * LANES;
            for (int l = 0; l < LANES; l++) root[l] = ROOT(((const REAL *)inverse)[k * LANES + l]);
            for (ptrdiff_t c = 0; c < r; c++)
                for (int l = 0; l < LANES; l++) xk[c * LANES + l] *= root[l];
        }
}

INLINE void NAME(multiply_columns)(int C, ptrdiff_t c, const Shape *t, const REAL *H, const REAL *x, REAL *y,
                                   ptrdiff_t r) {
    ROOT_FIRST(NAME(l_mul_block), H, STORED, x, y, r)
    ROOT_FIRST(NAME(lt_mul_block), H, ADD, x, y, r)
}

static void NAME(multiply)(const Shape *t, const void *H, const void *x, void *y, ptrdiff_t r) {
    for (int part = 0; part < LANES; part += WIDTH)
        FOR_COLUMNS(r, NAME(multiply_columns), t, (const REAL *)H + part, (const REAL *)x + part,
                    (REAL *)y + part, r)
}

/* ----------------------------------------------------------------------------------------------- G = W^T W */

INLINE void NAME(gram_tile)(int C, ptrdiff_t c, int R, ptrdiff_t a, ptrdiff_t n, ptrdiff_t m, const REAL *W,
                            REAL *G) {
    vec T[TILE][TILE];
    if (c > a) return;
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s < C; s++) T[r][s] = (vec){0};
    for (ptrdiff_t k = 0; k < n; k++, W += m * LANES)
        UNROLL for (int r = 0; r < R; r++)
            UNROLL for (int s = 0; s < C; s++) T[r][s] += OF(W, a + r) * OF(W, c + s);
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s < C; s++) AT(G, (a + r) * m + c + s) = AT(G, (c + s) * m + a + r) = T[r][s];
}

INLINE void NAME(gram_rows)(int R, ptrdiff_t a, ptrdiff_t n, ptrdiff_t m, const REAL *W, REAL *G) {
    FOR_COLUMNS(m, NAME(gram_tile), R, a, n, m, W, G)
}

static void NAME(gram)(ptrdiff_t n, ptrdiff_t m, const void *W, void *G) {
    for (int part = 0; part < LANES; part += WIDTH)
        FOR_COLUMNS(m, NAME(gram_rows), n, m, (const REAL *)W + part, (REAL *)G + part)
}

/* ------------------------------------------------- H^-1 = Z D^-1 Z^T, Z = L^-1 (LTL: Z Z^T); Z has the pattern
 *   of L, so that only ancestors c of both i and j count:  H^-1(i, j) = sum V(i, c) Z(j, c),  V = Z D^-1 */

INLINE void NAME(put)(const ptrdiff_t e, const vec z, const ptrdiff_t c, const REAL *D, REAL *Z, REAL *V) {
    AT(Z, e) = z;
    AT(V, e) = z;
    if (D) AT(V, e) *= OF(D, c);
}

/* Z(k, .) = own(k) (e_k - sum L(k, i) Z(i, .)): columns c .. c + C left of the rows of a block */
INLINE void NAME(l_inverse_columns)(int C, ptrdiff_t c, int R, const Shape *t, const Block *b, const REAL *L,
                                    const REAL *own, const REAL *D, REAL *Z, REAL *V) {
    const ptrdiff_t *ancestor = t->column + t->start[b->node[0]];
    const REAL *row[TILE];
    vec T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++) {
        row[i] = L + t->start[b->node[i]] * LANES;
        UNROLL for (int s = 0; s < C; s++) T[i][s] = (vec){0};
    }
    UNROLL for (int e = 0; e < C; e++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s <= e; s++)
                T[i][s] -= OF(row[i], c + e) * OF(Z, t->start[ancestor[c + e]] + c + s);
    for (ptrdiff_t p = c + C; p < b->depth; p++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] -= OF(row[i], p) * OF(Z, t->start[ancestor[p]] + c + s);
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) {
            UNROLL for (int q = 0; q < i; q++) T[i][s] -= OF(row[i], b->depth + q) * T[q][s];
            if (own) T[i][s] *= OF(own, b->node[i]);
            NAME(put)(t->start[b->node[i]] + c + s, T[i][s], ancestor[c + s], D, Z, V);
        }
}

INLINE void NAME(l_inverse_rows)(int R, const Shape *t, const Block *b, const REAL *L, const REAL *own,
                                 const REAL *D, REAL *Z, REAL *V) {
    const ptrdiff_t p = b->depth;
    FOR_COLUMNS(p, NAME(l_inverse_columns), R, t, b, L, own, D, Z, V)
    UNROLL for (int i = 0; i < R; i++) {
        const ptrdiff_t start = t->start[b->node[i]] + p;
        UNROLL for (int s = 0; s <= i; s++) {
            vec z = (vec){0} + (REAL)(s == i);
            UNROLL for (int q = s; q < i; q++) z -= OF(L, start + q) * OF(Z, t->start[b->node[q]] + p + s);
            if (own) z *= OF(own, b->node[i]);
            NAME(put)(start + s, z, b->node[s], D, Z, V);
        }
    }
}

/* rows of block b times rows of block a, which comes before it or is it */
INLINE void NAME(inverse_tile)(int A, int R, const Shape *t, const Block *b, const Block *a, ptrdiff_t common,
                               const REAL *Z, const REAL *V, REAL *Y) {
    const ptrdiff_t shared = common < a->depth ? common : a->depth;
    vec T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int j = 0; j < A; j++) T[i][j] = (vec){0};
    for (ptrdiff_t c = 0; c < shared; c++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int j = 0; j < A; j++)
                T[i][j] += OF(V, t->start[b->node[i]] + c) * OF(Z, t->start[a->node[j]] + c);
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int j = 0; j < A; j++) {
            if (a == b && j > i) continue;
            for (ptrdiff_t c = shared; c < common && c <= a->depth + j; c++)
                T[i][j] += OF(V, t->start[b->node[i]] + c) * OF(Z, t->start[a->node[j]] + c);
            AT(Y, b->node[i] * t->n + a->node[j]) = AT(Y, a->node[j] * t->n + b->node[i]) = T[i][j];
        }
}

INLINE void NAME(inverse_rows)(int R, const Shape *t, const Block *b, const REAL *Z, const REAL *V, REAL *Y) {
    const ptrdiff_t *mine = t->column + t->start[b->node[0]];
    for (const Block *a = t->block; a <= b; a++) {
        const ptrdiff_t *its = t->column + t->start[a->node[a->rows - 1]], end = a->depth + a->rows;
        const ptrdiff_t limit = a == b ? end : b->depth < end ? b->depth : end;
        ptrdiff_t common = a == b ? end : 0;
        while (common < limit && mine[common] == its[common]) common++;
        WITH_ROWS(a->rows, NAME(inverse_tile), R, t, b, a, common, Z, V, Y)
    }
}

static void NAME(invert)(const Shape *t, const void *L, const void *inverse, int ltdl, void *Z, void *V, void *Y) {
    for (int part = 0; part < LANES; part += WIDTH) {
        const REAL *l = (const REAL *)L + part, *d = (const REAL *)inverse + part;
        REAL *z = (REAL *)Z + part, *v = (REAL *)V + part;
        for (const Block *b = t->block; b < t->block + t->blocks; b++)
            WITH_ROWS(b->rows, NAME(l_inverse_rows), t, b, l, ltdl ? NULL : d, ltdl ? d : NULL, z, v)
        for (const Block *b = t->block; b < t->block + t->blocks; b++)
            WITH_ROWS(b->rows, NAME(inverse_rows), t, b, z, v, (REAL *)Y + part)
    }
}

/* --------------------------------------------------- matrices one after the other <-> lanes: transposed tiles */

#define ELEMENT REAL
#define TILED NAME
#include "../common/transpose.h"

/* SIDE entries of every matrix */
INLINE void NAME(load_tile)(const char *from, ptrdiff_t to_lane, REAL *x) {
    for (int part = 0; part < LANES; part += SIDE) {
        NAME(row) T[SIDE];
        UNROLL for (int i = 0; i < SIDE; i++) memcpy(&T[i], from + (part + i) * to_lane, sizeof(NAME(row)));
        NAME(transpose)(T);
        UNROLL for (int i = 0; i < SIDE; i++) *(NAME(row) *)(x + i * LANES + part) = T[i];
    }
}

INLINE void NAME(store_tile)(const REAL *x, char *to, ptrdiff_t to_lane) {
    for (int part = 0; part < LANES; part += SIDE) {
        NAME(row) T[SIDE];
        UNROLL for (int i = 0; i < SIDE; i++) T[i] = *(const NAME(row) *)(x + i * LANES + part);
        NAME(transpose)(T);
        UNROLL for (int i = 0; i < SIDE; i++) memcpy(to + (part + i) * to_lane, &T[i], sizeof(NAME(row)));
    }
}

/* every e at which a tile of `size` entries begins; the last one may overlap the one before */
#define FOR_TILES(e, size) \
    for (ptrdiff_t next_ = 0, e = 0; e = next_ < (size) - SIDE ? next_ : (size) - SIDE, next_ < (size); \
         next_ += SIDE)

INLINE void NAME(load_entries)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, REAL *x) {
    for (ptrdiff_t e = 0; e < m; e++)
        for (int l = 0; l < count; l++) x[e * LANES + l] = ((const REAL *)(from + l * to_lane))[e];
}

static void NAME(load)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, void *X) {
    REAL *x = X;
    if (count == LANES && m >= SIDE)
        FOR_TILES(e, m) NAME(load_tile)(from + e * sizeof(REAL), to_lane, x + e * LANES);
    else NAME(load_entries)(m, count, from, to_lane, x);
}

static void NAME(gather)(ptrdiff_t pieces, const Piece *piece, int count, const char *from, ptrdiff_t to_lane,
                         void *X) {
    ptrdiff_t line = -1;
    for (const Piece *p = piece; p < piece + pieces; p++) {
        REAL *x = (REAL *)X + p->entry * LANES;
        if (p->at >> 6 != line) {    /* the next block will want it */
            line = p->at >> 6;
            for (int l = 0; l < LANES; l++) __builtin_prefetch(from + (LANES + l) * to_lane + p->at, 0, 2);
        }
        if (p->whole && count == LANES) NAME(load_tile)(from + p->at, to_lane, x);  /* the next pieces follow */
        else NAME(load_entries)(p->length, count, from + p->at, to_lane, x);
    }
}

static void NAME(store)(ptrdiff_t m, int count, const void *X, char *to, ptrdiff_t to_lane) {
    const REAL *x = X;
    if (count == LANES && m >= SIDE)
        FOR_TILES(e, m) NAME(store_tile)(x + e * LANES, to + e * sizeof(REAL), to_lane);
    else
        for (ptrdiff_t e = 0; e < m; e++)
            for (int l = 0; l < count; l++) ((REAL *)(to + l * to_lane))[e] = x[e * LANES + l];
}

static const LaneKernels NAME(lanes) = {
    LANES, SIDE, NAME(load), NAME(gather), NAME(store), NAME(factor), NAME(to_ltl), NAME(apply), NAME(multiply), NAME(gram), NAME(invert),
};

#undef vec
#undef AT
#undef OF
#undef LOOSE
#undef ELEMENT
#undef TILED
#undef FOR_TILES
#undef WITH_REST
#undef FOR_COLUMNS
#undef ROOT_FIRST
#undef LEAVES_FIRST
