/* Solve and multiply with LANES factors side by side; included by lanes.h. single_solve.h, linalg/_multi_rhs.pyx and
 * half_solve of constraints/loop_forces.h do the same for one vector, for many right-hand sides of one matrix, and for
 * sparse right-hand sides; each file explains why it is separate. */

/* C right-hand sides from column c on: Featherstone (2008), table 6.5
 * in place; x has r columns, and entry (k, c) is x[k * r + c]. `before` and `after` scale a row, unless NULL. */

/* row k of x from column c on, where x has r columns */
#define ROW_OF(x, k, r, c) ((x) + ((k) * (r) + (c)) * LANES)

/* x <- L^-1 x, root first:  x(k) = after(k) (before(k) x(k) - sum L(k, i) x(i)) */
INLINE void NAME(l_inv_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const ELEMENT *L,
                              const ELEMENT *before, const ELEMENT *after, ELEMENT *x, ptrdiff_t r) {
    const ELEMENT *row[TILE];
    real T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++) {
        row[i] = L + t->start[b->node[i]] * LANES;
        UNROLL for (int s = 0; s < C; s++) T[i][s] = READ(ROW_OF(x, b->node[i], r, c), s);
        if (before)
            UNROLL for (int s = 0; s < C; s++) T[i][s] *= READ(before, b->node[i]);
    }
    const ptrdiff_t *ancestor = t->column + t->start[b->node[0]];
    for (ptrdiff_t p = 0; p < b->depth; p++) {
        const ELEMENT *xp = ROW_OF(x, ancestor[p], r, c);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] -= READ(row[i], p) * READ(xp, s);
    }
    UNROLL for (int i = 0; i < R; i++) {
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] -= READ(row[i], b->depth + q) * T[q][s];
        if (after)
            UNROLL for (int s = 0; s < C; s++) T[i][s] *= READ(after, b->node[i]);
        UNROLL for (int s = 0; s < C; s++) AT(ROW_OF(x, b->node[i], r, c), s) = T[i][s];
    }
}

/* x <- L^-T x, leaves first:  x(i) = after(i) (x(i) - sum over the descendants k of L(k, i) x(k)) */
INLINE void NAME(lt_inv_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const ELEMENT *L,
                               const ELEMENT *after, ELEMENT *x, ptrdiff_t r) {
    real T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) T[i][s] = READ(ROW_OF(x, b->node[i], r, c), s);
    for (ptrdiff_t j = b->below; j < b->stop; j++) {
        const ELEMENT *Lk = L + (t->start[t->order[j]] + b->depth) * LANES, *xk = ROW_OF(x, t->order[j], r, c);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] -= READ(Lk, i) * READ(xk, s);
    }
    UNROLL for (int i = R - 1; i >= 0; i--) {
        const ELEMENT *Lk = L + (t->start[b->node[i]] + b->depth) * LANES;
        if (after)
            UNROLL for (int s = 0; s < C; s++) T[i][s] *= READ(after, b->node[i]);
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++) T[q][s] -= READ(Lk, q) * T[i][s];
        UNROLL for (int s = 0; s < C; s++) AT(ROW_OF(x, b->node[i], r, c), s) = T[i][s];
    }
}

/* y <- L x, leaves first if y is x:  y(k) = L(k, k) x(k) + sum L(k, i) x(i) */
INLINE void NAME(l_mul_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const ELEMENT *L,
                              int diagonal, const ELEMENT *x, ELEMENT *y, ptrdiff_t r) {
    const ELEMENT *row[TILE];
    real T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++) {
        row[i] = L + t->start[b->node[i]] * LANES;
        UNROLL for (int s = 0; s < C; s++) {
            T[i][s] = READ(ROW_OF(x, b->node[i], r, c), s);
            if (diagonal != UNIT) T[i][s] *= READ(row[i], b->depth + i);
        }
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++)
                T[i][s] += READ(row[i], b->depth + q) * READ(ROW_OF(x, b->node[q], r, c), s);
    }
    const ptrdiff_t *ancestor = t->column + t->start[b->node[0]];
    for (ptrdiff_t p = 0; p < b->depth; p++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++)
                T[i][s] += READ(row[i], p) * READ(ROW_OF(x, ancestor[p], r, c), s);
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) AT(ROW_OF(y, b->node[i], r, c), s) = T[i][s];
}

/* y <- L^T x, root first if y is x; or y <- y + (L^T - diag L^T) x:  y(i) = L(i, i) x(i) + sum L(k, i) x(k) */
INLINE void NAME(lt_mul_block)(int R, int C, ptrdiff_t c, const Shape *t, const Block *b, const ELEMENT *L,
                               int diagonal, const ELEMENT *x, ELEMENT *y, ptrdiff_t r) {
    real T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) {
            real own = READ(ROW_OF(x, b->node[i], r, c), s);
            if (diagonal == ADD) T[i][s] = READ(ROW_OF(y, b->node[i], r, c), s);
            else T[i][s] = own;
            if (diagonal == STORED) T[i][s] *= READ(L, t->start[b->node[i] + 1] - 1);
        }
    UNROLL for (int i = 1; i < R; i++) {
        const ELEMENT *Lk = L + (t->start[b->node[i]] + b->depth) * LANES, *xk = ROW_OF(x, b->node[i], r, c);
        UNROLL for (int q = 0; q < i; q++)
            UNROLL for (int s = 0; s < C; s++) T[q][s] += READ(Lk, q) * READ(xk, s);
    }
    for (ptrdiff_t j = b->below; j < b->stop; j++) {
        const ELEMENT *Lk = L + (t->start[t->order[j]] + b->depth) * LANES, *xk = ROW_OF(x, t->order[j], r, c);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] += READ(Lk, i) * READ(xk, s);
    }
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) AT(ROW_OF(y, b->node[i], r, c), s) = T[i][s];
}
#undef ROW_OF

/* all blocks root first, or leaves first, for one tile of columns */
#define ROOT_FIRST(f, ...) \
    for (const Block *b = t->block; b < t->block + t->blocks; b++) WITH_ROWS(b->rows, f, C, c, t, b, __VA_ARGS__)
#define LEAVES_FIRST(f, ...) \
    for (const Block *b = t->block + t->blocks; b-- > t->block;) WITH_ROWS(b->rows, f, C, c, t, b, __VA_ARGS__)

INLINE void NAME(apply_columns)(int C, ptrdiff_t c, const Shape *t, const ELEMENT *L, const ELEMENT *inverse, int ltdl,
                                int op, ELEMENT *x, ptrdiff_t r) {
    const ELEMENT *before = ltdl ? inverse : NULL, *own = ltdl ? NULL : inverse;
    const int diagonal = ltdl ? UNIT : STORED;
    if (op == SOLVE || op == SOLVE_LT || op == HALF_SOLVE) LEAVES_FIRST(NAME(lt_inv_block), L, own, x, r)
    if (op == SOLVE || op == SOLVE_L)
        ROOT_FIRST(NAME(l_inv_block), L, op == SOLVE ? before : NULL, own, x, r)
    if (op == MULTIPLY_L || op == MULTIPLY) LEAVES_FIRST(NAME(l_mul_block), L, diagonal, x, x, r)
    if (op == MULTIPLY && ltdl)
        for (ptrdiff_t k = 0; k < t->n; k++)
            UNROLL for (int s = 0; s < C; s++) AT(x + (k * r + c) * LANES, s) *= READ(L, t->start[k + 1] - 1);
    if (op == MULTIPLY || op == MULTIPLY_LT) ROOT_FIRST(NAME(lt_mul_block), L, diagonal, x, x, r)
}

static void NAME(apply)(const Shape *t, const void *L, const void *inverse, int ltdl, int op, void *x, ptrdiff_t r) {
    for (int part = 0; part < LANES; part += WIDTH)
        FOR_COLUMNS(r, NAME(apply_columns), t, (const ELEMENT *)L + part, (const ELEMENT *)inverse + part, ltdl, op,
                    (ELEMENT *)x + part, r)
    if (op == HALF_SOLVE && ltdl)
        for (ptrdiff_t k = 0; k < t->n; k++) {
            ELEMENT root[LANES], *xk = (ELEMENT *)x + k * r * LANES;
            for (int l = 0; l < LANES; l++) root[l] = ROOT(((const ELEMENT *)inverse)[k * LANES + l]);
            for (ptrdiff_t c = 0; c < r; c++)
                for (int l = 0; l < LANES; l++) xk[c * LANES + l] *= root[l];
        }
}

INLINE void NAME(multiply_columns)(int C, ptrdiff_t c, const Shape *t, const ELEMENT *H, const ELEMENT *x, ELEMENT *y,
                                   ptrdiff_t r) {
    ROOT_FIRST(NAME(l_mul_block), H, STORED, x, y, r)
    ROOT_FIRST(NAME(lt_mul_block), H, ADD, x, y, r)
}

static void NAME(multiply)(const Shape *t, const void *H, const void *x, void *y, ptrdiff_t r) {
    for (int part = 0; part < LANES; part += WIDTH)
        FOR_COLUMNS(r, NAME(multiply_columns), t, (const ELEMENT *)H + part, (const ELEMENT *)x + part,
                    (ELEMENT *)y + part, r)
}
