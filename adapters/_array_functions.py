"""Find the functions of arrays that JAX and PyTorch call, by their names."""

from __future__ import annotations

from typing import Any

from .._util.messages import not_a_model
from ..model.model import Model
from . import _dynamics_functions, _kinematics_functions
from ._maps import ArrayFunction, Map

__all__ = ["ArrayFunction", "Map", "array_function"]

BUILDERS = {**_dynamics_functions.BUILDERS, **_kinematics_functions.BUILDERS}


def array_function(name: str, model: Model, **options: Any) -> ArrayFunction:
    """Return a function of arrays for a model; equal options of one model give the same object."""
    kept = _functions_of(model)
    key = (name, tuple(sorted(options.items())))
    found = kept.get(key)
    if found is None:
        found = kept.setdefault(key, BUILDERS[name](model, key[1], **options))
    return found


def _functions_of(model: Model) -> dict:
    """Return the dictionary of functions that a model keeps; raise TypeError for another object."""
    if not isinstance(model, Model):
        raise TypeError(not_a_model(model))
    if "_array_functions" not in model.__dict__:
        model._keep(_array_functions={})
    return model.__dict__["_array_functions"]
