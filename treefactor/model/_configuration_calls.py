"""General path of steps between configurations: validate arrays of any form, spread batches on threads."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._util.threads import spread
from .._util.validation import as_output, as_real, flatten, require_finite, thread_count
from ..exceptions import ShapeError
from ._configurations import OPERATIONS, Configurations, call, configurations_of
from ._unit_rotations import require_rotations
from .model import Model

LANES = 8
INTEGRATE, DIFFERENCE, INTERPOLATE, SQUARED_DISTANCE, NORMALIZE = range(len(OPERATIONS))
INPUTS = {  # names of the arrays after the model, in messages
    INTEGRATE: ("q", "v"),
    DIFFERENCE: ("q0", "q1"),
    INTERPOLATE: ("q0", "q1", "u"),
    SQUARED_DISTANCE: ("q0", "q1"),
    NORMALIZE: ("q",),
}


def general_path(model: Model, op: int, first, second, u, out, num_threads: int) -> np.ndarray:
    """Validate arrays of any form and run an operation on them; raise the error that names the bad one."""
    compiled, threads = configurations_of(model), thread_count(num_threads)
    arrays = [
        _entries(values, model.nv if name == "v" else model.nq, name)
        for name, values in zip(INPUTS[op][:2], (first, second), strict=False)
    ]
    for name, array in zip(INPUTS[op], arrays, strict=False):
        if name != "v" and op != NORMALIZE:
            require_rotations(model, array, name)
    if op == INTERPOLATE:
        arrays.append(_parts(u))
    batch = _batch(arrays)
    shape = (*batch, compiled.result_size(op))
    result = out if out is None else as_output(out, shape)
    if result is None or not result.flags.carray or any(np.may_share_memory(out, x) for x in arrays):
        result = np.empty(shape)
    if batch:
        _run_batch(compiled, op, batch, arrays, result, threads)
    else:
        rows = [*map(np.ascontiguousarray, arrays[:2]), None][:2]
        call(model, op, *rows, float(arrays[2][0]) if op == INTERPOLATE else None, result, 1, None)
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


def _run_batch(compiled: Configurations, op: int, batch, arrays, result: np.ndarray, threads: int) -> None:
    """Fill the result, a C-contiguous array with the axes of the batch first."""
    count = math.prod(batch)
    blocks = -(-count // LANES)
    operands = [flatten(np.ascontiguousarray(array), 1) for array in arrays]
    operands += [None] * (3 - len(operands))
    rows = result.reshape(count, result.shape[-1])
    spread(partial(compiled.batch, op, count, operands, rows), blocks, threads, 4 * result.size)


def _entries(values, size: int, name: str) -> np.ndarray:
    """Return vectors of that size; a single one must be finite."""
    array = as_real(values, name)
    if array.shape[-1:] != (size,):
        raise ShapeError(
            f"{name} must have shape (..., {size}), got {array.shape}", array.shape, ("...", size)
        )
    if array.ndim == 1:
        require_finite(array, name)
    return array


def _parts(u) -> np.ndarray:
    """Return u, one number or one for each configuration, with an axis of length 1 at its end."""
    array = as_real(u, "u")
    if array.ndim == 0:
        require_finite(array, "u")
    return array[..., np.newaxis]


def _batch(arrays: list[np.ndarray]) -> tuple[int, ...]:
    """Return the leading axes of all arrays, which must be equal or absent."""
    batch: tuple[int, ...] = ()
    for array in arrays:
        lead = array.shape[:-1]
        if lead and batch and lead != batch:
            raise ShapeError(f"leading axes {batch} and {lead} differ", batch, lead)
        batch = batch or lead
    return batch
