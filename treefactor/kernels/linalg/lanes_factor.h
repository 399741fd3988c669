/* Factorize LANES matrices side by side; included by lanes.h. */

/* LTDL: Featherstone (2008), table 6.3. The plain loop, for k = n-1 .. 0 and the ancestors i of k, with h(k, .)
 * the row before it is divided:
 *       L(k, i) = h(k, i) / D(k);   h(i, 0..i) -= h(k, i) L(k, 0..i)
 * The kernels look left instead: h(i, c) = H(i, c) - sum over the descendants k
 * of w(k, i) L(k, c), w(k, i) = h(k, i). */

/* Columns of a tile of R rows: REGISTERS hold the tile, a column of w and one number of L. BESIDE of the triangle of
 * its rows they hold the triangle, too, and D(k). */
#define AT_MOST_8(columns) ((columns) < 8 ? (columns) : 8)
#define WIDEST(R) AT_MOST_8((REGISTERS - 1 - (R)) / (R))
#define BESIDE(R) AT_MOST_8((REGISTERS - 2 - (R) - (R) * ((R) + 1) / 2) / (R))

/* f(C, ...) with the number of columns, 0 .. most, as a constant */
#define ONE_OF(count, most, f, ...) case count: if (count <= (most)) f(count, __VA_ARGS__); break;
#define WITH_COLUMNS(C, most, f, ...) \
    switch (C) { ONE_OF(8, most, f, __VA_ARGS__) ONE_OF(7, most, f, __VA_ARGS__) ONE_OF(6, most, f, __VA_ARGS__) \
                 ONE_OF(5, most, f, __VA_ARGS__) ONE_OF(4, most, f, __VA_ARGS__) ONE_OF(3, most, f, __VA_ARGS__) \
                 ONE_OF(2, most, f, __VA_ARGS__) ONE_OF(1, most, f, __VA_ARGS__) default: f(0, __VA_ARGS__); }

/* Eliminate columns c .. c + C of the R rows of a panel of that depth; the rows of its descendants end at stop. */
INLINE void NAME(columns)(int C, ptrdiff_t c, int R, const Row *row, const Row *stop, ptrdiff_t depth, const ELEMENT *H,
                          ELEMENT *X, const real *inverse, const ELEMENT *w) {
    real T[ROWS][8], h[ROWS];
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s < C; s++) T[r][s] = READ_LOOSE(H, row[r].first + c + s);
    for (const Row *k = row + R; k < stop; k++, w += R * LANES) {
        const ELEMENT *Lk = X + (k->first + c) * LANES;
        UNROLL for (int r = 0; r < R; r++) h[r] = NAME(held)(READ(w, r));
        UNROLL for (int s = 0; s < C; s++) {
            const real l = NAME(held)(READ(Lk, s));
            UNROLL for (int r = 0; r < R; r++) T[r][s] -= h[r] * l;
        }
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        ELEMENT *Lr = X + row[r].first * LANES;
        UNROLL for (int q = 0; q < r; q++) {
            const real l = NAME(held)(READ(Lr, depth + q));
            UNROLL for (int s = 0; s < C; s++) T[q][s] -= l * T[r][s];
        }
        UNROLL for (int s = 0; s < C; s++) AT(Lr, c + s) = T[r][s] * inverse[r];
    }
}

/* Eliminate the triangle of the rows of a panel and the C columns left of it, which begin at c; write w if there are
 * more columns. */
INLINE void NAME(triangle)(int C, ptrdiff_t c, int R, int more, const Row *row, const Row *stop, const ELEMENT *H,
                           ELEMENT *X, real *inverse, ELEMENT *w) {
    real T[ROWS][8 + ROWS], h[ROWS];
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int s = 0; s <= C + r; s++) T[r][s] = READ_LOOSE(H, row[r].first + c + s);
    for (const Row *k = row + R; k < stop; k++) {
        const ELEMENT *Lk = X + (k->first + c) * LANES;
        const real d = READ(X, k->diagonal);
        UNROLL for (int r = 0; r < R; r++) h[r] = NAME(held)(READ(Lk, C + r));
        UNROLL for (int r = R - 1; r >= 0; r--) {
            const real l = h[r];
            h[r] = l * d;
            T[r][C + r] -= h[r] * l;
            UNROLL for (int s = 0; s < r; s++) T[r][C + s] -= h[r] * h[s];
            if (more) AT(w, r) = h[r];
        }
        if (more) w += R * LANES;
        UNROLL for (int s = 0; s < C; s++) {
            const real l = NAME(held)(READ(Lk, s));
            UNROLL for (int r = 0; r < R; r++) T[r][s] -= h[r] * l;
        }
    }
    UNROLL for (int r = R - 1; r >= 0; r--) {
        ELEMENT *Lr = X + (row[r].first + c) * LANES;
        AT(Lr, C + r) = T[r][C + r];
        inverse[r] = ((real){0} + 1) / T[r][C + r];
        UNROLL for (int q = r - 1; q >= 0; q--) {
            const real l = T[r][C + q] * inverse[r];
            UNROLL for (int s = 0; s <= C + q; s++) T[q][s] -= l * T[r][s];
            AT(Lr, C + q) = l;
        }
        UNROLL for (int s = 0; s < C; s++) AT(Lr, s) = T[r][s] * inverse[r];
    }
}

/* Take x for an integer and return one whose sign is set unless 0 < x <= LARGEST. */
typedef unsigned INDEX NAME(Bits) __attribute__((vector_size(WIDTH * sizeof(ELEMENT))));
INLINE NAME(Bits) NAME(unusable)(real x) {
    const int exponent = sizeof(ELEMENT) == sizeof(double) ? 52 : 23;
    return ((NAME(Bits))x - 1) | ((NAME(Bits))x + ((unsigned INDEX)1 << exponent));
}

/* Eliminate the rows of a panel: the triangle and the columns beside it, then the other columns in tiles of similar
 * widths. The sign of `failed` is set where a reciprocal pivot is not in (0, inf). */
INLINE void NAME(eliminate)(int R, const Shape *t, const Panel *b, const ELEMENT *H, ELEMENT *X, ELEMENT *inverse,
                            ELEMENT *w, NAME(Bits) *failed) {
    const Row *row = t->row + b->first, *stop = t->row + b->stop;
    ptrdiff_t left = b->depth - BESIDE(R), c = 0, C;
    real scale[ROWS];
    if (left <= 0) {
        WITH_COLUMNS(b->depth, BESIDE(R), NAME(triangle), 0, R, 0, row, stop, H, X, scale, w)
    } else {
        NAME(triangle)(BESIDE(R), left, R, 1, row, stop, H, X, scale, w);
        for (; left > 0; c += C, left -= C) {
            C = left > 2 * WIDEST(R) ? WIDEST(R) : left > WIDEST(R) ? (left + 1) / 2 : left;
            WITH_COLUMNS(C, WIDEST(R), NAME(columns), c, R, row, stop, b->depth, H, X, scale, w)
        }
    }
    NAME(Bits) bad = *failed;
    UNROLL for (int r = 0; r < R; r++) {
        AT(inverse, t->order[b->first + r]) = scale[r];
        bad |= NAME(unusable)(scale[r]);
    }
    *failed = bad;
}

/* failed[l] <- the last row whose reciprocal pivot is not in (0, inf): its pivot is not, or is too small to divide
 * by; matrices that failed become NaN */
static void NAME(find_failures)(const Shape *t, ELEMENT *X, ELEMENT *inverse, ptrdiff_t *failed) {
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
    int any = 0;
    for (int l = 0; l < LANES; l++) failed[l] = -1;
    for (int part = 0; part < LANES; part += WIDTH) {
        NAME(Bits) bad = {0};
        for (const Panel *b = t->panel + t->panels; b-- > t->panel;)
            WITH_PANEL(b->rows, NAME(eliminate), t, b, (const ELEMENT *)H + part, (ELEMENT *)X + part,
                       (ELEMENT *)inverse + part, (ELEMENT *)w + part, &bad)
        for (int l = 0; l < WIDTH; l++) any |= (INDEX)bad[l] < 0;
    }
    if (any) NAME(find_failures)(t, X, inverse, failed);
}
#undef AT_MOST_8
#undef WIDEST
#undef BESIDE
#undef ONE_OF
#undef WITH_COLUMNS

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
