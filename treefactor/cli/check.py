"""Run `treefactor check`: compare engines on robots."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from .. import check, report
from .._util.files import replacing
from .._version import __version__
from ..check import robots
from ..check.cells import STATES, Cell, CheckedRobot, Report
from ..check.engines import ENGINES, engine_version
from ..check.project.configuration import Configuration, as_toml, configuration
from ..check.project.expectations import exit_status
from ..check.project.selection import compare, formats, is_robot_file, robots_of
from ..check.worker import flush
from ..check.workers import prepare
from ..exceptions import AdapterError, TreefactorError
from ..report import conformance
from .common import DISAGREE, progress

NO_REFERENCE = "without Pinocchio engines are compared with treefactor's own recursions"
NO_ENGINE = (
    "no engine is installed to compare with: treefactor check --derivatives and --contacts need none, and "
    "pip install 'treefactor[pinocchio]' brings one"
)
REPORTS = ("json", "html", "junit", "sarif", "markdown", "badge")


def run_check(options: argparse.Namespace) -> int:
    """Print the results of a comparison of engines; return its exit status, see `exit_status`."""
    _require_places(options)
    if options.derivatives:
        return _check_derivatives(options)
    if options.contacts:
        return _check_contacts(options)
    if options.list_engines:
        _print_engines()
        return 0
    chosen = chosen_configuration(options)
    if options.print_config:
        print(as_toml(chosen), end="")
        return 0
    prepare()
    comparison: Report | None = None
    try:
        with ExitStack() as files:
            paths = {kind: files.enter_context(replacing(getattr(options, kind))) for kind in REPORTS}
            with _engines_aside():
                if not check.has_pinocchio():
                    print(NO_REFERENCE if _has_engine() else NO_ENGINE, file=sys.stderr)
                comparison = compare(
                    chosen, lambda results, total: progress(results, total, "checking", _states)
                )
            for kind, path in paths.items():
                if path is not None:
                    getattr(conformance, f"write_{kind}")(path, comparison)
    finally:
        if comparison is not None:  # after the files: the reader of a pipe may close it
            conformance.print_report(comparison)
            if not chosen.engines:
                _print_absent_engines()
    status = exit_status(comparison, chosen.failures)
    report.print_next(_after_check(options, status, comparison))
    return status


def _require_places(options: argparse.Namespace) -> None:
    """Raise TreefactorError if a report is to replace a robot's file, or two of them are to be one file."""
    kinds: dict[Path, str] = {}
    for kind in REPORTS:
        path = getattr(options, kind)
        if path is None:
            continue
        if kind == "badge" and path.suffix.lower() not in conformance.BADGES:
            raise TreefactorError(
                f"expected a badge that ends in {' or '.join(conformance.BADGES)}, got {path}"
            )
        if path.is_file() and is_robot_file(path):
            raise TreefactorError(f"--{kind} {path}: expected a file for the report, got that of a robot")
        first_kind = kinds.setdefault(path.resolve(), kind)
        if first_kind != kind and (path.is_file() or not path.exists()):
            raise TreefactorError(
                f"--{first_kind} and --{kind} are to be one file, {path}: give each its own"
            )


def chosen_configuration(options: argparse.Namespace) -> Configuration:
    """Return the configuration of the project, with the options of the command line in place of its own."""
    return configuration(options.config).replaced(
        robots=options.robot or ([] if options.traps else None),
        engines=options.engine,
        quantities=options.quantity,
        base=options.base,
        samples=options.samples,
        seed=options.seed,
        timeout=options.timeout,
        ordinary=False if options.no_ordinary else None,
        traps=options.traps or None,
        fail_on=options.fail_on,
    )


def _after_check(options: argparse.Namespace, status: int, comparison: Report) -> str:
    """Suggest the command that a user is likely to need after a check."""
    if len(options.robot) != 1:
        return "" if options.html else "`treefactor check --html` also draws every robot as a page"
    robot = shlex.quote(options.robot[0])
    if status == DISAGREE and not options.html:
        return f"`treefactor check {robot} --html` draws which entries differ"
    read = any(checked.name == options.robot[0] and checked.format != "sdf" for checked in comparison.robots)
    return f"`treefactor generate {robot} -o FOLDER` writes its dynamics as C" if read and not status else ""


def _has_engine() -> bool:
    """Return whether an engine besides treefactor is installed."""
    return any(engine_version(name) for name in ENGINES if name != "treefactor")


def _print_absent_engines() -> None:
    """Print which engines that a check compares by default are not installed, and how to get each."""
    for name, engine in ENGINES.items():
        if engine.weight != "heavy" and not engine_version(name):
            line = f"not compared: {name} is not installed: {engine.remedy}"
            report.console(conformance.WIDTH).print(Text(line, style="dim"))


def _states(result: tuple[CheckedRobot, list[Cell]]) -> str:
    """Format the worst state of every engine on one robot."""
    robot, cells = result
    worst: dict[str, str] = {}
    for cell in cells:
        worst[cell.engine] = min(cell.state, worst.get(cell.engine, STATES[-1]), key=STATES.index)
    states = ", ".join(f"{engine} {state}" for engine, state in worst.items())
    return f"{conformance.title(robot)}: {states}"


def _print_engines() -> None:
    """Print every engine with its version, what it reads, and how to install it."""
    table = Table("engine", "version", "reads", "time per robot", "install", box=SIMPLE_HEAD)
    for name, engine in ENGINES.items():
        version = engine_version(name)
        table.add_row(
            name,
            version or "not installed",
            ", ".join(formats(name)),
            {"light": "seconds", "medium": "seconds", "heavy": "minutes"}[engine.weight],
            Text("" if version else engine.remedy),  # as markup, [pybullet] would be a style
        )
    report.console(conformance.WIDTH).print(table)


def _check_derivatives(options: argparse.Namespace) -> int:
    """Print the comparison of derivatives; return 1 if a verdict is neither agrees nor explained."""
    _require_json_alone(options, "derivatives")
    chosen = _chosen_robots(options)
    with _engines_aside():
        engines = options.engine or _installed_engines(check.DERIVATIVE_ENGINES)
        samples, seed = options.samples or 3, options.seed or 0
    rows: list = []
    meta = {
        "treefactor": __version__,
        "engines": {engine: engine_version(engine) or None for engine in engines},
        "samples": samples,
        "seed": seed,
    }
    try:
        with replacing(options.json) as json_file:
            with _engines_aside():
                results = check.check_derivatives(chosen, engines, samples, seed, options.timeout or 120)
                for of_robot in progress(results, len(chosen), "checking", _verdicts):
                    rows += of_robot
            report.write_json(json_file, {**meta, "rows": [row.as_dict() for row in rows]})
    finally:
        if rows:  # after the files: the reader of a pipe may close it
            report.print_derivative_rows(rows)
    return 0 if all(row.verdict in check.GOOD for row in rows) else DISAGREE


def _check_contacts(options: argparse.Namespace) -> int:
    """Print the comparison of contacts; return 1 if a value is wrong, or a named engine refuses the file."""
    _require_json_alone(options, "contacts")
    if not options.robot:
        raise TreefactorError("--contacts needs a robot: treefactor check --contacts robot.urdf")
    chosen = _chosen_robots(options)
    with _engines_aside():
        engines = _installed_engines(options.engine or check.CONTACT_ENGINES)
        results = check.check_contacts(chosen, engines)
        compared = list(progress(results, len(chosen), "checking", lambda checked: checked.robot))
    versions = {engine: engine_version(engine) or None for engine in engines}
    with replacing(options.json) as json_file:
        content = {"treefactor": __version__, "engines": versions}
        report.write_json(json_file, {**content, "robots": [checked.as_dict() for checked in compared]})
    report.print_contacts(compared)
    good = check.GOOD if options.engine else (*check.GOOD, check.REFUSED)
    right = all(row.state in good for checked in compared for row in checked.rows)
    return 0 if right else DISAGREE


def _require_json_alone(options: argparse.Namespace, what: str) -> None:
    """Raise TreefactorError if a report is to be written that has no place for a comparison."""
    for kind in REPORTS[1:]:
        if getattr(options, kind):
            raise TreefactorError(f"--{kind} reports no {what}: leave it out with --{what}")


def _chosen_robots(options: argparse.Namespace) -> list[robots.Robot]:
    """Return the robots named on the command line, or the default selection, on the requested base."""
    return robots_of(Configuration().replaced(robots=options.robot or None, base=options.base))


def _installed_engines(engines: Iterable[str]) -> list[str]:
    """Return the engines whose adapters can be imported; print which are left out."""
    installed = []
    for engine in engines:
        try:
            import_module(f"treefactor.adapters.{engine}_")
            installed.append(engine)
        except AdapterError as error:
            print(f"{engine} is left out: {error}", file=sys.stderr)
    return installed


def _verdicts(rows: list) -> str:
    """Format the verdicts of every engine on one robot."""
    return f"{rows[0].robot}: " + ", ".join(f"{row.engine} {row.verdict}" for row in rows)


@contextmanager
def _engines_aside() -> Iterator[None]:
    """Redirect the output of the engines' C code away from stdout and from the progress bar."""
    sys.stdout.flush()
    kept = os.dup(1)
    aside = os.open(os.devnull, os.O_WRONLY) if os.isatty(2) else os.dup(2)
    os.dup2(aside, 1)
    os.close(aside)
    try:
        yield
    finally:
        flush()
        os.dup2(kept, 1)
        os.close(kept)
