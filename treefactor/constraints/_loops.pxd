"""Entries of rows of constraints, as the kernels take them."""

cdef extern from "kernels/constraints/closures.h" nogil:
    ctypedef struct Entry:
        Py_ssize_t freedom, side, place
        double ratio
