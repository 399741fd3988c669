"""Rotate vectors by quaternions x y z w and about axes; components are numbers or arrays.

Steps between configurations are in kernels/configurations.
"""

from __future__ import annotations

import numpy as np


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors along the last axis, of any length but zero, scaled to unit length."""
    _, exponent = np.frexp(np.abs(vectors).max(axis=-1, keepdims=True))
    vectors = np.ldexp(vectors, -exponent)  # exact, and no square overflows or vanishes
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def cross(a, b):
    """Return a × b."""
    (ax, ay, az), (bx, by, bz) = a, b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def rotate(quaternion, a):
    """Return a vector turned by a unit quaternion."""
    *u, w = quaternion
    t = cross(u, a)
    return [x + 2.0 * (w * y + z) for x, y, z in zip(a, t, cross(u, t), strict=True)]


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
