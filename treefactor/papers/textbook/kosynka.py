"""Mirror equation (9) of the Kane-sum paper: Kane's equations as O(n^3) sums over a chain of n bodies.

The sums are triangular ("kerchief") as printed, with partial velocities T_j, R_j of body j. Its table 1
quotes for this family, from a dissertation and without lines, 3 n^3 + 24 n^2 - 9 n multiplications and
11 n^3 + 105 n^2 - 50 n additions; these functions take n^3 + 18 n^2 + 11 n and n^3 + 14.5 n^2 + 7.5 n.
"""

from __future__ import annotations

import numpy as np

from ..._util.counting import zero_of
from ..._util.vectors import apply, cross, dot, vector

QUOTED = ((3, 24, -9, 0), (11, 105, -50, 0))  # coefficients of n^3, n^2, n, 1


def inertia(axis, r, mass, c, inertia, prismatic=None) -> np.ndarray:
    """Sum T_j^T (m_j T_j + c~_j^T R_j) + R_j^T (c~_j T_j + I_j R_j) over j, columns i <= k <= j.

    Arrays (n, 3), (n, 3), (n,), (n, 3), (n, 3, 3) of any scalar type, prismatic (n,) of bool.
    """
    n = len(axis)
    A = np.empty((n, n), dtype=object)
    R, T = [], []  # columns of R_j and T_j, j the body at hand
    for j in range(n):
        o = zero_of(mass[j])
        for i in range(j):
            T[i] = T[i] + cross(R[i], r[j])  # T_j = T_j-1 + r~_j-1,j^T R_j-1
        slides = prismatic is not None and prismatic[j]
        R.append(vector(o, o, o) if slides else axis[j])
        T.append(axis[j] if slides else vector(o, o, o))
        for k in range(j + 1):
            P = T[k] * mass[j] + cross(R[k], c[j])
            L = cross(c[j], T[k]) + apply(inertia[j], R[k])
            for i in range(k + 1):
                term = dot(T[i], P) + dot(R[i], L)
                A[i, k] = A[k, i] = term if j == k else A[i, k] + term
    return A
