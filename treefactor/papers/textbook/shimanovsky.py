"""Mirror Shimanovsky: M = U U^T and M = U D U^T on the upper triangle, algorithms 1-3, nodes from 1."""

from __future__ import annotations

import numpy as np

from ..._util.counting import sqrt
from .featherstone import ancestors, one_based, zero_based


def uut(M, p) -> np.ndarray:
    """Factorize M = U U^T: U in the upper triangle of the result."""
    M = one_based(M)
    for k in range(len(p), 0, -1):
        M[k, k] = sqrt(M[k, k])
        for j in ancestors(p, k):
            M[j, k] = M[j, k] / M[k, k]
        for j in ancestors(p, k):
            for i in [j, *ancestors(p, j)]:
                M[i, j] = M[i, j] - M[i, k] * M[j, k]
    return zero_based(M)


def udut(M, p) -> np.ndarray:
    """Factorize M = U D U^T (algorithm 1): D on the diagonal of the result, the unit upper U above it."""
    M = one_based(M)
    for k in range(len(p), 0, -1):
        for j in ancestors(p, k):
            t = M[j, k] / M[k, k]
            for i in [j, *ancestors(p, j)]:
                M[i, j] = M[i, j] - M[i, k] * t
            M[j, k] = t
    return zero_based(M)


def forward(M, p, Q, unit: bool) -> np.ndarray:
    """Return D^-1 U^-1 Q from `udut` (unit), U^-1 Q from `uut` (algorithm 2)."""
    M, Q = one_based(M), one_based(Q)
    for j in range(len(p), 0, -1):
        if not unit:
            Q[j] = Q[j] / M[j, j]
        for i in ancestors(p, j):
            Q[i] = Q[i] - M[i, j] * Q[j]
        if unit:
            Q[j] = Q[j] / M[j, j]
    return zero_based(Q)


def backward(M, p, Q, unit: bool) -> np.ndarray:
    """Return U^-T Q (algorithm 3)."""
    M, Q = one_based(M), one_based(Q)
    for j in range(1, len(p) + 1):
        for i in ancestors(p, j):
            Q[j] = Q[j] - M[i, j] * Q[i]
        if not unit:
            Q[j] = Q[j] / M[j, j]
    return zero_based(Q)
