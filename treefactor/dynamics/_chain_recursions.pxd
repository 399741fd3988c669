"""C interface of the recursions for chains: one chain's arrays, vector helpers, inertia matrix and forces."""

from libc.stdint cimport uint8_t

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


cdef void inertia_of(const Chain *s, double *A, double *workspace) noexcept nogil
cdef void forces_of(const Chain *s, const double *rate, const double *force, const double *moment,
                    const double *torque, double *b, double *workspace) noexcept nogil
