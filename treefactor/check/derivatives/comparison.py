"""Compare the derivatives of engines with treefactor's, and name the reasons for differences.

``check_derivatives`` takes each engine's matrices at random states. It compares them with treefactor's, and
with central differences of the engine's own values; treefactor's also with its products, and its Hessian with
differences of gradients. ``causes`` explains what differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace

from ...exceptions import AdapterError, TreefactorError
from ..cells import AGREES, CRASHED, DISAGREES, EXPLAINED, IMPOSSIBLE, REFUSED, TIMED_OUT
from ..files import faults_of
from ..robots import Robot
from ..workers import CrashedError, TimedOutError, Worker, WorkerError
from .case import Case, Errors, adapter_of
from .causes import DerivativeCause
from .errors import label

OWN = "treefactor"
DERIVATIVE_ENGINES = ("pinocchio", "mujoco")
ANALYTIC, BY_DIFFERENCES = "analytic", "differences"


@dataclass(frozen=True)
class DerivativeRow:
    """Result of one engine on one robot, worst over the samples.

    Attributes
    ----------
    robot, base, engine : str
    n : int or None
        Freedoms.
    method : {"analytic", "differences"}
        How the engine computes derivatives.
    errors : dict of str to float
        Largest deviation of every matrix from treefactor's, over its largest entry, in comparable units: for
        treefactor itself the same as ``differences``, and the deviations of the same matrices by products
        (JVP, VJP). An engine that refuses a matrix has here the deviation of central differences of its
        values.
    differences : dict of str to float
        The same from central differences of the values of the engine itself.
    causes : tuple of DerivativeCause
        What explains the errors; ``quantity`` lists the matrices concerned.
    verdict : {"agrees", "explained", "disagrees", "refused", "timed out", "crashed"}
        That of treefactor is "disagrees", too, for a robot with impossible links or joints.
    reason : str
        Why, where the verdict is not "agrees".

    Notes
    -----
    Thread-compatible.
    """

    robot: str
    base: str
    engine: str
    n: int | None = None
    method: str = ANALYTIC
    errors: dict[str, float] = field(default_factory=dict)
    differences: dict[str, float] = field(default_factory=dict)
    causes: tuple[DerivativeCause, ...] = ()
    verdict: str = REFUSED
    reason: str = ""

    def as_dict(self) -> dict:
        """Return plain values, for JSON."""
        return asdict(self)


def check_derivatives(
    robots: Iterable[Robot],
    engines: Iterable[str] = DERIVATIVE_ENGINES,
    samples: int = 3,
    seed: int = 0,
    timeout: float | None = None,
) -> Iterator[list[DerivativeRow]]:
    """Compare the derivatives of the engines on every robot.

    Parameters
    ----------
    robots : iterable of Robot
    engines : iterable of str
        Among ``DERIVATIVE_ENGINES``: Pinocchio has analytic derivatives, MuJoCo finite differences of inverse
        dynamics.
    samples, seed
        As for `treefactor.check.check`.
    timeout : float, optional
        Every robot is checked in a process of its own, for this many seconds. By default all is done in this
        process, without a limit.

    Yields
    ------
    list of DerivativeRow
        For one robot after another, a row for treefactor and for every engine; the same for the coupled model
        if its file has mimic joints.

    Raises
    ------
    AdapterError
        If an engine is not installed, or has no derivatives.
    """
    engines = tuple(engines)
    for engine in engines:
        if engine not in DERIVATIVE_ENGINES:
            known = ", ".join(DERIVATIVE_ENGINES)
            raise AdapterError(f"expected engines with derivatives ({known}), got {engine!r}", engine=engine)
    for engine in engines:
        adapter_of(engine)
    if timeout is None:
        for robot in robots:
            yield _check_robot(robot, engines, samples, seed)
        return
    with closing(Worker()) as worker:
        for robot in robots:
            try:
                worker.submit(_check_robot, (robot, engines, samples, seed), timeout)
                yield worker.result()
            except WorkerError as error:
                state = {TimedOutError: TIMED_OUT, CrashedError: CRASHED}.get(type(error), DISAGREES)
                yield [
                    DerivativeRow(robot.name, robot.base, name, verdict=state, reason=str(error))
                    for name in (OWN, *engines)
                ]


def _check_robot(robot: Robot, engines: tuple[str, ...], samples: int, seed: int) -> list[DerivativeRow]:
    """Check one robot with all engines; one engine's failure does not discard the others' results."""
    rows: list[DerivativeRow] = []
    for mimic in (False, True):
        base = f"{robot.base}, mimic" if mimic else robot.base
        begun = [DerivativeRow(robot.name, base, engine) for engine in (OWN, *engines)]
        try:
            case = Case.of_robot(robot, mimic, samples, seed)
        except AdapterError as error:
            if mimic:
                return [
                    *rows,
                    replace(begun[0], verdict=EXPLAINED, reason=f"mimic joints stay free: {error}"),
                ]
            return [replace(row, reason=text_of(error)) for row in begun]
        except Exception as error:
            return rows + [replace(row, reason=text_of(error)) for row in begun]
        if mimic and not case.model.coupling:
            break
        for row in begun:
            if not (mimic and row.engine == "mujoco"):  # it has mimic joints as constraints only
                rows.append(_answered(case, replace(row, n=case.model.nv)))
    return rows


def _answered(case: Case, row: DerivativeRow) -> DerivativeRow:
    """Return the result of one engine; an engine's failure becomes its row."""
    try:
        faults = [fault for fault in faults_of(case.robot) if not fault.expected] if row.engine == OWN else []
        if faults:
            reason = "; ".join(f"{IMPOSSIBLE}: {fault}" for fault in faults)
            return replace(row, verdict=DISAGREES, reason=reason)
        compare = {OWN: case.own, "pinocchio": case.pinocchio, "mujoco": case.mujoco}[row.engine]
        return judged(row, compare())
    except AdapterError as error:
        return replace(row, reason=str(error))
    except Exception as error:  # one engine's failure must not discard the others' results
        return replace(row, verdict=DISAGREES, reason=text_of(error))


def judged(row: DerivativeRow, errors: Errors) -> DerivativeRow:
    """Fill a result with the deviations, their causes and the verdict."""
    unexplained = ", ".join(f"{label(key)} by {error:.1e}" for key, error in errors.unexplained.items())
    causes = errors.causes()
    verdict = DISAGREES if unexplained else EXPLAINED if causes else AGREES
    return replace(
        row,
        method=BY_DIFFERENCES if row.engine == "mujoco" else ANALYTIC,
        errors={label(key): error for key, error in errors.from_treefactor.items()},
        differences={label(key): error for key, error in errors.apart.items()},
        causes=causes,
        verdict=verdict,
        reason="; ".join(filter(None, [unexplained, *map(str, causes)])),
    )


def text_of(error: Exception) -> str:
    """Return an error's message, with the class name unless the error is a TreefactorError."""
    return str(error) if isinstance(error, TreefactorError) else f"{type(error).__name__}: {error}"
