"""Find the compiled functions behind maps: these run on the buffers of a call without Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._functions import general_path
from ..dynamics._rollouts import METHODS, Recursive
from ..model.gravity import without_gravity
from ..model.model import Model
from ..quantities.functions import ENTRIES
from ._plans import Plan

DYNAMICS = ("forward_dynamics", "aba", "rnea", "bias", "h_times", "crba")
FAMILIES = {  # by name: the functions whose products with derivatives are its own
    "forward_dynamics": "forward_dynamics",
    "aba": "forward_dynamics",
    "rnea": "rnea",
    "bias": "rnea",
    "h_times": "rnea",
}
KINEMATICS = (
    *("frame_placement", "frame_jacobian", "frame_velocity", "joint_placements"),
    *("center_of_mass", "center_of_mass_jacobian", "centroidal_momentum"),
)

MOVES = ("integrate", "difference", "normalize")


def plan_of(map: Any) -> Plan | None:
    """Return the plan of a map, or None if Python must run it.

    A map with a plan has ``function``, with the attributes ``name``, ``model`` and ``options``, pairs of
    names and values, and ``kind``, "value", "jvp", "vjp" or "hvp". Functions of inertias have no plan: Python
    arranges these for the kernels.
    """
    function = getattr(map, "function", None)
    model = getattr(function, "model", None)
    if not isinstance(model, Model):
        return None
    options = dict(function.options)
    if options.get("inertias"):
        return None
    found = None
    if map.kind != "value" and function.name in FAMILIES:
        found = _derivative(model, function.name, map.kind, options)
    elif map.kind == "value" and function.name in (*DYNAMICS, *KINEMATICS):
        found = _declared(model, function.name, options)
    elif map.kind == "value" and function.name in ("step", "rollout"):
        found = _motion(model, options)
    elif map.kind == "value" and function.name in MOVES and model.nv:
        move = general_path.compiled_function(ENTRIES[function.name], model, ())
        found = move, list(range(move.inputs)), [0]
    return None if found is None else Plan(*found, map.inputs, map.outputs)


def _declared(model: Model, name: str, options: dict):
    """Return function, arguments and results of a declared function."""
    entry = ENTRIES[name]
    if "aba" in (name, options.get("method")) and model.coupling is not None:
        return None  # Python raises the error
    chosen = tuple(options.get(option.name, option.default_value) for option in entry.quantity.options)
    function = general_path.compiled_function(entry, model, chosen)
    taken = [place for place in function.names if place != "fext" or options.get("fext")]
    return function, [taken.index(place) if place in taken else None for place in function.names], [0]


def _motion(model: Model, options: dict):
    """Return simulation, arguments and results of a step, or of a rollout, which has a number of steps."""
    fext, steps = bool(options.get("fext")), options.get("steps", 1)
    if steps < 1 or not model.nv:
        return None
    method = METHODS.index(options.get("method", METHODS[0]))
    simulation = Recursive(model, fext), method, options["h"], steps, "steps" in options
    return simulation, [0, 1, 2, 3 if fext else None], [0, 1]


def _derivative(model: Model, name: str, kind: str, options: dict):
    """Return the function of a product with derivatives, where its arguments come from, its results go."""
    fext = bool(options.get("fext"))
    if fext and (kind == "hvp" or name == "h_times"):
        return None
    states = {"bias": (0, 1, None), "h_times": (0, None, 1)}.get(name, (0, 1, 2))
    count = sum(k is not None for k in states) + fext
    rest = np.zeros(model.nv)
    x = [rest if k is None else k for k in states]
    forces = count - 1 if fext else None
    build: dict[str, Callable] = {"jvp": _jvp, "vjp": _vjp, "hvp": _hvp}
    options_of, arguments, results = build[kind](states, count, x, forces)
    if name == "h_times":
        model = without_gravity(model)
    entry = ENTRIES[f"{FAMILIES[name]}_{kind}"]
    return general_path.compiled_function(entry, model, options_of), arguments, results


def _directions(states: tuple, start: int) -> list:
    """Return the inputs with the directions of the states, from a number on."""
    return [None if k is None else start + k for k in states]


def _jvp(states: tuple, count: int, x: list, forces):
    """Map q, v, x, fext, dq, dv, dx, dfext to the arguments of a derivative along directions."""
    change = None if forces is None else count + forces
    return (False, -1), [*x, *_directions(states, count), forces, change], [0]


def _vjp(states: tuple, count: int, x: list, forces):
    """Map q, v, x, fext, w to the arguments of gradients."""
    results = list(states) if forces is None else [*states, forces]
    return (forces is not None, False, False, -1), [*x, count, forces], results


def _hvp(states: tuple, count: int, x: list, forces):
    """Map q, v, x, w, dq, dv, dx to the arguments of a second derivative along directions."""
    return (True,), [*x, count, *_directions(states, count + 1), None, None], list(states)
