"""Compute the inertia matrix and forces of a chain on scalars of any type.

The Kane-sum paper (kane_sum.py) sums 3 x 3 matrices Msum_ik and multiplies them by a_k. Here a_k is
multiplied first: column k is the momentum (P, L) of the composite of all bodies from k on when joint k alone
moves at unit rate. All momenta are taken about one point, O_1, so an entry is a scalar product of 6 numbers,

    A_ik = a_i^T L_k + v_i^T P_k,    v_i = o_i cross a_i, o_i from O_1 to O_i,

and of 3 in row 1, where v_1 = 0. A composite is a mass, a first moment and 6 numbers of a symmetric tensor.
The compiled recursions follow the same steps, but also compute terms of joint 1 that are not needed.
"""

from __future__ import annotations

import numpy as np

from .._util.counting import zero_of
from .._util.vectors import apply, cross, dot, vector


def moved(h, I, r, shifted) -> np.ndarray:
    """Return the tensor (xx, xy, xz, yy, yz, zz) about O from that about O + r; first moments h, h + m r."""
    #   I' = I + (2 r^T h + m r^T r) E - r h^T - (h + m r) r^T
    x, y, z = r * (h + shifted)
    return vector(
        I[0] + (y + z),
        I[1] - r[0] * h[1] - r[1] * shifted[0],
        I[2] - r[0] * h[2] - r[2] * shifted[0],
        I[3] + (x + z),
        I[4] - r[1] * h[2] - r[2] * shifted[1],
        I[5] + (x + y),
    )


def symmetric(I) -> np.ndarray:
    """Return the symmetric matrix of (xx, xy, xz, yy, yz, zz)."""
    return I[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)


def inertia(axis, r, mass, c, inertia, prismatic=None) -> np.ndarray:
    """Return A for arrays (n, 3), (n, 3), (n,), (n, 3), (n, 3, 3) of any scalar type, prismatic (n,)."""
    n = len(axis)
    slides = [False] * n if prismatic is None else prismatic
    o = [None, *r[1:2]]  # from O_1 to O_k
    for k in range(2, n):
        o.append(o[-1] + r[k])
    v = [None if k in (0, n - 1) or slides[k] else cross(o[k], axis[k]) for k in range(n)]  # at O_1
    A = np.empty((n, n), dtype=object)
    m = h = I = None
    for k in range(n - 1, -1, -1):
        I_k = inertia[k].reshape(9)[[0, 1, 2, 4, 5, 8]]
        if k == n - 1:
            m, shifted, I = mass[k], None, I_k
        else:
            shifted = h + r[k + 1] * m
            m, I = m + mass[k], moved(h, I, r[k + 1], shifted) + I_k
        if not slides[k]:
            L = apply(symmetric(I), axis[k])
        A[k, k] = m if slides[k] else dot(axis[k], L)
        if k == 0:
            break
        h = c[k] if shifted is None else shifted + c[k]
        P = axis[k] * m if slides[k] else cross(axis[k], h)
        L = (cross(h, axis[k]) if slides[k] else L) + cross(o[k], P)
        for i in range(k):
            if slides[i]:
                entry = dot(axis[i], P)
            else:
                entry = dot(axis[i], L) if i == 0 else dot(axis[i], L) + dot(v[i], P)
            A[i, k] = A[k, i] = entry
    return A


def rotation_rates(w, e) -> np.ndarray:
    """Return E = e~ + w~ w~: E x is the rotational part of the acceleration of a point at O + x."""
    xx, xy, xz, yy, yz, zz = w[0] * w[0], w[0] * w[1], w[0] * w[2], w[1] * w[1], w[1] * w[2], w[2] * w[2]
    return vector(
        -(yy + zz), xy - e[2], xz + e[1], xy + e[2], -(xx + zz), yz - e[0], xz - e[1], yz + e[0], -(xx + yy)
    ).reshape(3, 3)


def inertial(axis, r, mass, c, inertia, rate, slides) -> tuple[list, list]:
    """Return f^I and m^I of every body about O_j at zero accelerations of the joints."""
    w = e = u = vector(*[zero_of(x) for x in rate[:1]] * 3)  # angular velocity, its rate, acceleration of O_j
    E = None
    f, m = [], []
    for j in range(len(axis)):
        relative = axis[j] * rate[j]
        turned = cross(w, relative)
        if E is not None:
            u = u + apply(E, r[j])  # (5)
        if slides[j]:
            u = u + (turned + turned)
        else:
            w, e = w + relative, e + turned  # (3), (4)
        E = rotation_rates(w, e)
        f.append(-(u * mass[j]) - apply(E, c[j]))  # (11)
        m.append(-cross(c[j], u) - apply(inertia[j], e) - cross(w, apply(inertia[j], w)))
    return f, m


def forces(axis, r, mass, c, inertia, rate, force, moment, torque, prismatic=None) -> np.ndarray:
    """Return b for arrays (n, 3), (n, 3, 3) and (n,) (mass, rate, torque, prismatic) of any scalar type."""
    n = len(axis)
    slides = [False] * n if prismatic is None else prismatic
    f, m = inertial(axis, r, mass, c, inertia, rate, slides)
    b = np.empty(n, dtype=object)
    F = M = None
    for j in range(n - 1, -1, -1):
        F_j, M_j = force[j] + f[j], moment[j] + m[j]
        if j < n - 1:
            M_j = M_j + M + cross(r[j + 1], F)  # (18), (19)
            F_j = F_j + F  # (17)
        F, M = F_j, M_j
        b[j] = dot(axis[j], F if slides[j] else M) + torque[j]  # (21)
    return b
