"""C interface of the recursions for chains: one chain's arrays, vector helpers, inertia matrix and forces."""

from libc.stdint cimport uint8_t

cdef enum:
    TILE = 8                     # columns of the inertia matrix that are computed side by side
    SHORT = 64                   # longest chain without tiles, and with its workspace on the C stack


ctypedef struct Chain:           # all arrays C-contiguous, in the base frame
    Py_ssize_t n
    const double *axis
    const double *r
    const double *mass
    const double *c
    const double *inertia
    const uint8_t *slides


cdef inline double dot(const double *x, const double *y) noexcept nogil:
    """Return x . y."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


cdef inline void cross(const double *x, const double *y, double *z) noexcept nogil:
    """z <- x × y."""
    z[0] = x[1] * y[2] - x[2] * y[1]
    z[1] = x[2] * y[0] - x[0] * y[2]
    z[2] = x[0] * y[1] - x[1] * y[0]


cdef inline void add_cross(const double *x, const double *y, double *z) noexcept nogil:
    """z += x × y."""
    z[0] += x[1] * y[2] - x[2] * y[1]
    z[1] += x[2] * y[0] - x[0] * y[2]
    z[2] += x[0] * y[1] - x[1] * y[0]


cdef inline void apply(const double *M, const double *x, double *y) noexcept nogil:
    """y <- M x, M (3, 3) row by row."""
    y[0] = dot(M, x)
    y[1] = dot(M + 3, x)
    y[2] = dot(M + 6, x)


cdef inline Py_ssize_t tiles_of(Py_ssize_t n) noexcept nogil:
    """Return the number of tiles of n columns."""
    return (n + TILE - 1) // TILE


cdef inline Py_ssize_t workspace_of(Py_ssize_t n) noexcept nogil:
    """Return the doubles of workspace for a chain of n bodies."""
    return 6 * n + 6 * TILE * tiles_of(n)


cdef void momenta_of(const Chain *s, double *A, double *workspace) noexcept nogil
cdef void columns_of(const Chain *s, const double *workspace, Py_ssize_t tile, double *A) noexcept nogil
cdef void inertia_of(const Chain *s, double *A, double *workspace) noexcept nogil
cdef void forces_of(const Chain *s, const double *rate, const double *force, const double *moment,
                    const double *torque, double *b, double *workspace) noexcept nogil
