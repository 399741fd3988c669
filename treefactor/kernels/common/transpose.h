/* Transposed tiles of entries. Included with
 *     ELEMENT   type of an entry, INDEX an integer of its size
 *     SIDE      2, 4 or 8: rows and columns of a tile, a row in a register
 *     TILED(f)  f for this type and instruction set
 *
 * Rows have 32 bytes at most: wider registers are no faster here.
 */

typedef ELEMENT TILED(row) __attribute__((vector_size(SIDE * sizeof(ELEMENT)), may_alias));

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef INDEX TILED(order) __attribute__((vector_size(SIDE * sizeof(INDEX))));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (TILED(order)){__VA_ARGS__})
#endif

/* U <- T after one of log2(SIDE) exchanges: of the halves of rows i and i + SIDE / 2, of their quarters, .. */
#define EXCHANGE(T, U, FIRST, SECOND) \
    UNROLL for (int i = 0; i < SIDE / 2; i++) { \
        U[2 * i] = SHUFFLE(T[i], T[i + SIDE / 2], FIRST); \
        U[2 * i + 1] = SHUFFLE(T[i], T[i + SIDE / 2], SECOND); \
    }
#define LIST(...) __VA_ARGS__

/* T <- its transpose */
INLINE void TILED(transpose)(TILED(row) *T) {
    TILED(row) U[SIDE];
#if SIDE == 2
    EXCHANGE(T, U, LIST(0, 2), LIST(1, 3))
    UNROLL for (int i = 0; i < SIDE; i++) T[i] = U[i];
#elif SIDE == 4
    EXCHANGE(T, U, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7))
    EXCHANGE(U, T, LIST(0, 4, 2, 6), LIST(1, 5, 3, 7))
#else
    EXCHANGE(T, U, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15))
    EXCHANGE(U, T, LIST(0, 1, 8, 9, 4, 5, 12, 13), LIST(2, 3, 10, 11, 6, 7, 14, 15))
    EXCHANGE(T, U, LIST(0, 8, 2, 10, 4, 12, 6, 14), LIST(1, 9, 3, 11, 5, 13, 7, 15))
    UNROLL for (int i = 0; i < SIDE; i++) T[i] = U[i];
#endif
}

#undef SHUFFLE
#undef EXCHANGE
#undef LIST
