"""Name the directions of parameters that measured motions do not excite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._util.validation import as_real, as_size, as_vector, require_finite
from ..exceptions import ShapeError
from ._combinations import combination, echelon, singular_values

__all__ = ["directions_not_excited", "unexcited"]

ROUNDED = 1e-9  # a column that is a smaller share of the terms it was computed from shows rounded angles only
ROUNDING = 1e-13  # a column that is a smaller share of the largest one is rounding


def unexcited(R, threshold: float = 1e-8, sizes=None) -> np.ndarray:
    """Return the changes of parameters that change no prediction for some data.

    Parameters
    ----------
    R : array_like, shape (m, k)
        The triangle of the data, or any matrix with the same product RᵀR: that of the regressor itself. Its
        columns belong to base parameters and others, such as friction.
    threshold : float
        Largest effect of such a change, relative to the largest, after all columns have been scaled to unit
        length.
    sizes : array_like, shape (k,), optional
        Norms of the terms that the columns were computed from: columns below 1e-9 of them are rounding, and
        are not excited. By default that of the largest column for all.

    Returns
    -------
    ndarray, shape (directions, k)
        Rows d with ``R @ d`` about 0, in echelon form: a parameter with coefficient 1 that no other row has,
        and others that compensate for it. Parameters with an entry other than 0 cannot be identified from the
        data.

    Raises
    ------
    ShapeError, NonFiniteError
        If R is not a finite matrix.

    Examples
    --------
    A vertical prismatic joint that moves slowly shows only the sum of weight and offset:

    >>> from treefactor.identification import unexcited
    >>> unexcited([[9.81, 1.0], [9.81, 1.0]]).round(4)
    array([[-0.1019,  1.    ]])
    """
    return _reduced(R, threshold, sizes)[0]


def directions_not_excited(R, names: Sequence[str], threshold: float = 1e-8, sizes=None) -> tuple[str, ...]:
    """Return the changes of parameters that some data do not show, as text.

    Parameters
    ----------
    R : array_like, shape (m, k)
        See `unexcited`.
    names : sequence of str, length k
        Names of the parameters; sums are put in parentheses.
    threshold, sizes
        See `unexcited`.

    Returns
    -------
    tuple of str
        Combinations as in ``BaseParameters.unfelt``: coefficient, then parameter.

    Raises
    ------
    ShapeError, NonFiniteError
        If R is not a finite matrix with as many columns as there are names.

    Examples
    --------
    >>> from treefactor.identification import directions_not_excited
    >>> directions_not_excited([[9.81, 1.0], [9.81, 1.0]], ["m of lift", "offset of lift"])
    ('offset of lift - 0.101937 m of lift',)
    """
    rows, first = _reduced(R, threshold, sizes)
    if rows.shape[1] != len(names):
        raise ShapeError(
            f"R must have a column for each of {len(names)} names, got {rows.shape[1]}", rows.shape
        )
    grouped = [f"({name})" if " + " in name or " - " in name else name for name in names]
    return tuple(combination(row, grouped, k) for row, k in zip(rows, first, strict=True))


def column_scale(R: np.ndarray, threshold: float, sizes=None) -> np.ndarray:
    """Return the divisors of columns for a test of their rank: their norms, larger for small columns.

    What is left of a column by rounding then stays below the threshold: 1e-9 of the terms that it was
    computed from, as angles and lengths in files are rounded, or 1e-13 of the largest column where the terms
    are not known. Scaled to unit norm, a column of rounding errors would count as much as any other.
    """
    norms = np.linalg.norm(R, axis=0)
    share, sizes = (ROUNDING, norms.max(initial=0.0)) if sizes is None else (ROUNDED, sizes)
    scale = np.maximum(norms, share / max(threshold, share) * sizes)
    return np.where(scale > 0.0, scale, 1.0)


def _reduced(R, threshold: float, sizes) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of `unexcited`, and the column of each whose coefficient is 1."""
    R, threshold = as_real(R, "R"), as_size(threshold, "threshold")
    if R.ndim != 2:
        raise ShapeError(f"R must have shape (m, k), got {R.shape}", R.shape, ("m", "k"))
    require_finite(R, "R")
    k = R.shape[1]
    scale = column_scale(R, threshold, None if sizes is None else as_vector(sizes, k, "sizes"))
    strengths, axes = singular_values(np.vstack([R / scale, np.zeros((max(k - len(R), 0), k))]))
    weak = strengths <= threshold * max(
        1.0, strengths.max(initial=0.0)
    )  # 1: of a column that is not rounding
    rows, first = echelon(axes[weak], range(k - 1, -1, -1), threshold)
    at = np.argsort(first)
    rows, first = rows[at], first[at]
    return rows * (scale[first, None] / scale), first
