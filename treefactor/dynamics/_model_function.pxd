"""C interface of compiled functions of a model."""

cimport cython

from .._functions._compiled_function cimport CompiledFunction
from ._recursions cimport Bodies


cdef class ModelFunction(CompiledFunction):
    cdef Bodies bodies

    @cython.final
    cdef int add_configuration(self) except -1
    @cython.final
    cdef int add_vector(self, bint optional=*) except -1
    @cython.final
    cdef int add_forces(self, bint optional=*) except -1
    @cython.final
    cdef int add_arguments(self, tuple names, tuple optional=*) except -1
    @cython.final
    cdef const double *expanded(self, int lanes, Py_ssize_t vectors, const double *x,
                                double **end) noexcept nogil
    @cython.final
    cdef double *target(self, int lanes, Py_ssize_t vectors, double *y, double **end) noexcept nogil
    @cython.final
    cdef void reduce(self, int lanes, Py_ssize_t vectors, const double *x, double *y) noexcept nogil
