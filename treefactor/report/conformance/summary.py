"""Group the cells of a comparison: worst states, causes over quantities, failures, counts by engine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ...check.cells import (
    AGREES,
    CRASHED,
    DISAGREES,
    EXCLUDED,
    EXPECTED,
    EXPLAINED,
    GOOD,
    NOT_INSTALLED,
    NOT_OFFERED,
    REFUSED,
    STATES,
    TIMED_OUT,
    Cause,
    Cell,
    CheckedRobot,
    Report,
    UsedEngine,
)

LETTERS = {
    CRASHED: "C",
    TIMED_OUT: "T",
    DISAGREES: "D",
    REFUSED: "R",
    EXPECTED: "X",
    EXPLAINED: "E",
    AGREES: "A",
    NOT_INSTALLED: "I",
    EXCLUDED: "O",
    NOT_OFFERED: "–",
}
MEANINGS = {
    CRASHED: "the engine cannot be imported, or its process ended before it answered",
    TIMED_OUT: "the engine did not answer in time",
    DISAGREES: "another value than the reference's, and nothing found explains it",
    REFUSED: "the engine does not load the file, nor any rewriting of it",
    EXPECTED: "differs as an entry [[expect]] of the configuration describes",
    EXPLAINED: "equal to rounding once the causes named are removed from the file or switched off",
    AGREES: "equal to rounding, the file as it is",
    NOT_INSTALLED: "the engine is not installed",
    EXCLUDED: "there is no reference to compare with",
    NOT_OFFERED: "the engine does not compute it, or not for this format or base, or no coupled joints",
}
DYNAMICS = ("H", "bias", "q̈")
DIFFERS = "differs by"  # how reasons with a number begin
OWN_BASE = "own"  # base of an MJCF
MISSING = 3  # quantities that "all but" may list
FAILURES = tuple(state for state in STATES if state not in GOOD)


@dataclass(frozen=True)
class RobotCause:
    """One cause of one engine on one robot, with the quantities that show it.

    Attributes
    ----------
    cause : Cause
        The one with the largest effect.
    quantities : tuple of str
    """

    cause: Cause
    quantities: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """Cells of one engine and robot that failed for one reason.

    Attributes
    ----------
    robot, base, engine, state, reason : str
    quantities : tuple of str
    causes : tuple of Cause
    offered : tuple of str
        Quantities that the engine has results for.
    """

    robot: str
    base: str
    engine: str
    state: str
    reason: str
    quantities: tuple[str, ...]
    causes: tuple[Cause, ...] = ()
    offered: tuple[str, ...] = ()

    @property
    def places(self) -> str:
        """Quantities as text, "" where the reason lists them."""
        return "" if self.reason.startswith(DIFFERS) else in_order(self.quantities, self.offered)


@dataclass(frozen=True)
class EngineCause:
    """One cause of one engine over all robots.

    Attributes
    ----------
    engine : str
    text, link : str
        Of the cause.
    robots : tuple of (str, str)
        Names and bases.
    quantities : tuple of str
    effect : float or None
        The largest.
    most : tuple of (str, str)
        Robot that shows it.
    """

    engine: str
    text: str
    link: str
    robots: tuple[tuple[str, str], ...]
    quantities: tuple[str, ...]
    effect: float | None
    most: tuple[str, str]


@dataclass(frozen=True)
class Agreement:
    """On how many robots H, bias and q̈ of one engine agree.

    Attributes
    ----------
    engine : str
    robots : int
        On which the engine offers some of them.
    as_it_is, explained : int
        Robots on which all of them agree, of the file as it is, or once causes are removed.
    error : float or None
        Largest deviation on these robots, with the causes removed.
    """

    engine: str
    robots: int
    as_it_is: int
    explained: int
    error: float | None


def agreements(report: Report) -> list[Agreement]:
    """Return the agreement of every engine that is installed, the best first."""
    missing, listed = missing_engines(report), []
    for engine in names_of_engines(report):
        if engine in missing:
            continue
        by_state: Counter = Counter()
        errors: list[float] = []
        for cells in by_robot(report).values():
            own = [cell for cell in cells.get(engine, ()) if cell.quantity in DYNAMICS]
            state = worst(cell.state for cell in own if cell.state not in (NOT_OFFERED, EXCLUDED))
            by_state[state] += 1
            if state in (AGREES, EXPLAINED):
                errors += [cell.error for cell in own if cell.error is not None]
        robots = sum(by_state.values()) - by_state[None]
        if robots:
            agree = by_state[AGREES], by_state[EXPLAINED]
            listed.append(Agreement(engine, robots, *agree, max(errors, default=None)))
    return sorted(listed, key=lambda one: -one.as_it_is)


def headline(report: Report) -> str:
    """Return in one sentence on how many robots H, bias and q̈ agree, and in which engines; "" if in none."""
    listed, robots = agreements(report), len(by_robot(report))
    as_they_are = [one for one in listed if one.as_it_is == robots]
    repaired = [
        one for one in listed if one not in as_they_are and one.as_it_is + one.explained == one.robots
    ]
    parts = []
    if as_they_are:
        names = _and([one.engine for one in as_they_are])
        parts.append(f"{_size_of(as_they_are)} on {robots} of {robots} robots in {names}, as the files are")
    if repaired:
        names = _and([one.engine for one in repaired])
        condition = "once the causes below are removed"
        parts.append(f"{_size_of(repaired)} on every robot that they read in {names}, {condition}")
    return f"H, bias and q̈ agree {'; '.join(parts)}." if parts else ""


def _size_of(listed: list[Agreement]) -> str:
    """Return the largest deviation in some engines as text."""
    size = number(max((one.error for one in listed if one.error is not None), default=None))
    return f"to {size}" if size else "to rounding"


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def worst(states: Iterable[str]) -> str | None:
    """Return the worst of some states; None without states."""
    return min(states, key=STATES.index, default=None)


def by_robot(report: Report) -> dict[tuple[str, str], dict[str, list[Cell]]]:
    """Return the cells by robot and base, then by engine, in the order of the report's lists."""
    grouped: dict[tuple[str, str], dict[str, list[Cell]]] = {
        (robot.name, robot.base): {} for robot in report.robots
    }
    for cell in ordered(report):
        grouped.setdefault((cell.robot, cell.base), {}).setdefault(cell.engine, []).append(cell)
    return grouped


def ordered(report: Report) -> list[Cell]:
    """Return the cells by robot, engine and quantity in the order of the report's lists, others last."""
    robots = {(robot.name, robot.base): k for k, robot in enumerate(report.robots)}
    engines = {engine.name: k for k, engine in enumerate(report.engines)}
    quantities = {name: k for k, name in enumerate(report.quantities)}
    return sorted(
        report.cells,
        key=lambda cell: (
            robots.get((cell.robot, cell.base), len(robots)),
            engines.get(cell.engine, len(engines)),
            quantities.get(cell.quantity, len(quantities)),
        ),
    )


def names_of_engines(report: Report) -> list[str]:
    """Return the engines of the report, and any others that its cells name."""
    return list(
        dict.fromkeys([*(engine.name for engine in report.engines), *(c.engine for c in report.cells)])
    )


def names_of_quantities(report: Report) -> list[str]:
    """Return the quantities of the report, and any others that its cells name."""
    return list(dict.fromkeys([*report.quantities, *(cell.quantity for cell in report.cells)]))


def title(robot: CheckedRobot | tuple[str, str]) -> str:
    """Return name and base of a robot as one text, and whether its mimic joints are coupled."""
    name, base = robot if isinstance(robot, tuple) else (robot.name, robot.base)
    base, *mimic = base.split(", ")
    stands = f"{base} base" if base != OWN_BASE else "the base of its file"
    return ", ".join([name, *([stands] if base else []), *(["mimic joints coupled"] if mimic else [])])


def versions(report: Report) -> list[str]:
    """Return the engines with their versions."""
    return [version_of(engine) for engine in report.engines]


def version_of(engine: UsedEngine) -> str:
    """Return an engine with its version, and its precision where it is not that of a double."""
    precision = f" ({engine.dtype})" if engine.dtype not in ("", "float64") else ""
    installed = engine.version or engine.python  # a user's own file may have no version
    version = engine.version if installed else "not installed"
    return f"{engine.name} {version}".rstrip() + precision


def larger(first: float | None, second: float | None) -> bool:
    """Return whether the first number is larger; None is the smallest, NaN the largest."""
    return _size(first) > _size(second)


def _size(value: float | None) -> float:
    if value is None:
        return -1.0
    return math.inf if math.isnan(value) else abs(value)


def causes_on_robot(cells: Iterable[Cell]) -> list[RobotCause]:
    """Merge the causes of one engine's cells of one robot over the quantities."""
    merged: dict[tuple, tuple[Cause, dict[str, None]]] = {}
    for cell in cells:
        for cause in cell.causes:
            key = (cause.step, cause.text, cause.link)
            held, quantities = merged.setdefault(key, (cause, {}))
            quantities[cell.quantity] = None
            if larger(cause.effect, held.effect):
                merged[key] = (cause, quantities)
    return [RobotCause(cause, tuple(quantities)) for cause, quantities in merged.values()]


def failures(report: Report) -> list[Failure]:
    """Return everything that is not good, the worst states first, cells of one reason merged."""
    listed = []
    for (robot, base), engines in by_robot(report).items():
        for engine, cells in engines.items():
            groups: dict[tuple, list[Cell]] = {}
            for cell in cells:
                if cell.state in FAILURES:
                    groups.setdefault((cell.state, "" if _is_measured(cell) else cell.reason), []).append(
                        cell
                    )
            names = tuple(offered(cells, report))
            listed += [
                Failure(
                    robot,
                    base,
                    engine,
                    state,
                    _merged(reason, group),
                    _quantities(group),
                    _texts(group),
                    names,
                )
                for (state, reason), group in groups.items()
            ]
    return sorted(listed, key=lambda failure: FAILURES.index(failure.state))


def _merged(reason: str, cells: list[Cell]) -> str:
    """Return the reason of a failure; of deviations all numbers, then other reasons."""
    if not _is_measured(cells[0]):
        return reason
    listed = ", ".join(f"{effect(cell.error)} in {cell.quantity}" for cell in cells)
    others = [cell.reason for cell in cells if cell.reason and not cell.reason.startswith(DIFFERS)]
    return "; ".join(dict.fromkeys([f"{DIFFERS} {listed}", *others]))


def _quantities(cells: list[Cell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cell.quantity for cell in cells))


def _texts(cells: list[Cell]) -> tuple[Cause, ...]:
    return tuple(on_robot.cause for on_robot in causes_on_robot(cells))


def _is_measured(cell: Cell) -> bool:
    """Return whether a cell disagrees by a number, which is shown instead of its reason."""
    return cell.state == DISAGREES and cell.error is not None


def causes_by_engine(report: Report) -> list[EngineCause]:
    """Return every cause by engine, those of most robots first."""
    cases: dict[tuple, list[tuple[tuple[str, str], RobotCause]]] = {}
    for robot, engines in by_robot(report).items():
        for engine, cells in engines.items():
            for on_robot in causes_on_robot(cells):
                key = (engine, on_robot.cause.text, on_robot.cause.link)
                cases.setdefault(key, []).append((robot, on_robot))
    causes = []
    for (engine, text, link), of_robots in cases.items():
        most, largest = max(of_robots, key=lambda case: _size(case[1].cause.effect))
        quantities = dict.fromkeys(name for _, on_robot in of_robots for name in on_robot.quantities)
        robots = tuple(dict.fromkeys(robot for robot, _ in of_robots))
        causes.append(EngineCause(engine, text, link, robots, tuple(quantities), largest.cause.effect, most))
    order = names_of_engines(report).index
    return sorted(causes, key=lambda on_robot: (order(on_robot.engine), -len(on_robot.robots), on_robot.text))


def counts(report: Report) -> dict[str, Counter]:
    """Return how many cells of every engine have which state.

    A cell that is missing counts as "not offered", so that the denominator of every engine is the same:
    robots times quantities (`cells_per_engine`).
    """
    by_engine = {engine: Counter() for engine in names_of_engines(report)}
    for cell in report.cells:
        by_engine[cell.engine][cell.state] += 1
    total = cells_per_engine(report)
    for counted in by_engine.values():
        missing = total - sum(counted.values())
        if missing > 0:
            counted[NOT_OFFERED] += missing
    return by_engine


def cells_per_engine(report: Report) -> int:
    """Return the denominator of every engine's counts: robots times quantities."""
    return len(by_robot(report)) * len(names_of_quantities(report))


def total_counts(report: Report) -> Counter:
    """Return how many cells have which state, over all engines."""
    return sum(counts(report).values(), Counter())


def stale(report: Report) -> list[dict]:
    """Return the expectations that describe nothing that differs."""
    return [entry for entry in report.expectations if entry.get("stale")]


def expectation_text(entry: dict) -> str:
    """Return an entry ``[[expect]]`` as one line of text."""
    keys = ("robot", "engine", "quantity", "cause", "link", "until")
    return ", ".join(f"{key} = {entry[key]}" for key in keys if entry.get(key))


def in_order(quantities: Iterable[str], offered: Iterable[str]) -> str:
    """Return the names of some of the quantities offered as text, shorter where most are among them."""
    chosen, names = set(quantities), list(offered)
    missing = [name for name in names if name not in chosen]
    if len(names) > 1 and not missing:
        return "every quantity"
    if len(missing) <= MISSING and len(chosen) > 2 * MISSING:
        return f"all but {', '.join(missing)}"
    return ", ".join(name for name in names if name in chosen)


def offered(cells: Iterable[Cell], report: Report) -> list[str]:
    """Return the quantities that some of the cells have a result for, in the report's order."""
    present = {cell.quantity for cell in cells if cell.state not in (NOT_OFFERED, NOT_INSTALLED)}
    return [name for name in names_of_quantities(report) if name in present]


def missing_engines(report: Report) -> dict[str, str]:
    """Return the engines that are not installed, with the reason that their cells give."""
    by_engine: dict[str, set[str]] = {}
    reasons: dict[str, str] = {}
    for cell in report.cells:
        by_engine.setdefault(cell.engine, set()).add(cell.state)
        reasons.setdefault(cell.engine, cell.reason)
    return {engine: reasons[engine] for engine, states in by_engine.items() if states == {NOT_INSTALLED}}


def uncompared_robots(report: Report) -> dict[tuple[str, str], str]:
    """Return the robots that no reference loads, with the reason."""
    reasons: dict[tuple[str, str], set[str]] = {}
    for cell in report.cells:
        if cell.state != NOT_INSTALLED:
            reason = cell.reason if cell.state == EXCLUDED else ""
            reasons.setdefault((cell.robot, cell.base), set()).add(reason)
    return {robot: min(own) for robot, own in reasons.items() if len(own) == 1 and min(own)}


def shown_error(cell: Cell) -> float | None:
    """Return the error to show for a cell: that of the file as it is, where the engine loads it so."""
    if cell.ordinary is not None or cell.state in (EXPLAINED, EXPECTED):
        return cell.ordinary
    return cell.error


def number(value: float | None) -> str:
    """Return a number with one digit, such as "3e-16"; "" for None."""
    if value is None:
        return ""
    if math.isnan(value):
        return "NaN"
    return "0" if value == 0 else f"{value:.0e}"


def effect(value: float | None) -> str:
    """Return an effect as a percentage, as a multiple such as "40×", or as a power of ten where small."""
    if value is None or not 1e-4 <= value < 1e6:  # also for NaN
        return number(value)
    if value < 10.0:
        return f"{100 * value:{'.2g' if value < 0.1 else '.0f'}}%"
    return f"{float(f'{value:.2g}'):.0f}×"
