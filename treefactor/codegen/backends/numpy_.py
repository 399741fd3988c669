"""Evaluate programs statement by statement with NumPy, on whole batches: slow, used as the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..program.expressions import CONST, INPUT, OPERATIONS, RECIP, SQRT

UFUNCS = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "RECIP": np.reciprocal,
    "SIN": np.sin,
    "COS": np.cos,
    "SQRT": np.sqrt,
    "ATAN2": np.arctan2,
}


def evaluate(function, *arguments, dtype=np.float64) -> np.ndarray:
    """Evaluate a `Function`.

    Parameters
    ----------
    function : Function
    *arguments : array_like, shapes (..., size)
        Arguments in the order of ``function.inputs``.
    dtype : dtype
        Precision of all operations.

    Returns
    -------
    ndarray, shape (..., *function.shape)
    """
    arguments = [np.asarray(x, dtype=dtype) for x in arguments]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in arguments))
    rows = []
    with np.errstate(all="ignore"):
        for op, a, b, value in zip(function.op, function.a, function.b, function.value, strict=True):
            if op == CONST:
                rows.append(np.broadcast_to(dtype(value), batch))
            elif op == INPUT:
                rows.append(np.broadcast_to(arguments[a][..., b], batch))
            else:
                apply = UFUNCS[OPERATIONS[op]]
                rows.append(apply(*(rows[x] for x in (a, b)[: apply.nin])))
            if op == RECIP and b:
                rows[-1] = np.where(np.sign(b) * rows[-1] > 0, rows[-1], np.nan)
    out = np.empty((*batch, function.output.size), dtype)
    for k, (row, sign) in enumerate(zip(function.output, function.sign, strict=True)):
        out[..., k] = sign * rows[row]
    return out.reshape((*batch, *function.shape))


def failing_pivot(function, *arguments) -> int | None:
    """Return the freedom of the first pivot, in order of elimination, that is not positive, for vectors.

    If rounding makes all pivots positive here, returns that of the smallest; None if there are no pivots.
    """
    rows = np.flatnonzero((function.op == RECIP) & (function.b != 0))
    if not rows.size:
        return None
    freedoms, sign = np.abs(function.b[rows]) - 1, np.sign(function.b[rows])
    inverse = evaluate(replace(function, output=rows, sign=sign, shape=rows.shape), *arguments)
    failing = freedoms[~np.isfinite(inverse)]
    return int(failing.max() if failing.size else freedoms[np.argmax(inverse)])


def open_loop(function, *arguments) -> int | None:
    """Return the loop of the first square root of a negative number, for vectors, or None."""
    rows = np.flatnonzero(function.op == SQRT)
    if not rows.size:
        return None
    sign = np.ones(rows.size, np.int8)
    roots = evaluate(replace(function, output=rows, sign=sign, shape=rows.shape), *arguments)
    failing = np.flatnonzero(np.isnan(roots))
    return int(function.b[rows[failing[0]]]) - 1 if failing.size else None
