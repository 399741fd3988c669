"""Scale the rows of a problem to one unit, square roots of J; rows of rounding noise like the largest row."""

from __future__ import annotations

import numpy as np

from ..tolerances import LEVERAGE


def row_scales(problem) -> np.ndarray:
    """Compute 1 / sqrt(J_i H^-1 J_i^T) of the rows of C, then D; of rows of noise that of the largest."""
    size = row_sizes(problem)
    return 1.0 / np.where(size > 0.0, size, size.max(initial=0.0) or 1.0)


def row_sizes(problem) -> np.ndarray:
    """Compute sqrt(J_i H^-1 J_i^T) of the rows of C, then D; 0 of rows of noise, which have no leverage."""
    J = problem._matrix(0, len(problem.c) + problem.m)
    W = np.abs(problem.factor.half_solve(J.toarray().T)) if J.shape[0] else np.empty((1, 0))
    largest = W.max(axis=0, initial=0.0)
    largest[largest == 0.0] = 1.0
    # divided by the largest entry first, so that squares do not overflow
    size = largest * np.sqrt(np.square(W / largest).sum(axis=0))
    return np.where(size > LEVERAGE * size.max(initial=0.0), size, 0.0)
