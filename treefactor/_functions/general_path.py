"""General path of compiled functions: compile them, validate arrays, use threads, name what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .._util.messages import received
from .._util.threads import spread
from .._util.validation import aligned, as_number, as_output, as_real, check_choice, thread_count
from ..exceptions import DtypeError, NotPositiveDefiniteError, ShapeError
from ..model._states import states
from ..model.model import Model, require_model
from ._compiled_function import CompiledFunction

LANES = 8
PACKAGE = __package__.partition(".")[0]
INERTIAS = "dynamics.inertias:with_inertias"  # above this folder: imported when first needed, as kernels are
MOST_KEPT = 256  # functions of one quantity that a model keeps, where options can have any value


def imported(path: str) -> Any:
    """Return an object from "module:name", relative to the package."""
    module, _, name = path.partition(":")
    return getattr(import_module(f"{PACKAGE}.{module}"), name)


def with_inertias(model, inertias) -> Model:
    """Return the model whose compiled functions have these inertias."""
    return imported(INERTIAS)(model, inertias)


def forget_oldest(functions: dict) -> None:
    """Delete the functions that a model has kept longest where a new one needs their place."""
    while len(functions) >= MOST_KEPT:
        del functions[next(key for key in functions if key is not None)]  # None: tables that all share


def run(model: Model, function: CompiledFunction, arrays: tuple, out, num_threads: int):
    """Run a function on arrays of any form; raise the error that names the bad argument."""
    arrays = arrays[: function.inputs]
    returned = function.run_arrays(arrays, out, num_threads)
    return run_validated(model, function, arrays, out, num_threads) if returned is None else returned


def compiled_function(entry: Any, model: Model, options: tuple) -> CompiledFunction:
    """Return the compiled function of a model, or of a declaration that has none, and keep it.

    Where there are directions or steps, their number follows the options, or -1 if there is no axis of them.
    """
    declared = entry.quantity.choosing
    values = (*map(option_value, declared, options), *options[len(declared) :])
    if entry.has_model:
        require_model(model)
    function = entry.kept_function(model, values)
    if function is None:
        owner = model if entry.has_model else entry.quantity
        make = imported(entry.quantity.kernel)
        if isinstance(make, type):
            function = make(owner, *values)
        else:
            names = [option.name for option in declared]
            function = make(owner, entry.quantity.name, **dict(zip(names, values, strict=True)))
        function.close()
        function = entry.keep(model, values, function)
    return function


def option_value(option, given) -> Any:
    """Return a valid value of an option; raise ValueError for a choice that there is not."""
    if option.kind == "flag":
        return bool(given)
    if option.kind == "choice" and not all(isinstance(choice, str) for choice in option.choices):
        return equal_choice(option, given)
    if option.kind in ("choice", "reference"):
        value = getattr(given, "name", given) if option.kind == "reference" else given  # Pinocchio's enum
        check_choice(option.name, value, option.choices)
        return str(value)
    return imported(option.read)(given) if option.read else given


def steps_of(model: Model, series, array) -> int:
    """Return the number of steps of an argument with an axis of steps; raise ShapeError if it has none."""
    require_model(model)
    shape = None if array is None else as_real(array, series.name).shape
    return count_steps(series.name, shape, tuple(getattr(model, axis) for axis in series.shape[1:]))


def count_steps(name: str, shape: tuple[int, ...] | None, last: tuple[int, ...]) -> int:
    """Return the number of steps from a shape, None if there is no array, and the axes after them."""
    if shape is None or len(shape) <= len(last):
        got = "None" if shape is None else f"shape {shape}"
        raise ShapeError(
            f"{name} must have shape (..., T, {', '.join(map(str, last))}), forces of every step, got {got}: "
            "pass steps=T for the same forces in T steps",
            shape or (),
            ("...", "T", *last),
        )
    return shape[len(shape) - len(last) - 1]


def equal_choice(option, given) -> Any:
    """Return the choice that equals what is given, such as an enumerator; raise ValueError if none does."""
    for choice in option.choices:
        if choice is given or (choice is not None and isinstance(given, str | int) and choice == given):
            return choice
    choices = ", ".join(repr(choice) for choice in option.choices if choice is not None)
    raise ValueError(f"{option.name} must be one of {choices}; got {given!r}")


def run_validated(model: Model, function: CompiledFunction, given: tuple, out, num_threads: int):
    """Validate and convert arrays, and run the function."""
    threads = thread_count(num_threads)
    present = {
        name: array
        for name, array in zip(function.names, given, strict=True)
        if array is not None or name not in function.optional
    }
    for name, array in present.items():
        if array is None:
            raise DtypeError(f"{name} is needed, got None")
    present |= {name: as_number(present[name], name) for name in function.shared_numbers}
    arrays, batch = states(
        present,
        function.input_shapes,
        model,
        None if function.has_elements else (),
        function.configurations,
        function.any_length,
        function.dtype,
    )
    arrays |= {name: np.array(present[name]) for name in function.shared_numbers}
    if not batch:
        function.require_valid(arrays)
    targets = _targets(function, out, batch)
    series = function.series
    rows = [
        _rows(arrays.get(name), shape, bool(batch), name in series)
        for name, shape in function.input_shapes.items()
    ]
    results = None
    if not (batch or function.in_lanes):
        one = [
            None if row is None else row.reshape(function.input_shapes[name])
            for name, row in zip(function.names, rows, strict=True)
        ]
        returned = function.run_arrays(tuple(one), None, 1)
        if returned is not None and out is None:
            return returned
        if returned is not None:
            results = tuple(returned) if function.results > 1 else (np.asarray(returned),)
        else:
            results = function.run_alone(model, tuple(one))
    if results is None:
        results = _run_batch(model, function, rows, batch, targets, arrays, threads)
    if targets is None:
        return function.number(results[0]) if function.scalar and not batch else function.make(results)
    for to, result in zip(targets, results, strict=True):
        if not np.shares_memory(to, result):
            to[...] = result
    return out


def _run_batch(model, function, rows, batch, targets, arrays, threads) -> tuple[np.ndarray, ...]:
    """Return the results of a batch, or of one configuration; raise the error of a bad pivot of that one."""
    count = math.prod(batch)
    blocks = -(-count // LANES)
    leads = (blocks if function.in_lanes else count,)
    fresh = () if function.in_lanes else function.allocate(count)
    results: list[np.ndarray] = []
    for k, shape in enumerate(function.shapes):
        flat = (*leads, *shape, LANES) if function.in_lanes else (*leads, *shape)
        to = None if targets is None or not batch else targets[k]
        if (
            to is None
            or not to.flags.carray
            or any(np.may_share_memory(to, array) for array in arrays.values())
        ):
            to = aligned(flat) if function.in_lanes else fresh[k]
        results.append(to.reshape(flat))
    failed = np.empty(blocks * LANES, dtype=np.intp)
    work = partial(function.batch, count, rows, tuple(results), failed)
    entries = sum(math.prod(shape) for shape in function.shapes) * count
    spread(work, blocks, threads, function.effort * entries)
    if not batch:
        function.require_regular(failed[0])
        require_pivots(model, failed[0])
    if function.in_lanes:
        return tuple(results)
    return tuple(
        result.reshape(*batch, *shape) for result, shape in zip(results, function.shapes, strict=True)
    )


def _rows(array: np.ndarray | None, tail: tuple[int, ...], batched: bool, series: bool) -> np.ndarray | None:
    """Return an array as (batch, size) or (batch, steps, size), contiguous unless there is a batch."""
    if array is None:
        return None
    count = math.prod(array.shape[: array.ndim - len(tail)])
    rows = array if batched else np.ascontiguousarray(array)
    return rows.reshape(count, *tail[:series], math.prod(tail[series:]))


def _targets(function: CompiledFunction, out, batch: tuple[int, ...]) -> list[np.ndarray] | None:
    """Return the validated arrays of out, one for every result, or None."""
    if out is None:
        return None
    leads = (-(-math.prod(batch) // LANES),) if function.in_lanes else batch
    ends = (LANES,) if function.in_lanes else ()
    return outputs(out, [(*leads, *shape, *ends) for shape in function.shapes], function.dtype)


def require_pivots(model: Model, failed: int) -> None:
    """Raise NotPositiveDefiniteError for a freedom with a bad pivot; -1 means that all are good."""
    if failed >= 0:
        from ..model._massless import massless  # here: few calls fail

        message, name = massless(model, int(failed))
        raise NotPositiveDefiniteError(message, row=int(failed), name=name)


def named_outputs(out, count: int) -> Mapping[str, np.ndarray]:
    """Return the arrays of out by name; raise ShapeError unless there is one for every result."""
    if count == 1:
        return {"out": out}
    if not isinstance(out, tuple | list) or len(out) != count:
        raise ShapeError(f"out must be a tuple of {count} arrays, got {received(out)}", None, (count,))
    return {f"out[{k}]": array for k, array in enumerate(out)}


def outputs(out, shapes, dtype: np.dtype | type = np.float64) -> list[np.ndarray] | None:
    """Return the validated arrays of out, one of this dtype for every shape, or None."""
    if out is None:
        return None
    named = named_outputs(out, len(shapes))
    arrays = [
        as_output(array, shape, dtype, name)
        for (name, array), shape in zip(named.items(), shapes, strict=True)
    ]
    require_disjoint(arrays)
    return arrays


def require_disjoint(arrays) -> None:
    """Raise ShapeError if arrays that receive results share memory."""
    for k, array in enumerate(arrays):
        for j, other in enumerate(arrays[:k]):
            if np.shares_memory(array, other):
                raise ShapeError(f"arrays {j} and {k} of out share memory: pass separate arrays", array.shape)
