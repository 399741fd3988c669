"""General path of steps between configurations: validate arrays of any form, spread batches on threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from .._util.bindable import bound_arrays, register
from .._util.threads import spread
from .._util.validation import as_output, as_real, flatten, require_finite, thread_count
from ..exceptions import ShapeError
from ._configuration_fast_path import BoundStep, call
from ._configurations import OPERATIONS, Configurations, configurations_of
from ._states import common_axes
from ._unit_rotations import require_rotations
from .model import Model

LANES = 8
(
    INTEGRATE,
    DIFFERENCE,
    INTERPOLATE,
    SQUARED_DISTANCE,
    DISTANCE,
    IS_SAME,
    NORMALIZE,
    INTEGRATE_BY_Q,
    INTEGRATE_BY_V,
    DIFFERENCE_BY_Q0,
    DIFFERENCE_BY_Q1,
) = range(len(OPERATIONS))
INPUTS = {  # names of the arrays after the model, in messages; of all others they are q0 and q1
    INTEGRATE: ("q", "v"),
    INTEGRATE_BY_Q: ("q", "v"),
    INTEGRATE_BY_V: ("q", "v"),
    NORMALIZE: ("q",),
}
NUMBERS = {INTERPOLATE: "u", IS_SAME: "tolerance"}  # a number for each configuration after the arrays


def general_path(model: Model, op: int, first, second, u, out, num_threads: int) -> np.ndarray:
    """Validate arrays of any form and run an operation on them; raise the error that names the bad one."""
    compiled, threads = configurations_of(model), thread_count(num_threads)
    names = INPUTS.get(op, ("q0", "q1"))
    arrays = [
        _entries(values, model.nv if name == "v" else model.nq, name)
        for name, values in zip(names, (first, second), strict=False)
    ]
    if op in NUMBERS:
        names = (*names, NUMBERS[op])
        arrays.append(as_real(u, NUMBERS[op])[..., np.newaxis])
    batch = common_axes(array.shape[:-1] for array in arrays)
    if not batch:
        _require_valid(model, op, dict(zip(names, arrays, strict=True)))
    shape = (*batch, *compiled.result_shape(op))
    result = out if out is None else as_output(out, shape)
    if result is None or not result.flags.carray or any(np.may_share_memory(out, x) for x in arrays):
        result = np.empty(shape)
    if batch:
        _run_batch(compiled, op, batch, arrays, result, threads)
    else:
        first, second = [*map(np.ascontiguousarray, arrays[:2]), None][:2]
        u = float(arrays[2][0]) if op in NUMBERS else None
        result[...] = call(model, op, first, second, u, None, 1, None)
    if out is not None and result is not out:
        out[...] = result
    if out is not None:
        return out
    return result if shape else result.item()


def _run_batch(compiled: Configurations, op: int, batch, arrays, result: np.ndarray, threads: int) -> None:
    """Fill the result, a C-contiguous array with the axes of the batch first."""
    count = math.prod(batch)
    blocks = -(-count // LANES)
    operands = [flatten(np.ascontiguousarray(array), 1) for array in arrays]
    operands += [None] * (3 - len(operands))
    rows = result.reshape(count, *compiled.result_shape(op))
    spread(partial(compiled.batch, op, count, operands, rows), blocks, threads, 4 * result.size)


def _entries(values, size: int, name: str) -> np.ndarray:
    """Return vectors of that size."""
    array = as_real(values, name)
    if array.shape[-1:] != (size,):
        raise ShapeError(
            f"{name} must have shape (..., {size}), got {array.shape}",
            array.shape,
            ("...", size),
        )
    return array


def _require_valid(model: Model, op: int, arrays: dict[str, np.ndarray]) -> None:
    """Raise NonFiniteError or ConfigurationError about an argument of a single configuration."""
    for name, array in arrays.items():
        require_finite(array.reshape(()) if name in NUMBERS.values() else array, name)
    for name, array in arrays.items():
        if name in ("q", "q0", "q1"):
            require_rotations(model, array, name, any_length=op == NORMALIZE)


def bind_step(op: int, function, model: Model, given: dict, out: np.ndarray) -> BoundStep:
    """Bind an operation on configurations; a number for each of them is an array without axes."""
    sizes = {"v": (model.nv,), "u": ()}
    inputs = INPUTS.get(op, ("q0", "q1"))
    names = (*inputs, NUMBERS[op]) if op in NUMBERS else inputs
    shapes = {name: sizes.get(name, (model.nq,)) for name in names}
    arrays = bound_arrays(shapes, given, configurations_of(model).result_shape(op), out)
    first, second = [*(arrays[name] for name in inputs), None][:2]
    return BoundStep(
        model, op, first, second, arrays.get("u"), out, partial(function, model, **given, out=out)
    )


def register_steps(operations: dict[Callable, int]) -> None:
    """Make `treefactor.bind` accept functions, given with their operations."""
    for function, op in operations.items():
        register(partial(bind_step, op), [function])
