"""C interface of the compiled functions of the dynamics that others call."""

from ._model_function cimport ModelFunction
from ._recursions cimport Recursions


cdef class DynamicsFunction(ModelFunction):
    cdef const Recursions *recursions(self, int lanes) noexcept nogil
    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil
    cdef double *more(self, int lanes, double *work) noexcept nogil


cdef class Crba(DynamicsFunction):
    pass


cdef class EquationOfMotion(DynamicsFunction):
    pass
