"""Read weights of squared errors."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_real
from ..exceptions import ShapeError


def weights_of(values, size: int, name: str) -> np.ndarray:
    """Return finite weights that are not negative, one for each entry, as a new array.

    Parameters
    ----------
    values : float or array_like, shape (size,)
    size : int
    name : str
        For errors.

    Raises
    ------
    ShapeError, DtypeError, ValueError
    """
    weights = as_real(values, name)
    if weights.shape not in ((), (size,)):
        raise ShapeError(
            f"{name} must be one number or {size}, got shape {weights.shape}", weights.shape, (size,)
        )
    if not ((weights >= 0.0) & (weights < np.inf)).all():
        raise ValueError(f"{name} must not be negative, and finite, got {weights}")
    return np.broadcast_to(weights, (size,)).copy()
