"""Compute with rotations and rigid motions by components: quaternions are x y z w.

A component is a number, which is fast for one joint, or an array for many joints.
"""

from __future__ import annotations

import numpy as np

TINY = 1e-150  # its square is a number, and sin(TINY) / TINY = 1
SERIES = 0.1  # rad; below, functions that cancel are summed as series, to 1e-17


def dot(a, b):
    """Return the scalar product."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def length(a):
    """Return the Euclidean length."""
    return np.sqrt(dot(a, a))


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors along the last axis, of any length but zero, scaled to unit length."""
    _, exponent = np.frexp(np.abs(vectors).max(axis=-1, keepdims=True))
    vectors = np.ldexp(vectors, -exponent)  # exact, and no square overflows or vanishes
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def cross(a, b):
    """Return a × b."""
    (ax, ay, az), (bx, by, bz) = a, b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def scaled(a, factor):
    """Return a vector times a number."""
    return [factor * x for x in a]


def turn(circle, a):
    """Return a vector of the plane turned by the angle of (cos, sin)."""
    (c, s), (x, y) = circle, a
    return c * x - s * y, s * x + c * y


def rotate(quaternion, a):
    """Return a vector turned by a unit quaternion."""
    *u, w = quaternion
    t = cross(u, a)
    return [x + 2.0 * (w * y + z) for x, y, z in zip(a, t, cross(u, t), strict=True)]


def conjugate(quaternion):
    """Return the inverse of a unit quaternion."""
    x, y, z, w = quaternion
    return -x, -y, -z, w


def product(left, right):
    """Return Hamilton's product, scaled to unit length."""
    (*u, w), (*x, y) = left, right
    vector = [w * b + y * a + c for a, b, c in zip(u, x, cross(u, x), strict=True)]
    found = [*vector, w * y - dot(u, x)]
    return scaled(found, 1.0 / length(found))


def exp_quaternion(omega):
    """Return the quaternion of a rotation vector."""
    half = np.maximum(length(omega) / 2.0, TINY)
    return [*scaled(omega, np.sin(half) / (2.0 * half)), np.cos(half)]


def log_quaternion(quaternion):
    """Return the rotation vector, of length at most pi, of a unit quaternion."""
    *u, w = quaternion
    sine = np.maximum(length(u), TINY)
    return scaled(u, 2.0 * np.arctan2(sine, np.abs(w)) / np.copysign(sine, w))


def exp_translation(omega, v):
    """Return p of exp [v; ω], x = |ω|: v + (1 - cos x) / x² ω × v + (x - sin x) / x³ ω × (ω × v)."""
    x = np.maximum(length(omega), TINY)
    half = np.sin(x / 2.0) / x
    return _series(omega, v, 2.0 * half * half, _third(x))


def log_translation(omega, p):
    """Return v with translation p: p - ω × p / 2 + (1 - x/2 cot(x/2)) / x² ω × (ω × p)."""
    return _series(omega, p, -0.5, _cotangent(np.maximum(length(omega), TINY)))


def _series(omega, a, first, second):
    """Return a + first ω × a + second ω × (ω × a)."""
    once = cross(omega, a)
    return [x + first * y + second * z for x, y, z in zip(a, once, cross(omega, once), strict=True)]


def _third(x):
    """Return (x - sin x) / x³."""
    y = x * x
    series = (1.0 - y / 20.0 * (1.0 - y / 42.0 * (1.0 - y / 72.0))) / 6.0
    return np.where(x < SERIES, series, (1.0 - np.sin(x) / x) / y)[()]


def _cotangent(x):
    """Return (1 - x/2 cot(x/2)) / x²."""
    y = x * x
    series = (1.0 + y / 60.0 * (1.0 + y / 42.0 * (1.0 + y / 40.0))) / 12.0
    return np.where(x < SERIES, series, (1.0 - x / 2.0 / np.tan(np.maximum(x, SERIES) / 2.0)) / y)[()]


def about(which: int, angle) -> np.ndarray:
    """Return rotation matrices (..., 3, 3) about axis x (0), y (1) or z (2) of coordinates."""
    angle = np.asarray(angle)
    y, z = (which + 1) % 3, (which + 2) % 3
    R = np.zeros((*angle.shape, 3, 3))
    R[..., which, which] = 1.0
    R[..., y, y] = R[..., z, z] = np.cos(angle)
    R[..., z, y] = np.sin(angle)
    R[..., y, z] = -R[..., z, y]
    return R
