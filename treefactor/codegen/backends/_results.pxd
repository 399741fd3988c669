"""Declares Results, where a generated function stores its results."""

cimport numpy as cnp
from libc.stdint cimport int32_t

cdef enum:
    AXES = 3                     # most axes of the result of one configuration
    PARTS = 32                   # most parts of a group that the fast path returns

cdef struct StridedOutput:       # configuration c: block c // group, lane c % group; `grouped`: in blocks
    char *data
    int group
    Py_ssize_t to_group, to_lane, to_entry
    bint grouped

cdef struct Target:              # where the entries of the result of one configuration are stored
    Py_ssize_t size
    const int32_t *slot
    const double *sign
    char *data
    Py_ssize_t first             # slot of the first entry if the others follow it with their signs, else -1

cdef class Results:
    cdef readonly object slots, signs, shape, dtype
    cdef bint grouped
    cdef readonly bint takes_lanes           # the arguments are lanes, too
    cdef int kind                            # type number of NumPy
    cdef int group                           # configurations per block of the layout "lanes"
    cdef Py_ssize_t size
    cdef int axes                            # of the result of one configuration
    cdef Py_ssize_t length[AXES]             # of these axes
    cdef Py_ssize_t first                    # as in Target
    cdef Py_ssize_t step                     # stride along the diagonal of a matrix, 1 for others
    cdef const int32_t *slot
    cdef const double *sign

    cdef bint is_fast_output(self, object out) noexcept
    cdef Target at(self, void *data) noexcept nogil
    cdef object allocate(self, Py_ssize_t count)
    cdef object allocate_aligned(self, cnp.npy_intp *shape)
    cdef bint describe(self, object out, Py_ssize_t count, StridedOutput *to) noexcept

cdef bint are_fast_outputs(tuple out, tuple parts) noexcept
