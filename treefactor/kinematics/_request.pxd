"""C interface of requests: the structs of the kernels, and the class that calls them."""

from .._functions._compiled_function cimport CompiledFunction
from ..dynamics._recursions cimport Mechanism

cdef extern from "kernels/kinematics/request.h" nogil:
    ctypedef struct Turn:
        Py_ssize_t permuted
        Py_ssize_t source[3]
        double sign[3]

    ctypedef struct Freedom:
        Py_ssize_t body, axis, linear, column
        double ratio, pitch

    ctypedef struct Column:
        Py_ssize_t freedom, add
        Py_ssize_t place[2]

    ctypedef struct Output:
        Py_ssize_t kind, reference, classical, body, root, item
        Py_ssize_t first[2]
        Py_ssize_t row[2]
        Py_ssize_t column, columns
        double R[9]
        double p[3]
        Turn turn

    ctypedef struct Plan:
        Mechanism m
        const Turn *turn
        const Freedom *freedom
        Py_ssize_t order
        Py_ssize_t sums, arms
        double mass
        Py_ssize_t outputs
        const Output *output
        const Column *column

    ctypedef struct RequestKernels:
        Py_ssize_t (*workspace_size)(const Plan *) noexcept nogil
        void (*compute)(const Plan *, const double *q, const double *v, const double *a, double **x,
                        double *workspace) noexcept nogil

    ctypedef struct RequestTable:
        const char *name
        RequestKernels one
        RequestKernels lanes

cdef const RequestTable *request_kernels         # chosen at import


cdef class Request(CompiledFunction):
    cdef Plan plan
    cdef object kept
