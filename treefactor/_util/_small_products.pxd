"""Products of 3 x 3 matrices, with the same bits on all processors.

They are fused multiply-adds in the order in which BLAS adds up such products of small matrices.
"""

from libc.math cimport fma


cdef inline void multiply(const double *A, const double *B, double *C) noexcept nogil:
    """C <- A B."""
    cdef int r, c
    for r in range(3):
        for c in range(3):
            C[3 * r + c] = fma(A[3 * r + 2], B[6 + c], fma(A[3 * r + 1], B[3 + c], 0.0 + A[3 * r] * B[c]))


cdef inline void apply(const double *A, const double *x, double *y) noexcept nogil:
    """y <- A x."""
    cdef int r
    for r in range(3):
        y[r] = 0.0 + fma(A[3 * r + 2], x[2], fma(A[3 * r], x[0], A[3 * r + 1] * x[1]))
