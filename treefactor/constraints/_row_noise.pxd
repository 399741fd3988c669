"""Find the rounding errors of rows of loops and rigid contacts; set entries of J within them to zero.

Entries are differences: of a freedom that does not move a row nothing but rounding is left, without leverage.
"""

from libc.math cimport fabs
from libc.string cimport memset

from .._util._rotations cimport absolute_sum
from ..dynamics._recursions cimport BodyMotion
from ._moving_frames cimport ANGLE, HELD_6D, Frame, Part, UnitMotion


cdef inline bint moves_any(Py_ssize_t m, const unsigned char *path, const Frame *f,
                           Py_ssize_t k) noexcept nogil:
    """Return whether one of m freedoms moves one of two frames."""
    return (f.body >= 0 and path[f.body * m + k]) or (f[1].body >= 0 and path[f[1].body * m + k])


cdef inline void find_errors(Py_ssize_t m, const unsigned char *path, const Py_ssize_t *column,
                             double rounding, const Frame *f, const UnitMotion *units,
                             const BodyMotion *first, const BodyMotion *second, Py_ssize_t n,
                             double *errors) noexcept nogil:
    """Compute the errors (n, 2) of entries of linear and of angular rows of two frames on two bodies."""
    cdef double reach = absolute_sum(f.where) + absolute_sum(f[1].where), far = 0.0, turn, size
    cdef Py_ssize_t k
    cdef int r
    for r in range(3):
        if first.root[r] != second.root[r]:          # equal ones, as of bodies of one tree, leave no error
            reach += fabs(first.root[r]) + fabs(second.root[r])
    for k in range(m):
        size = absolute_sum(units[k].S)
        if size > far and absolute_sum(units[k].S + 3) > 0.0 and moves_any(m, path, f, k):
            far = size                               # distance of an axis from the root body
    memset(errors, 0, 2 * n * sizeof(double))
    for k in range(m):
        if moves_any(m, path, f, k):
            turn = absolute_sum(units[k].S + 3)
            errors[2 * column[k]] += rounding * (absolute_sum(units[k].S) + (reach + far) * turn)
            errors[2 * column[k] + 1] += rounding * turn


cdef inline void drop_noise(const Part *part, Py_ssize_t n, const double *errors, double *J) noexcept nogil:
    """Set entries of J (rows of a part, 2 n apart) that are within their errors to zero."""
    cdef Py_ssize_t k, r, angular
    for r in range(1 if part.kind == ANGLE else 6 if part.kind == HELD_6D else 3):
        angular = part.kind == ANGLE or r >= 3
        for k in range(n):
            if fabs(J[2 * n * r + k]) <= errors[2 * k + angular]:
                J[2 * n * r + k] = 0.0
