"""Compute with vectors of three scalars of any type, and with 3 x 3 matrices of them."""

from __future__ import annotations

import numpy as np

from .counting import zero_of


def vector(*entries) -> np.ndarray:
    """Return a vector of scalars of any type."""
    result = np.empty(len(entries), dtype=object)
    result[:] = entries
    return result


def dot(x, y):
    """Return x^T y: 3 multiplications, 2 additions."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def cross(x, y) -> np.ndarray:
    """Return x~ y: 6 multiplications, 3 additions."""
    return vector(x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])


def apply(M, x) -> np.ndarray:
    """Return M x: 9 multiplications, 6 additions."""
    return vector(*(dot(row, x) for row in M))


def tilde(x) -> np.ndarray:
    """Return the matrix x~ of the cross product: x~ y = x cross y."""
    o = zero_of(x[0])
    return vector(o, -x[2], x[1], x[2], o, -x[0], -x[1], x[0], o).reshape(3, 3)
