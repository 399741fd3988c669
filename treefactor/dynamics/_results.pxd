"""Find freedoms with a bad pivot."""

from libc.float cimport DBL_MAX


cdef inline void find_failures(Py_ssize_t n, int lanes, const double *D, Py_ssize_t *failed) noexcept nogil:
    """failed[lane] <- the first freedom eliminated whose pivot is not in (0, inf)."""
    cdef Py_ssize_t k, lane
    for k in range(n):
        for lane in range(lanes):
            if not 0 < D[k * lanes + lane] <= DBL_MAX:
                failed[lane] = k
