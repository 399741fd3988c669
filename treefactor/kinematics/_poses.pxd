"""C interface of the operations on rotations and poses."""

# Computes one result; arguments that it does not need are not read. Rotations are in rows.
ctypedef void (*PoseKernel)(const double *a, const double *b, const double *u, double *result) noexcept nogil

cdef PoseKernel pose_kernel(str name) except NULL
