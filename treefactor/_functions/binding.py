"""Bind public functions to arrays: check them once, with errors that name the bad one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._util.bindable import register
from .._util.validation import as_number, check_choice, require_apart, require_bindable
from ..model.model import Model
from ._bound_function import BoundFunction
from ._compiled_function import CompiledFunction
from ._entry import Entry
from .general_path import compiled_function, named_outputs, require_disjoint


def make_bindable(entry: Entry) -> None:
    """Make `treefactor.bind` accept the public function of a quantity."""
    if entry.quantity.bound:
        register(partial(_bind, entry), [entry.function])


def _bind(entry: Entry, function, model: Model, given: dict[str, Any], out) -> BoundFunction:
    """Return the bound call of a public function; `given` are its arguments by name."""
    for option in entry.quantity.options:
        if "lanes" in option.choices:
            check_choice(option.name, given[option.name], tuple(x for x in option.choices if x != "lanes"))
    validated = partial(function, model, **given, out=out)
    for array in entry.quantity.inputs:  # a number that may be left out holds for all calls
        if type(array.default) is float and isinstance(given[array.name], float | int):
            given = given | {array.name: np.array(given[array.name], np.float64)}
    options = tuple(given[option.name] for option in entry.quantity.choosing)
    if entry.counted:
        options = (*options, entry.count_by_name(model, given))
    return bound(compiled_function(entry, model, options), given, out, validated)


def bound(
    function: CompiledFunction, given: dict[str, Any], out, validated, returned: Any = None
) -> BoundFunction:
    """Return the bound call of a compiled function.

    Parameters
    ----------
    function : CompiledFunction
    given : dict
        Arguments by name, those of `names` of the function among them.
    out : ndarray or tuple of ndarray
    validated : callable
        Does the same with validation.
    returned : object, optional
        What calls return; by default out.

    Raises
    ------
    ValueError
        If an array is not contiguous, of the function's dtype and the right shape, or shares memory with out.
    """
    numbers = {name: as_number(given[name], name) for name in function.shared_numbers}
    arrays = {
        name: given[name]
        for name in function.names
        if name not in numbers and (given[name] is not None or name not in function.optional)
    }
    for name, array in arrays.items():
        require_bindable(array, function.input_shapes[name], name, function.dtype)
    named = named_outputs(out, function.results)
    for (name, result), shape, own in zip(named.items(), function.shapes, function.in_place, strict=True):
        require_bindable(result, shape, name, function.dtype)
        replaced = own is not None and arrays[own].ctypes.data == result.ctypes.data
        require_apart(result, {key: x for key, x in arrays.items() if not (replaced and key == own)})
    require_disjoint(tuple(named.values()))
    given_arrays = tuple((arrays | numbers).get(name) for name in function.names)
    return BoundFunction(function, given_arrays, out, validated, returned)
