/* Compute LANES Gram matrices or inverses side by side; included by lanes.h. */

/* G = W^T W, the plain loop:  G(a, c) += W(k, a) W(k, c) for all rows k, in tiles of TILE x TILE entries */

INLINE void NAME(gram_tile)(int C, ptrdiff_t c, int R, ptrdiff_t a, ptrdiff_t n, ptrdiff_t m, const ELEMENT *W,
                            ELEMENT *G) {
    real T[TILE][TILE];
    if (c > a) return;
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s < C; s++) T[r][s] = (real){0};
    for (ptrdiff_t k = 0; k < n; k++, W += m * LANES)
        UNROLL for (int r = 0; r < R; r++)
            UNROLL for (int s = 0; s < C; s++) T[r][s] += READ(W, a + r) * READ(W, c + s);
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s < C; s++) AT(G, (a + r) * m + c + s) = AT(G, (c + s) * m + a + r) = T[r][s];
}

INLINE void NAME(gram_rows)(int R, ptrdiff_t a, ptrdiff_t n, ptrdiff_t m, const ELEMENT *W, ELEMENT *G) {
    FOR_COLUMNS(m, NAME(gram_tile), R, a, n, m, W, G)
}

static void NAME(gram)(ptrdiff_t n, ptrdiff_t m, const void *W, void *G) {
    for (int part = 0; part < LANES; part += WIDTH)
        FOR_COLUMNS(m, NAME(gram_rows), n, m, (const ELEMENT *)W + part, (ELEMENT *)G + part)
}

/* H^-1 = Z D^-1 Z^T, Z = L^-1 (LTL: Z Z^T); Z has the pattern
 *   of L, so that only ancestors c of both i and j count:  H^-1(i, j) = sum V(i, c) Z(j, c),  V = Z D^-1 */

INLINE void NAME(put)(const ptrdiff_t e, const real z, const ptrdiff_t c, const ELEMENT *D, ELEMENT *Z, ELEMENT *V) {
    AT(Z, e) = z;
    AT(V, e) = z;
    if (D) AT(V, e) *= READ(D, c);
}

/* Z(k, .) = own(k) (e_k - sum L(k, i) Z(i, .)): columns c .. c + C left of the rows of a block */
INLINE void NAME(l_inverse_columns)(int C, ptrdiff_t c, int R, const Shape *t, const Block *b, const ELEMENT *L,
                                    const ELEMENT *own, const ELEMENT *D, ELEMENT *Z, ELEMENT *V) {
    const ptrdiff_t *ancestor = t->column + t->start[b->node[0]];
    const ELEMENT *row[TILE];
    real T[TILE][TILE];
    UNROLL for (int i = 0; i < R; i++) {
        row[i] = L + t->start[b->node[i]] * LANES;
        UNROLL for (int s = 0; s < C; s++) T[i][s] = (real){0};
    }
    UNROLL for (int e = 0; e < C; e++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s <= e; s++)
                T[i][s] -= READ(row[i], c + e) * READ(Z, t->start[ancestor[c + e]] + c + s);
    for (ptrdiff_t p = c + C; p < b->depth; p++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++)
                T[i][s] -= READ(row[i], p) * READ(Z, t->start[ancestor[p]] + c + s);
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int s = 0; s < C; s++) {
            UNROLL for (int q = 0; q < i; q++) T[i][s] -= READ(row[i], b->depth + q) * T[q][s];
            if (own) T[i][s] *= READ(own, b->node[i]);
            NAME(put)(t->start[b->node[i]] + c + s, T[i][s], ancestor[c + s], D, Z, V);
        }
}

INLINE void NAME(l_inverse_rows)(int R, const Shape *t, const Block *b, const ELEMENT *L, const ELEMENT *own,
                                 const ELEMENT *D, ELEMENT *Z, ELEMENT *V) {
    const ptrdiff_t p = b->depth;
    FOR_COLUMNS(p, NAME(l_inverse_columns), R, t, b, L, own, D, Z, V)
    UNROLL for (int i = 0; i < R; i++) {
        const ptrdiff_t start = t->start[b->node[i]] + p;
        UNROLL for (int s = 0; s <= i; s++) {
            real z = (real){0} + (ELEMENT)(s == i);
            UNROLL for (int q = s; q < i; q++)
                z -= READ(L, start + q) * READ(Z, t->start[b->node[q]] + p + s);
            if (own) z *= READ(own, b->node[i]);
            NAME(put)(start + s, z, b->node[s], D, Z, V);
        }
    }
}

/* rows of block b times rows of block a, which comes before it or is it; a is `above` where it holds ancestors of b,
 * too, besides the `shared` ones of both */
INLINE void NAME(inverse_tile)(int A, int R, const Shape *t, const Block *b, const Block *a, ptrdiff_t shared,
                               int above, const ELEMENT *Z, const ELEMENT *V, ELEMENT *Y) {
    const ELEMENT *row[TILE], *column[TILE];
    UNROLL for (int i = 0; i < R; i++) row[i] = V + t->start[b->node[i]] * LANES;
    UNROLL for (int j = 0; j < A; j++) column[j] = Z + t->start[a->node[j]] * LANES;
    FOR_PARTS(part) {
        real T[TILE][TILE];
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int j = 0; j < A; j++) T[i][j] = (real){0};
        for (ptrdiff_t c = 0; c < shared; c++)
            UNROLL for (int i = 0; i < R; i++)
                UNROLL for (int j = 0; j < A; j++) T[i][j] += READ(row[i] + part, c) * READ(column[j] + part, c);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int j = 0; j < A; j++) {
                if (a == b && j > i) continue;
                if (above)
                    UNROLL for (int q = 0; q <= j; q++)
                        T[i][j] += READ(row[i] + part, a->depth + q) * READ(column[j] + part, a->depth + q);
                AT(Y + part, b->node[i] * t->n + a->node[j]) = T[i][j];
                AT(Y + part, a->node[j] * t->n + b->node[i]) = T[i][j];
            }
    }
}

INLINE void NAME(inverse_rows)(int R, const Shape *t, const Block *b, const ELEMENT *Z, const ELEMENT *V, ELEMENT *Y) {
    const ptrdiff_t top = b->below - b->rows;
    ptrdiff_t shared = 0;
    int after_above = 0;
    for (const Block *a = t->block; a <= b; a++) {
        const int above = a == b || (a->below <= top && top < a->stop);
        if (above || after_above || a->depth < shared) shared = a->depth;
        WITH_ROWS(a->rows, NAME(inverse_tile), R, t, b, a, shared, above, Z, V, Y)
        after_above = above;
    }
}

static void NAME(invert)(const Shape *t, const void *L, const void *inverse, int ltdl, void *Z, void *V, void *Y) {
    for (int part = 0; part < LANES; part += WIDTH) {
        const ELEMENT *l = (const ELEMENT *)L + part, *d = (const ELEMENT *)inverse + part;
        ELEMENT *z = (ELEMENT *)Z + part, *v = (ELEMENT *)V + part;
        for (const Block *b = t->block; b < t->block + t->blocks; b++)
            WITH_ROWS(b->rows, NAME(l_inverse_rows), t, b, l, ltdl ? NULL : d, ltdl ? d : NULL, z, v)
    }
    for (const Block *b = t->block; b < t->block + t->blocks; b++)
        WITH_ROWS(b->rows, NAME(inverse_rows), t, b, Z, V, Y)
}
