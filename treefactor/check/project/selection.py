"""Find the robots and engines that a configuration chooses, and compare them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from functools import cache
from glob import glob, has_magic
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from ..._util.xml import root_tag
from ...exceptions import TreefactorError
from ..cells import Cell, CheckedRobot, Report
from ..engines import ENGINES, ChosenEngine, engine_version
from ..judge import ALL_QUANTITIES
from ..matrix import Matrix, report_of
from ..robots import Robot, default_robots, find
from ..traps import trap_robots
from .configuration import ChosenRobot, Configuration
from .expectations import with_expectations

ENDINGS = (".urdf", ".sdf", ".xml")
NO_ROBOTS = "no robots to compare: name one, or pip install 'treefactor[pinocchio,pybullet]'"

Results: TypeAlias = Iterable[tuple[CheckedRobot, list[Cell]]]


def compare(chosen: Configuration, progress: Callable[[Results, int], Results] | None = None) -> Report:
    """Compare what a configuration chooses, and apply its expectations.

    Parameters
    ----------
    chosen : Configuration
    progress : callable, optional
        Called with the results, robot by robot as they arrive, and the number of robots; yields the results.

    Returns
    -------
    Report

    Raises
    ------
    TreefactorError
        If there is no such robot.
    """
    matrix = matrix_of(chosen, robots_of(chosen), engines_of(chosen))
    with closing(iter(matrix)) as results:
        checked = list(progress(results, len(matrix.robots)) if progress else results)
    return with_expectations(report_of(matrix, checked), chosen, date.today())


def matrix_of(chosen: Configuration, robots: list[Robot], engines: list[ChosenEngine]) -> Matrix:
    """Return the comparison of some of the robots and engines of a configuration."""
    quantities = chosen.quantities or ALL_QUANTITIES
    return Matrix(robots, engines, quantities, chosen.samples, chosen.seed, chosen.ordinary)


def engines_of(chosen: Configuration) -> list[ChosenEngine]:
    """Return the engines of a configuration; by default those that are installed and not heavy."""
    installed = [
        ChosenEngine(name)
        for name, engine in ENGINES.items()
        if engine.weight != "heavy" and engine_version(name)
    ]
    return [
        replace(engine, timeout=engine.timeout or chosen.timeout) for engine in chosen.engines or installed
    ]


def robots_of(chosen: Configuration) -> list[Robot]:
    """Return the robots of a configuration, each file and base once.

    Raises
    ------
    TreefactorError
        If an entry names nothing; proposes similar names of bundled robots.
    """
    by_file = {}
    for entry in chosen.robots:
        for robot in _named(entry, entry.base or chosen.base):
            by_file.setdefault((robot.path, robot.floating), robot)
    if chosen.robots or chosen.traps:
        return [*by_file.values(), *(trap_robots(_trap_folder().name) if chosen.traps else ())]
    robots = default_robots()
    if not robots:
        raise TreefactorError(NO_ROBOTS)
    floating = _floating(chosen.base)
    return robots if floating is None else [replace(robot, floating=floating) for robot in robots]


def formats(name: str) -> tuple[str, ...]:
    """Return the formats that an engine reads, without importing it; () without a module of that name."""
    spec = find_spec(ENGINES[name].module)
    if spec is None or spec.origin is None:
        return ()
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)  # READS, DTYPE = ...
            for part, held in zip(target.elts, value.elts, strict=True) if several else [(target, value)]:
                if ast.unparse(part) == "READS":
                    return tuple(ast.literal_eval(held))
    return ()


def is_robot_file(path: Path) -> bool:
    """Return whether a file describes a robot by its ending; an XML file also by its first element."""
    if path.suffix != ".xml":
        return path.suffix in ENDINGS
    return root_tag(path) == "mujoco"


@cache
def _trap_folder() -> TemporaryDirectory:
    """Return a folder for the traps that is deleted at the end of the process."""
    return TemporaryDirectory(prefix="treefactor-traps-")


def _named(entry: ChosenRobot, base: str) -> Iterator[Robot]:
    """Yield the robots of an entry: one file or name, or the files of a folder or pattern."""
    floating, path = _floating(base), Path(entry.folder, entry.path)
    if path.is_file():
        yield Robot(entry.path, path.absolute(), bool(floating))
    elif path.is_dir() or has_magic(entry.path):
        pattern = f"{entry.path}/**" if path.is_dir() else entry.path
        names = sorted(glob(pattern, root_dir=entry.folder, recursive=True))
        files = {name: Path(entry.folder, name).absolute() for name in names}
        files = {name: file for name, file in files.items() if file.is_file() and is_robot_file(file)}
        if not files:
            raise TreefactorError(f"{entry.path}: expected URDF, SDF or MJCF files, found none")
        for name, file in files.items():
            yield Robot(Path(name).as_posix(), file, bool(floating))
    else:
        yield find(entry.path, floating)


def _floating(base: str) -> bool | None:
    return {"fixed": False, "floating": True}.get(base)
