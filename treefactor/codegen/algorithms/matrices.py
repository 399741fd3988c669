"""Compute with vectors and matrices of scalars as lists; rotations and products share subexpressions.

Zeros and ones among the entries cost nothing: the scalars fold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

ZERO = (0.0, 0.0, 0.0)
CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def add(x, y) -> list:
    """Return x + y."""
    return [a + b for a, b in zip(x, y, strict=True)]


def subtract(x, y) -> list:
    """Return x - y."""
    return [a - b for a, b in zip(x, y, strict=True)]


def times(x, factor) -> list:
    """Return x times a scalar."""
    return [a * factor for a in x]


def weighted(weights, x, start=0.0):
    """Return start plus the weighted sum of scalars."""
    total = start
    for weight, entry in zip(weights, x, strict=True):
        total = total + entry * weight
    return total


def dot(x, y):
    """Return x^T y."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def cross(x, y) -> list:
    """Return x cross y."""
    return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]


def apply(M, x) -> list:
    """Return M x."""
    return [dot(row, x) for row in M]


def transposed(M) -> list:
    """Return M^T."""
    return [list(column) for column in zip(*M, strict=True)]


def matrix_sum(A, B) -> list:
    """Return A + B."""
    return [add(a, b) for a, b in zip(A, B, strict=True)]


def symmetric(xx, xy, xz, yy, yz, zz) -> list:
    """Return a symmetric 3 x 3 matrix; mirrored entries are the same scalars."""
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def upper(entry) -> list:
    """Return the symmetric 3 x 3 matrix of entry(row, column), called for the upper triangle."""
    return symmetric(*(entry(i, j) for i in range(3) for j in range(i, 3)))


def rate(w, dw) -> tuple[list, list]:
    """Return the matrix of dw cross x + w cross (w cross x), and zz - yy, xx - zz, yy - xx of its diagonal.

    Golubev & Yaskevich, optimizing formula 1: all uses share the products of w.
    """
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return [
        [-(yy + zz), xy - dw[2], xz + dw[1]],
        [xy + dw[2], -(xx + zz), yz - dw[0]],
        [xz - dw[1], yz + dw[0], -(xx + yy)],
    ], [zz - yy, xx - zz, yy - xx]


@dataclass(frozen=True)
class AxisRotation:
    """Rotation R about axis 0, 1 or 2 by the angle with cosine c and sine s.

    Attributes
    ----------
    quarter : bool
        Whether `matrix` starts from A after a quarter turn: see `frames.with_quarter_turns`.
    """

    axis: int
    c: object
    s: object
    quarter: bool = False

    @property
    def inverse(self) -> AxisRotation:
        """R^T."""
        return AxisRotation(self.axis, self.c, -self.s)

    def vector(self, x) -> list:
        """Return R x."""
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        rotated = list(x)
        rotated[i] = self.c * x[i] - self.s * x[j]
        rotated[j] = self.s * x[i] + self.c * x[j]
        return rotated

    def matrix(self, A) -> list:
        """Return R A R^T, 4 multiplications in the plane by s^2 + c^2 = 1; a symmetric A stays symmetric.

        t = s (a_jj - a_ii) - c (a_ij + a_ji):  a_ii + s t,  a_jj - s t,  -(a_ji + c t),  -(a_ij + c t).

        The same after a quarter turn, t = c (a_jj - a_ii) + s (a_ij + a_ji):  a_jj - c t,  a_ii + c t,
        a_ij - s t,  a_ji - s t.
        """
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        rotated = [self.vector(row) for row in transposed([self.vector(row) for row in transposed(A)])]
        if self.c == 0 or self.s == 0:
            return rotated
        same = A[i][j] == A[j][i] and not isinstance(A[i][j], float)
        c, s = (self.s, self.c) if self.quarter else (self.c, self.s)
        twice = (c + c) * A[i][j] if same else c * (A[i][j] + A[j][i])  # 2 c is shared
        t = s * (A[j][j] - A[i][i]) + (twice if self.quarter else -twice)
        st, ct = s * t, c * t
        if self.quarter:
            rotated[i][i], rotated[j][j] = A[j][j] - st, A[i][i] + st
            rotated[i][j], rotated[j][i] = A[i][j] - ct, A[j][i] - ct
        else:
            rotated[i][i], rotated[j][j] = A[i][i] + st, A[j][j] - st
            rotated[i][j], rotated[j][i] = -(A[j][i] + ct), -(A[i][j] + ct)
        return rotated


@dataclass(frozen=True)
class Quaternion:
    """Rotation R of a unit quaternion."""

    x: object
    y: object
    z: object
    w: object
    axis: None = None  # no coordinate axis

    @property
    def inverse(self) -> Quaternion:
        """R^T."""
        return Quaternion(-self.x, -self.y, -self.z, self.w)

    @cached_property
    def R(self) -> list:
        """Rotation matrix."""
        x, y, z, w = self.x, self.y, self.z, self.w
        x2, y2, z2 = x + x, y + y, z + z
        xx, yy, zz, xy, xz, yz = x2 * x, y2 * y, z2 * z, x2 * y, x2 * z, y2 * z
        wx, wy, wz = x2 * w, y2 * w, z2 * w
        return [
            [1.0 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1.0 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1.0 - (xx + yy)],
        ]

    def vector(self, v) -> list:
        """Return R v; for a constant v, such as gravity, v + w t + u x t with t = 2 u x v, u = (x, y, z)."""
        if not all(isinstance(entry, float) for entry in v):
            return apply(self.R, v)
        u = [self.x, self.y, self.z]
        t = cross(u, times(v, 2.0))
        return add(v, add(times(t, self.w), cross(u, t)))

    def matrix(self, A) -> list:
        """Return R A R^T; a symmetric A stays symmetric."""
        B = [apply(self.R, row) for row in A]  # A R^T
        if A == transposed(A):
            return upper(lambda i, j: dot(self.R[i], [row[j] for row in B]))
        return transposed([apply(self.R, column) for column in transposed(B)])
