"""What users of a factor call, and the kernels behind."""


cdef class Kernel:
    cdef bint factorize_plain(self, object H, str layout, bint upper) except -1
    cdef bint factorize_bound(self) except -1
    cdef object apply_plain(self, int op, object b, object out)
