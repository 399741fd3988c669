"""Declare the base of the class Model."""


cdef class CompiledParts:
    cdef object bodies           # Bodies, or None: not looked up yet
    cdef object configurations   # Configurations, or None
    cdef object functions        # list of compiled functions by the number of their quantity, or None
    cdef readonly dict _state_functions      # those that belong to no quantity, by class and options
