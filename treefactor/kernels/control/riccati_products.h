/* Products C +- X^T Z of small matrices in rows, and copies between problems and lanes; see riccati_isa.h.
 *
 * Columns of rows that a product fills begin at a multiple of SPAN: entries left of the first one asked for, and of upper
 * triangles left of the diagonal, are overwritten by numbers that nothing reads. */
#include "../common/spatial.h"

/* SPAN columns from column c of a row on */
#define WIDE(row, c) AS(wide, (row) + (ptrdiff_t)(c) * LANES)
#define READ_WIDE(row, c) READ_AS(wide, (row) + (ptrdiff_t)(c) * LANES)
#define ROW(X, r) ((X) + (ptrdiff_t)(r) * ld * LANES)

enum { NAME(ROWS) = 3, NAME(SPANS) = 3 };   /* of a tile that stays in registers */

/* `rows` x `spans` entries of C (or 0) +- sum over k of X[k to_k + r to_row] Z[k ld + c] */
INLINE void NAME(tile)(const int rows, const int spans, const int fresh, const int subtract, ptrdiff_t count, const double *X,
                       ptrdiff_t to_k, ptrdiff_t to_row, const double *Z, ptrdiff_t ld, double *C)
{
    wide sum[NAME(ROWS)][NAME(SPANS)], z[NAME(SPANS)];
    const wide zero = {0};
    EACH(r, rows) EACH(c, spans) sum[r][c] = fresh ? zero : READ_WIDE(ROW(C, r), c * SPAN);
    for (ptrdiff_t k = 0; k < count; k++) {
        EACH(c, spans) z[c] = READ_WIDE(ROW(Z, k), c * SPAN);
        EACH(r, rows) {
            const real x = READ(X, k * to_k + r * to_row);
            if (subtract) EACH(c, spans) sum[r][c] -= x * z[c];
            else EACH(c, spans) sum[r][c] += x * z[c];
        }
    }
    EACH(r, rows) EACH(c, spans) WIDE(ROW(C, r), c * SPAN) = sum[r][c];
}

#define CASE(rows, spans) case 4 * (rows) + (spans): \
    NAME(tile)(rows, spans, fresh, subtract, count, X + r * to_row * LANES, to_k, to_row, Z + c * LANES, ld, C_ + c * LANES); break
#define TILES(f, fresh_, subtract_) \
static void NAME(f)(ptrdiff_t rows, ptrdiff_t count, const double *X, ptrdiff_t to_k, ptrdiff_t to_row, const double *Z, \
                    ptrdiff_t ld, double *C, ptrdiff_t from, ptrdiff_t to, int triangle) \
{ \
    enum { fresh = fresh_, subtract = subtract_ }; \
    for (ptrdiff_t r = 0; r < rows; r += NAME(ROWS)) { \
        double *C_ = ROW(C, r); \
        const ptrdiff_t high = rows - r < NAME(ROWS) ? rows - r : NAME(ROWS); \
        for (ptrdiff_t c = (triangle ? from + r : from) / SPAN * SPAN; c < to; c += NAME(SPANS) * SPAN) { \
            const ptrdiff_t left = (to - c + SPAN - 1) / SPAN; \
            switch (4 * high + (left < NAME(SPANS) ? left : NAME(SPANS))) { \
                CASE(3, 3); CASE(3, 2); CASE(3, 1); CASE(2, 3); CASE(2, 2); CASE(2, 1); CASE(1, 3); CASE(1, 2); CASE(1, 1); \
            } \
        } \
    } \
}
/* C <- C +- X^T Z, for columns from .. to-1 of C, whose rows have `ld` entries as those of Z: entry (k, r) of X at
 * k to_k + r to_row, of `count` k. With `triangle` row r begins at column from + r. */
TILES(add_product, 0, 0)
TILES(subtract_product, 0, 1)
/* C <- X^T Z */
TILES(set_product, 1, 0)
#undef CASE
#undef TILES

/* Return contiguous numbers of all problems at stage t: in scratch, or where they are. */
INLINE const double *NAME(fetch)(const Series *s, const ptrdiff_t *problem, ptrdiff_t t, ptrdiff_t count, double *scratch)
{
#if LANES == 1
    (void)count, (void)scratch;
    return s->data + problem[0] * s->to_problem + t * s->to_stage;
#else
    const double *from[LANES];
    EACH(l, LANES) from[l] = s->data + problem[l] * s->to_problem + t * s->to_stage;
    if (count < SIDE) {
        for (ptrdiff_t e = 0; e < count; e++) EACH(l, LANES) scratch[e * LANES + l] = from[l][e];
        return scratch;
    }
    for (ptrdiff_t next = 0, e = 0; e = next < count - SIDE ? next : count - SIDE, next < count; next += SIDE) {
        TILED(row) T[SIDE];
        EACH(l, SIDE) {
            memcpy(&T[l], from[l] + e, sizeof T[l]);
            __builtin_prefetch(from[l] + e - s->to_stage);       /* the stage that follows */
        }
        TILED(transpose)(T);
        EACH(l, SIDE) AS(TILED(row), scratch + (e + l) * LANES) = T[l];
    }
    return scratch;
#endif
}

/* Write `rows` rows of `columns` numbers of all problems at stage t, times a scale, to rows of `ld` entries. */
INLINE void NAME(fetch_rows)(const Series *s, const ptrdiff_t *problem, ptrdiff_t t, ptrdiff_t rows, ptrdiff_t columns,
                             double scale, double *to, ptrdiff_t ld)
{
    const double *from[LANES];
    EACH(l, LANES) from[l] = s->data + problem[l] * s->to_problem + t * s->to_stage;
    for (ptrdiff_t r = 0; r < rows; r++, to += ld * LANES) {
#if LANES == 1
        for (ptrdiff_t e = 0; e < columns; e++) to[e] = scale * from[0][r * columns + e];
#else
        if (columns < SIDE) {
            for (ptrdiff_t e = 0; e < columns; e++)
                EACH(l, LANES) to[e * LANES + l] = scale * from[l][r * columns + e];
            continue;
        }
        for (ptrdiff_t next = 0, e = 0; e = next < columns - SIDE ? next : columns - SIDE, next < columns; next += SIDE) {
            TILED(row) T[SIDE];
            EACH(l, SIDE) {
                const double *x = from[l] + r * columns + e;
                memcpy(&T[l], x, sizeof T[l]);
                __builtin_prefetch(x - s->to_stage);
            }
            TILED(transpose)(T);
            EACH(l, SIDE) AS(TILED(row), to + (e + l) * LANES) = scale * T[l];
        }
#endif
    }
}

/* Copy entries of a row to all problems: those of problem l to to[l]. */
INLINE void NAME(put)(const double *x, ptrdiff_t count, double *const *to)
{
#if LANES == 1
    for (ptrdiff_t e = 0; e < count; e++) to[0][e] = x[e];
#else
    ptrdiff_t e = 0;
    for (; e + SIDE <= count; e += SIDE) {
        TILED(row) T[SIDE];
        EACH(l, SIDE) T[l] = READ_AS(TILED(row), x + (e + l) * LANES);
        TILED(transpose)(T);
        EACH(l, SIDE) memcpy(to[l] + e, &T[l], sizeof T[l]);
    }
    for (; e < count; e++) EACH(l, LANES) to[l][e] = x[e * LANES + l];
#endif
}
