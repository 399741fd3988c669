"""Declarations of the active-set solver; see _active_set.pyx."""

from ._simplex cimport Simplex

cdef class ActiveSetSolver(Simplex):
    cdef int solve(self, const double *impulse, const unsigned char *on, bint simplex, double target,
                   Py_ssize_t limit) noexcept nogil
    cdef int proximal_newton(self, double target, Py_ssize_t limit, bint warm) noexcept nogil
    cdef void line_search_step(self) noexcept nogil
    cdef int minimise(self, Py_ssize_t limit, bint first) noexcept nogil
    cdef double line_search(self) noexcept nogil
    cdef void update_multipliers(self) noexcept nogil
    cdef bint is_infeasible(self) noexcept nogil
