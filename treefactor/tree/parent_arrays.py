"""Validate parent arrays of trees, and write the error messages of invalid ones."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_array
from ..exceptions import InvalidTreeError, ShapeError


def indices(values, what: str) -> np.ndarray:
    """Return values as a C-contiguous vector of indices, or raise InvalidTreeError."""
    try:
        array = as_array(values, what)
    except ShapeError as error:  # ragged nesting
        raise InvalidTreeError(f"{what} must be one-dimensional: {error}") from None
    if array.ndim != 1:
        raise InvalidTreeError(f"{what} must be one-dimensional, got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidTreeError(f"{what} must hold integers, got dtype {array.dtype}")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.intp).max:
        raise InvalidTreeError(f"{what} holds a number too large for an index")
    return np.array(array, dtype=np.intp)


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a copy that cannot be made writeable again: kernels rely on its values."""
    return np.frombuffer(array.tobytes(), dtype=array.dtype) if array.size else array[:0].copy()


def complaint(parent: np.ndarray, row: int) -> str:
    """Return the error message about an invalid parent[row]."""
    received = f"parent[{row}] = {parent[row]}"
    if parent[row] < -1:
        return f"{received}: expected -1 for the base or the number of an earlier row"
    return (
        f"{received}: a parent must come before its child (-1 <= parent[k] < k); "
        "Tree.renumber gives any acyclic parent array such a numbering"
    )
