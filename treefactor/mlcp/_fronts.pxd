"""Declarations of the fronts of K; see _fronts.pyx."""

cimport numpy as cnp

from ..tree._pattern cimport Front

cdef class Fronts:
    cdef readonly Py_ssize_t n, m, count, size, nnz
    cdef list kept
    cdef object tree
    cdef Front *front            # count + 1 fronts
    cdef Py_ssize_t *position    # place of every freedom in the order of elimination, n
    cdef Py_ssize_t *index       # freedoms of every front, pivots first
    cdef Py_ssize_t *relative    # places in the front above of the freedoms that are not pivots
    cdef Py_ssize_t *child       # first front below every front, -1 without one
    cdef Py_ssize_t *sibling     # next front below the same front, -1 without one
    cdef Py_ssize_t *source      # packed entries of H, front by front
    cdef Py_ssize_t *target      # places of these entries in their front
    cdef Py_ssize_t *row         # constraints, front by front
    cdef Py_ssize_t *start       # first entry of every constraint, m + 1
    cdef Py_ssize_t *column      # column of every entry of a constraint
    cdef Py_ssize_t *entry       # entries of every constraint in the order of its front
    cdef Py_ssize_t *local       # places of these entries in their front
    cdef Py_ssize_t *home        # front of every constraint, -1 for a row of zeros

    cdef Py_ssize_t *keep(self, cnp.ndarray a)
    cdef split(self, const Py_ssize_t[::1] first, const Py_ssize_t[::1] length, const Py_ssize_t[::1] pool,
               Py_ssize_t[::1] which)
    cdef list_freedoms(self, const Py_ssize_t[::1] first, const Py_ssize_t[::1] pool,
                       const Py_ssize_t[::1] which)
    cdef place_entries(self, const Py_ssize_t[::1] tree_start, const Py_ssize_t[::1] tree_column,
                       Py_ssize_t[::1] place)
    cdef Py_ssize_t index_size(self)
    cdef place_rows(self, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column,
                    const Py_ssize_t[::1] which, Py_ssize_t[::1] place)
    cdef place_row(self, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column, Py_ssize_t r,
                   Py_ssize_t[::1] place)
    cdef bint matches(self, tree, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column)
