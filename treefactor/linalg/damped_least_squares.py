"""Solve damped least-squares problems of small dense matrices, such as Jacobians, one or a batch."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._util.threads import spread
from .._util.validation import as_float, as_output, as_real, flatten, require_finite, thread_count
from ..exceptions import DtypeError, NotPositiveDefiniteError, ShapeError
from ..model._states import common_axes
from . import _damped  # type: ignore[attr-defined]  # compiled

DOUBLE, SINGLE = np.float64, np.float32
fast, fast_single = _damped.fast, _damped.fast_single
LANES = {np.dtype(np.float64): 8, np.dtype(np.float32): 16}


def damped_least_squares(J, e, damping, out=None, num_threads: int = 1, dtype=DOUBLE) -> np.ndarray:
    """Return the x that minimizes ``|J x - e|^2 + damping |x|^2``: J^T (J J^T + damping I)^-1 e.

    The step of inverse kinematics for an error e of the task: it stays short where J is nearly singular.

    Parameters
    ----------
    J : array_like, shape (..., m, n)
        Meant for small m or n: the smaller of J J^T and J^T J is factorized, as a dense matrix.
    e : array_like, shape (..., m)
    damping : float or array_like, shape (...)
        Not negative, in the square of J's unit; one number, or one for each problem of the batch.
        With 0 the rows of J must be independent, or the columns if there are fewer of them.
    out : ndarray, shape (..., n), optional
        Receives the result.
    num_threads : int
        For batches; -1 uses all cores.
    dtype : {float64, float32}
        To work in, and of the result; float32 for batches only, and with a least damping, see the notes.

    Returns
    -------
    ndarray, shape (..., n)
        NaN for the problems of a batch that have no solution or are not finite. J and e without leading axes
        serve the whole batch.

    Raises
    ------
    ShapeError, DtypeError
        If an argument or out has another shape or type, leading axes differ, or dtype is float32 for one
        problem.
    ValueError
        If a damping is negative.
    NonFiniteError
        If a single J, e or damping is not finite.
    NotPositiveDefiniteError
        If a row of a single J depends on the rows before it and the damping is too small for that: a pivot is
        below 1e-13 of its diagonal entry. So are columns where there are fewer of them.

    Notes
    -----
    Wampler (1986), "Manipulator inverse kinematic solutions based on vector formulations and damped
    least-squares methods", and Nakamura and Hanafusa (1986), "Inverse kinematic solutions with singularity
    robustness for robot manipulator control". Singular values s of J become s / (s^2 + damping).

    J J^T squares the condition of J, for which float32 has too few digits. Let u be 2^-24, and S the sum of
    the squares of all entries of J. Rounding changes J J^T + damping I by less than 3 (m + n) u S in the
    product and the factor together (to first order in u; Higham, 2002, "Accuracy and stability of numerical
    algorithms", theorem 10.4). In float32, dampings below ten times that, 2^-19 (m + n) S, are raised to it:
    to 2.5e-5 S for a Jacobian of 6 rows and 7 columns. Then (J J^T + damping I)^-1 e has at most a tenth of
    its length as error, and with a larger damping as much less.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.damped_least_squares([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [4.0, 2.0], 1.0)
    array([1.6, 1. , 0. ])
    """
    x = None
    if dtype is DOUBLE:
        x = fast(J, e, damping, out, num_threads)
    elif dtype is SINGLE:
        x = fast_single(J, e, damping, out, num_threads)
    return _general_path(J, e, damping, out, num_threads, as_float(dtype)) if x is None else x


def _general_path(J, e, damping, out, num_threads: int, dtype: np.dtype) -> np.ndarray:
    """Validate arrays of any form and solve; raise the error that names the bad one."""
    threads = thread_count(num_threads)
    J, e, damping = as_real(J, "J", dtype), as_real(e, "e", dtype), as_real(damping, "damping", dtype)
    if J.ndim < 2:
        raise ShapeError(f"J must have shape (..., m, n), got {J.shape}", J.shape, ("...", "m", "n"))
    m, n = J.shape[-2:]
    if e.shape[-1:] != (m,):
        raise ShapeError(f"e must have shape (..., {m}) for J of {m} rows, got {e.shape}", e.shape, (m,))
    batch = common_axes([J.shape[:-2], e.shape[:-1], damping.shape])
    if (damping < 0.0).any():
        raise ValueError(f"damping must not be negative, got {damping.min()}")
    if not batch and dtype != np.float64:
        text = "dtype of a single problem must be float64, got float32: float32 is for batches"
        raise DtypeError(text, dtype)
    result = np.empty((*batch, n), dtype)
    if out is not None:
        as_output(out, result.shape, dtype)
    J, e, damping = map(np.ascontiguousarray, (J, e, damping))
    if batch:
        count = math.prod(batch)
        rows = flatten(J, 2), flatten(e, 1), damping.reshape(-1, 1), result.reshape(count, n)
        spread(partial(_damped.run_batch, *rows), -(-count // LANES[dtype]), threads, count * m * n)
    else:
        _solve_one(J, e, damping, result)
    if out is None:
        return result
    out[...] = result
    return out


def _solve_one(J: np.ndarray, e: np.ndarray, damping: np.ndarray, out: np.ndarray) -> None:
    """Solve one problem of contiguous arrays; raise where it has no solution."""
    for name, array in {"J": J, "e": e, "damping": damping}.items():
        require_finite(array, name)
    failed = _damped.solve_one(J, e, float(damping.reshape(())), out)
    if failed != _damped.REGULAR:
        kind = "row" if len(J) <= J.shape[1] else "column"
        raise NotPositiveDefiniteError(
            f"{kind} {failed} of J is zero, depends on the {kind}s before it, or is too large: "
            "leave it out, or pass a larger damping",
            row=failed,
        )
