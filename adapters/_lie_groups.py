"""Compute steps, tangents and brackets of joints that turn, with the functions of jax.numpy or torch.

Every class is a group of coordinates: `Circle` (cos, sin), `Sphere` (a quaternion x y z w), `Plane` (x y
cos sin) and `Space` (x y z and a quaternion). Arguments have the entries of the group on their last axis.
Rotations in q may have any length but zero: functions other than `from_tangent` and `pull` divide by it, so
derivatives of any order are those of f(normalize(q)). Where a formula divides zero by zero, a series takes
its place, and the formula receives other numbers: otherwise derivatives would be NaN.
"""

from __future__ import annotations

from math import factorial
from typing import Any

SMALL = 0.1  # rad^2: square of half the angle below which exponentials are series
SMALL_TANGENT = 0.0025  # squared tangent of half the angle below which logarithms are series
THIRD = tuple((-1.0) ** k / factorial(2 * k + 3) for k in range(7))  # (x - sin x) / x^3
ARCTANGENT = tuple((-1.0) ** k / (2 * k + 3) for k in range(7))  # (x - arctan x) / x^3


class Group:
    """Coordinates of one kind; x is a namespace of array functions, jax.numpy or torch."""

    sizes = (0, 0)  # entries in q and in v
    commutes = True

    def __init__(self, xp: Any):
        self.xp = xp

    def join(self, *parts):
        """Return parts side by side on the last axis."""
        return self.xp.concatenate(parts, axis=-1)

    def cross(self, a, b):
        """Return a x b."""
        return self.xp.cross(a, b, axis=-1)

    def dot(self, a, b):
        """Return the scalar products, shape (..., 1)."""
        return self.xp.sum(a * b, axis=-1, keepdims=True)

    def unit(self, x):
        """Return x scaled to unit length."""
        return x / self.xp.sqrt(self.dot(x, x))

    def exponential(self, square):
        """Return cos(x/2), sin(x/2) / x and (x - sin x) / x^3 of angles x with these squares."""
        where, quarter = self.xp.where, 0.25 * square
        small = quarter < SMALL
        near = where(small, quarter, 0.0)  # the series at x/2 gives the other values without cancellation
        half = polynomial(THIRD, near)
        sine = 0.5 - 0.5 * near * half
        cosine = self.xp.sqrt(1.0 - 4.0 * near * sine * sine)
        cubic = sine * sine / (1.0 + cosine) + 0.25 * cosine * half
        angle = self.xp.sqrt(where(small, 1.0, square))
        far = self.xp.sin(0.5 * angle) / angle, self.xp.cos(0.5 * angle)
        cosine, sine = where(small, cosine, far[1]), where(small, sine, far[0])
        return cosine, sine, where(small, cubic, (1.0 - 2.0 * far[0] * far[1]) / (angle * angle))

    def bracket(self, a, b):
        """Return zero: these motions commute."""
        return self.xp.zeros_like(b)

    def co_bracket(self, a, g):
        """Return zero."""
        return self.xp.zeros_like(g)


class Circle(Group):
    """Angles as (cos, sin)."""

    sizes = (2, 1)

    def normalize(self, q):
        """Return q of unit length."""
        return self.unit(q)

    def integrate(self, q, v):
        """Return q turned by the angle v."""
        return self.turned(self.unit(q), self.xp.cos(v), self.xp.sin(v))

    def turned(self, q, cosine, sine):
        """Return the product of two complex numbers."""
        return self.join(q[..., :1] * cosine - q[..., 1:] * sine, q[..., 1:] * cosine + q[..., :1] * sine)

    def between(self, q, x):
        """Return the scalar and the cross product of q and x: (cos, sin) of the angle, times both lengths."""
        return self.dot(q, x), q[..., :1] * x[..., 1:] - q[..., 1:] * x[..., :1]

    def difference(self, q0, q1):
        """Return the angle from q0 to q1."""
        cosine, sine = self.between(q0, q1)
        return self.xp.arctan2(sine, cosine)

    def to_tangent(self, q, dq):
        """Return the angular velocity, which does not change with the length of q."""
        return self.between(q, dq)[1] / self.dot(q, q)

    def from_tangent(self, q, v):
        """Return dq."""
        return self.join(-q[..., 1:] * v, q[..., :1] * v)

    def pull(self, q, g):
        """Return the gradient by the entries of q."""
        return self.from_tangent(q, g / self.dot(q, q))


class Sphere(Group):
    """Rotations as quaternions x y z w; velocities in body axes."""

    sizes = (4, 3)
    commutes = False

    def normalize(self, q):
        """Return q of unit length."""
        return self.unit(q)

    def product(self, a, b):
        """Return the product of two quaternions."""
        x, w, y, u = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
        return self.join(w * y + u * x + self.cross(x, y), w * u - self.dot(x, y))

    def integrate(self, q, v):
        """Return q exp(v)."""
        cosine, sine, _ = self.exponential(self.dot(v, v))
        return self.product(self.unit(q), self.join(sine * v, cosine))

    def inverse(self, q):
        """Return the conjugate of q."""
        return self.join(-q[..., :3], q[..., 3:])

    def logarithm(self, q):
        """Return the rotation vector of a quaternion of any length, and (1 - x/2 cot(x/2)) / x^2."""
        xp, where = self.xp, self.xp.where
        q = where(q[..., 3:] < 0.0, -q, q)
        x, w = q[..., :3], q[..., 3:]
        square = self.dot(x, x)
        small = square < SMALL_TANGENT * w * w
        divisor, length = where(small, w, 1.0), xp.sqrt(where(small, 1.0, square))
        ratio = where(small, square, 0.0) / (divisor * divisor)
        series = polynomial(ARCTANGENT, ratio)
        less = 1.0 - ratio * series  # arctan x / x
        angle = 2.0 * xp.arctan2(length, w)
        second = (1.0 - 0.5 * angle * w / length) / (angle * angle)
        turn = where(small, 2.0 * less / divisor, angle / length) * x
        return turn, where(small, 0.25 * series / (less * less), second)

    def difference(self, q0, q1):
        """Return the rotation vector from q0 to q1."""
        return self.logarithm(self.product(self.inverse(q0), q1))[0]

    def to_tangent(self, q, dq):
        """Return 2 vec(q^-1 dq)."""
        x, w, y, u = q[..., :3], q[..., 3:], dq[..., :3], dq[..., 3:]
        return (w * y - u * x - self.cross(x, y)) * (2.0 / self.dot(q, q))

    def from_tangent(self, q, v):
        """Return q v / 2."""
        x, w, half = q[..., :3], q[..., 3:], 0.5 * v
        return self.join(w * half + self.cross(x, half), -self.dot(x, half))

    def pull(self, q, g):
        """Return the gradient by the entries of q."""
        return self.from_tangent(q, g * (4.0 / self.dot(q, q)))

    def bracket(self, a, b):
        """Return a x b."""
        return self.cross(a, b)

    def co_bracket(self, a, g):
        """Return g x a."""
        return self.cross(g, a)


class Plane(Group):
    """Motions of the plane as x y cos sin; velocities in body axes, linear before angular."""

    sizes = (4, 3)
    commutes = False

    def __init__(self, xp: Any):
        super().__init__(xp)
        self.circle = Circle(xp)

    def normalize(self, q):
        """Return q with (cos, sin) of unit length."""
        return self.join(q[..., :2], self.unit(q[..., 2:]))

    def quarter(self, x):
        """Return x turned by a right angle."""
        return self.join(-x[..., 1:], x[..., :1])

    def integrate(self, q, v):
        """Return q exp(v)."""
        line, angle = v[..., :2], v[..., 2:]
        _, sine, cubic = self.exponential(angle * angle)
        moved = line + angle * (2.0 * sine * sine * self.quarter(line) - angle * cubic * line)
        direction = self.unit(q[..., 2:])
        turned = self.circle.turned(direction, self.xp.cos(angle), self.xp.sin(angle))
        return self.join(q[..., :2] + self.circle.turned(direction, moved[..., :1], moved[..., 1:]), turned)

    def difference(self, q0, q1):
        """Return log(q0^-1 q1)."""
        where, direction = self.xp.where, self.unit(q0[..., 2:])
        cosine, sine = self.circle.between(direction, self.unit(q1[..., 2:]))
        angle = self.xp.arctan2(sine, cosine)
        moved = self.join(*self.circle.between(direction, q1[..., :2] - q0[..., :2]))
        small = angle * angle < SMALL_TANGENT
        tangent = where(small, sine, 0.0) / where(small, 1.0 + cosine, 1.0)
        half, ratio = 0.5 * where(small, 1.0, angle), tangent * tangent
        second = 1.0 - half * self.xp.cos(half) / self.xp.sin(half)
        second = where(small, ratio * polynomial(ARCTANGENT, ratio), second)
        return self.join(moved - 0.5 * angle * self.quarter(moved) - second * moved, angle)

    def to_tangent(self, q, dq):
        """Return the velocity in body axes, which does not change with the length of (cos, sin)."""
        line = self.circle.between(self.unit(q[..., 2:]), dq[..., :2])
        return self.join(*line, self.circle.to_tangent(q[..., 2:], dq[..., 2:]))

    def from_tangent(self, q, v):
        """Return dq."""
        return self._to_coefficients(q, v, self.circle.from_tangent)

    def pull(self, q, g):
        """Return the gradient by the entries of q."""
        return self._to_coefficients(q, g, self.circle.pull)

    def _to_coefficients(self, q, v, turn):
        """Return the linear part in the axes of q, and the angular part by `turn`."""
        direction = q[..., 2:]
        line = self.circle.turned(self.unit(direction), v[..., :1], v[..., 1:2])
        return self.join(line, turn(direction, v[..., 2:]))

    def bracket(self, a, b):
        """Return (a_angular J b_linear - b_angular J a_linear, 0), J a right angle."""
        line = a[..., 2:] * self.quarter(b[..., :2]) - b[..., 2:] * self.quarter(a[..., :2])
        return self.join(line, self.xp.zeros_like(line[..., :1]))

    def co_bracket(self, a, g):
        """Return the gradient of g . bracket(a, b) by b."""
        turned = self.quarter(g[..., :2])
        return self.join(-a[..., 2:] * turned, self.dot(turned, a[..., :2]))


class Space(Group):
    """Rigid motions as x y z and a quaternion; velocities in body axes, linear before angular."""

    sizes = (7, 6)
    commutes = False

    def __init__(self, xp: Any):
        super().__init__(xp)
        self.sphere = Sphere(xp)

    def normalize(self, q):
        """Return q with a quaternion of unit length."""
        return self.join(q[..., :3], self.unit(q[..., 3:]))

    def turned(self, q, x):
        """Return x turned by a quaternion of any length."""
        axis = q[..., :3]
        t = self.cross(axis, x) * (2.0 / self.dot(q, q))
        return x + q[..., 3:] * t + self.cross(axis, t)

    def integrate(self, q, v):
        """Return q exp(v), of both quaternions the nearer one, as Pinocchio."""
        line, turn, quaternion = v[..., :3], v[..., 3:], self.unit(q[..., 3:])
        cosine, sine, cubic = self.exponential(self.dot(turn, turn))
        once = self.cross(turn, line)
        moved = line + 2.0 * sine * sine * once + cubic * self.cross(turn, once)
        result = self.sphere.product(quaternion, self.join(sine * turn, cosine))
        result = self.xp.where(cosine < 0.0, -result, result)
        return self.join(q[..., :3] + self.turned(quaternion, moved), result)

    def difference(self, q0, q1):
        """Return log(q0^-1 q1)."""
        back = self.sphere.inverse(q0[..., 3:])
        turn, second = self.sphere.logarithm(self.sphere.product(back, q1[..., 3:]))
        moved = self.turned(back, q1[..., :3] - q0[..., :3])
        once = self.cross(turn, moved)
        return self.join(moved - 0.5 * once + second * self.cross(turn, once), turn)

    def to_tangent(self, q, dq):
        """Return the velocity in body axes, which does not change with the length of the quaternion."""
        line = self.turned(self.sphere.inverse(q[..., 3:]), dq[..., :3])
        return self.join(line, self.sphere.to_tangent(q[..., 3:], dq[..., 3:]))

    def from_tangent(self, q, v):
        """Return dq."""
        quaternion = q[..., 3:]
        return self.join(
            self.turned(quaternion, v[..., :3]), self.sphere.from_tangent(quaternion, v[..., 3:])
        )

    def pull(self, q, g):
        """Return the gradient by the entries of q."""
        quaternion = q[..., 3:]
        return self.join(self.turned(quaternion, g[..., :3]), self.sphere.pull(quaternion, g[..., 3:]))

    def bracket(self, a, b):
        """Return a x b of spatial motions."""
        turn_a, turn_b = a[..., 3:], b[..., 3:]
        line = self.cross(turn_a, b[..., :3]) - self.cross(turn_b, a[..., :3])
        return self.join(line, self.cross(turn_a, turn_b))

    def co_bracket(self, a, g):
        """Return the gradient of g . bracket(a, b) by b."""
        force, turn = g[..., :3], a[..., 3:]
        return self.join(
            self.cross(force, turn), self.cross(force, a[..., :3]) + self.cross(g[..., 3:], turn)
        )


GROUPS: dict[str, type[Group]] = {
    "continuous": Circle,
    "spherical": Sphere,
    "planar": Plane,
    "freeflyer": Space,
}


def polynomial(coefficients, x):
    """Return the polynomial with these coefficients, lowest first."""
    result = coefficients[-1] * x + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        result = result * x + coefficient
    return result
