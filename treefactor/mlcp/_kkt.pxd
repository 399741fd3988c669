"""The factor of K as the pivoting takes it; see _kkt.pyx."""

cimport numpy as cnp

from ._fronts cimport Fronts
from ..tree._pattern cimport Front

cdef class Kkt:
    cdef readonly Fronts symbolic
    cdef readonly Py_ssize_t touched
    cdef tuple kept
    cdef object source                 # whoever owns H
    cdef const double *H               # packed rows
    cdef double *values                # fronts
    cdef double *inverse               # reciprocals of the pivots by position
    cdef double *J                     # entries of the constraints in the order of their fronts
    cdef double *vector                # room for a front's part of a vector, twice
    cdef unsigned char *dirty          # fronts that are no longer those of K

    cdef void load(self, const double *H, const double *J) noexcept nogil
    cdef void touch(self, Py_ssize_t row) noexcept nogil
    cdef void touch_all(self) noexcept nogil
    cdef Py_ssize_t refactor(self, const unsigned char *on, double weight) noexcept nogil
    cdef void assemble(self, const Front *f, Py_ssize_t below, const unsigned char *on,
                       double weight) noexcept nogil
    cdef void solve(self, double *x) noexcept nogil
