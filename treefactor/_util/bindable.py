"""Register the functions that `treefactor.bind` accepts: every module adds its own, with their builders."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ._bound_call import BoundCall
from .validation import require_apart, require_bindable

Builder = Callable[..., BoundCall]  # builder(function, model, arguments, out, **options)
BUILDERS: dict[Callable[..., Any], Builder] = {}


def register(builder: Builder, functions: Iterable[Callable[..., Any]]) -> None:
    """Make `treefactor.bind` call ``builder(function, model, arguments, out, **options)`` for functions."""
    BUILDERS.update(dict.fromkeys(functions, builder))


def builder_of(function) -> Builder:
    """Return the builder of a function; raise ValueError if it cannot be bound."""
    if function not in BUILDERS:
        known = ", ".join(sorted(one.__name__ for one in BUILDERS))
        raise ValueError(f"function must be one of {known} to be bound, got {function!r}")
    return BUILDERS[function]


def require_options(function, builder: Builder, options: Mapping[str, object]) -> None:
    """Raise ValueError for an argument by name that a bound call of the function does not take."""
    parameters = inspect.signature(builder).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    for name in options.keys() - {one.name for one in parameters if one.default is not one.empty}:
        raise ValueError(
            f"{function.__name__} takes no {name}= to be bound: pass arrays after the model, and out"
        )


def bound_arrays(
    function,
    shapes: Mapping[str, tuple[int, ...]],
    arguments: tuple[np.ndarray, ...],
    result: tuple[int, ...],
    out: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return the arguments by name after checking that they and out can be bound.

    Parameters
    ----------
    function
        Named in messages.
    shapes : dict of str to tuple of int
        Names and shapes of the arrays after the model.
    arguments : tuple of ndarray
    result : tuple of int
        Shape of out.
    out : ndarray

    Raises
    ------
    ValueError
        If an array is missing, is not contiguous float64 of the right shape, or shares memory with out.
    """
    if len(arguments) != len(shapes):
        raise ValueError(
            f"{function.__name__} takes {len(shapes)} arrays after the model: {', '.join(shapes)}; "
            f"got {len(arguments)}"
        )
    arrays = dict(zip(shapes, arguments, strict=True))
    for name, array in arrays.items():
        require_bindable(array, shapes[name], name)
    require_bindable(out, result, "out")
    require_apart(out, arrays)
    return arrays
