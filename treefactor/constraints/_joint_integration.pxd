"""Declarations of joint integration; see _joint_integration.pyx."""

cdef enum:
    ROUNDS = 60                  # most iterations of the fixed-point iteration, which converges linearly
    IMPROVES = 0                 # status of the iteration
    CONVERGED = 1
    DIVERGES = 2

cdef int midpoint_status(int count, double error, double before, double scale) noexcept nogil

cdef class JointIntegrator:
    cdef Py_ssize_t[:, ::1] lines, circles, spheres, planes, flyers
    cdef const double[:, ::1] plane_com, flyer_com
    cdef object kept

    cdef void add_velocity_rates(self, const double *v, double *x) noexcept nogil
    cdef double improve(self, Py_ssize_t n, const double *v, double *a, double h, double *middle, double *u,
                        double *scale) noexcept nogil
    cdef void advance_state(self, double *q, double *v, double h) noexcept nogil
