"""Write matrices from packed entries, and find lanes whose arguments are not valid."""

from libc.math cimport fabs
from libc.string cimport memset

from ..tree._operands cimport LANES
from ..tree._pattern cimport Shape


cdef inline void unpack(const Shape *t, bint coriolis, const double *packed, Py_ssize_t step,
                        double *H) noexcept nogil:
    """H <- dense matrix from packed entries that are `step` apart.

    It is symmetric; for Coriolis matrices the entries above the diagonal follow the packed rows, transposed.
    """
    cdef const double *above = packed
    cdef Py_ssize_t k, e, j, n = t.n
    memset(H, 0, n * n * sizeof(double))
    for k in range(n):
        if coriolis:
            above = packed + (t.start[n] - k) * step
        for e in range(t.start[k], t.start[k + 1] - 1):
            j = t.column[e]
            H[k * n + j], H[j * n + k] = packed[e * step], above[e * step]
        H[k * n + k] = packed[(t.start[k + 1] - 1) * step]


cdef inline void pad(const Shape *t, int count, double *H) noexcept nogil:
    """H <- identity matrices in the unused lanes, from `count` on."""
    cdef Py_ssize_t k, e, lane
    for k in range(t.n):
        for e in range(t.start[k], t.start[k + 1]):
            for lane in range(count, LANES):
                H[e * LANES + lane] = e == t.start[k + 1] - 1


ctypedef fused Number:
    double
    float


cdef inline bint are_unit_vectors(Py_ssize_t count, const Py_ssize_t *place, const Number *q, int step,
                                  double tolerance) noexcept nogil:
    """Return whether parts of q, each with its first entry and size in place, have unit length."""
    cdef Py_ssize_t j, e
    cdef double norm
    for j in range(count):
        norm = 0.0
        for e in range(place[2 * j], place[2 * j] + place[2 * j + 1]):
            norm += <double> q[e * step] * <double> q[e * step]
        if not fabs(norm - 1.0) <= tolerance:
            return False
    return True


cdef inline void add_doubt(Py_ssize_t size, const double *x, double *doubt) noexcept nogil:
    """doubt <- doubt + 0 x: no longer 0 in lanes where an entry is not finite."""
    cdef Py_ssize_t e, lane
    for e in range(size):
        for lane in range(LANES):
            doubt[lane] += 0 * x[e * LANES + lane]
