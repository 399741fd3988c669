"""Mirror Stepanenko's method, later called CRBA, on a chain: a column of A is one inverse dynamics.

Joint k alone accelerates the composite of all bodies from k on; the force and moment this takes are carried
inward, and joint i feels their moment about its axis. The Kane-sum paper's table 1 quotes 38 n^2 + 38 n
multiplications and 31 n^2 + 31 n additions for it, without lines; in the base frame and with composites it
takes 4.5 n^2 + 70.5 n - 57 and 4 n^2 + 77 n - 70; body by body in body frames 37.5 n^2 + 37.5 n and
31 n^2 + 31 n.
"""

from __future__ import annotations

import numpy as np

from ..._util.counting import zero_of
from ..._util.vectors import apply, cross, dot, tilde

QUOTED = ((38, 38, 0), (31, 31, 0))  # coefficients of n^2, n, 1


def composites(r, mass, c, inertia) -> list[tuple]:
    """Return mass, first moment and inertia tensor of the bodies from k on, about O_k."""
    n = len(mass)
    result = [None] * n
    for k in range(n - 1, -1, -1):
        m, h, I = mass[k], c[k], inertia[k]
        if k < n - 1:
            m_out, h_out, I_out = result[k + 1]
            x, y = tilde(r[k + 1]), tilde(h_out)
            shifted = h_out + r[k + 1] * m_out
            # I about O_k = I about O_k+1 - r~ h~ - (h + m r)~ r~
            turned = [apply(y.T, -x[i]) + apply(x.T, -tilde(shifted)[i]) for i in range(3)]
            m, h, I = m + m_out, h + shifted, I + I_out + np.array(turned)
        result[k] = (m, h, I)
    return result


def inertia(axis, r, mass, c, inertia, prismatic=None) -> np.ndarray:
    """Return A from arrays (n, 3), (n, 3), (n,), (n, 3), (n, 3, 3) of any scalar, prismatic (n,) of bool."""
    n = len(axis)
    slides = [False] * n if prismatic is None else prismatic
    A = np.empty((n, n), dtype=object)
    for k, (m, h, I) in enumerate(composites(r, mass, c, inertia)):
        force = axis[k] * m if slides[k] else cross(axis[k], h)
        moment = cross(h, axis[k]) if slides[k] else apply(I, axis[k])
        for i in range(k, -1, -1):
            A[i, k] = A[k, i] = dot(axis[i], force if slides[i] else moment)
            if i:
                moment = moment + cross(r[i], force)
    return A


def by_bodies(axis, r, mass, c, inertia, turns) -> np.ndarray:
    """Return A of revolute joints body by body in body frames, every body alike.

    Parameters
    ----------
    axis, mass, c, inertia : ndarray
        Of every body about its joint's origin, in its own frame.
    r : ndarray, shape (n + 1, 3)
        Origin k from origin k - 1, in the frame of body k - 1; of body 0 from the base's, of the last one the
        tip.
    turns : ndarray, shape (n + 1, 3, 3)
        Rotation of frame k with respect to frame k - 1.
    """
    n = len(axis)
    A = np.empty((n, n), dtype=object)
    zero = np.full(3, zero_of(mass[0]))
    for k in range(n):
        turning, moving, loads = axis[k], zero, []  # accelerations of body j where joint k alone has one
        for j in range(k, n):
            force = moving * mass[j] + cross(turning, c[j])
            loads.append((force, apply(inertia[j], turning) + cross(c[j], moving)))
            moving = apply(turns[j + 1].T, moving + cross(turning, r[j + 1]))
            turning = apply(turns[j + 1].T, turning)
        force, moment = zero, zero
        for j in range(n - 1, k - 1, -1):
            force, moment = force + loads[j - k][0], moment + loads[j - k][1]
            A[j, k] = A[k, j] = dot(axis[j], moment)
            force = apply(turns[j], force)
            moment = apply(turns[j], moment) + cross(r[j], force)
    return A
