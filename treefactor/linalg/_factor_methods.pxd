"""Declare the C methods of Factor and of its kernels."""


cdef class Kernel:
    cdef bint factorize_fast(self, object H, str layout, bint upper) except -1
    cdef bint factorize_bound(self) except -1
    cdef object apply_fast(self, int op, object b, object out)
    cdef object invert_fast(self, object out)


cdef class Calls:
    cdef readonly object tree
    cdef readonly tuple batch    # leading axes of H
    cdef readonly str kind
    cdef readonly object dtype
    cdef readonly Kernel _kernel
    cdef readonly str _layout    # of the H that `refactor` takes
    cdef readonly str _triangle
    cdef readonly bint _upper
    cdef readonly int _threads
    cdef Kernel fast_path        # None for a factor that always takes the general path

    cdef void prepare(self, object tree, tuple batch, str kind, object dtype, Kernel kernel, str layout,
                      str triangle, int threads)
    cdef object call(self, int op, object b, object out)
    cdef object invert(self, object out)
