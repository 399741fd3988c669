/* Copy matrices that follow one another in memory to lanes and back; included by lanes.h. */

#define TILED NAME
#include "../common/transpose.h"

/* SIDE entries of every matrix */
INLINE void NAME(load_tile)(const char *from, ptrdiff_t to_lane, ELEMENT *x) {
    for (int part = 0; part < LANES; part += SIDE) {
        NAME(row) T[SIDE];
        UNROLL for (int i = 0; i < SIDE; i++) memcpy(&T[i], from + (part + i) * to_lane, sizeof(NAME(row)));
        NAME(transpose)(T);
        UNROLL for (int i = 0; i < SIDE; i++) *(NAME(row) *)(x + i * LANES + part) = T[i];
    }
}

/* the transpose of T to SIDE matrices */
INLINE void NAME(put_rows)(NAME(row) *T, char *to, ptrdiff_t to_lane) {
    NAME(transpose)(T);
    UNROLL for (int i = 0; i < SIDE; i++) memcpy(to + i * to_lane, &T[i], sizeof(NAME(row)));
}

INLINE void NAME(store_tile)(const ELEMENT *x, char *to, ptrdiff_t to_lane) {
    for (int part = 0; part < LANES; part += SIDE) {
        NAME(row) T[SIDE];
        UNROLL for (int i = 0; i < SIDE; i++) T[i] = *(const NAME(row) *)(x + i * LANES + part);
        NAME(put_rows)(T, to + part * to_lane, to_lane);
    }
}

/* every e at which a tile of `size` entries begins; the last one may overlap the one before */
#define FOR_TILES(e, size) \
    for (ptrdiff_t next_ = 0, e = 0; e = next_ < (size) - SIDE ? next_ : (size) - SIDE, next_ < (size); \
         next_ += SIDE)

INLINE void NAME(load_entries)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, ELEMENT *x) {
    for (ptrdiff_t e = 0; e < m; e++)
        for (int l = 0; l < count; l++) x[e * LANES + l] = ((const ELEMENT *)(from + l * to_lane))[e];
}

static void NAME(load)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, void *X) {
    ELEMENT *x = X;
    if (count == LANES && m >= SIDE)
        FOR_TILES(e, m) NAME(load_tile)(from + e * sizeof(ELEMENT), to_lane, x + e * LANES);
    else NAME(load_entries)(m, count, from, to_lane, x);
}

static void NAME(load_apart)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                             void *X) {
    ELEMENT *x = X;
    for (ptrdiff_t e = 0; e < m; e++, from += to_entry, x += LANES)
        if (count == LANES && to_lane == sizeof(ELEMENT)) memcpy(x, from, LANES * sizeof(ELEMENT));
        else
            for (int l = 0; l < LANES; l++) x[l] = *(const ELEMENT *)(from + (l < count ? l * to_lane : 0));
}

static void NAME(gather)(ptrdiff_t pieces, const Piece *piece, int count, const char *from, ptrdiff_t to_lane,
                         void *X) {
    ptrdiff_t line = -1;
    for (const Piece *p = piece; p < piece + pieces; p++) {
        ELEMENT *x = (ELEMENT *)X + p->entry * LANES;
        if (p->at >> 6 != line) {    /* of the next block */
            line = p->at >> 6;
            for (int l = 0; l < LANES; l++) __builtin_prefetch(from + (LANES + l) * to_lane + p->at, 0, 2);
        }
        if (p->whole && count == LANES) NAME(load_tile)(from + p->at, to_lane, x);  /* the next pieces follow */
        else NAME(load_entries)(p->length, count, from + p->at, to_lane, x);
    }
}

static void NAME(unpack)(ptrdiff_t m, const int *at, int count, const void *X, char *to, ptrdiff_t to_lane) {
    const ELEMENT *x = X;
    if (count == LANES && m >= SIDE) {
        FOR_TILES(e, m)
            for (int part = 0; part < LANES; part += SIDE) {
                NAME(row) T[SIDE];
                UNROLL for (int i = 0; i < SIDE; i++)
                    T[i] = *(const NAME(row) *)(x + (ptrdiff_t)at[e + i] * LANES + part);
                NAME(put_rows)(T, to + e * sizeof(ELEMENT) + part * to_lane, to_lane);
            }
    } else
        for (ptrdiff_t e = 0; e < m; e++)
            for (int l = 0; l < count; l++) ((ELEMENT *)(to + l * to_lane))[e] = x[(ptrdiff_t)at[e] * LANES + l];
}

static void NAME(store)(ptrdiff_t m, int count, const void *X, char *to, ptrdiff_t to_lane) {
    const ELEMENT *x = X;
    if (count == LANES && m >= SIDE)
        FOR_TILES(e, m) NAME(store_tile)(x + e * LANES, to + e * sizeof(ELEMENT), to_lane);
    else
        for (ptrdiff_t e = 0; e < m; e++)
            for (int l = 0; l < count; l++) ((ELEMENT *)(to + l * to_lane))[e] = x[e * LANES + l];
}
