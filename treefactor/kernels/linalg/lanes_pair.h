/* Solve for LANES matrices P with the pattern of H in both triangles, packed as `coriolis_matrix` does; included by
 * lanes.h.
 *
 * Column c of P has entries in the rows of the subtree of c and of its ancestors only, and so has L^-T P: that half
 * of the solve visits no other rows. The other half is a product with V = L^-1 D^-1, in which only common ancestors
 * count. lanes_solve.h solves for full columns. Columns of one block at a time. */

/* entry of the packed P in row k of the column j, an ancestor of k or k itself at depth d */
#define LEFT(t, k, d) ((t)->start[k] + (d))
/* entry in row i at depth d of the column j below it */
#define ABOVE(t, j, d) ((t)->start[(t)->n] + (t)->start[j] - (j) + (d))

/* y <- rows of block a of L^-T (-P) in the columns of block c:  y(i) = -P(i) - sum L(k, i) y(k) over the rows k of the
 * subtree of c, and of the path to it, that lie below i */
INLINE void NAME(half_pair)(int R, int C, const Shape *t, const Block *c, const Block *a, const ELEMENT *L,
                            const ELEMENT *P, ELEMENT *y) {
    const ptrdiff_t top = c->below - c->rows, *path = t->column + t->start[c->node[0]];
    const int inside = a->depth > c->depth;
    const ptrdiff_t below = inside || a == c ? a->below : top, stop = inside || a == c ? a->stop : c->stop;
    FOR_PARTS(part) {
        const ELEMENT *l = L + a->depth * LANES + part, *x = y + part;
        real T[TILE][TILE];
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++)
                T[i][s] = -READ(P + part, inside || (a == c && s <= i) ? LEFT(t, a->node[i], c->depth + s)
                                                                       : ABOVE(t, c->node[s], a->depth + i));
        for (ptrdiff_t j = below; j < stop; j++) {
            const ptrdiff_t k = t->order[j];
            const ELEMENT *Lk = l + t->start[k] * LANES, *yk = x + k * C * LANES;
            UNROLL for (int i = 0; i < R; i++)
                UNROLL for (int s = 0; s < C; s++) T[i][s] -= READ(Lk, i) * READ(yk, s);
        }
        for (ptrdiff_t d = a->depth + R; d < c->depth; d++) {
            const ELEMENT *Lk = l + t->start[path[d]] * LANES, *yk = x + path[d] * C * LANES;
            UNROLL for (int i = 0; i < R; i++)
                UNROLL for (int s = 0; s < C; s++) T[i][s] -= READ(Lk, i) * READ(yk, s);
        }
        UNROLL for (int i = R - 1; i >= 0; i--) {
            const ELEMENT *Lk = l + t->start[a->node[i]] * LANES;
            UNROLL for (int q = 0; q < i; q++)
                UNROLL for (int s = 0; s < C; s++) T[q][s] -= READ(Lk, q) * T[i][s];
            UNROLL for (int s = 0; s < C; s++) AT(y + part, a->node[i] * C + s) = T[i][s];
        }
    }
}

/* Y <- rows of block a of V y in the columns of block c, from the `shared` ancestors of a that y has entries for, and
 * from the block itself if it has */
INLINE void NAME(whole_pair)(int R, int C, const Shape *t, const Block *c, const Block *a, ptrdiff_t shared, int known,
                             const ELEMENT *V, const ELEMENT *y, ELEMENT *Y) {
    const ptrdiff_t *ancestor = t->column + t->start[a->node[0]];
    const ELEMENT *row[TILE];
    ELEMENT *to[TILE];
    UNROLL for (int i = 0; i < R; i++) {
        row[i] = V + t->start[a->node[i]] * LANES;
        to[i] = Y + a->node[i] * t->n * LANES;
    }
    FOR_PARTS(part) {
        real T[TILE][TILE];
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) T[i][s] = (real){0};
        for (ptrdiff_t p = 0; p < shared; p++) {
            const ELEMENT *yp = y + ancestor[p] * C * LANES + part;
            UNROLL for (int i = 0; i < R; i++)
                UNROLL for (int s = 0; s < C; s++) T[i][s] += READ(row[i] + part, p) * READ(yp, s);
        }
        if (known)
            UNROLL for (int q = 0; q < R; q++)
                UNROLL for (int i = q; i < R; i++)
                    UNROLL for (int s = 0; s < C; s++)
                        T[i][s] += READ(row[i] + part, a->depth + q) * READ(y + part, a->node[q] * C + s);
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int s = 0; s < C; s++) AT(to[i] + part, c->node[s]) = T[i][s];
    }
}

/* columns of block c */
INLINE void NAME(pair_columns)(int C, const Shape *t, const Block *c, const ELEMENT *L, const ELEMENT *V,
                               const ELEMENT *P, ELEMENT *y, ELEMENT *Y) {
    const Block *end = t->block + t->blocks;
    const ptrdiff_t top = c->below - c->rows;
    ptrdiff_t shared = 0;                /* ancestors of a for which y has entries */
    int after_known = 0;
    const Block *below = c + 1;
    while (below < end && below->below - below->rows < c->stop) below++;
    for (const Block *a = below; a-- > t->block;)
        if (a >= c || (a->below <= top && top < a->stop))
            WITH_ROWS(a->rows, NAME(half_pair), C, t, c, a, L, P, y)
    for (const Block *a = t->block; a < end; a++) {
        const int known = (a >= c && a < below) || (a->below <= top && top < a->stop);
        if (known || after_known || a->depth < shared) shared = a->depth;
        WITH_ROWS(a->rows, NAME(whole_pair), C, t, c, a, shared, known, V, y, Y)
        after_known = known;
    }
}

static void NAME(solve_pair)(const Shape *t, const void *L, const void *V, const void *P, void *y, void *Y) {
    for (const Block *c = t->block; c < t->block + t->blocks; c++)
        WITH_ROWS(c->rows, NAME(pair_columns), t, c, L, V, P, y, Y)
}
#undef LEFT
#undef ABOVE
