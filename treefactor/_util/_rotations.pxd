"""Rotate vectors and integrate rotations in C, quaternions as x y z w; rotations.py does it for arrays."""

from libc.math cimport copysign, cos, fabs, sin, sqrt


cdef inline double absolute_sum(const double *x) noexcept nogil:
    """Return |x| + |y| + |z|."""
    return fabs(x[0]) + fabs(x[1]) + fabs(x[2])


cdef inline void turn_circle(double *circle, double angle) noexcept nogil:
    """circle <- (cos, sin) turned by an angle, scaled to unit length."""
    cdef double c = cos(angle) * circle[0] - sin(angle) * circle[1]
    cdef double s = sin(angle) * circle[0] + cos(angle) * circle[1]
    cdef double length = sqrt(c * c + s * s)
    circle[0], circle[1] = c / length, s / length


cdef inline void rotate_by_quaternion(const double *q, double sign, double *x) noexcept nogil:
    """x <- x rotated by q = (u, w), or by its inverse if sign is -1: x + 2 w t + 2 u × t, t = u × x."""
    cdef double a = sign * q[0], b = sign * q[1], c = sign * q[2], w = q[3]
    cdef double t0 = 2.0 * (b * x[2] - c * x[1])
    cdef double t1 = 2.0 * (c * x[0] - a * x[2])
    cdef double t2 = 2.0 * (a * x[1] - b * x[0])
    x[0] += w * t0 + b * t2 - c * t1
    x[1] += w * t1 + c * t0 - a * t2
    x[2] += w * t2 + a * t1 - b * t0


cdef inline void add_cross(double sign, const double *a, const double *b, double *x) noexcept nogil:
    """x += sign a × b."""
    x[0] += sign * (a[1] * b[2] - a[2] * b[1])
    x[1] += sign * (a[2] * b[0] - a[0] * b[2])
    x[2] += sign * (a[0] * b[1] - a[1] * b[0])


cdef inline void integrate_quaternion(double *q, const double *omega, double h, bint nearer) noexcept nogil:
    """q <- q exp(h omega) with unit length; ``nearer`` chooses the sign closer to the old q."""
    cdef double rate = sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2])
    cdef double half = 0.5 * h * rate
    cdef double s = sin(half) / rate if rate > 1e-150 else 0.5 * h    # its square is a number
    cdef double x = s * omega[0], y = s * omega[1], z = s * omega[2], w = cos(half)
    cdef double product[4]
    cdef double square = 0.0, along = 0.0
    cdef int r
    product[0] = q[3] * x + w * q[0] + q[1] * z - q[2] * y
    product[1] = q[3] * y + w * q[1] + q[2] * x - q[0] * z
    product[2] = q[3] * z + w * q[2] + q[0] * y - q[1] * x
    product[3] = q[3] * w - q[0] * x - q[1] * y - q[2] * z
    for r in range(4):
        square += product[r] * product[r]
        along += product[r] * q[r]
    square = 1.0 / sqrt(square)
    if nearer:
        square = copysign(square, along)
    for r in range(4):
        q[r] = square * product[r]
