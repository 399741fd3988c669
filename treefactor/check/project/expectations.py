"""Compare results with the differences that a project expects.

A cell that differs is *expected* if expectations describe all its causes; an expectation that describes
nothing that differs is *stale*. All functions are pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from ..cells import (
    AGREES,
    CRASHED,
    DISAGREES,
    EXPECTED,
    EXPLAINED,
    IMPOSSIBLE,
    REFUSED,
    TIMED_OUT,
    UNREADABLE,
    Cell,
    CheckedRobot,
    Fault,
    Report,
)
from ..engines import ENGINES
from .configuration import STALE, Configuration, Expectation

OURS = "treefactor"  # engine whose reader says what a URDF may contain
DIFFERS = (DISAGREES, REFUSED, CRASHED, TIMED_OUT, EXPLAINED)
COMPARED = (*DIFFERS, EXPECTED, AGREES)


def with_expectations(report: Report, chosen: Configuration, today: date) -> Report:
    """Return a report whose expected cells have this state, and which lists the expectations.

    Parameters
    ----------
    report : Report
        As compared; its own expectations are ignored.
    chosen : Configuration
        Its expectations apply. If its robots, engines or quantities are narrowed by the command line,
        expectations about nothing in the report are not stale. With the traps, those that this package has
        about them apply, too; they are not listed, and never stale.
    today : date
        Decides which expectations have ended.
    """
    versions = {engine.name: engine.version for engine in report.engines}
    expected = *chosen.expect, *chosen.known
    cells, listed = applied(report.cells, expected, versions, today, not chosen.narrowed)
    robots = [replace(robot, impossible=with_expected(robot, expected, today)) for robot in report.robots]
    for expectation, entry in zip(expected, listed, strict=True):
        faults = [(robot, fault) for robot in report.robots for fault in robot.impossible]
        entry["stale"] &= not any(describes_fault(expectation, *place) for place in faults)
    return replace(report, robots=robots, cells=cells, expectations=listed[: len(chosen.expect)])


def with_expected(robot: CheckedRobot, expectations: Sequence[Expectation], today: date) -> tuple[Fault, ...]:
    """Return the faults of a robot's file, with the reason where expectations describe them."""
    faults = []
    for fault in robot.impossible:
        used = [expectation for expectation in expectations if describes_fault(expectation, robot, fault)]
        used = [
            expectation
            for expectation in used
            if not (isinstance(expectation.until, date) and today > expectation.until)
        ]
        said = (
            "as expected: " + " ".join(filter(None, [used[0].cause or "any cause", used[0].link]))
            if used
            else ""
        )
        faults.append(replace(fault, expected=fault.expected or said))
    return tuple(faults)


def describes_fault(expectation: Expectation, robot: CheckedRobot, fault: Fault) -> bool:
    """Return whether an expectation is about a robot, not about an engine or quantity, and names a fault."""
    about = concerns(expectation, robot.name, "", "") and expectation.robot != "*"
    return about and _matches(expectation, f"{fault.word}: {fault}")


def applied(
    cells: Iterable[Cell],
    expectations: Sequence[Expectation],
    versions: Mapping[str, str],
    today: date,
    complete: bool = True,
) -> tuple[list[Cell], list[dict]]:
    """Return the cells with expected ones marked, and the expectations as JSON with what became of each.

    Parameters
    ----------
    cells : iterable of Cell
    expectations : sequence of Expectation
    versions : mapping
        Versions of the engines by name.
    today : date
    complete : bool
        Whether the cells are all that the project compares: an expectation about no cell at all is then
        stale, unless it is about heavy engines that were not asked for.

    Returns
    -------
    cells : list of Cell
    expectations : list of dict
        Entries of the expectation, ``cells`` (how many of those that differ it describes), ``ended`` (its
        last day or version has passed) and ``stale``.
    """
    cells = list(cells)
    marked = [
        _marked(
            cell,
            [expectation for expectation in expectations if not ended(expectation, cell, versions, today)],
        )
        for cell in cells
    ]
    return marked, [
        {
            **asdict(expectation),
            "until": str(expectation.until) if expectation.until else None,
            "cells": sum(describes(expectation, cell) for cell in cells),
            "ended": all_ended(expectation, cells, versions, today),
            "stale": is_stale(expectation, cells, complete and not is_left_out(expectation, versions)),
        }
        for expectation in expectations
    ]


def concerns(expectation: Expectation, robot: str, engine: str, quantity: str) -> bool:
    """Return whether an expectation is about a cell: its patterns match.

    The robot is matched by its name, or, for the path of a file, by the file's name, with its ending or
    without it.
    """
    path = PurePosixPath(robot)
    return (
        any(fnmatchcase(shown, expectation.robot) for shown in (robot, path.name, path.stem))
        and fnmatchcase(engine, expectation.engine)
        and fnmatchcase(quantity, expectation.quantity)
    )


def describes(expectation: Expectation, cell: Cell) -> bool:
    """Return whether a cell differs as expected: in one of its causes at least."""
    return (
        cell.state in DIFFERS
        and _about(expectation, cell)
        and any(_matches(expectation, text) for text in _causes(cell))
    )


def is_stale(expectation: Expectation, cells: Iterable[Cell], complete: bool = True) -> bool:
    """Return whether nothing differs as expected although it was compared.

    A crash or a lack of time leaves open whether the difference persists. Without any cell concerned, the
    expectation is stale if the cells are complete.
    """
    about = [cell for cell in cells if _about(expectation, cell)]
    if not about:
        return complete
    compared = [cell for cell in about if cell.state in COMPARED]
    unknown = any(cell.state in (CRASHED, TIMED_OUT) for cell in compared)
    return bool(compared) and not unknown and not any(describes(expectation, cell) for cell in about)


def is_left_out(expectation: Expectation, compared: Iterable[str]) -> bool:
    """Return whether an expectation is about heavy engines only, none of which was compared."""
    names = [name for name in {*ENGINES, *compared} if fnmatchcase(name, expectation.engine)]
    heavy = [name for name in names if name in ENGINES and ENGINES[name].weight == "heavy"]
    return bool(names) and names == heavy and set(names).isdisjoint(compared)


def ended(expectation: Expectation, cell: Cell, versions: Mapping[str, str], today: date) -> bool:
    """Return whether the last day has passed, or the engine of the cell has a later version."""
    until = expectation.until
    if until is None:
        return False
    if isinstance(until, date):
        return today > until
    last = _numbers(until)
    return _numbers(versions.get(cell.engine, ""))[: len(last)] > last


def all_ended(
    expectation: Expectation, cells: Iterable[Cell], versions: Mapping[str, str], today: date
) -> bool:
    """Return whether an expectation with a last day or version has ended for all cells that it is about."""
    about = [cell for cell in cells if _about(expectation, cell)]
    return bool(about) and all(ended(expectation, cell, versions, today) for cell in about)


def exit_status(report: Report, fail_on: Sequence[str]) -> int:
    """Return 0 if nothing fails, 1 if something does, 3 if nothing was compared."""
    stale = STALE in fail_on and any(expectation["stale"] for expectation in report.expectations)
    faulty = any(fault_fails(fault, fail_on) for _, fault in report.impossible)
    if failing(report, fail_on) or stale or faulty:
        return 1
    return 0 if any(cell.state in COMPARED for cell in report.cells) else 3


def failing(report: Report, fail_on: Sequence[str]) -> list[Cell]:
    """Return the cells whose states are failures, see `fails`."""
    return [cell for cell in report.cells if fails(cell, fail_on)]


def fault_fails(fault: Fault, fail_on: Sequence[str]) -> bool:
    """Return whether a fault of a file fails: as "impossible", an unreadable file also as "disagrees"."""
    words = (IMPOSSIBLE, DISAGREES) if fault.word == UNREADABLE else (IMPOSSIBLE,)
    return not fault.expected and not set(words).isdisjoint(fail_on)


def fails(cell: Cell, fail_on: Sequence[str]) -> bool:
    """Return whether the state of a cell is a failure.

    Timed out counts as crashed. What treefactor refuses is a fault of the file, and counts as "disagrees".
    """
    state = CRASHED if cell.state == TIMED_OUT else cell.state
    return state in fail_on or (state == REFUSED and cell.engine == OURS and DISAGREES in fail_on)


def _about(expectation: Expectation, cell: Cell) -> bool:
    return concerns(expectation, cell.robot, cell.engine, cell.quantity)


def _marked(cell: Cell, expectations: Sequence[Expectation]) -> Cell:
    """Return the cell as expected if the expectations describe all its causes."""
    used = [expectation for expectation in expectations if describes(expectation, cell)]
    if not used or not all(
        any(_matches(expectation, text) for expectation in used) for text in _causes(cell)
    ):
        return cell
    said = [
        " ".join(filter(None, [expectation.cause or "any cause", expectation.link])) for expectation in used
    ]
    reason = "; ".join(filter(None, [cell.reason, f"{cell.state}, as expected: {', '.join(said)}"]))
    return replace(cell, state=EXPECTED, reason=reason)


def _causes(cell: Cell) -> list[str]:
    """Return the texts of the causes of a cell, each with its step, and the reason unless it is explained."""
    left = [] if cell.state == EXPLAINED and cell.causes else [cell.reason]
    return [f"{cause.step}\n{cause.text}" for cause in cell.causes] + left


def _matches(expectation: Expectation, text: str) -> bool:
    """Return whether the pattern of a cause occurs in a text, in any case."""
    return fnmatchcase(text.lower(), f"*{expectation.cause.lower()}*")


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers in front of a version: 1.5.0rc1 is (1, 5, 0)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
