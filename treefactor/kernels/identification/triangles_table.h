/* Declare the kernel that puts rows of least-squares problems below their triangles: one table per instruction set. */
#ifndef TREEFACTOR_TRIANGLES_H
#define TREEFACTOR_TRIANGLES_H

#include <stddef.h>

#define PANEL_BLOCKS 8                  /* blocks of 8 rows that are eliminated together */
#define PANEL_ROWS (8 * PANEL_BLOCKS)

/* A table of columns in lanes: entry (block, column, row of the block), rows of 8. */
typedef struct {
    const double *data;
    ptrdiff_t width;                    /* columns */
} LaneColumns;

/* R <- the triangle of the QR factorization of [R; A]. R: (count, count), row by row, zero below the diagonal. A has
 * `blocks` blocks of 8 rows. Its column c is column[c] of table[0], or column ~column[c] of table[1] where that is
 * negative; column `use` of table[1] multiplies every row. work: count * PANEL_ROWS, aligned to 64 bytes. */
typedef void (*TriangleKernel)(ptrdiff_t count, const ptrdiff_t *column, ptrdiff_t use, const LaneColumns *table,
                               ptrdiff_t blocks, double *R, double *work);

typedef struct {
    const char *name;
    TriangleKernel update;
} TriangleTable;

extern const TriangleTable triangles_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const TriangleTable triangles_avx2, triangles_avx512;
#endif

#endif
