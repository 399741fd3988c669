"""Declarations of the fronts of K; see _fronts.pyx."""

from ..tree._pattern cimport Front

cdef class Fronts:
    cdef readonly Py_ssize_t n, m, count, size, nnz
    cdef object tree
    cdef dict memory             # arrays by name
    cdef Front *front            # count + 1 fronts
    cdef Py_ssize_t *position    # place of every freedom in the order of elimination, n
    cdef Py_ssize_t *node        # freedom at every place
    cdef Py_ssize_t *index       # freedoms of every front, pivots first
    cdef Py_ssize_t *relative    # places in the front above of the freedoms that are not pivots
    cdef Py_ssize_t *child       # first front below every front, -1 without one
    cdef Py_ssize_t *sibling     # next front below the same front, -1 without one
    cdef Py_ssize_t *source      # packed entries of H, front by front
    cdef Py_ssize_t *target      # places of these entries in their front
    cdef Py_ssize_t *row         # constraints, front by front
    cdef Py_ssize_t *start       # first entry of every constraint, m + 1
    cdef Py_ssize_t *column      # column of every entry of a constraint
    cdef Py_ssize_t *listed      # first entry of the constraint with the same support that was sorted
    cdef Py_ssize_t *entry       # entries of that constraint in the order of its front, from 0
    cdef Py_ssize_t *local       # places of these entries in their front
    cdef Py_ssize_t *home        # front of every constraint, -1 for a row of zeros
    cdef Py_ssize_t supports     # number of distinct supports, -1 if these are not known
    cdef Py_ssize_t *support     # their columns
    cdef Py_ssize_t *support_end     # where each ends
    cdef Py_ssize_t most_rows    # constraints and entries of these that there is memory for
    cdef Py_ssize_t most_entries
    cdef Py_ssize_t *tree_start
    cdef Py_ssize_t *tree_column
    cdef Py_ssize_t *first       # column e of L has its entries in pool[first[e]:first[e] + length[e]]
    cdef Py_ssize_t *length
    cdef Py_ssize_t *pool
    cdef Py_ssize_t capacity     # of the pool
    cdef Py_ssize_t *head        # first of a list for every place, front or freedom
    cdef Py_ssize_t *after       # next in these lists, n
    cdef Py_ssize_t *row_head
    cdef Py_ssize_t *row_after
    cdef Py_ssize_t *mark
    cdef Py_ssize_t *fresh       # places that are entries of the present column
    cdef Py_ssize_t *which       # front of a place
    cdef Py_ssize_t *place       # of every freedom in the present front

    cdef Py_ssize_t *integers(self, str name, Py_ssize_t size) except NULL
    cdef Py_ssize_t *copy(self, str name, a) except NULL
    cdef fit(self, Py_ssize_t m, const Py_ssize_t *start, const Py_ssize_t *column)
    cdef take_rows(self, Py_ssize_t m, const Py_ssize_t *start, const Py_ssize_t *column)
    cdef void list_rows(self) noexcept nogil
    cdef bint supports_stay(self) noexcept nogil
    cdef find_columns(self)
    cdef enlarge_pool(self, Py_ssize_t used, Py_ssize_t size)
    cdef void split(self) noexcept nogil
    cdef list_freedoms(self)
    cdef void locate(self, const Front *f) noexcept nogil
    cdef void place_entries(self) noexcept nogil
    cdef void place_rows(self) noexcept nogil
    cdef void sort_support(self, Py_ssize_t r) noexcept nogil
    cdef bint matches(self, tree, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column)
