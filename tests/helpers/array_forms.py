"""Arrays with the same numbers in every memory layout."""

import numpy as np


def every_other(a):
    """Return a view of every other entry of a larger array that is NaN elsewhere."""
    big = np.full([2 * size for size in a.shape], np.nan, dtype=a.dtype)
    view = big[(*(slice(None, None, 2),) * a.ndim, ...)]  # a view without axes, too
    view[...] = a
    return view


def rows_apart(a):
    """Return a view whose last axis alone is contiguous."""
    big = np.full([2 * size for size in a.shape[:-1]] + [a.shape[-1]], np.nan, dtype=a.dtype)
    view = big[(slice(None, None, 2),) * (a.ndim - 1)]
    view[...] = a
    return view


def reversed_axes(a):
    """Return a view with negative strides."""
    turn = (slice(None, None, -1),) * a.ndim
    return a[turn].copy()[turn]


def unaligned(a):
    """Return an array at an odd address."""
    raw = np.zeros(a.nbytes + 1, dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape)
    raw[...] = a
    return raw


def read_only(a):
    """Return a copy that cannot be written."""
    a = a.copy()
    a.flags.writeable = False
    return a


GUARD = -7.25


def guarded(shape, stride=1, order="C", dtype=np.float64):
    """Return a view of that shape into a larger array of guards, the array, and a mask of the guards."""
    big = np.full([stride * size + 6 for size in shape], GUARD, order=order, dtype=dtype)
    view = (*(slice(3, 3 + stride * size, stride) for size in shape), ...)  # a view without axes, too
    guard = np.ones(big.shape, dtype=bool)
    guard[view] = False
    return big[view], big, guard


FORMS = {
    "fortran": np.asfortranarray,
    "first axis last": lambda a: np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, -1)), -1, 0),
    "every other": every_other,
    "rows apart": rows_apart,
    "negative": reversed_axes,
    "read-only": read_only,
    "unaligned": unaligned,
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "list": np.ndarray.tolist,
}


def spread(x):
    """Return the same numbers with gaps between them."""
    return np.repeat(x[..., None], 2, axis=-1)[..., 0]


UNBOUND = {  # forms that cannot be bound, and why
    "float32": (lambda x: x.astype(np.float32), r"contiguous .* float64 to be bound, got float32: .*astype"),
    "integers": (lambda x: x.astype(int), "got int64"),
    "list": (np.ndarray.tolist, "got (list|float): bind an array made by"),
    "strided": (spread, r"got strides .*: bind np\.ascontiguousarray"),
    "shape": (lambda x: x[None].copy(), r"have shape .* to be bound, got"),
    "unaligned": (unaligned, "not aligned: bind"),
}
