"""Cross-validate engines: compute H and q̈ of a robot in each, and name the reason for every difference.

First every engine gets the robot through its adapter, which avoids the engine's traps: everything must agree
with Pinocchio to rounding (see ``treefactor.check.compare``). Then it gets the file the ordinary way; what
differs then is explained by ``treefactor.check.differences``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from importlib import import_module
from typing import cast

import numpy as np

from .. import tolerances
from .._util.engine import UNEXPLAINED, Engine
from ..exceptions import AdapterError, NotPositiveDefiniteError, TreefactorError
from .compare import Comparison, Reference, compare_alone, compare_engine, compare_pinocchio, worst
from .compare_mimic import compare_mimic
from .differences import Cause
from .explain import listed, mjcf_reader, plain_way
from .isolated import Worker, WorkerError
from .results import AGREES, CANNOT_LOAD, DISAGREES, EXPLAINED, GOOD, Detail, Row
from .robots import Robot
from .selfcheck import SelfCheck, self_check

__all__ = [
    "AGREES",
    "CANNOT_LOAD",
    "DISAGREES",
    "ENGINES",
    "EXPLAINED",
    "GOOD",
    "Detail",
    "Row",
    "SelfCheck",
    "check",
    "self_check",
]

ENGINES = {
    "pinocchio": "pinocchio",
    "pybullet": "pybullet",
    "mujoco": "mujoco",
    "drake": "pydrake",
}  # modules
OWN = "treefactor"  # its own recursions: an engine where Pinocchio is missing
NOT_INSTALLED = "Pinocchio is not installed"
READ_MJCF = ("pinocchio", "mujoco", OWN)
DEFAULT_ENGINES = ("pinocchio", "pybullet", "mujoco")  # Drake takes long to import and refuses many files

SEE_OUTPUT = "see its output"  # in the errors of an adapter


def check(
    robots: Iterable[Robot],
    engines: Iterable[str] = DEFAULT_ENGINES,
    samples: int = 3,
    seed: int = 0,
    timeout: float | None = None,
) -> Iterator[list[Row]]:
    """Compare the engines on every robot.

    Parameters
    ----------
    robots : iterable of Robot
    engines : iterable of str
        Among ``ENGINES``.
    samples : int
        Random states for each robot.
    seed : int
        The states depend on it and on the robot's name alone.
    timeout : float, optional
        Every engine gets a process of its own, and this many seconds for a robot: one that crashes or hangs
        loses its row only. By default all is done in this process, without a limit.

    Yields
    ------
    list of Row
        For one robot after another, a row for every engine, and one for the coupled model if its file has
        mimic joints. Without Pinocchio every engine is checked against itself, and so is treefactor.

    Raises
    ------
    AdapterError
        If an engine is not installed.
    """
    engines = tuple(engines) if has_pinocchio() else (OWN, *engines)
    adapters_of(engines)
    if timeout is None:
        for robot in robots:
            yield _check_robot(robot, engines, samples, seed)
        return
    workers = {engine: Worker(timeout) for engine in engines}
    try:
        for robot in robots:
            yield _check_apart(robot, workers, samples, seed)
    finally:
        for worker in workers.values():
            worker.close()


def adapters_of(engines: Iterable[str]) -> dict[str, Engine]:
    """Import the adapters of the engines, and Pinocchio's where it is installed."""
    wanted = dict.fromkeys([*["pinocchio"] * has_pinocchio(), *engines])
    paths = {name: f"treefactor.adapters.{name}_" for name in wanted} | {OWN: "treefactor.check.own"}
    return {name: cast(Engine, import_module(paths[name])) for name in wanted}


def has_pinocchio() -> bool:
    """Return whether Pinocchio, the reference of all comparisons, can be imported."""
    try:
        import_module("treefactor.adapters.pinocchio_")
    except AdapterError:
        return False
    return True


def _check_apart(robot: Robot, workers: dict[str, Worker], samples: int, seed: int) -> list[Row]:
    """Check one robot with each engine in its own process, all at the same time."""
    begun = {
        engine: worker.submit(_check_robot, robot, (engine,), samples, seed)
        for engine, worker in workers.items()
    }
    rows = {}
    for engine, worker in workers.items():
        try:
            rows[engine] = [_with_output(row, worker.output) for row in worker.result(begun[engine])]
        except WorkerError as error:
            rows[engine] = _after_failure(robot, engine, worker, str(error), samples, seed)
    found = [row for answer in rows.values() for row in answer]
    return sorted(found, key=lambda row: row.base != robot.base)  # the coupled model last


def _with_output(row: Row, output: str) -> Row:
    """Append an engine's output to its result if the engine refused the robot and refers to it."""
    return _noted(row, output) if row.verdict not in GOOD and SEE_OUTPUT in row.reason else row


def _after_failure(robot: Robot, engine: str, worker: Worker, failure: str, samples, seed) -> list[Row]:
    """Check again without Pinocchio after a process failed: Pinocchio may have caused the failure."""
    failed = [Row(robot.name, robot.base, engine, reason=failure)]
    if engine == "pinocchio":
        return failed
    missing = f"Pinocchio fails on it: {failure}"
    try:
        return worker.result(worker.submit(_check_robot, robot, (engine,), samples, seed, missing))
    except WorkerError:
        return failed


def _check_robot(robot: Robot, engines, samples: int, seed: int, missing: str = "") -> list[Row]:
    """Check one robot with all engines; one engine's failure does not discard the others' results.

    ``missing`` gives the reason for a missing reference, if it is already known.
    """
    adapters = adapters_of(engines)
    missing = missing or ("" if "pinocchio" in adapters else NOT_INSTALLED)
    with getattr(adapters.get("mujoco"), "quiet", nullcontext)():
        reference = None
        if not missing:
            try:
                reference = Reference(adapters["pinocchio"], robot, samples, seed)
            except Exception as error:
                missing = text_of(error)
        rows = []
        for engine in engines:
            if robot.is_mjcf and engine not in READ_MJCF:
                continue
            row = Row(robot.name, robot.base, engine)
            try:
                rows.append(_row(row, adapters[engine], robot, reference, missing, samples, seed))
            except AdapterError as error:
                rows.append(replace(row, reason=str(error)))
            except Exception as error:  # one engine's failure must not discard the others' results
                rows.append(replace(row, verdict=DISAGREES, reason=text_of(error)))
        if reference is not None and "pinocchio" in engines:
            rows += _mimic_rows(Row(robot.name, f"{robot.base}, mimic", "pinocchio"), reference)
    return rows


def text_of(error: Exception) -> str:
    """Return an error's message, with the class name unless the error is a TreefactorError."""
    return str(error) if isinstance(error, TreefactorError) else f"{type(error).__name__}: {error}"


def _row(
    row: Row, adapter: Engine, robot: Robot, reference: Reference | None, missing: str, samples, seed
) -> Row:
    """Return the result of one engine; raise AdapterError where the engine cannot load the robot."""
    if reference is None:
        if row.engine == "pinocchio":
            return replace(row, reason=missing)
        why = missing if missing == NOT_INSTALLED else "Pinocchio cannot load it"
        row = _alone(row, adapter, robot, samples, seed, why)
        return _with_settings(row, adapter, robot, None, seed) if robot.is_mjcf else row
    if not reference.model.nv:
        return replace(row, n=0, verdict=AGREES, reason="no joint moves")
    if row.engine == "pinocchio":
        return _judge(row, compare_pinocchio(reference))
    if robot.is_mjcf:
        row, gravity = _mjcf_row(row, adapter, robot, reference, samples, seed), None
    else:
        row = _with_causes(_judge(row, compare_engine(adapter, reference)), adapter, reference)
        gravity = reference.model.gravity.linear
    return row if reference.singular else _with_settings(row, adapter, robot, gravity, seed)


def _mjcf_row(row: Row, adapter: Engine, robot: Robot, reference: Reference, samples, seed) -> Row:
    """Compare an engine with Pinocchio on an MJCF that both read alike; otherwise check it alone."""
    with closing(adapter.load(robot.path)) as body:
        try:
            adapter.transform(body, reference.model, reference.states[0].q)
        except AdapterError as error:  # Pinocchio's reader of MJCF makes other joints of some
            return _alone(row, adapter, robot, samples, seed, str(error))
    row = _judge(row, compare_engine(adapter, reference))
    if row.verdict == AGREES or _judge(row, compare_alone(adapter, robot, samples, seed)).verdict != AGREES:
        return row
    return _with_reader(row, adapter, reference)


def _alone(row: Row, adapter: Engine, robot: Robot, samples: int, seed: int, why: str) -> Row:
    """Check an engine against itself where the robot has no reference."""
    row = _judge(row, compare_alone(adapter, robot, samples, seed))
    return _noted(row, f"checked against itself only: {why}")


def _mimic_rows(row: Row, reference: Reference) -> list[Row]:
    """Return the result of the model with coupled mimic joints; an empty list if all of them are fixed."""
    try:
        if not reference.mimic:
            return []
    except AdapterError:  # Pinocchio reads XML that others do not
        return []
    robot, model, refused = reference.robot, None, ""
    try:
        model = reference.adapter.load(robot.path, robot.floating, mimic=True)
    except AdapterError as error:
        refused = f"coupled by ourselves: {str(error).removeprefix(f'{robot.path}: ')}"
    try:
        found = compare_mimic(reference, model)
    except AdapterError as error:
        return [replace(row, verdict=EXPLAINED, reason=f"mimic joints stay free: {error}")]
    except Exception as error:
        return [replace(row, verdict=DISAGREES, reason=str(error))]
    return [_noted(_judge(row, found), refused)] if found.tree.n < reference.model.nv else []


def _noted(row: Row, remark: str) -> Row:
    """Return the result with another remark in its reason."""
    return replace(row, reason="; ".join(filter(None, [row.reason, remark])))


def _judge(row: Row, c: Comparison) -> Row:
    """Fill a result with the worst errors and the verdict whether they are within tolerance."""
    allowed = tolerances.cross_validation(row.engine, c.tree.n, c.scaled_condition)
    beyond = [] if c.same_tree else ["another tree"]
    beyond += [
        f"{what} by {error:.1e}"
        for what, error in c.errors.items()
        if not error <= allowed[what]  # NaN counts as beyond
    ]
    row = replace(
        row,
        n=c.tree.n,
        density=c.tree.density,
        condition=c.condition,
        same_tree=c.same_tree,
        error_h=c.errors.get("H"),
        error_bias=c.errors.get("bias"),
        error_factor=c.errors.get("factor"),
        error_ld=c.errors.get("L and D"),
        error_qdd=c.errors.get("q̈"),
        error_own=c.errors.get("own q̈"),
        verdict=DISAGREES if beyond else AGREES,
        reason=", ".join(beyond),
        detail=Detail(tuple(c.tree.parent.tolist()), tuple(c.tree.names or ()), c.delta),
    )
    if c.singular and not beyond:
        return replace(row, verdict=EXPLAINED, reason=c.singular)
    return row


def _with_causes(row: Row, adapter: Engine, reference: Reference) -> Row:
    """Add the causes for which the engine differs when it loads the file in an ordinary way."""
    causes, ways, left = [], [], 0.0
    for way in adapter.WAYS:
        plain = plain_way(adapter, way, reference)
        causes += [replace(cause, way=way) for cause in plain.causes]
        ways.append(plain)
        left = worst(left, plain.unexplained)
    detail = replace(row.detail, delta_plain=ways[0].delta)
    row = replace(row, error_plain=ways[0].error, causes=tuple(causes), detail=detail)
    return _explained_by(row, causes, "" if left <= tolerances.PLAIN_H else f"{left:.1e} unexplained")


def _with_settings(row: Row, adapter: Engine, robot: Robot, gravity, seed: int) -> Row:
    """Add the effects that act by default when a script simulates the file as it is."""
    try:
        found = adapter.settings(robot.path, robot.floating, gravity, np.random.default_rng(seed))
    except (AdapterError, NotPositiveDefiniteError):  # the result already has this reason
        return row
    causes = [Cause(name, effect, where, "simulated", "q̈") for name, effect, where in found]
    left = "simulated q̈ unexplained" if any(cause.name == UNEXPLAINED for cause in causes) else ""
    return _explained_by(replace(row, causes=(*row.causes, *causes)), causes, left)


def _explained_by(row: Row, causes: list[Cause], left: str) -> Row:
    """Add reasons to a result; anything unexplained is reported as "disagrees"."""
    if row.verdict == DISAGREES or not (causes or left):
        return row
    reason = ". ".join(filter(None, [left, row.reason, listed(causes)]))
    return replace(row, verdict=DISAGREES if left else EXPLAINED, reason=reason)


def _with_reader(row: Row, adapter, reference: Reference) -> Row:
    """Add what Pinocchio reads from an MJCF differently from MuJoCo, which defines the format."""
    found = mjcf_reader(adapter, reference)
    row = replace(row, error_plain=found.error, causes=tuple(found.causes))
    if found.causes and found.unexplained <= tolerances.PLAIN_H:
        reason = ". ".join(filter(None, [reference.singular, listed(found.causes)]))
        return replace(row, verdict=EXPLAINED, reason=reason)
    return replace(row, reason=f"{row.reason}; {found.unexplained:.1e} unexplained. {listed(found.causes)}")
