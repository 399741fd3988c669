"""Declare BoundCall, the base of calls without arguments; see _bound_call.pyx."""


cdef class BoundCall:
    cdef object kept, general_path       # arrays and other owners of the memory that `run` uses
    cdef readonly object out

    cdef bint run(self) noexcept
