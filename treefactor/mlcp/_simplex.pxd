"""Declarations of the simplex method; see _simplex.pyx."""

from ._iterate cimport Iterate

cdef class Simplex(Iterate):
    cdef int simplex(self, Py_ssize_t limit) noexcept nogil
    cdef int simplex_steps(self, Py_ssize_t limit) noexcept nogil
    cdef (Py_ssize_t, double) ratio_test_step(self) noexcept nogil
    cdef void solve_without_multipliers(self) noexcept nogil
