/* Sums of products X^T Z of small matrices in rows, tile by tile, and copies between problems and lanes; see riccati_isa.h.
 *
 * Columns of rows that are filled begin at a multiple of SPAN: entries left of the first one asked for, and of upper
 * triangles left of the diagonal, are overwritten by numbers that nothing reads. */
#include "../common/hold.h"
#include "../common/spatial.h"

/* SPAN columns from column c of a row on */
#define WIDE(row, c) AS(wide, (row) + (ptrdiff_t)(c) * LANES)
#define READ_WIDE(row, c) READ_AS(wide, (row) + (ptrdiff_t)(c) * LANES)
#define ROW(X, r) ((X) + (ptrdiff_t)(r) * ld * LANES)

enum { NAME(ROWS) = MOST_ROWS, NAME(SPANS) = 3 };   /* of a tile */

/* A product X^T Z of `count` rows each: entry (k, r) of X at k to_k + r to_row, row k of Z at k to_z */
typedef struct {
    ptrdiff_t count;
    const double *X;
    ptrdiff_t to_k, to_row;
    const double *Z;
    ptrdiff_t to_z;
} NAME(Product);

/* What tiles begin with, and what becomes of their sums of products; rows have ld entries.
 *     FRESH       to <- sums
 *     ADDED       to <- from + sums
 *     FACTORED    to <- L^-1 (from + sums), scaled <- diag(minus) to, where L^T has the rows of R, each divided by its pivot
 *     SOLVED      to <- -R^-1 (from + sums) */
typedef struct {
    const double *from;
    double *to, *scaled;
    real R[NAME(ROWS)][NAME(ROWS)], minus[NAME(ROWS)];       /* upper triangle; minus the inverse pivots */
} NAME(Target);

/* sum <- sum + `rows` x `spans` entries of a product, from row r and column c on */
INLINE void NAME(add_tile)(const int rows, const int spans, const NAME(Product) *p, ptrdiff_t r, ptrdiff_t c,
                           wide sum[NAME(ROWS)][NAME(SPANS)])
{
    const wide zero = {0};
    const double *X = p->X + r * p->to_row * LANES, *Z = p->Z + c * LANES;
    for (ptrdiff_t k = 0; k < p->count; k++, X += p->to_k * LANES, Z += p->to_z * LANES) {
        wide z[NAME(SPANS)];
        EACH(j, spans) {
            z[j] = READ_WIDE(Z, j * SPAN);
            HOLD(z[j]);
        }
        EACH(i, rows) {
            wide x = READ(X, i * p->to_row) - zero;
            HOLD(x);
            EACH(j, spans) sum[i][j] += x * z[j];
        }
    }
}

INLINE void NAME(tile)(const int use, const int rows, const int spans, int products, const NAME(Product) *p,
                       ptrdiff_t ld, ptrdiff_t r, ptrdiff_t c, const NAME(Target) *target)
{
    wide sum[NAME(ROWS)][NAME(SPANS)];
    const wide zero = {0};
    EACH(i, rows) EACH(j, spans) sum[i][j] = use == FRESH ? zero : READ_WIDE(ROW(target->from, r + i), c + j * SPAN);
    for (int k = 0; k < products; k++) NAME(add_tile)(rows, spans, p + k, r, c, sum);
    if (use == FACTORED)
        EACH(i, rows) EACH(k, rows) if (k < i) {
            const real u = target->minus[k] * target->R[k][i];
            EACH(j, spans) sum[i][j] += u * sum[k][j];
        }
    if (use == SOLVED)
        EACH(i_, rows) {
            const int i = rows - 1 - i_;
            EACH(k_, rows) if (k_ < i_) {
                const int k = rows - 1 - k_;
                EACH(j, spans) sum[i][j] += target->R[i][k] * sum[k][j];
            }
            EACH(j, spans) sum[i][j] *= target->minus[i];
        }
    EACH(i, rows) EACH(j, spans) WIDE(ROW(target->to, r + i), c + j * SPAN) = sum[i][j];
    if (use == FACTORED)
        EACH(i, rows) EACH(j, spans) WIDE(ROW(target->scaled, r + i), c + j * SPAN) = target->minus[i] * sum[i][j];
}

/* Return how many of `left` rows or spans come next: at most `most`, in equal parts in the end. */
INLINE ptrdiff_t NAME(part)(ptrdiff_t left, ptrdiff_t most)
{
    return left <= most ? left : left <= 2 * most ? (left + 1) / 2 : left <= 3 * most ? (left + 2) / 3 : most;
}

/* Tiles of rows r .. r + rows - 1, from column c to `end` */
INLINE void NAME(row_of_tiles)(const int use, const int rows, int products, const NAME(Product) *p, ptrdiff_t ld,
                               ptrdiff_t r, ptrdiff_t c, ptrdiff_t end, const NAME(Target) *target)
{
#define CASE(spans) case spans: NAME(tile)(use, rows, spans, products, p, ld, r, c, target); break
    for (ptrdiff_t spans; c < end; c += spans * SPAN) {
        spans = NAME(part)((end - c + SPAN - 1) / SPAN, NAME(SPANS));
        switch (spans) {
            CASE(1); CASE(2); CASE(3);
        }
    }
#undef CASE
}

#define HEIGHT(h) case h: NAME(row_of_tiles)(use, h, products, p, ld, r, c, to, &target); break
#define TILES(f, use_) \
static void NAME(f)(ptrdiff_t rows, int products, const NAME(Product) *p, ptrdiff_t ld, const double *B, double *C, \
                    ptrdiff_t from, ptrdiff_t to, int triangle) \
{ \
    enum { use = use_ }; \
    NAME(Target) target; \
    target.from = B; \
    target.to = C; \
    for (ptrdiff_t r = 0, high; r < rows; r += high) { \
        const ptrdiff_t c = (triangle ? from + r : from) / SPAN * SPAN; \
        high = NAME(part)(rows - r, NAME(ROWS)); \
        switch (high) { EACH_HEIGHT(HEIGHT); } \
    } \
}
/* C <- B + sums of products, for columns from .. to-1. With `triangle` row r begins at column from + r. */
TILES(add_products, ADDED)
/* C <- sums of products */
TILES(set_products, FRESH)
#undef HEIGHT
#undef TILES

/* Entry e of what `fetch` returns */
#define INPUT(x, e) READ_AS(input, (x) + (ptrdiff_t)(e) * STRIDE)

/* Return the numbers of all problems at stage t. */
INLINE const double *NAME(fetch)(const Series *s, const ptrdiff_t *problem, ptrdiff_t t)
{
    return s->data + (LANES == 1 ? problem[0] * s->to_problem : 0) + t * s->to_stage;
}

/* y <- h x, of `count` numbers of stages */
INLINE void NAME(scale)(ptrdiff_t count, double h, const double *x, double *y)
{
#if LANES == 1
    ptrdiff_t e = 0;
    for (; e + SPAN <= count; e += SPAN) AS(loose, y + e) = h * READ_AS(loose, x + e);
    if (e < count && count >= SPAN) {       /* some are computed twice */
        e = count - SPAN;
        AS(loose, y + e) = h * READ_AS(loose, x + e);
        return;
    }
#else
    ptrdiff_t e = 0;
#endif
    for (; e < count; e++) AT(y, e) = h * INPUT(x, e);
}

/* y <- y + x, of `count` numbers of stages */
INLINE void NAME(add)(ptrdiff_t count, const double *x, double *y)
{
    ptrdiff_t e = 0;
#if LANES == 1
    for (; e + SPAN <= count; e += SPAN) AS(loose, y + e) += READ_AS(loose, x + e);
#endif
    for (; e < count; e++) AT(y, e) += INPUT(x, e);
}

/* Copy `rows` rows of `count` numbers, `to_row` entries apart, to all problems: those of problem l to to[l]. Rows there begin
 * with entry `first`, and those before it come last. */
INLINE void NAME(put)(const double *x, ptrdiff_t rows, ptrdiff_t count, ptrdiff_t to_row, ptrdiff_t first, double *const *to)
{
#if LANES == 1
    for (ptrdiff_t r = 0; r < rows; r++) {
        NAME(scale)(count - first, 1.0, x + r * to_row + first, to[0] + r * count);
        NAME(scale)(first, 1.0, x + r * to_row, to[0] + (r + 1) * count - first);
    }
#else
#define FROM(r, c) (x + ((r) * to_row + ((c) + first < count ? (c) + first : (c) + first - count)) * LANES)
    const ptrdiff_t last = rows * count - SIDE;
    if (last < 0) {
        for (ptrdiff_t e = 0; e < rows * count; e++) EACH(l, LANES) to[l][e] = FROM(e / count, e % count)[l];
        return;
    }
    for (ptrdiff_t e = 0, r = 0, c = 0;; e += SIDE) {
        TILED(row) T[SIDE];
        if (e > last) e = last, r = e / count, c = e % count;       /* some are copied twice */
        EACH(l, SIDE) {
            T[l] = READ_AS(TILED(row), FROM(r, c));
            if (++c == count) c = 0, r++;
        }
        TILED(transpose)(T);
        EACH(l, SIDE) memcpy(to[l] + e, &T[l], sizeof T[l]);
        if (e == last) return;
    }
#undef FROM
#endif
}
