/* J H^-1 J^T of one matrix. Included once for every instruction set.
 *
 *     H = L^T D L:  X = L^-T J^T,  G = X^T D^-1 X;   H = L^T L:  G = X^T X
 *
 * Apart from lanes_solve.h and constraints/loop_forces.h: the support of J is found in its numbers, for rows that come
 * in any order, and a group of rows with one support visits only that. */

/* Return the index of the last entry of a row of J that is not zero, -1 without any; it may be `guess`. */
INLINE ptrdiff_t ISA(last_entry)(ptrdiff_t n, const double *J, ptrdiff_t guess)
{
    int after = 0;
    ptrdiff_t k = n;
    for (ptrdiff_t e = guess + 1; e < n; e++) after |= J[e] != 0.0;
    if (!after) k = guess + 1;
    while (k-- > 0)
        if (J[k] != 0.0) return k;
    return -1;
}

/* Return whether one of two nodes is the other or an ancestor of it; -1 is one of all. */
INLINE int ISA(on_one_path)(const Shape *t, ptrdiff_t a, ptrdiff_t b)
{
    const ptrdiff_t upper = a < b ? a : b, lower = a < b ? b : a;
    if (upper < 0) return 1;
    return t->depth[upper] <= t->depth[lower] && t->column[t->start[lower] + t->depth[upper] - 1] == upper;
}

/* Split the rows of J into groups; list their nodes depth first, as positions in t->order. */
static ptrdiff_t ISA(find_groups)(const Shape *t, ptrdiff_t m, const double *J, Group *group, ptrdiff_t *list,
                                  ptrdiff_t *seen)
{
    ptrdiff_t groups = 0, entries = 0, stop = 0, last = -1;
    for (ptrdiff_t r = 0; r < m; r++) {
        Group *g = group + groups - 1;
        last = ISA(last_entry)(t->n, J + r * t->n, last);
        if (groups && g->rows < GROUP_ROWS && ISA(on_one_path)(t, g->last, last)) {
            g->rows++;
            if (last > g->last) g->last = last;
        } else group[groups++] = (Group){r, 1, last, 0, 0, 0};
    }
    for (Group *g = group; g < group + groups; g++) {
        ptrdiff_t first = stop + t->n;
        for (ptrdiff_t k = 0; k <= g->last; k++) {
            seen[k] = 0;
            for (ptrdiff_t r = g->row; r < g->row + g->rows; r++) seen[k] |= J[r * t->n + k] != 0.0;
        }
        for (ptrdiff_t s = t->n - 1; s >= 0; s--) {
            const ptrdiff_t k = t->order[s];
            if (k > g->last || !seen[k]) continue;
            list[--first] = s;
            if (t->parent[k] >= 0) seen[t->parent[k]] = 1;
        }
        g->node = stop;
        g->nodes = stop + t->n - first;
        g->at = entries;
        memmove(list + stop, list + first, g->nodes * sizeof(ptrdiff_t));
        stop += g->nodes;
        entries += g->nodes * g->rows;
    }
    return groups;
}

/* X <- L^-T J^T on the support of R rows, leaves first: Featherstone (2008), table 6.5 */
INLINE void ISA(half_solve_rows)(int R, const Shape *t, const ptrdiff_t *at, const double *L, const double *inverse,
                                 int ltdl, const double *J, const Group *g, const ptrdiff_t *list, double *X)
{
    for (ptrdiff_t a = g->nodes - 1; a >= 0; a--) {
        const ptrdiff_t i = t->order[list[a]], p = t->depth[i] - 1;
        double sum[GROUP_ROWS];
        UNROLL for (int r = 0; r < R; r++) sum[r] = J[(g->row + r) * t->n + i];
        for (ptrdiff_t b = a + 1; b < g->nodes; b++) {
            const ptrdiff_t k = t->order[list[b]];
            if (t->depth[k] <= p + 1) break;         /* no descendant of i follows */
            const double l = L[at[k] + p];
            UNROLL for (int r = 0; r < R; r++) sum[r] -= l * X[b * R + r];
        }
        UNROLL for (int r = 0; r < R; r++) X[a * R + r] = ltdl ? sum[r] : inverse[i] * sum[r];
    }
}

/* G <- the products of the R rows of a group with those of another one, which share `count` nodes: places a and b */
INLINE void ISA(multiply_rows)(int R, const Shape *t, const double *inverse, int ltdl, const Group *first,
                                const ptrdiff_t *list, const double *X, const Group *second, const double *Y,
                                ptrdiff_t count, const ptrdiff_t *a, const ptrdiff_t *b, ptrdiff_t m, double *G)
{
    const ptrdiff_t stop = second->rows;
    for (ptrdiff_t c = 0; c < stop; c += 2) {        /* two columns: the rows of X are read once for both */
        const ptrdiff_t d = c + 1 < stop ? c + 1 : c;
        double sum[2][GROUP_ROWS];
        UNROLL for (int r = 0; r < R; r++) sum[0][r] = sum[1][r] = 0.0;
        for (ptrdiff_t e = 0; e < count; e++) {
            double y = Y[b[e] * stop + c], z = Y[b[e] * stop + d];
            if (ltdl) {
                const double w = inverse[t->order[list[a[e]]]];
                y *= w;
                z *= w;
            }
            UNROLL for (int r = 0; r < R; r++) {
                const double x = X[a[e] * R + r];
                sum[0][r] += y * x;
                sum[1][r] += z * x;
            }
        }
        UNROLL for (int q = 0; q < 2; q++)
            UNROLL for (int r = 0; r < R; r++) {
                if (first == second && r > c + q) continue;  /* the mirrored product has other last bits */
                if (c + q >= stop) continue;
                G[(first->row + r) * m + second->row + c + q] = sum[q][r];
                G[(second->row + c + q) * m + first->row + r] = sum[q][r];
            }
    }
}

#define WITH_COUNT(rows, f, ...) \
    switch (rows) { \
    case 1: f(1, __VA_ARGS__); break; case 2: f(2, __VA_ARGS__); break; case 3: f(3, __VA_ARGS__); break; \
    case 4: f(4, __VA_ARGS__); break; case 5: f(5, __VA_ARGS__); break; case 6: f(6, __VA_ARGS__); break; \
    case 7: f(7, __VA_ARGS__); break; default: f(8, __VA_ARGS__); }

static void ISA(delassus_one)(const Shape *t, const ptrdiff_t *at, const double *L, const double *inverse, int ltdl,
                           ptrdiff_t m, const double *J, double *G, double *X, Group *group, ptrdiff_t *list)
{
    ptrdiff_t *a = list + m * t->n, *b = a + t->n;
    const ptrdiff_t groups = ISA(find_groups)(t, m, J, group, list, a);
    for (const Group *g = group; g < group + groups; g++)
        WITH_COUNT(g->rows, ISA(half_solve_rows), t, at, L, inverse, ltdl, J, g, list + g->node, X + g->at)
    for (const Group *g = group; g < group + groups; g++)
        for (const Group *h = g; h < group + groups; h++) {
            ptrdiff_t count = 0;
            for (ptrdiff_t i = 0, j = 0; i < g->nodes && j < h->nodes;) {
                const ptrdiff_t difference = list[g->node + i] - list[h->node + j];
                a[count] = i;
                b[count] = j;
                count += difference == 0;
                i += difference <= 0;
                j += difference >= 0;
            }
            WITH_COUNT(g->rows, ISA(multiply_rows), t, inverse, ltdl, g, list + g->node, X + g->at, h,
                       X + h->at, count, a, b, m, G)
        }
}
#undef WITH_COUNT

