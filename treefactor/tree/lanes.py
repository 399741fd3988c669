"""Vectors in the layout "lanes": blocks of configurations side by side, as kernels compute with them."""

from __future__ import annotations

import numpy as np

from .._util.validation import aligned, as_array, as_count, as_float, as_real, flatten, lane_count
from ..exceptions import DtypeError, ShapeError


def to_lanes(x, dtype=np.float64) -> np.ndarray:
    """Return vectors in lanes: blocks of 8 vectors side by side, of float32 16, entry by entry.

    Functions of `treefactor.compile` take and return such arrays with ``layout="lanes"``: they skip the
    transpositions of rows.

    Parameters
    ----------
    x : array_like, shape (..., size)
        Leading axes become one. A single vector becomes a block that repeats it, which serves for all blocks
        of other arguments.
    dtype : {float64, float32}
        Of the result.

    Returns
    -------
    ndarray, shape (blocks, size, 8), or (blocks, size, 16) of float32
        A new array whose memory begins at a multiple of 64 bytes. Entry e of vector i is
        ``[i // 8, e, i % 8]``. The rest of the last block repeats the last vector.

    Raises
    ------
    DtypeError, ShapeError
        If x does not hold real numbers or is one number, or dtype is neither float64 nor float32.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> q = np.arange(20.0).reshape(10, 2)
    >>> lanes = tf.to_lanes(q)
    >>> lanes.shape
    (2, 2, 8)
    >>> lanes[1, 0]
    array([16., 18., 18., 18., 18., 18., 18., 18.])
    >>> np.array_equal(tf.from_lanes(lanes, count=10), q)
    True
    """
    x = as_real(x, "x", as_float(dtype))
    if not x.ndim:
        raise ShapeError("x must have shape (..., size), got one number", x.shape, ("...", "size"))
    rows = flatten(x, 1)
    count, size = rows.shape
    lanes = lane_count(x.dtype)
    whole = count // lanes
    result = aligned((-(-count // lanes), size, lanes), x.dtype)
    result[:whole] = rows[: whole * lanes].reshape(whole, lanes, size).swapaxes(1, 2)
    if count % lanes:
        result[whole, :, : count % lanes] = rows[whole * lanes :].T
        result[whole, :, count % lanes :] = rows[-1][:, None]
    return result


def from_lanes(x, count: int | None = None) -> np.ndarray:
    """Return the vectors of an array in lanes, the reverse of `to_lanes`.

    Parameters
    ----------
    x : array_like, shape (blocks, size, 8), or (blocks, size, 16) of float32
    count : int, optional
        Number of vectors; the others are padding. Default: all lanes.

    Returns
    -------
    ndarray, shape (count, size)
        A new array of the dtype of x.

    Raises
    ------
    DtypeError, ShapeError
        If x is not an array of float64 or float32 in lanes.
    ValueError
        If count is negative, or larger than the number of lanes.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> tf.from_lanes(tf.to_lanes([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32), count=2)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    x = as_array(x, "x")
    if x.dtype not in (np.float64, np.float32):
        raise DtypeError(f"x must be an array of float64 or float32, got {x.dtype}", x.dtype)
    lanes = lane_count(x.dtype)
    if x.ndim != 3 or x.shape[2] != lanes:
        raise ShapeError(f"expected x of shape (blocks, size, {lanes}) {_advice(x, 'x')}", x.shape)
    most = len(x) * lanes
    count = most if count is None else as_count(count, "count")
    if count > most:
        raise ValueError(f"count must be at most {most}, the number of lanes of {len(x)} blocks, got {count}")
    blocks = -(-count // lanes)
    rows = np.empty((blocks, lanes, x.shape[1]), x.dtype)
    rows[:] = x[:blocks].swapaxes(1, 2)
    return rows.reshape(blocks * lanes, x.shape[1])[:count]


def count_blocks(arrays: dict[str, np.ndarray], sizes: dict[str, int], dtype: np.dtype) -> int:
    """Return the number of blocks of arrays in lanes, by name; raise ShapeError if one does not fit."""
    lanes, blocks = lane_count(dtype), 1
    for name, x in arrays.items():
        if x.ndim != 3 or x.shape[1:] != (sizes[name], lanes):
            expected = "blocks", sizes[name], lanes
            reason = f"expected {name} of shape (blocks, {sizes[name]}, {lanes}) {_advice(x, name)}"
            raise ShapeError(reason, x.shape, expected)
        if len(x) != 1 and blocks not in (1, len(x)):
            reason = f"expected {name} of {blocks} blocks as other arguments, or of 1 for all, got {len(x)}"
            raise ShapeError(reason, x.shape, (blocks, sizes[name], lanes))
        blocks = blocks if len(x) == 1 else len(x)
    return blocks


def _advice(x: np.ndarray, name: str) -> str:
    """Return the end of a message about an array that does not have lanes of its dtype."""
    other = {8: "float64", 16: "float32"}.get(x.shape[2] if x.ndim == 3 else 0)
    number = "" if x.dtype == np.float64 else f", dtype=np.{x.dtype}"
    text = f'for layout "lanes" of {x.dtype}, got {x.shape}'
    if other not in (None, str(x.dtype)):
        return f"{text}: {x.shape[2]} lanes belong to {other}"
    return text if x.ndim == 3 else f"{text}: pass treefactor.to_lanes({name}{number})"
