"""Declarations of the factor of K; see _kkt.pyx."""

cimport numpy as cnp

from ._fronts cimport Fronts
from ..tree._pattern cimport Front

cdef class Kkt:
    cdef readonly Fronts symbolic
    cdef readonly Py_ssize_t touched   # entries that the last factorization computed
    cdef dict memory
    cdef Py_ssize_t (*eliminate)(const Front *, double *F, double *inverse) noexcept nogil
    cdef object source                 # owners of H and J
    cdef const double *H               # packed rows
    cdef double *values                # fronts
    cdef double *inverse               # reciprocals of the pivots by position
    cdef const double *J               # entries of the constraints
    cdef double *z                     # those of one constraint, in the order of its front
    cdef unsigned char *dirty          # fronts to be recomputed

    cdef fit(self)
    cdef void load(self, const double *H, const double *J) noexcept nogil
    cdef void mark_path_dirty(self, Py_ssize_t row) noexcept nogil
    cdef void mark_all_dirty(self) noexcept nogil
    cdef Py_ssize_t refactor(self, const unsigned char *on, double weight) noexcept nogil
    cdef void assemble(self, const Front *f, Py_ssize_t below, const unsigned char *on,
                       double weight) noexcept nogil
    cdef void solve(self, double *x) noexcept nogil
