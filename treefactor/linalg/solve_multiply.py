"""Multiply and solve with a matrix once, without keeping a factor."""

from __future__ import annotations

import math

import numpy as np

from .._util.threads import spread
from .._util.validation import (
    as_float,
    as_output,
    as_real,
    as_shift,
    check_choice,
    flatten,
    lane_count,
    leading_axes,
    require_finite,
    thread_count,
)
from ..tree.packing import LAYOUTS
from ..tree.tree import Tree, require_tree
from . import _batch, _single_calls  # type: ignore[attr-defined]  # compiled
from .factorization import factor


def solve(
    H,
    tree: Tree,
    b,
    layout: str = "dense",
    shift=None,
    triangle: str = "lower",
    dtype=np.float64,
    num_threads: int = 1,
    out=None,
) -> np.ndarray:
    """Return (H + diag(shift))^-1 b without keeping a factor: `numpy.linalg.solve` along a tree.

    Bit for bit what ``factor(H, tree, ...).solve(b)`` gives. A batch is faster here, since its factors never
    leave the caches; to solve again with the same H keep the `Factor`.

    Parameters
    ----------
    H : array_like
        Symmetric positive definite: ``(..., n, n)``, or ``(..., nnz)`` with ``layout="packed"``, or
        ``(blocks, nnz, 8)`` (16 for float32) with ``layout="lanes"``, see `factor`. Only the pattern's
        entries in the declared triangle are read.
    tree : Tree
    b : array_like, shape (..., n) or (..., n, k)
        Leading axes are those of H or absent; a single H serves ``(..., n, k)`` with any. Where both
        readings fit, the leading axes are the batch.
    layout : {"dense", "packed", "lanes"}
    shift : float or array_like, shape (n,) or (..., n), optional
        Added to the diagonal.
    triangle : {"lower", "upper"}
        The triangle of a dense H to read.
    dtype : {float64, float32}
        To work in, and of the result; float32 for batches only.
    num_threads : int
        Threads over a batch; -1 for all cores. The result does not depend on it.
    out : ndarray, optional
        May be b itself.

    Returns
    -------
    ndarray of b's shape with the batch's leading axes
        NaN for the matrices of a batch that are not positive definite or not finite, as NumPy's ufuncs
        do, so that the others are not lost: ``np.isnan(x).any(axis=-1)`` finds them,
        `Factor.status` tells the row.

    Raises
    ------
    ShapeError, DtypeError
        If an argument has the wrong type or shape.
    NotPositiveDefiniteError
        If a single H is not positive definite or not finite; names the row and joint.
    NonFiniteError
        If b is not finite; in a batch its result is not finite.

    Notes
    -----
    Featherstone (2008), tables 6.3 and 6.5, for as many matrices at a time as a register has lanes.

    Examples
    --------
    >>> import numpy as np
    >>> import treefactor as tf
    >>> H = np.array([[4.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2.0, 0.0, 5.0]])
    >>> tf.solve([H, 2 * H], tf.Tree([-1, 0, 0]), [7.0, 3.0, 7.0])
    array([[1. , 1. , 1. ],
           [0.5, 0.5, 0.5]])
    """
    if shift is None and type(num_threads) is int and num_threads == 1:
        solution = _single_calls.solve(H, tree, b, layout, triangle, dtype, out)
        if solution is not None:
            return solution
    require_tree(tree)
    check_choice("layout", layout, LAYOUTS)
    check_choice("triangle", triangle, ("lower", "upper"))
    if shift is None:
        solution = _batch.solve_fast(tree.pattern, H, layout, triangle == "upper", b, dtype, num_threads, out)
        if solution is not None:
            return solution
    H = as_real(H, "H", as_float(dtype))
    batch = tree.batch_of(H, layout)
    if not batch:
        return factor(H, tree, "LTDL", layout, shift, triangle, num_threads, dtype=dtype).solve(b, out)
    columns, _, shape = _columns(as_real(b, "b", H.dtype), tree.n, batch, "b")
    if shift is not None:
        shift = as_shift(shift, tree.n, batch, H.dtype)
    flat, upper = H if layout == "lanes" else flatten(H, 2 if layout == "dense" else 1), triangle == "upper"
    x = _result_memory(out, shape, H, columns, *([] if shift is None else [shift]))
    into = x.reshape(columns.shape)
    spread(
        lambda first, stop: _batch.solve(
            tree.pattern, flat, layout, upper, shift, columns, into, first, stop
        ),
        -(-len(columns) // lane_count(H.dtype)),
        thread_count(num_threads),
        len(columns) * tree.nnz,
    )
    if out is None:
        return x
    if not np.may_share_memory(out, x):
        np.copyto(out, x)
    return out


def _result_memory(out, shape: tuple[int, ...], *read: np.ndarray) -> np.ndarray:
    """Return C-contiguous memory for a result, apart from the arrays that kernels read; out if it fits."""
    fits = out is not None and as_output(out, shape, read[0].dtype).flags.carray
    if fits and not any(np.may_share_memory(out, a) for a in read):
        return np.asarray(out)
    return np.empty(shape, read[0].dtype)


def multiply(H, tree: Tree, x, out=None, layout: str = "dense", triangle: str = "lower") -> np.ndarray:
    """Return H x, reading only the pattern's entries in the declared triangle of H.

    Parameters
    ----------
    H : array_like, shape (..., n, n) or, with ``layout="packed"``, (..., nnz)
    tree : Tree
    x : array_like, shape (..., n) or (..., n, k)
        Leading axes are those of H or absent; a single H serves (..., n, k) with any.
    out : ndarray, optional
        May be x itself.
    layout : {"dense", "packed"}
    triangle : {"lower", "upper"}
        The triangle of a dense H to read.

    Returns
    -------
    ndarray of x's shape with the batch's leading axes

    Raises
    ------
    ShapeError, DtypeError
        If an argument has the wrong type or shape.
    NonFiniteError
        If a single H or x is not finite; in a batch its result is not finite.

    Notes
    -----
    Featherstone (2008), table 6.5.
    """
    product = _single_calls.multiply_fast(H, tree, x, out, layout, triangle)
    if product is not None:
        return product
    require_tree(tree)
    check_choice("layout", layout, ("dense", "packed"))
    check_choice("triangle", triangle, ("lower", "upper"))
    H, x = as_real(H, "H"), as_real(x, "x")
    batch = tree.batch_of(H, layout)
    columns, lead, shape = _columns(x, tree.n, batch, "x")
    y = np.empty(columns.shape)
    if batch:
        H, kernel = flatten(H, 2 if layout == "dense" else 1), _batch.multiply
    else:
        kernel = _single_calls.multiply
    kernel(tree.pattern, H, layout, triangle == "upper", columns, y)
    if not lead and not np.isfinite(y).all():  # every entry of H and x that was read is in y
        require_finite(x, "x")
        require_finite(tree.pack(H, triangle=triangle) if layout == "dense" else H, "H")
    if out is None:
        return y.reshape(shape)
    np.copyto(as_output(out, shape), y.reshape(shape))
    return out


def _columns(b: np.ndarray, n: int, batch: tuple[int, ...], name: str):
    """Return b for every matrix, (count, n, k) C-contiguous, and the leading axes and shape of the result."""
    lead, many = leading_axes(b, n, batch, name)
    shape = (*lead, *b.shape[b.ndim - 1 - many :])
    whole = b if b.shape == shape else np.broadcast_to(b, shape)
    columns = whole.reshape(math.prod(lead), n, shape[-1] if many else 1)
    return np.ascontiguousarray(columns), lead, shape
