"""Define the calls that the comparison makes in other processes; arguments and results are plain data."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._util.protocol import MIMIC
from ..exceptions import AdapterError
from .cells import EXCLUDED, NOT_OFFERED, REFUSED, Cell, UsedEngine
from .engines import ENGINES, ChosenEngine, IncompleteEngineError, engine_module, engine_version, pip_of
from .examine import Examination
from .judge import excluded, judge
from .reference import Reference, compute_reference
from .robots import Robot


def engine_task(chosen: ChosenEngine) -> UsedEngine | str:
    """Import an engine; return its version and precision, or on one line why it is not installed.

    For an engine of treefactor that line says how to get it. Raises what else its import raises: then the
    engine is installed, and broken.
    """
    try:
        module = engine_module(chosen.name)
    except Exception as error:  # engines raise whatever their libraries do while they are imported
        if chosen.name in ENGINES and not engine_version(chosen.name):
            return ENGINES[chosen.name].remedy
        if isinstance(error, IncompleteEngineError) or not isinstance(error, AdapterError):
            raise
        return " ".join(str(error).split())
    _require_options(chosen, module)
    pip = pip_of(chosen.name) or getattr(module, "PIP", "")
    version = engine_version(chosen.name) or str(getattr(module, "VERSION", ""))
    return UsedEngine(chosen.title, version, module.DTYPE, platform.python_version(), pip)


def _require_options(chosen: ChosenEngine, module) -> None:
    """Raise AdapterError if an option of the configuration is unknown to the engine."""
    known = getattr(module, "OPTIONS", {})
    for option in chosen.options:
        if option not in known:
            names = ", ".join(known) or "none"
            raise AdapterError(f"options of {chosen.title} are {names}; got {option!r}")


def reference_task(name: str, robot: Robot, samples: int, seed: int) -> Reference | str:
    """Compute the values of a reference engine; return them, or why the engine has none."""
    try:
        module = engine_module(name)
        options = frozenset({"root_link"} & module.OPTIONS.keys()) | own_options(robot)
        return compute_reference(module, name, robot, samples, seed, options)
    except Exception as error:  # another engine becomes the reference
        text = " ".join(str(error).split())
        return text if isinstance(error, AdapterError) else f"{type(error).__name__}: {text}"


def robot_task(
    chosen: ChosenEngine, robot: Robot, reference: Reference, quantities: Sequence[str], ordinary: bool
) -> list[Cell]:
    """Compare one engine with the reference on one robot."""
    module = engine_module(chosen.name)
    if reason := _not_offered(module, robot):
        return excluded(robot, chosen.title, quantities, NOT_OFFERED, reason)
    options = frozenset(chosen.options) | own_options(robot) | conventions(module)
    with tempfile.TemporaryDirectory() as folder:
        examination = Examination(
            module, robot, reference, tuple(quantities), chosen.weight, options, Path(folder)
        )
        return judge(examination, chosen.title, ordinary)


def refusal_task(
    chosen: ChosenEngine, robot: Robot, quantities: Sequence[str], refusals: Mapping[str, str]
) -> list[Cell]:
    """Load a robot for which there is no reference in an engine, and return its cells.

    ``refusals`` are the reasons of the references by their names; that of the engine is its own.
    """
    module = engine_module(chosen.name)
    if reason := _not_offered(module, robot):
        return excluded(robot, chosen.title, quantities, NOT_OFFERED, reason)
    options = frozenset(chosen.options) | own_options(robot) | conventions(module)
    own = Examination(module, robot, None, (), chosen.weight, options).refusal()
    others = "; ".join(f"{name}: {why}" for name, why in refusals.items() if name != chosen.title or not own)
    reason = "; ".join(filter(None, (own, others and f"no reference: {others}")))
    return excluded(robot, chosen.title, quantities, REFUSED if own else EXCLUDED, reason)


def _not_offered(module, robot: Robot) -> str:
    """Return why an engine does not take a robot of this format and base, "" if it does."""
    if robot.format != "urdf" and robot.format not in module.READS:
        return f"does not read {robot.format.upper()}"
    if robot.floating and not getattr(module, "FLOATS", True):
        return "has no floating base"
    return "leaves mimic joints free" if robot.mimic and not getattr(module, "COUPLES", False) else ""


def own_options(robot: Robot) -> frozenset[str]:
    """Return the options of load that a robot demands."""
    return frozenset({MIMIC} if robot.mimic else ())


def conventions(module) -> frozenset[str]:
    """Return the options that make an engine's conventions those of the comparison: no differences."""
    return getattr(module, "CONVENTIONS", frozenset())
