/* Four columns of rows of float, a row of the register after the other: from rows in memory to one register for each
 * column, and back. Included with
 *     FLOATS     4, 8 or 16: rows, and numbers in a register
 *     COLUMNS(f) f for this instruction set
 *
 * Register i first holds four entries of the rows i, i + 4, i + 8 ..: so the columns come out in order after shuffles
 * within pieces of 16 bytes, and four columns take eight shuffles whatever the width.
 */

typedef float COLUMNS(column) __attribute__((vector_size(4 * FLOATS), may_alias));

#if defined(__clang__) || __GNUC__ >= 12
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int COLUMNS(column_order) __attribute__((vector_size(4 * FLOATS)));
#define MIX(a, b, ...) __builtin_shuffle(a, b, (COLUMNS(column_order)){__VA_ARGS__})
#endif

#if FLOATS == 4
#define FIRSTS 0, 4, 1, 5
#define SECONDS 2, 6, 3, 7
#define LOWER 0, 1, 4, 5
#define UPPER 2, 3, 6, 7
#elif FLOATS == 8
#define FIRSTS 0, 8, 1, 9, 4, 12, 5, 13
#define SECONDS 2, 10, 3, 11, 6, 14, 7, 15
#define LOWER 0, 1, 8, 9, 4, 5, 12, 13
#define UPPER 2, 3, 10, 11, 6, 7, 14, 15
#else
#define FIRSTS 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define SECONDS 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define LOWER 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define UPPER 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#endif

/* T <- the transposes of its pieces of four by four numbers */
INLINE void COLUMNS(transpose_pieces)(COLUMNS(column) *T) {
    COLUMNS(column) U[4] = {MIX(T[0], T[1], FIRSTS), MIX(T[0], T[1], SECONDS), MIX(T[2], T[3], FIRSTS),
                            MIX(T[2], T[3], SECONDS)};
    T[0] = MIX(U[0], U[2], LOWER);
    T[1] = MIX(U[0], U[2], UPPER);
    T[2] = MIX(U[1], U[3], LOWER);
    T[3] = MIX(U[1], U[3], UPPER);
}

/* Join pieces of four numbers that begin `step` bytes after each other, and store them apart: GCC takes a detour
 * through memory for the same in vector extensions. */
#if FLOATS == 4
INLINE COLUMNS(column) COLUMNS(join)(const char *from, ptrdiff_t step) {
    COLUMNS(column) joined;
    (void)step;
    memcpy(&joined, from, sizeof joined);
    return joined;
}

INLINE void COLUMNS(split)(COLUMNS(column) joined, char *to, ptrdiff_t step) {
    (void)step;
    memcpy(to, &joined, sizeof joined);
}
#else
#define PIECE(k) _mm_loadu_ps((const float *)(from + (k) * step))
#define SPLIT(k, piece) _mm_storeu_ps((float *)(to + (k) * step), piece)
INLINE COLUMNS(column) COLUMNS(join)(const char *from, ptrdiff_t step) {
#if FLOATS == 8
    return (COLUMNS(column))_mm256_insertf128_ps(_mm256_castps128_ps256(PIECE(0)), PIECE(1), 1);
#else
    __m512 joined = _mm512_castps128_ps512(PIECE(0));
    joined = _mm512_insertf32x4(joined, PIECE(1), 1);
    joined = _mm512_insertf32x4(joined, PIECE(2), 2);
    return (COLUMNS(column))_mm512_insertf32x4(joined, PIECE(3), 3);
#endif
}

INLINE void COLUMNS(split)(COLUMNS(column) joined, char *to, ptrdiff_t step) {
#if FLOATS == 8
    SPLIT(0, _mm256_castps256_ps128((__m256)joined));
    SPLIT(1, _mm256_extractf128_ps((__m256)joined, 1));
#else
    SPLIT(0, _mm512_castps512_ps128((__m512)joined));
    SPLIT(1, _mm512_extractf32x4_ps((__m512)joined, 1));
    SPLIT(2, _mm512_extractf32x4_ps((__m512)joined, 2));
    SPLIT(3, _mm512_extractf32x4_ps((__m512)joined, 3));
#endif
}
#undef PIECE
#undef SPLIT
#endif

/* T[c] <- entry c of FLOATS rows that begin `to_row` bytes after each other */
INLINE void COLUMNS(load_columns)(COLUMNS(column) *T, const char *from, ptrdiff_t to_row) {
    UNROLL for (int i = 0; i < 4; i++) T[i] = COLUMNS(join)(from + i * to_row, 4 * to_row);
    COLUMNS(transpose_pieces)(T);
}

/* The reverse; changes T. */
INLINE void COLUMNS(store_columns)(COLUMNS(column) *T, char *to, ptrdiff_t to_row) {
    COLUMNS(transpose_pieces)(T);
    UNROLL for (int i = 0; i < 4; i++) COLUMNS(split)(T[i], to + i * to_row, 4 * to_row);
}

#undef MIX
#undef FIRSTS
#undef SECONDS
#undef LOWER
#undef UPPER
