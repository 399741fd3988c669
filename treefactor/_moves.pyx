"""A step along straight lines in one state of a model, for time stepping."""

cimport numpy as cnp
from libc.math cimport copysign, cos, sin, sqrt

import numpy as np

cnp.import_array()

cdef double TINY = 1e-150        # sin(TINY) / TINY = 1


cdef void turn(double *circle, double angle) noexcept nogil:
    """(cos, sin) <- turned, of unit length."""
    cdef double c = cos(angle) * circle[0] - sin(angle) * circle[1]
    cdef double s = sin(angle) * circle[0] + cos(angle) * circle[1]
    cdef double length = sqrt(c * c + s * s)
    circle[0], circle[1] = c / length, s / length


cdef void rotate(const double *q, double sign, double *x) noexcept nogil:
    """x <- turned by the quaternion q = (u, w), or by its inverse: x + 2 w t + 2 u × t, t = u × x."""
    cdef double a = sign * q[0], b = sign * q[1], c = sign * q[2], w = q[3]
    cdef double t0 = 2.0 * (b * x[2] - c * x[1])
    cdef double t1 = 2.0 * (c * x[0] - a * x[2])
    cdef double t2 = 2.0 * (a * x[1] - b * x[0])
    x[0] += w * t0 + b * t2 - c * t1
    x[1] += w * t1 + c * t0 - a * t2
    x[2] += w * t2 + a * t1 - b * t0


cdef void spin(double *q, const double *omega, double h, bint nearer) noexcept nogil:
    """q <- q exp(h omega), of unit length; of both quaternions the nearer one if so asked."""
    cdef double rate = sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2])
    cdef double half = 0.5 * h * rate
    cdef double s = sin(half) / rate if rate > TINY else 0.5 * h
    cdef double x = s * omega[0], y = s * omega[1], z = s * omega[2], w = cos(half)
    cdef double found[4]
    cdef double square = 0.0, along = 0.0
    cdef int r
    found[0] = q[3] * x + w * q[0] + q[1] * z - q[2] * y
    found[1] = q[3] * y + w * q[1] + q[2] * x - q[0] * z
    found[2] = q[3] * z + w * q[2] + q[0] * y - q[1] * x
    found[3] = q[3] * w - q[0] * x - q[1] * y - q[2] * z
    for r in range(4):
        square += found[r] * found[r]
        along += found[r] * q[r]
    square = 1.0 / sqrt(square)
    if nearer:
        square = copysign(square, along)
    for r in range(4):
        q[r] = square * found[r]


cdef class Moves:
    """The joints of a model by how they move.

    Parameters
    ----------
    at : sequence of five ndarrays of int, shape (joints, 2)
        First entries in q and v: of single freedoms that add up, of circles, spheres, planes, free-flyers.
    """

    cdef Py_ssize_t[:, ::1] lines, circles, spheres, planes, flyers
    cdef object kept

    def __init__(self, at):
        self.kept = at
        self.lines, self.circles, self.spheres, self.planes, self.flyers = at

    def __reduce__(self):
        return Moves, (self.kept,)

    def turning(self, const double[::1] v not None):
        """ω × v of joints whose linear velocities are in axes that turn."""
        found = np.zeros(v.shape[0])
        cdef double[::1] x = found
        cdef Py_ssize_t i, k
        for i in range(self.planes.shape[0]):
            k = self.planes[i, 1]
            x[k], x[k + 1] = -v[k + 2] * v[k + 1], v[k + 2] * v[k]
        for i in range(self.flyers.shape[0]):
            k = self.flyers[i, 1]
            x[k] = v[k + 4] * v[k + 2] - v[k + 5] * v[k + 1]
            x[k + 1] = v[k + 5] * v[k] - v[k + 3] * v[k + 2]
            x[k + 2] = v[k + 3] * v[k + 1] - v[k + 4] * v[k]
        return found

    def moved(self, q, v, double h):
        """State after h at velocities v, linear ones along straight lines, kept in axes that do not turn."""
        new_q, new_v = q.copy(), v.copy()
        cdef double[::1] x = new_q, y = new_v
        with nogil:
            self.move(&x[0] if x.shape[0] else NULL, &y[0] if y.shape[0] else NULL, h)
        return new_q, new_v

    cdef void move(self, double *q, double *v, double h) noexcept nogil:
        cdef Py_ssize_t i, r
        cdef double *x
        cdef double *y
        cdef double c, s
        for i in range(self.lines.shape[0]):
            q[self.lines[i, 0]] += h * v[self.lines[i, 1]]
        for i in range(self.circles.shape[0]):
            turn(q + self.circles[i, 0], h * v[self.circles[i, 1]])
        for i in range(self.spheres.shape[0]):
            spin(q + self.spheres[i, 0], v + self.spheres[i, 1], h, False)
        for i in range(self.planes.shape[0]):
            x, y = q + self.planes[i, 0], v + self.planes[i, 1]
            c, s = x[2] * y[0] - x[3] * y[1], x[3] * y[0] + x[2] * y[1]
            x[0] += h * c
            x[1] += h * s
            turn(x + 2, h * y[2])
            y[0], y[1] = x[2] * c + x[3] * s, x[2] * s - x[3] * c
        for i in range(self.flyers.shape[0]):
            x, y = q + self.flyers[i, 0], v + self.flyers[i, 1]
            rotate(x + 3, 1.0, y)
            for r in range(3):
                x[r] += h * y[r]
            spin(x + 3, y + 3, h, True)
            rotate(x + 3, -1.0, y)


def matched(const Py_ssize_t[::1] key not None, const Py_ssize_t[::1] before not None,
            const double[::1] gamma not None, active not None):
    """Impulses and rows that are on, of rows with keys that rise, where they were among those before."""
    cdef const unsigned char[::1] on = active.view(np.uint8)
    impulses, rows = np.zeros(key.shape[0]), np.zeros(key.shape[0], np.uint8)
    cdef double[::1] x = impulses
    cdef unsigned char[::1] y = rows
    cdef Py_ssize_t i, j = 0
    for i in range(key.shape[0]):
        while j < before.shape[0] and before[j] < key[i]:
            j += 1
        if j < before.shape[0] and before[j] == key[i]:
            x[i], y[i] = gamma[j], on[j]
    return impulses, rows.view(bool)
