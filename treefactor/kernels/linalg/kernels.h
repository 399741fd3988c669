/* Declare the data that kernels of linear algebra work on, and the tables of kernels: one for every instruction
 * set and element type. */
#ifndef TREEFACTOR_KERNELS_H
#define TREEFACTOR_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A block is a piece of a chain: every node but the last has the next one as its only child. */
typedef struct {
    ptrdiff_t rows;                  /* 1 .. 4 */
    ptrdiff_t depth;                 /* ancestors of the first node */
    ptrdiff_t node[4];               /* root first */
    ptrdiff_t below, stop;           /* order[below .. stop) are the descendants of the last node */
} Block;

/* A panel is a piece of a chain whose rows are factorized together in registers. */
typedef struct {
    ptrdiff_t rows;                  /* 1 .. 6 */
    ptrdiff_t depth;                 /* ancestors of the first node */
    ptrdiff_t first;                 /* order[first .. first + rows) are its nodes */
    ptrdiff_t stop;                  /* order[first + rows .. stop) are the descendants of the last one */
} Panel;

/* Where the entries of a row begin, and where its diagonal stands. */
typedef struct {
    ptrdiff_t first, diagonal;
} Row;

/* A supernode is a group of rows that are eliminated together: a path of nodes, each the parent of the next, and
 * leaves whose parent is the last of them. They follow each other depth first. One leaf alone is part of the
 * path. single_factor.h has a picture. */
typedef struct {
    ptrdiff_t chain, leaves;         /* 1 .. 4 rows */
    ptrdiff_t depth;                 /* ancestors that they share */
    ptrdiff_t first;                 /* order[first ..] are the nodes */
    ptrdiff_t at, width;             /* entry where the padded rows begin; entries of each */
} Supernode;

/* A task eliminates one subtree apart from the others. */
typedef struct {
    ptrdiff_t first, stop;           /* supernodes */
    ptrdiff_t at, size;              /* its contributions to the rows above it, stored like a path */
} Task;

/* A run is a stretch of entries of one row whose columns follow each other. */
typedef struct {
    ptrdiff_t row, column, length;
    ptrdiff_t at;                    /* first of them among the padded rows */
} Run;

/* The shape of a tree is its symbolic factorization: everything that is known without the numbers. */
typedef struct {
    ptrdiff_t n;
    ptrdiff_t deepest;               /* max(depth) */
    const ptrdiff_t *parent;         /* n, -1 at a root */
    const ptrdiff_t *order;          /* n, depth first */
    const ptrdiff_t *start;          /* n + 1, first entry of every row */
    const ptrdiff_t *depth;          /* n, length of every row */
    const ptrdiff_t *column;         /* start[n], column of every entry */
    ptrdiff_t blocks;
    const Block *block;              /* depth first */
    ptrdiff_t supernodes;
    const Supernode *supernode;      /* depth first */
    ptrdiff_t tasks;                 /* subtrees of a large tree that are eliminated apart, 0 of others */
    const Task *task;                /* depth first */
    ptrdiff_t scratch;               /* largest rows * descendants of a panel */
    const ptrdiff_t *at;             /* n, first entry of every row padded for registers */
    ptrdiff_t padded;                /* entries of all padded rows */
    ptrdiff_t path;                  /* entries of the padded rows of the longest path */
    ptrdiff_t runs;
    const Run *run;                  /* all rows, depth first */
    ptrdiff_t whole;                 /* rows before this one may be read as if they were padded when packed */
    const Row *row;                  /* n, depth first */
    ptrdiff_t panels;
    const Panel *panel;              /* depth first */
} Shape;

/* A piece is a stretch of packed entries that follow each other in the input matrix, too. */
typedef struct {
    ptrdiff_t entry, length;         /* 1 .. side */
    ptrdiff_t at;                    /* offset in the input matrix, in bytes */
    ptrdiff_t whole;                 /* whether `side` of them can be read there, and written */
} Piece;

typedef enum { SOLVE, SOLVE_L, SOLVE_LT, MULTIPLY_L, MULTIPLY_LT, HALF_SOLVE, MULTIPLY } Operation;

/* Kernels on `lanes` matrices side by side: entry e of matrix l stands at X[e * lanes + l]. Arrays of lanes are
 * aligned to 64 bytes. A factor is X, the packed rows of L with D (of LTL: the diagonal of L) in place of the
 * diagonal, and inverse, the reciprocals of that diagonal. */
typedef struct {
    int lanes;
    int side;                        /* entries of a matrix that are transposed at once */
    /* X <- count matrices of m entries each, contiguous, `to_lane` bytes apart. Missing ones are left alone. */
    void (*load)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, void *X);
    /* the same for entries that are `to_entry` bytes apart, lanes of missing matrices <- the first one */
    void (*load_apart)(ptrdiff_t m, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry, void *X);
    /* as `load`, for matrices of which only these pieces are wanted, in ascending order */
    void (*gather)(ptrdiff_t pieces, const Piece *, int count, const char *from, ptrdiff_t to_lane, void *X);
    /* the reverse, contiguous */
    void (*store)(ptrdiff_t m, int count, const void *X, char *to, ptrdiff_t to_lane);
    /* the same for the entries at[0], at[1], .. at[m - 1] of X */
    void (*unpack)(ptrdiff_t m, const int *at, int count, const void *X, char *to, ptrdiff_t to_lane);
    /* X <- LTDL of H, which is read once, may be X and need not be aligned; failed[l] <- -1, or the row whose
     * pivot or its reciprocal is not in (0, inf), its matrix made NaN */
    void (*factor)(const Shape *, const void *H, void *X, void *inverse, void *scratch, ptrdiff_t *failed);
    /* LTL from LTDL */
    void (*to_ltl)(const Shape *, void *X, void *inverse);
    /* x <- op x, x of (n, r) entries */
    void (*apply)(const Shape *, const void *X, const void *inverse, int ltdl, int op, void *x, ptrdiff_t r);
    /* y <- H x, for packed H */
    void (*multiply)(const Shape *, const void *H, const void *x, void *y, ptrdiff_t r);
    /* G <- W^T W, W of (n, m) entries, G of (m, m) */
    void (*gram)(ptrdiff_t n, ptrdiff_t m, const void *W, void *G);
    /* Y <- H^-1, (n, n) entries; Z, V <- packed rows of L^-1 and L^-1 D^-1 (LTL: of L^-1) */
    void (*invert)(const Shape *, const void *X, const void *inverse, int ltdl, void *Z, void *V, void *Y);
    /* Y <- -H^-1 P, (n, n) entries, from LTDL and V, as `invert` leaves it, for P with the pattern of H: packed rows
     * of the lower triangle, then the entries above the diagonal, transposed; y: a workspace of t->n times 4 entries */
    void (*solve_pair)(const Shape *, const void *X, const void *V, const void *P, void *y, void *Y);
} LaneKernels;

/* Kernels on one matrix of doubles, in padded rows aligned to 32 bytes: X holds L, with zeros from its diagonal
 * on; D the diagonal, inverse its reciprocals. */
typedef struct {
    /* X <- the entries of H, `to_row` and `to_column` bytes apart, that are in the pattern */
    void (*load)(const Shape *, const char *H, ptrdiff_t to_row, ptrdiff_t to_column, double *X);
    /* X <- packed rows from `first` on, their entries `to_entry` bytes apart */
    void (*load_packed)(const Shape *, const char *H, ptrdiff_t to_entry, ptrdiff_t first, double *X);
    /* L, D <- LTDL of H, for the supernodes first .. stop; returns -1, or the last row whose pivot is not in
     * (0, inf). Rows before `whole` are read from packed H, the others from X. path: t->path entries, the
     * updates of the rows above the last supernode; on return those of the rows above the first. */
    ptrdiff_t (*factor)(const Shape *, ptrdiff_t first, ptrdiff_t stop, const double *H, ptrdiff_t whole,
                        double *path, double *X, double *D, double *inverse);
    /* LTL from LTDL */
    void (*to_ltl)(const Shape *, double *X, double *D, double *inverse);
    /* x <- op x, one vector; path: a workspace of t->deepest + 4 entries */
    void (*apply)(const Shape *, const double *X, const double *D, const double *inverse, int ltdl, int op,
                  double *x, double *path);
    /* Y <- H^-1, (n, n) entries */
    void (*invert)(const Shape *, const double *X, const double *inverse, int ltdl, double *Y);
    /* x <- H^-1 x from LTDL, for rows of r entries, a multiple of 16 */
    void (*solve_many)(const Shape *, const double *X, const double *inverse, double *x, ptrdiff_t r);
} SingleKernels;

/* The workspace of one factorization of a single matrix; every part is aligned to 64 bytes. */
typedef struct {
    double *X;                       /* t->padded entries, and 4 behind them that may be read: padded rows of L */
    double *path;                    /* t->path entries */
    double *D, *inverse;             /* t->n entries each */
} Workspace;

enum { LINE = 8 };                /* doubles of 64 bytes, a line of memory */

/* `size` rounded up to whole parts of 64 bytes */
static inline ptrdiff_t aligned_size(ptrdiff_t size) { return (size + LINE - 1) / LINE * LINE; }

/* doubles of a workspace, however its memory is aligned */
static inline ptrdiff_t workspace_size(const Shape *t) {
    return aligned_size(t->padded + 4) + aligned_size(t->path) + 2 * aligned_size(t->n) + LINE;
}

/* the parts of a workspace in memory of workspace_size(t) doubles; X and path must hold zeros before a
 * factorization */
static inline Workspace carve_workspace(const Shape *t, double *memory) {
    Workspace w;
    w.X = (double *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    w.path = w.X + aligned_size(t->padded + 4);
    w.D = w.path + aligned_size(t->path);
    w.inverse = w.D + aligned_size(t->n);
    return w;
}

/* X <- 0, path <- 0 */
static inline void clear_workspace(const Shape *t, const Workspace *w) {
    memset(w->X, 0, (size_t)(w->path + t->path - w->X) * sizeof(double));
}

/* A front is a dense matrix of freedoms that are eliminated together and of those they are coupled to. */
typedef struct {
    ptrdiff_t first;                 /* position of its first pivot in the order of elimination */
    ptrdiff_t width, size;           /* pivots; rows and columns, pivots first */
    ptrdiff_t stride;                /* size, padded to registers */
    ptrdiff_t index;                 /* first of its freedoms in the list of all */
    ptrdiff_t at;                    /* first entry of its matrix */
    ptrdiff_t above;                 /* front of the first freedom after its pivots, -1 at a root */
    ptrdiff_t entries, rows;         /* first entry of H and first constraint that belong to it */
} Front;

enum { PANEL = 8 };                  /* pivots of a front that are eliminated together */

/* Kernels on fronts of doubles, upper triangles in padded rows aligned to 32 bytes. */
typedef struct {
    /* N = [U11^-1 - 1, -U11^-1 U12] in the rows of every PANEL pivots, U their rows of L^T; the Schur complement
     * in the others; the reciprocals of the pivots. -1, or the first pivot that is not in (0, inf) */
    ptrdiff_t (*eliminate)(const Front *, double *F, double *inverse);
    /* extend-add: F += the Schur complement of U, the front below; at: the rows of F that take its rows */
    void (*extend_add)(const Front *, const double *U, const ptrdiff_t *at, const Front *above,
                       double *F);
    /* F += weight z z^T for a z of `count` entries, in these rows */
    void (*rank_one_update)(const Front *, double *F, ptrdiff_t count, const ptrdiff_t *at, const double *z,
                            double weight);
    /* x <- the matrix^-1 x */
    void (*solve)(ptrdiff_t count, const Front *, const ptrdiff_t *index, const double *values,
                  const double *inverse, double *x);
    /* sums of the line search:  slope min(max(0, s), cap)  and of slope^2 where 0 < s < cap, over m rows with
     * s = delta impulse - gap - t slope,  slope = other - gap,  cap = delta upper; arrays are padded */
    void (*line_search_sums)(ptrdiff_t m, const double *gap, const double *other, const double *impulse,
                             const double *upper, double delta, double t, double *sums);
    /* eliminate for a matrix whose pivots may be negative; -1, or the first that is 0 or not finite */
    ptrdiff_t (*eliminate_indefinite)(const Front *, double *F, double *inverse);
} FrontKernels;

typedef struct {
    const char *name;
    const SingleKernels *single;
    const FrontKernels *fronts;
    int tile;                        /* rows of a block, at most */
    const LaneKernels *lanes;        /* of doubles */
    const LaneKernels *lanes_float;  /* of floats */
    int rows;                        /* rows of a panel, at most */
} Kernels;

extern const Kernels kernels_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Kernels kernels_avx2, kernels_avx512;
#endif

#endif
