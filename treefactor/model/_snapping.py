"""Round angles of constant rotations to multiples of 90 degrees, as robot descriptions mean them."""

from __future__ import annotations

import numpy as np

from ..tolerances import SNAP


def snapped_rotation(R: np.ndarray, tolerance: float) -> np.ndarray:
    """Round the Euler angles of a rotation near multiples of 90 degrees to them."""
    gamma, alpha, beta = euler(R)
    c, s = cosine_and_sine(alpha, tolerance)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return about_z(gamma, tolerance) @ about_x @ about_z(beta, tolerance)


def about_z(angle: float, tolerance: float = SNAP) -> np.ndarray:
    """Return the rotation about z by a constant angle."""
    c, s = cosine_and_sine(angle, tolerance)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def cosine_and_sine(angle: float, tolerance: float = SNAP) -> tuple[float, float]:
    """Return cosine and sine of a constant angle, exactly 0, 1 or -1 near multiples of 90 degrees."""
    c, s = np.cos(angle), np.sin(angle)
    if min(abs(c), abs(s)) <= tolerance:
        c, s = np.round(c) + 0.0, np.round(s) + 0.0  # no negative zeros
    return float(c), float(s)


def euler(R: np.ndarray) -> tuple[float, float, float]:
    """Return angles g, a, b of R = Rz(g) Rx(a) Rz(b); g is 0 if z is mapped to z or -z."""
    sine = np.hypot(R[0, 2], R[1, 2])
    alpha = np.arctan2(sine, R[2, 2])
    gamma = np.arctan2(R[0, 2], -R[1, 2]) if sine > SNAP else 0.0
    x = R.T @ np.array([np.cos(gamma), np.sin(gamma), 0.0])  # the intermediate axis in the final frame
    return gamma, alpha, np.arctan2(-x[1], x[0])
