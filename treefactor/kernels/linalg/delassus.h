/* Declare the kernels of J H^-1 J^T, of its inverse and of what follows from that: one table for every instruction
 * set. */
#ifndef TREEFACTOR_DELASSUS_H
#define TREEFACTOR_DELASSUS_H

#include "kernels.h"

enum { GROUP_ROWS = 8 };             /* rows of a group, at most */

/* A group is a stretch of rows of J whose supports lie on one path, as the six rows of a frame. */
typedef struct {
    ptrdiff_t row, rows;             /* first row, and their number: 1 .. GROUP_ROWS */
    ptrdiff_t last;                  /* deepest node with an entry, -1 without any */
    ptrdiff_t node, nodes;           /* its support and their ancestors: first in a list, and their number */
    ptrdiff_t at;                    /* first entry of its half-solved rows */
} Group;

typedef struct {
    const char *name;
    /* G <- J H^-1 J^T, (m, m) entries, for J of (m, n) entries; zeros of J that no other row of a group fills are
     * skipped. L: rows of the factor that begin at at[k]; inverse: reciprocals of its diagonal. X: workspace of m n
     * entries; group: of m; list: of m n + 2 n numbers */
    void (*delassus)(const Shape *, const ptrdiff_t *at, const double *L, const double *inverse, int ltdl,
                     ptrdiff_t m, const double *J, double *G, double *X, Group *group, ptrdiff_t *list);
    /* G <- (G + damping I)^-1, (m, m) entries; failed <- -1, or the first row that depends on rows before it, and G is
     * NaN. X: workspace of m entries */
    void (*invert)(ptrdiff_t m, double damping, double *G, double *X, ptrdiff_t *failed);
    /* the same for 8 matrices side by side, with a row of `failed` for each; 64-byte aligned */
    void (*invert_lanes)(ptrdiff_t m, double damping, double *G, double *X, ptrdiff_t *failed);
    /* B <- K A, for K of (n, m) entries with rows `stride` entries apart and A of (m, m) entries */
    void (*multiply)(ptrdiff_t n, ptrdiff_t m, const double *K, ptrdiff_t stride, const double *A, double *B);
    /* the same for 8 matrices side by side, row k times the root of squares[k]; B may not be K */
    void (*multiply_lanes)(ptrdiff_t n, ptrdiff_t m, const double *K, const double *A, const double *squares,
                           double *B);
    /* N <- 1 - B J, (n, n) entries, for B of (n, m) and J of (m, n) entries */
    void (*project)(ptrdiff_t n, ptrdiff_t m, const double *B, const double *J, double *N);
} DelassusTable;

#endif
