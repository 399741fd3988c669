"""Solve least-squares problems from their triangles: rank, values, standard deviations and null space."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..exceptions import TreefactorError
from .excitation import column_scale, unexcited


class Solution(NamedTuple):
    """Minimizer of a least-squares problem with what its data determine.

    Attributes
    ----------
    values : ndarray, shape (p,)
        A minimizer; that with zeros at the dependent columns where there are several.
    determined : ndarray of bool, shape (p,)
        Parameters that all minimizers share.
    null : ndarray, shape (p - rank, p)
        Changes of the parameters that change no row, as `unexcited` returns them.
    deviations : ndarray, shape (p,)
        Standard deviations for rows of unit variance; NaN where not determined.
    rank : int
    cond : float
        Condition of the independent columns, scaled to unit norm.
    residual : float
        Norm of the residual.
    scale : ndarray, shape (p,)
        By which the columns were divided: see `excitation.column_scale`.
    """

    values: np.ndarray
    determined: np.ndarray
    null: np.ndarray
    deviations: np.ndarray
    rank: int
    cond: float
    residual: float
    scale: np.ndarray


def require_samples(rows: np.ndarray) -> None:
    """Raise TreefactorError if there are freedoms, but none of them has rows."""
    if rows.size and not rows.any():
        raise TreefactorError("no samples have been added: call add(q, v, a, tau) first")


def triangle_of(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the triangle, with a diagonal that is not negative, of the QR factorization of stacked rows."""
    rows = np.vstack(list(parts))
    n = rows.shape[1]
    R = np.zeros((n, n))
    triangle = np.linalg.qr(rows, mode="r")
    R[: len(triangle)] = np.where(np.diagonal(triangle) < 0, -1.0, 1.0)[:, None] * triangle
    return R


def solve(triangle: np.ndarray, tolerance: float, sizes: np.ndarray) -> Solution:
    """Minimize |A x - b| for the triangle (p + 1, p + 1) of [A, b]; never by a pseudo-inverse.

    Columns are scaled by their norms; those that are rounding beside the sizes (p,) of the terms they were
    computed from stay small. Singular values below the tolerance times the largest one count as zero.
    """
    from scipy.linalg import qr, solve_triangular

    p = len(triangle) - 1
    R, b = triangle[:p, :p], triangle[:p, p]
    scale = column_scale(R, tolerance, sizes)
    null = unexcited(R, tolerance, sizes)
    rank = p - len(null)
    Q, S, order = qr(R / scale, pivoting=True)
    kept, projected = order[:rank], Q.T @ b
    inverse = solve_triangular(S[:rank, :rank], np.eye(rank))
    values, deviations, determined = np.zeros(p), np.full(p, np.nan), np.zeros(p, dtype=bool)
    values[kept] = inverse @ projected[:rank]
    determined[kept] = ~null.any(axis=0)[kept]
    deviations[kept] = np.linalg.norm(inverse, axis=1)
    independent = S[:rank, :rank] / np.linalg.norm(S[:rank, :rank], axis=0)
    return Solution(
        values / scale,
        determined,
        null,
        np.where(determined, deviations / scale, np.nan),
        rank,
        float(np.linalg.cond(independent)) if rank else 1.0,
        float(np.hypot(np.linalg.norm(projected[rank:]), triangle[p, p])),
        scale,
    )
