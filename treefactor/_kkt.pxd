"""The factor of K as the pivoting takes it; see _kkt.pyx."""

cimport numpy as cnp

from ._pattern cimport Front

cdef class Kkt:
    cdef readonly Py_ssize_t n, m, fronts, room, widest
    cdef readonly Py_ssize_t touched
    cdef object kept
    cdef Front *front
    cdef const Py_ssize_t *index       # freedoms of every front, pivots first
    cdef const Py_ssize_t *relative    # where they stand in the front above, but for the pivots
    cdef const Py_ssize_t *child       # first front below every front, -1
    cdef const Py_ssize_t *sibling     # next one below the same front, -1
    cdef const Py_ssize_t *source      # packed entries of H by fronts
    cdef const Py_ssize_t *target      # and where they go in the front
    cdef const Py_ssize_t *row         # constraints by fronts
    cdef const Py_ssize_t *start       # m + 1, entries of every constraint
    cdef const Py_ssize_t *entry       # its entries in the order of its front
    cdef const Py_ssize_t *local       # and where they stand in the front
    cdef const Py_ssize_t *home        # front of every constraint, -1 for a row of zeros
    cdef double *values                # fronts
    cdef double *inverse               # reciprocals of the pivots by position
    cdef double *J                     # entries of the constraints in the order of `entry`
    cdef double *vector                # room for a front's part of a vector, twice
    cdef unsigned char *dirty          # fronts that are no longer those of K
    cdef const double *H               # packed rows

    cdef void load(self, const double *H, const double *J) noexcept nogil
    cdef void touch(self, Py_ssize_t row) noexcept nogil
    cdef void touch_all(self) noexcept nogil
    cdef Py_ssize_t refactor(self, const unsigned char *on, double weight) noexcept nogil
    cdef void solve(self, double *x) noexcept nogil
    cdef void assemble(self, const Front *f, Py_ssize_t s, const unsigned char *on,
                       double weight) noexcept nogil
