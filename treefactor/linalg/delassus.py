"""Compute J H^-1 J^T and its inverse, the operational-space inertia, from a factor."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._util.threads import spread
from .._util.validation import as_number, as_output, as_real, flatten, require_finite
from ..exceptions import ShapeError
from . import _delassus, _factor_methods  # type: ignore[attr-defined]  # compiled

AnyFactor = _factor_methods.Calls  # base of Factor, which calls these functions

LANES = 8
REGULAR = -1  # status of a matrix J H^-1 J^T that has an inverse
ONE_REGULAR = np.array(REGULAR)  # status of one such matrix
ONE_REGULAR.flags.writeable = False


def delassus(factor: AnyFactor, J, out=None) -> np.ndarray:
    """Return J H^-1 J^T; see `Factor.delassus`."""
    matrix = _delassus.fast(factor, J, out)
    return _general(factor, J, out, None)[0] if matrix is None else matrix


def inertia(factor: AnyFactor, J, damping: float = 0.0, out=None) -> tuple[np.ndarray, np.ndarray]:
    """Return (J H^-1 J^T + damping I)^-1, and the row of J that depends on rows before it, or -1.

    Parameters
    ----------
    factor : Factor
    J : array_like, shape (..., m, n)
    damping : float
    out : ndarray, optional

    Returns
    -------
    ndarray, shape (..., m, m)
        NaN where a row depends on others or H has no factor.
    ndarray of int, shape (...)
    """
    damping = require_damping(damping)
    inverse = _delassus.fast(factor, J, out, True, damping)
    return _general(factor, J, out, damping) if inverse is None else (inverse, ONE_REGULAR)


def require_damping(damping: float) -> float:
    """Return a damping; raise if it is not a number or negative."""
    damping = as_number(damping, "damping")
    if damping < 0.0:
        raise ValueError(f"damping must not be negative, got {damping}")
    return damping


def _general(factor: AnyFactor, J, out, damping: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Validate arrays of any form and compute; the inverse if there is a damping."""
    n, batch, dtype = factor.tree.n, factor.batch, factor.dtype
    factor._require_usable()
    J = as_real(J, "J", dtype)
    if J.ndim < 2 or J.shape[-1] != n:
        raise ShapeError(f"J must have shape (..., m, {n}), got {J.shape}", J.shape, ("...", "m", n))
    if J.ndim > 2 and batch and J.shape[:-2] != batch:
        raise ShapeError(f"J must carry the batch axes {batch} or none, got {J.shape}", J.shape, batch)
    lead, m = batch or J.shape[:-2], J.shape[-2]
    if not lead:
        require_finite(J, "J")
    shape = (*lead, m, m)
    result = np.empty(shape, dtype) if out is None else as_output(out, shape, dtype)
    rows = np.ascontiguousarray(flatten(J, 2))
    fits = result.flags.carray and not np.may_share_memory(result, rows)
    into = result if fits else np.empty(shape, dtype)
    G = flatten(into, 2)
    _fill(factor, rows, G)
    status = np.full(len(G), REGULAR) if damping is None else _invert(G, damping, factor._threads)
    if into is not result:
        np.copyto(result, into)
    return result, status.reshape(lead)


def _fill(factor: AnyFactor, J: np.ndarray, G: np.ndarray) -> None:
    """Compute G (count, m, m), C-contiguous, of J (count or 1, m, n)."""
    kernel = factor._kernel
    if not factor.batch:
        _delassus.single(kernel, J, G)
        return
    work = partial(kernel.delassus, J, G)
    spread(work, kernel.blocks, factor._threads, len(G) * G.shape[-1] * factor.tree.nnz)


def _invert(G: np.ndarray, damping: float, threads: int) -> np.ndarray:
    """Invert G + damping I in place, and return the status of every matrix."""
    blocks = -(-len(G) // LANES)
    failed = np.full(blocks * LANES, REGULAR, dtype=np.intp)
    own = G if G.dtype == np.float64 else G.astype(np.float64)
    spread(partial(_delassus.invert, own, damping, failed), blocks, threads, len(G) * G.shape[-1] ** 3)
    if own is not G:
        G[...] = own
    return failed[: len(G)]
