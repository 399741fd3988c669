"""C interface of the compiled form of a model: the structs of the kernels."""

from ..tree._pattern cimport Pattern
from ._coupling cimport Coupling
from ._operations cimport (
    FACTOR, INVERSE, RECORD, UNIT_MOTION, Body, BodyMotion, Dynamics, Entry, InertiaSets, Mechanism,
    Recursions, dynamics_baseline,
)

cdef const Dynamics *dynamics    # chosen at import


cdef class Bodies:
    cdef Mechanism m
    cdef bint one_axis           # elements or none lie along one axis of a batch: fast paths know no other
    cdef InertiaSets sets
    cdef Pattern pattern
    cdef object kept, arguments
    cdef readonly Py_ssize_t nq, nv, nnz
    cdef Py_ssize_t units        # number of unit vectors in q
    cdef const Py_ssize_t *unit  # first entry and size of each
    cdef bint coupled            # by mimic joints
    cdef Coupling coupling

    cdef Mechanism mechanism(self, Py_ssize_t b, double *gathered) noexcept nogil
    cdef Py_ssize_t gathered_size(self) noexcept nogil
    cdef bint is_configuration(self, const double *q, int step) noexcept nogil


cpdef Bodies bodies_of(model)
