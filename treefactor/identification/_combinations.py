"""Reduce vectors of parameters to echelon form, and write linear combinations of parameters as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PIVOT = 0.05  # smallest pivot, relative to the largest entry of its row, that keeps the wanted order
EXACT = 1e-13  # entries closer to an integer are this integer


def echelon(rows: np.ndarray, order: Sequence[int], exact: float = EXACT) -> tuple[np.ndarray, np.ndarray]:
    """Return reduced rows that span the same space, and the column of each pivot.

    Parameters
    ----------
    rows : ndarray, shape (m, p)
        Linearly independent, with entries of similar size.
    order : sequence of int
        Columns that become pivots, those wanted first in front. One whose entries are small is passed over at
        first, so that no coefficient becomes large.
    exact : float
        Entries this close to an integer become this integer.

    Returns
    -------
    reduced : ndarray, shape (m, p)
        The column of each pivot is 1 in its row and 0 in the others.
    pivots : ndarray of int, shape (m,)
    """
    rows = rows.copy()
    pivots = np.full(len(rows), -1)
    for column in order:
        rivals = np.flatnonzero((pivots < 0) & (rows[:, column] != 0.0))
        if len(rivals):
            share = np.abs(rows[rivals, column]) / np.abs(rows[rivals]).max(axis=1)
            if share.max() > PIVOT:
                _eliminate(rows, int(rivals[share.argmax()]), column, pivots)
    for row in np.flatnonzero(pivots < 0).tolist():
        _eliminate(rows, row, int(np.abs(rows[row]).argmax()), pivots)
    near = np.round(rows)
    return np.where(np.abs(rows - near) <= exact, near + 0.0, rows), pivots


def _eliminate(rows: np.ndarray, row: int, column: int, pivots: np.ndarray) -> None:
    """Make the entry of a column 1 in one row and 0 in the others."""
    pivots[row] = column
    rows[row] /= rows[row, column]
    others = np.flatnonzero(rows[:, column])
    others = others[others != row]
    rows[others] -= rows[others, column, None] * rows[row]
    rows[others, column] = 0.0


def combination(coefficients: np.ndarray, names: Sequence[str], first: int) -> str:
    """Return the sum of coefficient times parameter as text, the term ``first`` in front.

    Coefficients have six digits; those that are 1 are left out.
    """
    at = np.flatnonzero(coefficients).tolist()
    if first in at:
        at.remove(first)
        at.insert(0, first)
    text = ""
    for k in at:
        value = coefficients[k]
        size = f"{float(f'{abs(value):.12g}'):.6g}"  # rounding errors do not decide how halves are rounded
        term = names[k] if size == "1" else f"{size} {names[k]}"
        if text:
            text += f" - {term}" if value < 0 else f" + {term}"
        else:
            text = f"-{term}" if value < 0 else term
    return text


def singular_values(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return singular values and right singular vectors, also where LAPACK's fast method fails."""
    try:
        return np.linalg.svd(rows, full_matrices=False)[1:]
    except np.linalg.LinAlgError:  # gesdd, of large sparse triangles: LAPACK has the slower gesvd for them
        from scipy.linalg import svd

        return svd(rows, full_matrices=False, lapack_driver="gesvd")[1:]
