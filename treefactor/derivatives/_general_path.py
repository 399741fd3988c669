"""General path of functions of a state: compile them, validate arrays of any form, use threads."""

from __future__ import annotations

from threading import Lock
from typing import Any

from .._functions import binding
from .._functions._compiled_function import CompiledFunction
from .._functions.general_path import run_validated
from ..model.model import Model, require_model

LANES = 8
MOST_KEPT = 64  # compiled functions that a model keeps
_changing = Lock()


def compiled_function(model: Model, kind: type[CompiledFunction], options: tuple) -> CompiledFunction:
    """Return a compiled function of a model, and keep it; the model forgets the oldest of many."""
    require_model(model)
    kept = model._state_functions
    found = kept.get((kind, options))
    if found is None:
        found = kind(model, *options)
        found.close()
        with _changing:
            while len(kept) >= MOST_KEPT:
                del kept[next(iter(kept))]
            kept[kind, options] = found
    return found


def general_path(model: Model, kind: type[CompiledFunction], options: tuple, arrays: tuple, out, num_threads):
    """Run a function on arrays of any form, compiled if new; raise the error that names the bad one."""
    function = compiled_function(model, kind, options)
    found = function.run_arrays(arrays, out, num_threads)
    return run_validated(model, function, arrays, out, num_threads) if found is None else found


def bound(model: Model, kind: type[CompiledFunction], options: tuple, given: dict[str, Any], out, validated):
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
    return binding.bound(compiled_function(model, kind, options), given, out, validated)
