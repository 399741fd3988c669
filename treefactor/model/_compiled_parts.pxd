"""Declare the base of the class Model."""


cdef class CompiledParts:
    cdef object bodies           # Bodies, or None: not looked up yet
    cdef object configurations   # Configurations, or None
    cdef object state_functions  # the dict of treefactor.derivatives, or None
    cdef object functions        # list of compiled functions by the number of their quantity, or None
