"""Expand velocities to mimic joints, and reduce forces and matrices of all joints to the free ones."""

from libc.string cimport memset


ctypedef struct Coupling:        # G: freedoms of all joints from those of the free ones
    Py_ssize_t n, free           # freedoms of all joints, and of the free ones
    Py_ssize_t nnz               # packed entries of H of the free ones
    const Py_ssize_t *start      # n + 1: first packed entry of every row of H of all joints
    const Py_ssize_t *column     # column of every packed entry
    const Py_ssize_t *follows    # n: the free freedom that each follows
    const double *ratio          # n
    const Py_ssize_t *fold       # for every packed entry the entry of H of the free joints it is added to
    const double *fold_ratio     # and the factor


cdef inline void expand(const Coupling *c, int lanes, const double *v, double *x) noexcept nogil:
    """x <- G v: velocities or accelerations of all freedoms, mimic joints included."""
    cdef Py_ssize_t k, lane
    for k in range(c.n):
        for lane in range(lanes):
            x[k * lanes + lane] = c.ratio[k] * v[c.follows[k] * lanes + lane]


cdef inline void add_up(int lanes, Py_ssize_t count, Py_ssize_t reduced, const Py_ssize_t *to,
                        const double *ratio, const double *x, double *y) noexcept nogil:
    """y <- the sums of the entries of x with the same target."""
    cdef Py_ssize_t e, lane
    memset(y, 0, reduced * lanes * sizeof(double))
    for e in range(count):
        for lane in range(lanes):
            y[to[e] * lanes + lane] += ratio[e] * x[e * lanes + lane]


cdef inline void reduce_forces(const Coupling *c, int lanes, const double *x, double *y) noexcept nogil:
    """y <- G^T x."""
    add_up(lanes, c.n, c.free, c.follows, c.ratio, x, y)


cdef inline void reduce_inertia(const Coupling *c, int lanes, const double *x, double *y) noexcept nogil:
    """y <- G^T H G in packed rows."""
    add_up(lanes, c.start[c.n], c.nnz, c.fold, c.fold_ratio, x, y)


cdef inline void reduce_coriolis(const Coupling *c, int lanes, const double *x, double *y) noexcept nogil:
    """y <- G^T C G from packed entries; those left of the diagonal may come to lie above it."""
    cdef Py_ssize_t k, e, row, column, left, above, lane
    cdef double ratio
    memset(y, 0, (2 * c.nnz - c.free) * lanes * sizeof(double))
    for k in range(c.n):
        row = c.follows[k]
        for e in range(c.start[k], c.start[k + 1]):
            column = c.follows[c.column[e]]
            ratio = c.ratio[k] * c.ratio[c.column[e]]
            left = above = c.fold[e]
            if column < row:
                above += c.nnz - row
            elif column > row:
                left += c.nnz - column
            for lane in range(lanes):
                y[left * lanes + lane] += ratio * x[e * lanes + lane]
                if e < c.start[k + 1] - 1:
                    y[above * lanes + lane] += ratio * x[(c.start[c.n] + e - k) * lanes + lane]
