/* Products C +- X^T Z of small matrices in rows, and copies between problems and lanes; see riccati_isa.h.
 *
 * Columns of rows that a product fills begin at a multiple of SPAN: entries left of the first one asked for, and of upper
 * triangles left of the diagonal, are overwritten by numbers that nothing reads. */
#include "../common/hold.h"
#include "../common/spatial.h"

/* SPAN columns from column c of a row on */
#define WIDE(row, c) AS(wide, (row) + (ptrdiff_t)(c) * LANES)
#define READ_WIDE(row, c) READ_AS(wide, (row) + (ptrdiff_t)(c) * LANES)
#define ROW(X, r) ((X) + (ptrdiff_t)(r) * ld * LANES)

#undef HOLD_LANES
#if LANES > 1
#define HOLD_LANES(x) HOLD(x)
#else                                       /* numbers of one problem are as quick from memory */
#define HOLD_LANES(x)
#endif

enum { NAME(ROWS) = 3, NAME(SPANS) = 3 };   /* of a tile that stays in registers */

/* A product X^T Z of `count` rows each: entry (k, r) of X at k to_k + r to_row, rows of Z as those of C */
typedef struct {
    ptrdiff_t count;
    const double *X;
    ptrdiff_t to_k, to_row;
    const double *Z;
} NAME(Product);

/* sum <- sum +- `rows` x `spans` entries of a product, from row r and column c on */
INLINE void NAME(add_tile)(const int rows, const int spans, const int subtract, const NAME(Product) *p, ptrdiff_t ld,
                           ptrdiff_t r, ptrdiff_t c, wide sum[NAME(ROWS)][NAME(SPANS)])
{
    const double *X = p->X + r * p->to_row * LANES, *Z = p->Z + c * LANES;
    for (ptrdiff_t k = 0; k < p->count; k++, X += p->to_k * LANES, Z += ld * LANES) {
        wide z[NAME(SPANS)];
        EACH(j, spans) {
            z[j] = READ_WIDE(Z, j * SPAN);
            HOLD_LANES(z[j]);
        }
        EACH(i, rows) {
            real x = READ(X, i * p->to_row);
            HOLD_LANES(x);
            if (subtract) EACH(j, spans) sum[i][j] -= x * z[j];
            else EACH(j, spans) sum[i][j] += x * z[j];
        }
    }
}

/* C (or 0) + the first `added` products - the other ones, in a tile */
INLINE void NAME(tile)(const int rows, const int spans, const int fresh, int added, int subtracted, const NAME(Product) *p,
                       ptrdiff_t ld, ptrdiff_t r, ptrdiff_t c, double *C)
{
    wide sum[NAME(ROWS)][NAME(SPANS)];
    const wide zero = {0};
    EACH(i, rows) EACH(j, spans) sum[i][j] = fresh ? zero : READ_WIDE(ROW(C, i), j * SPAN);
    for (int k = 0; k < added; k++, p++) NAME(add_tile)(rows, spans, 0, p, ld, r, c, sum);
    for (int k = 0; k < subtracted; k++, p++) NAME(add_tile)(rows, spans, 1, p, ld, r, c, sum);
    EACH(i, rows) EACH(j, spans) WIDE(ROW(C, i), j * SPAN) = sum[i][j];
}

#define CASE(rows, spans) case 4 * (rows) + (spans): \
    NAME(tile)(rows, spans, fresh, added, subtracted, p, ld, r, c, ROW(C, r) + c * LANES); break
#define TILES(f, fresh_) \
static void NAME(f)(ptrdiff_t rows, int added, int subtracted, const NAME(Product) *p, ptrdiff_t ld, double *C, \
                    ptrdiff_t from, ptrdiff_t to, int triangle) \
{ \
    enum { fresh = fresh_ }; \
    for (ptrdiff_t r = 0; r < rows; r += NAME(ROWS)) { \
        const ptrdiff_t high = rows - r < NAME(ROWS) ? rows - r : NAME(ROWS); \
        for (ptrdiff_t c = (triangle ? from + r : from) / SPAN * SPAN; c < to; c += NAME(SPANS) * SPAN) { \
            const ptrdiff_t left = (to - c + SPAN - 1) / SPAN; \
            switch (4 * high + (left < NAME(SPANS) ? left : NAME(SPANS))) { \
                CASE(3, 3); CASE(3, 2); CASE(3, 1); CASE(2, 3); CASE(2, 2); CASE(2, 1); CASE(1, 3); CASE(1, 2); CASE(1, 1); \
            } \
        } \
    } \
}
/* C <- C + sums of products - others, for columns from .. to-1 of C, whose rows have `ld` entries. With `triangle` row r
 * begins at column from + r. */
TILES(add_products, 0)
/* C <- sums of products - others */
TILES(set_products, 1)
#undef CASE
#undef TILES

/* Entry e of what `fetch` returns */
#define INPUT(x, e) READ_AS(real, (x) + (ptrdiff_t)(e) * STRIDE)

/* Return the numbers of all problems at stage t. */
INLINE const double *NAME(fetch)(const Series *s, const ptrdiff_t *problem, ptrdiff_t t)
{
    return s->data + (LANES == 1 ? problem[0] * s->to_problem : 0) + t * s->to_stage;
}

/* Copy `count` numbers, `step` entries apart, to all problems: those of problem l to to[l]. */
INLINE void NAME(put)(const double *x, ptrdiff_t step, ptrdiff_t count, double *const *to)
{
#if LANES == 1
    for (ptrdiff_t e = 0; e < count; e++) to[0][e] = x[e * step];
#else
    if (count < SIDE) {
        for (ptrdiff_t e = 0; e < count; e++) EACH(l, LANES) to[l][e] = x[e * step * LANES + l];
        return;
    }
    for (ptrdiff_t next = 0, e = 0; e = next < count - SIDE ? next : count - SIDE, next < count; next += SIDE) {
        TILED(row) T[SIDE];
        EACH(l, SIDE) T[l] = READ_AS(TILED(row), x + (e + l) * step * LANES);
        TILED(transpose)(T);
        EACH(l, SIDE) memcpy(to[l] + e, &T[l], sizeof T[l]);
    }
#endif
}
