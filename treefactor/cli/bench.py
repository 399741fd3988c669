"""Run `treefactor bench`: times of robots, contact problems, closed loops or control, compared with peers."""

from __future__ import annotations

import argparse
import shlex
import sys
from importlib import import_module

from .. import bench, report
from .._util.files import replacing
from ..bench.case import Case
from ..bench.comparisons import all_robots
from ..check import robots
from ..exceptions import TreefactorError
from .common import on_floating_base, progress
from .options import CONTACTS, CONTROL, LOOPS, PROBLEMS

NO_PEER = (
    "Pinocchio cannot be imported: the comparisons with it are left out (pip install 'treefactor[pinocchio]')"
)


def run_bench(options: argparse.Namespace) -> int:
    """Print what `treefactor.bench` measures of robots, contact problems, closed loops or control."""
    if options.all:
        return _all_robots(options)
    if options.robot is None:
        raise TreefactorError("expected a robot, or --all: `treefactor info --list` prints bundled robots")
    prepare = {PROBLEMS: _problems, CONTACTS: _contacts, LOOPS: _loops, CONTROL: _control}.get(
        options.robot, _robot
    )
    title, caption, subject, comparisons = prepare(options)
    results: list[bench.Result] = []
    with replacing(options.json) as file:
        measured = (comparison.measure() for comparison in comparisons)
        for result in progress(
            measured, len(comparisons), "timing", lambda result: f"{result.what}, {result.peer}"
        ):
            results.append(result)
        report.print_results(title, results, caption, options.goals)
        content = {**subject, **report.circumstances()}
        report.write_json(
            file, {**content, "results": [_as_dict(result, options.goals) for result in results]}
        )
    report.print_busy(results)
    if options.json is None:
        report.print_next(f"`treefactor bench {shlex.quote(options.robot)} --json FILE` keeps the figures")
    return 0


def _all_robots(options: argparse.Namespace) -> int:
    """Print the ratios of all robots and their distribution."""
    if options.robot is not None or options.base is not None or options.frameworks:
        raise TreefactorError("--all has its own robots and bases: leave out ROBOT, --base and --frameworks")
    import_module("treefactor.adapters.pinocchio_")  # AdapterError without Pinocchio
    measured: list[all_robots.Measured] = []
    names = all_robots.names()
    with replacing(options.json) as file:
        for entry in progress(all_robots.measure(names), len(names), "timing", _line):
            measured.append(entry)
        distributions = all_robots.distributions(measured)
        report.print_all_robots(measured, distributions, options.goals)
        figures = report.all_robots_figures(measured, distributions, options.goals)
        report.write_json(file, report.circumstances() | figures)
    report.print_busy([result for entry in measured for result in entry.results])
    return 0


def _line(measured: all_robots.Measured) -> str:
    """Return a robot's name, and why it is left out."""
    return f"{measured.robot} is left out: {measured.missing}" if measured.missing else measured.robot


def _as_dict(result: bench.Result, goals: bool) -> dict:
    """Return plain values of a result, without the project's goals unless they are requested."""
    return {key: value for key, value in result.as_dict().items() if goals or key not in bench.GOALS}


def _robot(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Comparison]]:
    """Return title, caption, subject and comparisons of a robot."""
    from ..bench import registry  # it loads SciPy

    robot = robots.find(options.robot, on_floating_base(options))
    title, subject = f"{robot.name}, {robot.base} base", {"robot": robot.name, "base": robot.base}
    case = Case(robot, threads=options.threads)
    if options.frameworks:
        from ..bench.comparisons import frameworks

        _print_missing(frameworks.missing())
        return title, report.FRAMEWORKS_CAPTION, subject, list(frameworks.frameworks(case))
    if case.model is None:
        print(NO_PEER, file=sys.stderr)
    caption = report.ROBOT_CAPTION + report.ROBOT_GOALS * options.goals
    return title, caption, subject, registry.robot_comparisons(case)


def _problems(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Comparison]]:
    """Return title, caption, subject and comparisons of contact problems; print missing solvers."""
    from ..bench import registry
    from ..bench.comparisons import mlcp

    _print_missing(mlcp.missing())
    comparisons = registry.study_comparisons("contacts")
    return "contact problems", report.PROBLEMS_CAPTION, {"problems": PROBLEMS}, comparisons


def _contacts(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Comparison]]:
    """Return title, caption, subject and comparisons of time steps; print missing engines."""
    from ..bench import registry
    from ..bench.comparisons import stepping

    _print_missing(stepping.missing())
    comparisons = registry.study_comparisons("steps")
    return "time steps with contacts", report.CONTACTS_CAPTION, {"scenes": CONTACTS}, comparisons


def _loops(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Comparison]]:
    """Return title, caption, subject and comparisons of mechanisms with closed loops."""
    from ..bench import registry

    comparisons = registry.study_comparisons("loops")
    return "closed loops", report.LOOPS_CAPTION, {"mechanisms": LOOPS}, comparisons


def _control(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Comparison]]:
    """Return title, caption, subject and comparisons of solvers; print that Crocoddyl is missing."""
    from ..bench import registry
    from ..bench.comparisons import control

    if not control.crocoddyl_python():
        print(f"Crocoddyl is left out: {control.VARIABLE} names no Python that has it", file=sys.stderr)
    comparisons = registry.study_comparisons("control")
    return "control", report.CONTROL_CAPTION, {"solvers": CONTROL}, comparisons


def _print_missing(names: list[str]) -> None:
    """Print which peers are not installed."""
    for name in names:
        print(f"{name} is left out: it is not installed", file=sys.stderr)
