"""Kernels on the branch-packed rows of one matrix; see _ltdl.pyx."""

ctypedef struct Shape:
    Py_ssize_t n
    Py_ssize_t deepest           # max(depth)
    const Py_ssize_t *parent     # n, -1 at a root
    const Py_ssize_t *order      # n, depth first
    const Py_ssize_t *start      # n + 1, first entry of every row
    const Py_ssize_t *depth      # n, length of every row
    const Py_ssize_t *column     # start[n], column of every entry

cdef enum Operation:
    SOLVE
    SOLVE_L
    SOLVE_LT
    MULTIPLY_L
    MULTIPLY_LT
    HALF_SOLVE
    MULTIPLY

cdef void gather(const Shape *t, const char *H, Py_ssize_t to_row, Py_ssize_t to_column,
                 double *X) noexcept nogil
cdef void add_diagonal(const Shape *t, const double *shift, double *X) noexcept nogil
cdef Py_ssize_t ltdl_factor(const Shape *t, double *X) noexcept nogil
cdef Py_ssize_t ltl_factor(const Shape *t, double *X) noexcept nogil
cdef void apply(const Shape *t, const double *L, bint ltdl, int op, double *x, Py_ssize_t r,
                double *path) noexcept nogil
cdef void h_mul(const Shape *t, const double *H, const double *x, double *y, Py_ssize_t r,
                double *path) noexcept nogil
