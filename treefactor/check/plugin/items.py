"""Define the tests of a comparison under pytest: cells of robots, and expectations about several cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ..causes import cause_line
from ..cells import (
    CRASHED,
    EXCLUDED,
    EXPECTED,
    EXPLAINED,
    IMPOSSIBLE,
    NOT_INSTALLED,
    NOT_OFFERED,
    REFUSED,
    TIMED_OUT,
    Cell,
    CheckedRobot,
)
from ..engines import ChosenEngine
from ..files import faults_of
from ..judge import ALL_QUANTITIES
from ..project.configuration import STALE, Expectation
from ..project.expectations import applied, concerns, fails, fault_fails, is_stale, with_expected
from ..robots import Robot
from .marker import MARKER

PLAIN_NAMES = {"q̈": "qdd", "J̇v": "Jdotv", "LᵀDL": "LTDL"}  # in the names of tests, which -k selects
SHOWN = 4  # links or joints named of a cause
Comparison = Any  # class of comparison.py, which imports this module


class RobotFile(pytest.File):
    """File of a robot, with a test for every engine and quantity, and one of the file if it has faults."""

    def __init__(self, *, robots: Sequence[Robot], comparison: Comparison, **others):
        super().__init__(**others)
        self.robots, self.comparison = robots, comparison

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the tests."""
        for robot in self.robots:
            name = Path(robot.name).stem + (f"-{robot.base}" if len(self.robots) > 1 else "")
            for engine in self.comparison.engines:
                for quantity in self.comparison.quantities:
                    yield CellItem.from_parent(
                        self,
                        name=f"{name}-{engine.title}-{plain_name(quantity)}",
                        robot=robot,
                        engine=engine,
                        quantity=quantity,
                    )
        if faults := faults_of(self.robots[0]):
            links = {bool(fault.link) for fault in faults}
            parts = "parts" if len(links) > 1 else "inertias" if True in links else "joints"
            what = "file" if faults[0].word != IMPOSSIBLE else parts
            name = f"{Path(self.robots[0].name).stem}-{what}"
            yield FaultItem.from_parent(self, name=name, robot=self.robots[0])


class FaultItem(pytest.Item):
    """Test of a robot's file, which cannot be read, or has impossible links or joints."""

    parent: RobotFile

    def __init__(self, *, robot: Robot, **others):
        super().__init__(**others)
        self.robot, self.faults = robot, faults_of(robot)

    def runtest(self) -> None:
        """Fail, or expect the failure; each fault is named with its line."""
        chosen, robot = self.parent.comparison.chosen, self.robot
        checked = CheckedRobot(robot.name, robot.base, robot.name, robot.format, "", None, self.faults)
        faults = with_expected(checked, (*chosen.expect, *chosen.known), date.today())
        text = "\n".join(f"{robot.name}: {fault.word}: {fault}" for fault in faults)
        if any(fault_fails(fault, chosen.failures) for fault in faults):
            pytest.fail(text, pytrace=False)
        pytest.xfail(text)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, the line of its first fault if it has one, and the name of the test."""
        line = self.faults[0].line
        return self.path, line - 1 if line else None, self.name


class CellItem(pytest.Item):
    """Test of one robot, engine and quantity."""

    parent: RobotFile

    def __init__(self, *, robot: Robot, engine: ChosenEngine, quantity: str, **others):
        super().__init__(**others)
        self.robot, self.engine, self.quantity = robot, engine, quantity
        self.cell: Cell | None = None
        about = {"robot": robot.name, "engine": engine.title, "quantity": quantity}
        self.add_marker(getattr(pytest.mark, MARKER)(**about))
        if self.config.pluginmanager.hasplugin("xdist"):
            self.add_marker(pytest.mark.xdist_group(engine.title))

    def needs(self) -> list[tuple[Robot, ChosenEngine]]:
        """Return the comparisons that the test needs."""
        return [(self.robot, self.engine)]

    def runtest(self) -> None:
        """Compare, and fail, skip or expect a failure by the state of the cell."""
        comparison = self.parent.comparison
        self.cell = comparison.results.cell(self.robot, self.engine, self.quantity)
        cell, stale = _expected(self, comparison)
        self._record(cell)
        if cell.state == EXPECTED:
            pytest.xfail(cell.reason)
        if stale and STALE in comparison.chosen.failures:
            pytest.fail(f"[XPASS(strict)] {stale}: as expected no longer", pytrace=False)
        missing = cell.state == NOT_INSTALLED and comparison.required
        if missing or fails(cell, comparison.chosen.failures):
            pytest.fail(description(cell), pytrace=False)
        if cell.state in (REFUSED, CRASHED, TIMED_OUT, NOT_OFFERED, NOT_INSTALLED, EXCLUDED):
            pytest.skip(": ".join(filter(None, [cell.state, cell.reason])))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, the first line that a cause names, and the name of the test."""
        lines = [line for cause in (self.cell.causes if self.cell else ()) for line in cause.lines]
        return self.path, lines[0] - 1 if lines else None, self.name

    def _record(self, cell: Cell) -> None:
        """Record the figures as properties, for JUnit's XML."""
        values = {
            "state": cell.state,
            "error": cell.error,
            "allowed": cell.allowed,
            "ordinary": cell.ordinary,
        }
        self.user_properties += [(name, value) for name, value in values.items() if value is not None]
        if cell.causes:
            self.user_properties.append(
                ("causes", "; ".join(cause_line(cause, SHOWN) for cause in cell.causes))
            )


class ExpectationFile(pytest.File):
    """Configuration, with a test for every expectation about several cells: that one of them differs."""

    def __init__(self, *, comparison: Comparison, **others):
        super().__init__(**others)
        self.comparison = comparison

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the tests; an expectation about one cell is tested with it."""
        chosen = self.comparison.chosen
        for number, expectation in enumerate(chosen.expect if STALE in chosen.failures else ()):
            if len(list(_about(expectation, self.comparison))) != 1:
                engines = {engine.title for _, engine, _ in _about(expectation, self.comparison)}
                name = f"expect-{number}" + (f"-{engines.pop()}" if len(engines) == 1 else "")
                yield ExpectationItem.from_parent(self, name=name, expectation=expectation)


class ExpectationItem(pytest.Item):
    """Test that an expectation is not stale."""

    parent: ExpectationFile

    def __init__(self, *, expectation: Expectation, **others):
        super().__init__(**others)
        self.expectation = expectation

    def needs(self) -> list[tuple[Robot, ChosenEngine]]:
        """Return the comparisons that the test needs."""
        comparisons = _about(self.expectation, self.parent.comparison)
        return [(robot, engine) for robot, engine, _ in comparisons]

    def runtest(self) -> None:
        """Fail if nothing differs as expected."""
        comparison = self.parent.comparison
        cells = [comparison.results.cell(*place) for place in _about(self.expectation, comparison)]
        if is_stale(self.expectation, cells, not comparison.chosen.narrowed):
            pytest.fail(f"stale: nothing differs as {entry(self.expectation)} describes", pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the configuration, and what the expectation is about."""
        return self.path, None, f"{self.name}: {entry(self.expectation)}"


def plain_name(quantity: str) -> str:
    """Return a quantity as names of tests have it, for -k: ASCII letters without spaces."""
    return PLAIN_NAMES.get(quantity, quantity).replace(" ", "_")


def engine_of(nodeid: str, engines: Sequence[str]) -> str:
    """Return the engine of a test by its name, "" for other tests."""
    name = nodeid.rpartition("::")[2].partition("@")[0]
    ends = [f"-{plain_name(quantity)}" for quantity in ALL_QUANTITIES]
    ends = [""] if name.startswith("expect-") else ends
    return max(
        (engine for engine in engines for end in ends if name.endswith(f"-{engine}{end}")),
        key=len,
        default="",
    )


def description(cell: Cell) -> str:
    """Return what is wrong with a cell, and its causes."""
    figures = ""
    if cell.error is not None and cell.allowed is not None:
        error = f"{cell.error:.1e}"
        if cell.state == EXPLAINED:  # the error is that without the causes
            own = "refused" if cell.ordinary is None else f"error {cell.ordinary:.1e}"
            figures = f", the file as it is: {own}, without the causes: error {error}"
        else:
            figures = f", error {error}"
        figures += f", {cell.allowed:.1e} is rounding"
    lines = [f"{cell.robot} ({cell.base}), {cell.engine}: {cell.quantity} {cell.state}{figures}"]
    lines += [cell.reason] if cell.reason else []
    lines += [f"  {cause_line(cause, SHOWN)}" for cause in cell.causes]
    return "\n".join(lines)


def entry(expectation: Expectation) -> str:
    """Return an expectation in one line."""
    return ", ".join(f"{key} = {value}" for key, value in asdict(expectation).items() if value)


def _about(expectation: Expectation, comparison: Comparison) -> Iterator[tuple[Robot, ChosenEngine, str]]:
    """Yield the cells that an expectation is about."""
    for robot in comparison.robots:
        for engine in comparison.engines:
            for quantity in comparison.quantities:
                if concerns(expectation, robot.name, engine.title, quantity):
                    yield robot, engine, quantity


def _expected(item: CellItem, comparison: Comparison) -> tuple[Cell, str]:
    """Return a cell with the expectations applied, and a stale expectation about this cell alone, or ""."""
    place = item.robot.name, item.engine.title, item.quantity
    chosen = comparison.chosen
    about = [expectation for expectation in (*chosen.expect, *chosen.known) if concerns(expectation, *place)]
    versions = {place[1]: comparison.results.used(item.engine).version}
    (cell,), statuses = applied([item.cell], about, versions, date.today(), complete=False)
    stale = [
        entry(expectation)
        for expectation, known in zip(about, statuses, strict=True)
        if known["stale"] and expectation in chosen.expect and len(list(_about(expectation, comparison))) == 1
    ]
    return cell, "; ".join(stale)
