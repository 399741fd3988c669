"""Write dense matrices and padding from packed entries, and find freedoms with a bad pivot."""

from libc.float cimport DBL_MAX
from libc.string cimport memset

from ..tree._pattern cimport Shape
from ..tree._operands cimport LANES


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


cdef inline void find_failures(Py_ssize_t n, int lanes, const double *D, Py_ssize_t *failed) noexcept nogil:
    """failed[lane] <- the first freedom eliminated whose pivot is not in (0, inf)."""
    cdef Py_ssize_t k, lane
    for k in range(n):
        for lane in range(lanes):
            if not 0 < D[k * lanes + lane] <= DBL_MAX:
                failed[lane] = k
