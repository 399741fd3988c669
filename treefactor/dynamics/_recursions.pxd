"""C interface of the recursions: the structs of the kernels, and the class that calls them."""

from ..tree._pattern cimport Pattern
from ._coupling cimport Coupling
from ._operations cimport (
    CRBA_PACKED, FACTOR, INVERSE, MOTION, RECORD, UNIT_MOTION, Arguments, Body, BodyMotion, Dynamics, Entry,
    InertiaSets, Mechanism, Recursions, dynamics_baseline,
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
    cdef Py_ssize_t size(self, int op) noexcept nogil
    cdef Py_ssize_t workspace_size(self, int op, int lanes) noexcept nogil
    cdef bint is_configuration(self, const double *q, int step) noexcept nogil
    cdef void compute(self, const Mechanism *m, int op, int lanes, const Arguments *args, Py_ssize_t *failed,
                      double *work) noexcept nogil
    cdef bint run_one(self, int op, const Arguments *args) noexcept nogil


cpdef Bodies bodies_of(model)
