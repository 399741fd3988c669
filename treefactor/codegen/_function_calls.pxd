"""Declare the base class of `Kernels`."""

from cpython.object cimport PyObject


cdef class FunctionCalls:
    cdef readonly dict _routines  # by function and layout: routine, and locations of its result
    cdef dict dense               # the same of the layout "dense", by function

    cdef object compute(self, str name, Py_ssize_t count, PyObject **operands, object out, object threads,
                        object layout)
