"""C interface of compiled functions of the dynamics that others compute with."""

from ._model_function cimport ModelFunction
from ._operations cimport Recursions


cdef enum:
    ABSENT = -1                  # number of an argument that a function does not have


ctypedef struct Motion:          # what a recursion reads, NULL where there is none, and where it writes
    const double *v
    const double *a
    const double *fext
    double *tau
    double *end                  # of the memory that they take


cdef class DynamicsFunction(ModelFunction):
    cdef int v, a, fext          # numbers of these arguments

    cdef int declare(self, tuple names) except -1
    cdef Motion motion(self, int lanes, const double **x, double *tau, double *end) noexcept nogil
    cdef void write_equation(self, const void *model, int lanes, const double **x, double *H, double *rest,
                             double *end, double *work) noexcept nogil
    cdef const Recursions *recursions(self, int lanes) noexcept nogil
    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil
    cdef double *more(self, int lanes, double *work) noexcept nogil


cdef class Crba(DynamicsFunction):
    pass


cdef class InverseDynamics(DynamicsFunction):
    cdef bint gravity


cdef class Bias(InverseDynamics):
    pass


cdef class ForwardDynamics(DynamicsFunction):
    pass


cdef class Frames(DynamicsFunction):
    pass


cdef class EquationOfMotion(DynamicsFunction):
    pass
