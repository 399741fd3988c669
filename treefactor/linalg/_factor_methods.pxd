"""Declare the C methods of Factor and of its kernels."""


cdef class Kernel:
    cdef bint factorize_fast(self, object H, str layout, bint upper) except -1
    cdef bint factorize_bound(self) except -1
    cdef object apply_fast(self, int op, object b, object out)
