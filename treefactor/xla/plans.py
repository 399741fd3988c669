"""Find the compiled functions behind maps: these run on the buffers of a call without Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._functions import general_path
from ..codegen.backends._routine import Routine
from ..model.gravity import without_gravity
from ..model.model import Model
from ..quantities.frameworks import inputs_of
from ..quantities.functions import ENTRIES, QUANTITIES
from ._plans import FunctionPlan, Plan, RoutinePlan


def plan_of(map: Any) -> Plan | None:
    """Return the plan of a map, or None if Python must run it.

    A map with a plan has ``function``, with the attributes ``name``, ``model`` and ``options``, pairs of
    names and values, and ``kind``, "value", "jvp", "vjp" or "hvp". Functions of inertias have no plan: Python
    arranges these for the kernels. A map of a program has ``routine`` instead, see `RoutinePlan`; that of the
    backend "numpy" has no plan.
    """
    routine = getattr(map, "routine", None)
    if all(0 in shape for shape in map.outputs):
        return None
    if routine is not None:
        return RoutinePlan(*routine, map.inputs, map.outputs) if isinstance(routine[0], Routine) else None
    function = getattr(map, "function", None)
    model = getattr(function, "model", None)
    if not isinstance(model, Model) or function.name not in QUANTITIES:
        return None
    options = dict(function.options)
    if options.get("inertias"):
        return None
    if map.kind == "value":
        parts = _declared(model, function.name, options)
    else:
        parts = _derivative(model, function.name, map.kind, options)
    return None if parts is None else FunctionPlan(*parts, map.inputs, map.outputs)


def _declared(model: Model, name: str, options: dict):
    """Return function, arguments and results of a declared function; None if it has none for this model."""
    entry = ENTRIES[name]
    quantity, counts = entry.quantity, (options["steps"],) if entry.counted else ()
    chosen = [None if x.kind == "count" else options.get(x.name, x.default_value) for x in quantity.choosing]
    try:
        function = general_path.compiled_function(entry, model, (*chosen, *counts))
    except ValueError:
        return None  # Python raises the error
    taken = [one.name for one in inputs_of(quantity, options)]
    numbers = {one.name: np.array(options[one.name]) for one in quantity.options if one.kind == "number"}
    arguments = [taken.index(x) if x in taken else numbers.get(x) for x in function.names]
    return function, arguments, list(range(function.results))


def _derivative(model: Model, name: str, kind: str, options: dict):
    """Return the function of a product with derivatives, where its arguments come from, its results go."""
    derivative = QUANTITIES[name].derivative
    base = QUANTITIES[derivative.case_of or name]
    product = getattr(base.derivative, kind)
    renamed = {derivative.acceleration: "a"}
    names = [renamed.get(one.name, one.name) for one in inputs_of(QUANTITIES[name], options)]
    states = [names.index(one.name) if one.name in names else None for one in base.inputs[:3]]
    forces = names.index("fext") if "fext" in names else None
    if not product or (kind == "hvp" and forces is not None):
        return None
    rest = np.zeros(model.nv)
    x = [rest if k is None else k for k in states]
    build: dict[str, Callable] = {"jvp": _jvp, "vjp": _vjp, "hvp": _hvp}
    options_of, arguments, results = build[kind](states, len(names), x, forces)
    if derivative.acceleration:
        model = without_gravity(model)
    return general_path.compiled_function(ENTRIES[product], model, options_of), arguments, results


def _directions(states: list, start: int) -> list:
    """Return the inputs with the directions of the states, from a number on."""
    return [None if k is None else start + k for k in states]


def _jvp(states: list, count: int, x: list, forces):
    """Map q, v, x, fext, dq, dv, dx, dfext to the arguments of a derivative along directions."""
    change = None if forces is None else count + forces
    return (False, -1), [*x, *_directions(states, count), forces, change], [0]


def _vjp(states: list, count: int, x: list, forces):
    """Map q, v, x, fext, w to the arguments of gradients."""
    results = states if forces is None else [*states, forces]
    return (forces is not None, False, False, -1), [*x, count, forces], results


def _hvp(states: list, count: int, x: list, forces):
    """Map q, v, x, w, dq, dv, dx to the arguments of a second derivative along directions."""
    return (True,), [*x, count, *_directions(states, count + 1), None, None], states
