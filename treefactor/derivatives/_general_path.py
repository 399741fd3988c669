"""General path of functions of a state: compile them, validate arrays of any form, use threads."""

from __future__ import annotations

import math
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from .._util.threads import spread
from .._util.validation import aligned, flatten, require_apart, require_bindable, thread_count
from ..dynamics._general_path import require_pivots
from ..kinematics._general_path import named_outputs, outputs, require_disjoint
from ..model._states import states
from ..model.model import Model, require_model
from ._calls import BoundStateFunction
from ._state_function import StateFunction

LANES = 8
MOST_KEPT = 64  # compiled functions that a model keeps
_changing = Lock()


def compiled_function(model: Model, kind: type[StateFunction], options: tuple) -> StateFunction:
    """Return a compiled function of a model, and keep it; the model forgets the oldest of many."""
    require_model(model)
    kept = model._state_functions
    found = kept.get((kind, options))
    if found is None:
        found = kind(model, *options)
        with _changing:
            while len(kept) >= MOST_KEPT:
                del kept[next(iter(kept))]
            kept[kind, options] = found
    return found


def general_path(model: Model, kind: type[StateFunction], options: tuple, arrays: tuple, out, num_threads):
    """Run a function on arrays of any form, compiled if new; raise the error that names the bad one."""
    function = compiled_function(model, kind, options)
    found = function.run(arrays, out, num_threads)
    return _run_validated(model, function, arrays, out, num_threads) if found is None else found


def _run_validated(model: Model, function: StateFunction, given: tuple, out, num_threads: int):
    """Validate and convert arrays, and run the function."""
    threads = thread_count(num_threads)
    present = {
        name: array
        for name, array in zip(function.names, given, strict=True)
        if array is not None or name not in function.optional
    }
    arrays, batch = states(present, function.input_shapes, model)
    targets = _outputs(function, out, batch)
    rows = [_rows(arrays.get(name), shape) for name, shape in function.input_shapes.items()]
    results = None
    if not (batch or function.in_lanes):
        one = [
            None if x is None else x.reshape(function.input_shapes[name])
            for name, x in zip(function.names, rows, strict=True)
        ]
        found = function.run(tuple(one), None, 1)
        results = None if found is None else (tuple(found) if isinstance(found, tuple) else (found,))
    if results is None:
        results = _run_batch(model, function, rows, batch, targets, arrays, threads)
    if targets is None:
        return function.make(results)
    for to, result in zip(targets, results, strict=True):
        if not np.shares_memory(to, result):
            to[...] = result
    return out


def _run_batch(model, function, rows, batch, targets, arrays, threads) -> tuple[np.ndarray, ...]:
    """Return the results of a batch, or of one configuration; raise the error of a bad pivot of that one."""
    count = math.prod(batch)
    blocks = -(-count // LANES)
    leads = (blocks if function.in_lanes else count,)
    results: list[np.ndarray] = []
    fresh = () if function.in_lanes else function.allocate(count)
    for k, shape in enumerate(function.shapes):
        flat = (*leads, *shape, LANES) if function.in_lanes else (*leads, *shape)
        to = None if targets is None or not batch else targets[k]
        if to is None or not to.flags.carray or any(np.may_share_memory(to, x) for x in arrays.values()):
            to = aligned(flat) if function.in_lanes else fresh[k]
        results.append(to.reshape(flat))
    failed = np.empty(blocks * LANES, dtype=np.intp)
    work = partial(function.batch, count, rows, tuple(results), failed)
    spread(work, blocks, threads, 16 * sum(math.prod(shape) for shape in function.shapes) * count)
    if not batch:
        require_pivots(model, failed[0])
    if function.in_lanes:
        return tuple(results)
    return tuple(x.reshape(*batch, *shape) for x, shape in zip(results, function.shapes, strict=True))


def _rows(array: np.ndarray | None, tail: tuple[int, ...]) -> np.ndarray | None:
    """Return an array with one leading axis and contiguous rows, or None."""
    if array is None:
        return None
    rows = flatten(np.ascontiguousarray(array), len(tail))
    return rows.reshape(len(rows), math.prod(tail))


def _outputs(function: StateFunction, out, batch: tuple[int, ...]) -> list[np.ndarray] | None:
    """Return the validated arrays of out, one for every result, or None."""
    if out is None:
        return None
    leads = (-(-math.prod(batch) // LANES),) if function.in_lanes else batch
    ends = (LANES,) if function.in_lanes else ()
    return outputs(out, [(*leads, *shape, *ends) for shape in function.shapes])


def bound(model: Model, kind: type[StateFunction], options: tuple, given: dict[str, Any], out, validated):
    """Return the bound call of a function of a state.

    Parameters
    ----------
    model : Model
    kind, options
        Class and options of the function.
    given : dict
        Arguments by name, those of `names` of the function among them.
    out : ndarray or tuple of ndarray
    validated : callable
        Does the same with validation.

    Raises
    ------
    ValueError
        If an array is not contiguous float64 of the right shape, or shares memory with out.
    """
    function = compiled_function(model, kind, options)
    arrays = {
        name: given[name]
        for name in function.names
        if given[name] is not None or name not in function.optional
    }
    for name, array in arrays.items():
        require_bindable(array, function.input_shapes[name], name)
    named = named_outputs(out, function.results)
    for (name, one), shape in zip(named.items(), function.shapes, strict=True):
        require_bindable(one, shape, name)
        require_apart(one, arrays)
    require_disjoint(tuple(named.values()))
    return BoundStateFunction(function, tuple(arrays.get(name) for name in function.names), out, validated)
