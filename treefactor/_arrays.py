"""The gate every public array passes: checked once here, trusted by the kernels."""

from __future__ import annotations

import math

import numpy as np

from .exceptions import DtypeError, ShapeError


def as_real(values, name: str) -> np.ndarray:
    """Return values as a float64 array, without a copy where possible.

    Raises
    ------
    DtypeError
        Where the elements are not real numbers (complex, object, text).
    """
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nesting
        raise ShapeError(f"{name} is no rectangular array: {error}") from None
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"{name} must hold real numbers, got dtype {array.dtype}", array.dtype)
    return array.astype(np.float64, copy=False)


def as_output(out, shape: tuple[int, ...]) -> np.ndarray:
    """Return out if it can hold a float64 result of the given shape."""
    if not isinstance(out, np.ndarray):
        raise DtypeError(f"out must be a NumPy array, got {type(out).__name__}")
    if out.shape != shape:
        raise ShapeError(f"out must have shape {shape}, got {out.shape}", out.shape, shape)
    if out.dtype != np.float64:
        raise DtypeError(f"out must have dtype float64, got {out.dtype}", out.dtype)
    if not out.flags.writeable:
        raise DtypeError("out is read-only")
    return out


def flatten(array: np.ndarray, tail: int) -> np.ndarray:
    """Array with all axes but the last tail ones made one."""
    lead = array.ndim - tail
    return array.reshape(math.prod(array.shape[:lead]), *array.shape[lead:])


def check_choice(name: str, value, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless value is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
