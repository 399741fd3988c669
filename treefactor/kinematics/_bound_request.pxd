"""Declare calls bound to arrays, and the search for compiled requests."""

from .._util._bound_call cimport BoundCall
from ._request cimport Request


cdef Request find_request(model, int kind, frame, reference, int option)


cdef class BoundRequest(BoundCall):
    cdef Request request
    cdef const double *x[3]
    cdef double **results


cdef object compute(model, int kind, frame, reference, int option, q, v, a, out, threads, general_path)
