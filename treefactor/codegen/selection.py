"""Keep the cheapest form of every function, and the inertial parameters that these forms need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .algorithms.inertial_inputs import own_values
from .choices import Choice
from .program import passes
from .program.emit_c import MORE
from .program.expressions import INPUT
from .program.limbs import limbs_of
from .program.names import PI
from .program.parameter_map import ParameterMap
from .program.program import Function

PRECISE = "aba"  # the method whose roundings matter least: it neither forms H nor subtracts to factor it


class Cheapest:
    """Collects the forms of functions: of each the one with the fewest operations is kept.

    If inertial parameters are inputs, all functions are of one variant, as its frames define the inputs.

    Parameters
    ----------
    choice : Choice
    """

    def __init__(self, choice: Choice):
        self.one_variant = bool(choice.inputs)
        self.kept: dict[str, dict[str, tuple[int, Any]]] = {}  # operations and form, by variant and name

    def add(self, function: Function, form: Any) -> None:
        """Add a form of a function, whose operations are compared."""
        variant = function.variant.split(",")[0] if self.one_variant else ""
        of_variant, total = self.kept.setdefault(variant, {}), function.operations.total
        if function.name not in of_variant or total < of_variant[function.name][0]:
            of_variant[function.name] = total, form

    def forms(self) -> dict[str, Any]:
        """Return the form to keep of every function, by name."""
        least = min(self.kept.values(), key=lambda kept: sum(total for total, _ in kept.values()), default={})
        return {name: form for name, (_, form) in least.items()}


class Alternatives:
    """Keeps other forms of functions: some take less time for one configuration, some round less.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model):
        self.has_limbs = bool(limbs_of(model.tree.parent.tolist()))
        self.kept: dict[tuple[str, str], Function] = {}  # by name and method, those of fewest operations

    def add(self, function: Function) -> None:
        """Add a form of a function, before common factors are gathered."""
        key = function.name, _method(function)
        if key not in self.kept or function.operations.total < self.kept[key].operations.total:
            self.kept[key] = function

    def attached(self, function: Function) -> Function:
        """Return a function with its alternatives: by other methods, and if it has limbs by its own.

        They have few more operations than the function, or are candidates of `precise`.
        """
        candidates = (
            alternative
            for (name, method), alternative in self.kept.items()
            if name == function.name and (self.has_limbs or method != _method(function))
        )
        kept = [
            alternative
            for alternative in candidates
            if alternative.operations.total <= MORE * function.operations.total
            or (_is_precise(alternative) and not _is_precise(function))
        ]
        return replace(function, alternatives=tuple(kept))


def precise(function: Function) -> Function:
    """Return the form of a function for single precision: that by articulated bodies, if there is one."""
    forms = [] if _is_precise(function) else filter(_is_precise, function.alternatives)
    least = min(forms, key=lambda form: form.operations.total, default=None)
    return function if least is None else passes.gather(least)


def _is_precise(function: Function) -> bool:
    """Return whether a function, or a part of a group, was written by articulated bodies."""
    return PRECISE in _method(function).split(", ")


def _method(function: Function) -> str:
    """Return the method by which a function was written."""
    return function.variant.partition(", ")[2]


def with_used_inputs(
    model, choice: Choice, functions: dict[str, Function]
) -> tuple[dict[str, Function], ParameterMap | None]:
    """Return functions with only the inertial inputs that one of them uses, and the map to these inputs."""
    if not choice.inputs:
        return functions, None
    variant = next(
        (function.variant.split(",")[0] for function in functions.values()), next(iter(choice.inputs))
    )
    inputs = choice.inputs[variant]
    used = np.unique(
        np.concatenate([np.zeros(0, int), *(function.b[_reads(function)] for function in functions.values())])
    )
    rows = np.concatenate([inputs.rows[used], inputs.folded])
    own, freedoms = own_values(model), tuple(model.tree.names or map(str, range(model.nv)))
    names = tuple(joint.name for joint in model.joints)
    renumbered = {name: _renumbered(function, used) for name, function in functions.items()}
    return renumbered, ParameterMap.of(names, freedoms, used.size, rows, own)


def _reads(function: Function) -> np.ndarray:
    """Return which statements are inertial inputs."""
    return (function.op == INPUT) & (function.a == len(function.inputs) - 1)


def _renumbered(function: Function, used: np.ndarray) -> Function:
    """Return a function whose inertial inputs are numbered by their place among those in use."""
    reads, b = _reads(function), function.b.copy()
    b[reads] = np.searchsorted(used, b[reads])
    return replace(function, b=b, inputs=(*function.inputs[:-1], (PI, used.size)))
