/* Products with sparse rows J of constraints. They are compiled for the baseline instruction set alone: where
 * impulses of 1e10 cancel each other, a fused multiply-add would leave rounding errors that the residual of the
 * same numbers, computed in Python, does not have. */
#ifndef TREEFACTOR_ROWS_H
#define TREEFACTOR_ROWS_H

#include <stddef.h>

/* Row i has its entries at start[i] .. start[i + 1] - 1. */
typedef struct {
    ptrdiff_t count;
    const ptrdiff_t *start, *column;
    const double *entry;
} SparseRows;

/* Return row i of J times x. */
static inline double row_times(const SparseRows *J, ptrdiff_t i, const double *x) {
    double sum = 0;
    for (ptrdiff_t p = J->start[i]; p < J->start[i + 1]; p++) sum += J->entry[p] * x[J->column[p]];
    return sum;
}

/* Compute y = J x - b, or J x where b is NULL. */
static inline void rows_times(const SparseRows *J, const double *x, const double *b, double *restrict y) {
    const ptrdiff_t *start = J->start, *column = J->column;
    const double *entry = J->entry;
    for (ptrdiff_t i = 0, p = start[0]; i < J->count; i++) {
        double sum = 0;
        for (; p < start[i + 1]; p++) sum += entry[p] * x[column[p]];
        y[i] = b == NULL ? sum : sum - b[i];
    }
}

/* Compute y += J^T a; rows with a = 0 take no part. */
static inline void add_rows(const SparseRows *J, const double *a, double *restrict y) {
    const ptrdiff_t *start = J->start, *column = J->column;
    const double *entry = J->entry;
    for (ptrdiff_t i = 0; i < J->count; i++) {
        const double ai = a[i];
        if (ai == 0) continue;
        for (ptrdiff_t p = start[i]; p < start[i + 1]; p++) y[column[p]] += ai * entry[p];
    }
}

#endif
