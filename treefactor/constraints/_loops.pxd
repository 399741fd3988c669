"""Declare the entries of constraint rows of closures.h."""

cdef extern from "kernels/constraints/closures.h" nogil:
    ctypedef struct Entry:
        Py_ssize_t freedom, side, place
        double ratio
