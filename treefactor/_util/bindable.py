"""Register the functions that `treefactor.bind` accepts: every module adds its own, with their builders."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ._bound_call import BoundCall
from .messages import similar

Builder = Callable[..., BoundCall]  # builder(function, model, given, out): given has the arguments by name
BUILDERS: dict[Callable[..., Any], Builder] = {}
NAMES: set[str] = set()  # of functions that can be bound, those included that are made when first used
NOT_BOUND = ("out", "num_threads")  # arguments of every function that `given_arguments` leaves out


def register(builder: Builder, functions: Collection[Callable[..., Any]]) -> None:
    """Make `treefactor.bind` call ``builder(function, model, given, out)`` for functions."""
    BUILDERS.update(dict.fromkeys(functions, builder))
    NAMES.update(function.__name__ for function in functions)


def builder_of(function) -> Builder:
    """Return the builder of a function; raise ValueError if it cannot be bound."""
    try:
        return BUILDERS[function]
    except (KeyError, TypeError):  # TypeError: not hashable
        known = ", ".join(sorted(NAMES))
        raise ValueError(f"function must be one of {known} to be bound, got {function!r}") from None


def given_arguments(function, arguments: tuple, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a function after its model by name, defaults included.

    Raises
    ------
    ValueError
        If an argument is unknown, missing or given twice; names it, and those that the function takes.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]
    defaults = {one.name: one.default for one in parameters if one.name not in NOT_BOUND}
    needed = [name for name, default in defaults.items() if default is inspect.Parameter.empty]
    for name in options:
        if name not in defaults:
            near = similar(name, defaults)
            raise ValueError(
                f"{function.__name__} takes no {name} to be bound, only {', '.join(defaults)} and out{near}"
            )
    given = dict(zip(defaults, arguments, strict=False))
    twice = sorted(given.keys() & options.keys())
    if twice:
        raise ValueError(f"{function.__name__} received {twice[0]} twice, by its place and by its name")
    given |= options
    if len(arguments) > len(defaults) or not given.keys() >= set(needed):
        missing = ", ".join(name for name in needed if name not in given)
        raise ValueError(
            f"{function.__name__} takes {len(needed)} arguments after the model: {', '.join(needed)}; "
            f"got {len(arguments) + len(options)}{missing and f', without {missing}'}"
        )
    return defaults | given
