/* Factorize LANES matrices side by side; included by lanes.h. */

/* LTDL: Featherstone (2008), table 6.3. The plain loop, for k = n-1 .. 0 and the ancestors i of k, with h(k, .)
 * the row before it is divided:
 *       L(k, i) = h(k, i) / D(k);   h(i, 0..i) -= h(k, i) L(k, 0..i)
 * The kernels look left instead: h(i, c) = H(i, c) - sum over the descendants k
 * of w(k, i) L(k, c), w(k, i) = h(k, i). */

/* columns c .. c + C of the rows of a block */
INLINE void NAME(columns)(int C, ptrdiff_t c, int R, const Shape *t, const Block *b, const ELEMENT *H, ELEMENT *X,
                          const ELEMENT *inverse, const ELEMENT *w) {
    ELEMENT *row[TILE];
    real T[TILE][TILE];
    UNROLL for (int r = 0; r < R; r++) row[r] = X + t->start[b->node[r]] * LANES;
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s < C; s++) T[r][s] = READ_LOOSE(H, t->start[b->node[r]] + c + s);
    for (ptrdiff_t j = b->below; j < b->stop; j++, w += R * LANES) {
        const ELEMENT *Lk = X + (t->start[t->order[j]] + c) * LANES;
        UNROLL for (int s = 0; s < C; s++) {
            real l = READ(Lk, s);
            UNROLL for (int r = 0; r < R; r++) T[r][s] -= READ(w, r) * l;
        }
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        UNROLL for (int q = 0; q < r; q++)
            UNROLL for (int s = 0; s < C; s++) T[q][s] -= READ(row[r], b->depth + q) * T[r][s];
        UNROLL for (int s = 0; s < C; s++) AT(row[r], c + s) = T[r][s] * READ(inverse, b->node[r]);
    }
}

/* rows of a block: their own triangle, then all columns left of it */
INLINE void NAME(eliminate)(int R, const Shape *t, const Block *b, const ELEMENT *H, ELEMENT *X, ELEMENT *inverse,
                            ELEMENT *w) {
    const ptrdiff_t p = b->depth;
    ELEMENT *row[TILE], *wk = w;
    real T[TILE][TILE], a[TILE];
    UNROLL for (int r = 0; r < R; r++) {
        row[r] = X + t->start[b->node[r]] * LANES;
        UNROLL for (int s = 0; s <= r; s++) T[r][s] = READ_LOOSE(H, t->start[b->node[r]] + p + s);
    }
    for (ptrdiff_t j = b->below; j < b->stop; j++, wk += R * LANES) {
        const ptrdiff_t k = t->order[j];
        const ELEMENT *Lk = X + (t->start[k] + p) * LANES;
        const real d = READ(X, t->start[k + 1] - 1);
        UNROLL for (int r = 0; r < R; r++) {
            a[r] = READ(Lk, r);
            const real h = a[r] * d;
            AT(wk, r) = h;
            UNROLL for (int s = 0; s <= r; s++) T[r][s] -= h * a[s];
        }
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        const real scale = ((real){0} + 1) / T[r][r];
        AT(row[r], p + r) = T[r][r];
        AT(inverse, b->node[r]) = scale;
        UNROLL for (int q = r - 1; q >= 0; q--) {
            const real l = T[r][q] * scale;
            UNROLL for (int s = 0; s <= q; s++) T[q][s] -= l * T[r][s];
            AT(row[r], p + q) = l;
        }
    }
    FOR_COLUMNS(p, NAME(columns), R, t, b, H, X, inverse, w)
}

/* failed[l] <- the last row whose reciprocal pivot is not in (0, inf): its pivot is not, or is too small to divide
 * by; matrices that failed become NaN */
static void NAME(find_failures)(const Shape *t, ELEMENT *X, ELEMENT *inverse, ptrdiff_t *failed) {
    int bad = 0;
    for (int l = 0; l < LANES; l++) failed[l] = -1;
    for (ptrdiff_t e = 0; e < t->n * LANES; e++) bad |= !(0 < inverse[e] && inverse[e] <= LARGEST);
    if (!bad) return;
    for (int l = 0; l < LANES; l++) {
        for (ptrdiff_t k = t->n - 1; k >= 0 && failed[l] < 0; k--) {
            const ELEMENT scale = inverse[k * LANES + l];
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
            WITH_ROWS(b->rows, NAME(eliminate), t, b, (const ELEMENT *)H + part, (ELEMENT *)X + part,
                      (ELEMENT *)inverse + part, (ELEMENT *)w + part)
    NAME(find_failures)(t, X, inverse, failed);
}

/* L <- sqrt(D) L */
static void NAME(to_ltl)(const Shape *t, void *X, void *inverse) {
    for (ptrdiff_t k = 0; k < t->n; k++) {
        ELEMENT *Lk = (ELEMENT *)X + t->start[k] * LANES, *own = Lk + (t->depth[k] - 1) * LANES;
        ELEMENT *inv = (ELEMENT *)inverse + k * LANES;
        for (int l = 0; l < LANES; l++) {
            own[l] = ROOT(own[l]);
            inv[l] = 1 / own[l];
        }
        for (ptrdiff_t e = 0; e < t->depth[k] - 1; e++)
            for (int l = 0; l < LANES; l++) Lk[e * LANES + l] *= own[l];
    }
}
