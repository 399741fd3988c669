"""Compare engines on robots under pytest: one test for every robot, engine and quantity.

`Comparison` is registered by the module ``treefactor.pytest_plugin`` if ``--treefactor`` is given. Robots are
files that pytest collects; the tests of a robot are the cells of its comparison, which is computed when the
first of them runs. Under xdist the tests of one engine run in one process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ...exceptions import TreefactorError
from ..cells import (
    Cell,
    CheckedRobot,
    Report,
    UsedEngine,
)
from ..engines import ChosenEngine
from ..judge import ALL_QUANTITIES
from ..matrix import Matrix, report_of
from ..project.configuration import ChosenRobot, Configuration, configuration
from ..project.expectations import with_expectations
from ..project.selection import engines_of, is_robot_file, matrix_of, robots_of
from ..robots import Robot
from .items import CellItem, ExpectationFile, ExpectationItem, RobotFile, engine_of
from .marker import listed


class Comparison:
    """Plugin that collects robots, compares engines on them, and keeps the results.

    Parameters
    ----------
    config : pytest.Config
    """

    def __init__(self, config: pytest.Config):
        try:
            self.chosen = _chosen(config)
            self.engines = engines_of(self.chosen)
            self.robots = robots_of(self.chosen) if self.chosen.robots or self.chosen.traps else []
        except TreefactorError as error:
            raise pytest.UsageError(str(error)) from error
        self.quantities = self.chosen.quantities or ALL_QUANTITIES
        self.required = config.getoption("treefactor_require")
        self.results = Results(self.chosen, config.pluginmanager.hasplugin("xdist") and _is_worker(config))
        expecting = self.chosen.expect and self.chosen.file and not self.chosen.narrowed
        self._expecting = Path(self.chosen.file).absolute() if expecting else None
        self._gathered: list[dict[str, Any]] = []
        self._add_arguments(config)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log):
        """Have one process of xdist run all tests of an engine, also where pytest loses the group's mark."""
        if config.getvalue("dist") not in ("load", "loadgroup"):
            return None
        from xdist.scheduler import LoadGroupScheduling

        engines = [engine.title for engine in self.engines]

        class ByEngine(LoadGroupScheduling):
            def _split_scope(self, nodeid: str) -> str:
                return engine_of(nodeid, engines) or super()._split_scope(nodeid)

        return ByEngine(config, log)

    def _add_arguments(self, config: pytest.Config) -> None:
        """Have pytest collect the robots, and their expectations."""
        given = config.args_source == config.ArgsSource.ARGS
        files = list(dict.fromkeys(str(robot.path) for robot in self.robots))
        if given and any(is_robot_file(Path(argument.partition("::")[0])) for argument in config.args):
            return
        files += [str(self._expecting)] if self._expecting else []
        in_command = any(
            argument.split("=")[0] == "--treefactor" for argument in config.invocation_params.args
        )
        config.args[:] = files if files and in_command and not given else [*config.args, *files]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect a robot that is chosen, or any if none is, and the configuration's expectations."""
        if file_path == self._expecting:
            return ExpectationFile.from_parent(parent, path=file_path, comparison=self)
        robots = [robot for robot in self.robots if robot.path == file_path]
        if not robots and (not self.robots or parent.session.isinitpath(file_path)):
            robots = self._robot_of(file_path)
        if not robots:
            return None
        outside = {} if file_path.is_relative_to(parent.config.rootpath) else {"nodeid": robots[0].name}
        return RobotFile.from_parent(parent, path=file_path, robots=robots, comparison=self, **outside)

    def _robot_of(self, path: Path) -> list[Robot]:
        """Return the robot in a file that no configuration names."""
        if not is_robot_file(path):
            return []
        current = Path.cwd()
        name = path.relative_to(current) if path.is_relative_to(current) else path
        return robots_of(Configuration((ChosenRobot(name.as_posix()),), base=self.chosen.base))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan the comparisons that the selected tests need."""
        for item in session.items:
            if isinstance(item, CellItem | ExpectationItem):
                for robot, engine in item.needs():
                    self.results.plan(robot, engine)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item):
        """Send the cell with the report of its test, and let skips name the robot's file."""
        report = yield
        if isinstance(item, CellItem) and report.when == "call" and item.cell is not None:
            report.treefactor = self.results.as_dict(item)
            if report.skipped and isinstance(report.longrepr, tuple):
                report.longrepr = (str(item.path), None, report.longrepr[2])
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the cells of all processes."""
        if hasattr(report, "treefactor"):
            self._gathered.append(report.treefactor)

    def pytest_sessionfinish(self) -> None:
        """End the processes of the engines."""
        self.results.close()

    def report(self) -> Report:
        """Return the report of the tests that have run."""
        report = report_of(matrix_of(self.chosen, [], self.engines), [])
        parts = [Report.from_dict({**asdict(report), **gathered}) for gathered in self._gathered]
        robots = dict.fromkeys(part.robots[0] for part in parts)
        used = {part.engines[0].name: part.engines[0] for part in parts}
        report.robots[:] = sorted(robots, key=lambda robot: (robot.name, robot.base))
        report.engines[:] = [used.get(engine.name, engine) for engine in report.engines]
        order = [engine.name for engine in report.engines]
        report.cells[:] = sorted(
            (part.cells[0] for part in parts),
            key=lambda cell: (
                cell.robot,
                cell.base,
                order.index(cell.engine),
                report.quantities.index(cell.quantity),
            ),
        )
        complete = len(report.cells) == len(report.robots) * len(self.engines) * len(self.quantities)
        chosen = replace(self.chosen, narrowed=self.chosen.narrowed or not complete)
        return with_expectations(report, chosen, date.today())


class Results:
    """Cells of the planned comparisons, computed when they are needed.

    Parameters
    ----------
    chosen : Configuration
    apart : bool
        Whether engines are compared one by one, because others run in other processes.
    """

    def __init__(self, chosen: Configuration, apart: bool):
        self.chosen, self._apart = chosen, apart
        self._planned: dict[str, tuple[list[Robot], list[ChosenEngine]]] = {}
        self._running: dict[str, tuple[Matrix, Iterator]] = {}
        self._cells: dict[tuple[str, str, str, str], Cell] = {}
        self._ended: dict[str, str] = {}  # why a comparison has ended before its last robot
        self._robots: dict[tuple[str, str], CheckedRobot] = {}

    def plan(self, robot: Robot, engine: ChosenEngine) -> None:
        """Include a robot and an engine in the comparison."""
        robots, engines = self._planned.setdefault(engine.name if self._apart else "", ([], []))
        if robot not in robots:
            robots.append(robot)
        if engine not in engines:
            engines.append(engine)

    def cell(self, robot: Robot, engine: ChosenEngine, quantity: str) -> Cell:
        """Return a cell; compute robots until it is there, or fail the test if the comparison ends."""
        key = (robot.name, robot.base, engine.title, quantity)
        group = engine.name if self._apart else ""
        while key not in self._cells:
            if group not in self._ended:
                try:
                    self._compute_next(group)
                except TreefactorError as error:
                    self._ended[group] = str(error)
            if group in self._ended:
                pytest.fail(self._ended[group], pytrace=False)
        return self._cells[key]

    def _compute_next(self, group: str) -> None:
        """Compute the cells of the next robot."""
        if group not in self._running:
            matrix = matrix_of(self.chosen, *self._planned[group])
            self._running[group] = matrix, iter(matrix)
        checked, cells = next(self._running[group][1])
        self._robots[checked.name, checked.base] = checked
        self._cells |= {(cell.robot, cell.base, cell.engine, cell.quantity): cell for cell in cells}

    def used(self, engine: ChosenEngine) -> UsedEngine:
        """Return what is known of an engine after its first robot."""
        matrix, _ = self._running[engine.name if self._apart else ""]
        report = report_of(matrix, [])
        return next(used for used in report.engines if used.name == engine.title)

    def as_dict(self, item: CellItem) -> dict:
        """Return the parts of a report that a cell contributes, as plain data."""
        return {
            "cells": [item.cell.as_dict()],
            "engines": [asdict(self.used(item.engine))],
            "robots": [asdict(self._robots[item.robot.name, item.robot.base])],
        }

    def close(self) -> None:
        """End the processes of the engines."""
        for _, results in self._running.values():
            results.close()
        self._running.clear()


def _chosen(config: pytest.Config) -> Configuration:
    """Return the configuration of the project, with the options of pytest in place of its own."""
    return configuration(config.getoption("treefactor_config")).replaced(
        robots=config.getoption("treefactor") or None,
        engines=listed(config, "treefactor_engines"),
        quantities=listed(config, "treefactor_quantities"),
        fail_on=listed(config, "treefactor_fail_on"),
    )


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
