"""Integrate the state of a model over one time step: joint integration and the midpoint rule."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs, fmax

from .._util._rotations cimport add_cross, integrate_quaternion, rotate_by_quaternion, turn_circle

import numpy as np

cnp.import_array()

cdef double ACCURACY = 1e-13     # relative to velocities
cdef double ROUNDED = 1e-8       # relative error that rounding may leave where H is ill-conditioned
cdef double SLOWER = 0.6         # a larger ratio of successive corrections ends the iteration


cdef int midpoint_status(int count, double error, double before, double scale) noexcept nogil:
    """Return whether round `count` of the midpoint rule, from 0, is the last one, and why."""
    if not error <= DBL_MAX:
        return DIVERGES
    if not count:
        return IMPROVES
    if error <= ACCURACY * scale or (error <= ROUNDED * scale and error >= before):
        return CONVERGED
    if error <= 0.1 * before < INFINITY and error * (error / before) <= ACCURACY * scale:
        return CONVERGED                         # the next correction is smaller by this ratio
    if error > ROUNDED * scale and not error < (SLOWER if count > 3 else 2.0) * before:
        return DIVERGES
    return IMPROVES if count < ROUNDS - 1 else CONVERGED if error <= ROUNDED * scale else DIVERGES


cdef class JointIntegrator:
    """Joints of a model, grouped by how their configurations are integrated.

    Parameters
    ----------
    at : sequence of five ndarrays of int, shape (joints, 2)
        First entries in q and v: of single freedoms that add up, of circles, spheres, planes, free-flyers.
    com : sequence of two ndarrays of float, shapes (joints, 2) and (joints, 3)
        Centres of mass of the bodies of planes and of free-flyers, in their own axes.
    """

    def __init__(self, at, com):
        self.kept = at, com
        self.lines, self.circles, self.spheres, self.planes, self.flyers = at
        self.plane_com, self.flyer_com = com

    def __reduce__(self):
        return JointIntegrator, self.kept

    def velocity_rates(self, const double[::1] v not None):
        """Compute ω × (v + ω × com) of joints whose linear velocities are in rotating axes."""
        rates = np.zeros(v.shape[0])
        cdef double[::1] x = rates
        if v.shape[0]:
            self.add_velocity_rates(&v[0], &x[0])
        return rates

    cdef void add_velocity_rates(self, const double *v, double *x) noexcept nogil:
        """Add the result of `velocity_rates` to x."""
        cdef const double *c
        cdef double y[3]
        cdef Py_ssize_t i, k
        for i in range(self.planes.shape[0]):
            k, c = self.planes[i, 1], &self.plane_com[i, 0]
            y[0], y[1] = v[k] - v[k + 2] * c[1], v[k + 1] + v[k + 2] * c[0]
            x[k] -= v[k + 2] * y[1]
            x[k + 1] += v[k + 2] * y[0]
        for i in range(self.flyers.shape[0]):
            k = self.flyers[i, 1]
            y[0], y[1], y[2] = v[k], v[k + 1], v[k + 2]
            add_cross(1.0, v + k + 3, &self.flyer_com[i, 0], y)
            add_cross(1.0, v + k + 3, y, x + k)

    def midpoint(self, decelerate, cnp.ndarray v not None, cnp.ndarray middle not None,
                 cnp.ndarray a not None, double h):
        """Solve u = v - h a((v + u) / 2) by fixed-point iteration; return None if that does not converge.

        `a` holds H^-1 c at the velocities v = middle; `decelerate()` fills it for those in `middle`. All are
        contiguous float64 vectors.
        """
        cdef cnp.ndarray u = v.copy()
        cdef double error = 0.0, before, scale = 0.0
        cdef int count, status
        for count in range(ROUNDS if v.shape[0] else 0):
            if count:
                decelerate()
            before = error if count > 1 else INFINITY
            error = self.improve(v.shape[0], <const double *> v.data, <double *> a.data, h,
                                 <double *> middle.data, <double *> u.data, &scale)
            status = midpoint_status(count, error, before, scale)
            if status != IMPROVES:
                return u if status == CONVERGED else None
        return u

    cdef double improve(self, Py_ssize_t n, const double *v, double *a, double h, double *middle, double *u,
                        double *scale) noexcept nogil:
        """Compute u and `middle` from a; return the largest change of u, INFINITY if it overflows."""
        cdef double error = 0.0, ahead
        cdef Py_ssize_t i
        for i in range(n):
            a[i] = -a[i]
        self.add_velocity_rates(middle, a)
        scale[0] = 0.0
        for i in range(n):
            ahead = v[i] + h * a[i]
            if not fabs(ahead) <= DBL_MAX:
                return INFINITY
            error, scale[0] = fmax(error, fabs(ahead - u[i])), fmax(scale[0], fabs(v[i]) + fabs(ahead))
            u[i], middle[i] = ahead, 0.5 * (v[i] + ahead)
        return error

    def advanced(self, q, v, double h):
        """Return the state after h at velocities v, with centres of mass moving along straight lines."""
        new_q, new_v = q.copy(), v.copy()
        cdef double[::1] x = new_q, y = new_v
        with nogil:
            self.advance_state(&x[0] if x.shape[0] else NULL, &y[0] if y.shape[0] else NULL, h)
        return new_q, new_v

    cdef void advance_state(self, double *q, double *v, double h) noexcept nogil:
        """Integrate q and v in place; linear velocities keep their direction in axes that do not rotate."""
        cdef Py_ssize_t i, r
        cdef double *x
        cdef double *y
        cdef const double *m
        cdef double lever[3]
        cdef double turned[3]
        cdef double a, b, c, s
        for i in range(self.lines.shape[0]):
            q[self.lines[i, 0]] += h * v[self.lines[i, 1]]
        for i in range(self.circles.shape[0]):
            turn_circle(q + self.circles[i, 0], h * v[self.circles[i, 1]])
        for i in range(self.spheres.shape[0]):
            integrate_quaternion(q + self.spheres[i, 0], v + self.spheres[i, 1], h, False)
        for i in range(self.planes.shape[0]):
            x, y, m = q + self.planes[i, 0], v + self.planes[i, 1], &self.plane_com[i, 0]
            a, b = y[0] - y[2] * m[1], y[1] + y[2] * m[0]
            c, s = x[2] * a - x[3] * b, x[3] * a + x[2] * b
            lever[0], lever[1] = x[2] * m[0] - x[3] * m[1], x[3] * m[0] + x[2] * m[1]
            turn_circle(x + 2, h * y[2])
            x[0] += h * c + (lever[0] - (x[2] * m[0] - x[3] * m[1]))
            x[1] += h * s + (lever[1] - (x[3] * m[0] + x[2] * m[1]))
            y[0], y[1] = x[2] * c + x[3] * s + y[2] * m[1], x[2] * s - x[3] * c - y[2] * m[0]
        for i in range(self.flyers.shape[0]):
            x, y, m = q + self.flyers[i, 0], v + self.flyers[i, 1], &self.flyer_com[i, 0]
            add_cross(1.0, y + 3, m, y)
            rotate_by_quaternion(x + 3, 1.0, y)
            for r in range(3):
                lever[r] = turned[r] = m[r]
            rotate_by_quaternion(x + 3, 1.0, lever)
            for r in range(3):
                x[r] += h * y[r]
            integrate_quaternion(x + 3, y + 3, h, True)
            rotate_by_quaternion(x + 3, -1.0, y)
            rotate_by_quaternion(x + 3, 1.0, turned)
            for r in range(3):
                x[r] += lever[r] - turned[r]
            add_cross(-1.0, y + 3, m, y)
