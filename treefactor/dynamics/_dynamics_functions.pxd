"""C interface of compiled functions of the dynamics that others compute with."""

from ._model_function cimport ModelFunction
from ._operations cimport Recursions


cdef class DynamicsFunction(ModelFunction):
    cdef const Recursions *recursions(self, int lanes) noexcept nogil
    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil
    cdef double *more(self, int lanes, double *work) noexcept nogil


cdef class Crba(DynamicsFunction):
    pass


cdef class Bias(DynamicsFunction):
    pass


cdef class ForwardDynamics(DynamicsFunction):
    pass


cdef class Frames(DynamicsFunction):
    pass


cdef class EquationOfMotion(DynamicsFunction):
    pass
