"""The commands `treefactor check`, `info`, `bench`, `families`, `tables` and `generate`.

Each prints for people, writes JSON for machines where ``--json`` names a file, and ends with what to do next.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import current_thread, main_thread
from typing import TypeVar

from rich.console import Console
from rich.progress import track
from rich.text import Text

from . import __version__, bench, check, duels, growth, report, robots, tables
from ._files import replacing
from .cli_options import CONTACTS, LOOPS, parser
from .config import show_config
from .exceptions import AdapterError, TreefactorError
from .mechanisms import MECHANISMS
from .model import Model
from .workers import flush

NO_REFERENCE = (
    "without Pinocchio there is no reference: treefactor's recursions and each engine are checked against "
    "themselves only"
)
NO_PEER = (
    "Pinocchio cannot be imported: the comparisons with it are left out (pip install 'treefactor[pinocchio]')"
)
DISAGREE, FAILED, INTERRUPTED, TERMINATED = 1, 2, 130, 143  # exit statuses

Found = TypeVar("Found")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 where something disagrees, or 2 where the command could not run."""
    _open_streams()
    options = parser().parse_args(arguments)
    try:
        with _terminable():
            return COMMANDS[options.command](options)
    except (TreefactorError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 0
        Console(stderr=True, highlight=False).print(
            Text("treefactor: error: ", style="red").append(str(error), style="default"), soft_wrap=True
        )
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def run_help(options: argparse.Namespace) -> int:
    """Print the help, and a first command to try."""
    parser().print_help()
    report.print_next(
        "`treefactor info --list` prints the bundled robots, `treefactor info FILE.urdf` shows a robot"
    )
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Print the table of `treefactor.check.check`; 1 if a verdict is neither agrees nor explained."""
    chosen = _chosen_robots(options)
    with _engines_aside():
        engines = options.engine or _installed_engines()
        if not check.has_pinocchio():
            print(NO_REFERENCE, file=sys.stderr)
    rows: list[check.Row] = []
    meta = {
        "treefactor": __version__,
        "engines": {engine: _engine_version(engine) for engine in engines},
        "samples": options.samples,
        "seed": options.seed,
    }
    try:
        with replacing(options.json) as json_file, replacing(options.html) as html_file:
            with _engines_aside():
                results = check.check(chosen, engines, options.samples, options.seed, options.timeout)
                for found in _progress(results, len(chosen), "checking", _verdicts):
                    rows += found
            report.write_json(json_file, {**meta, "rows": [row.as_dict() for row in rows]})
            if html_file is not None:
                from .html import write_html

                write_html(html_file, rows, meta)
    finally:
        if rows:  # after the files: whoever reads the table may leave
            report.print_rows(rows)
    good = all(row.verdict in check.GOOD for row in rows)
    report.print_next(_after_check(options, good))
    return 0 if good else DISAGREE


def _after_check(options: argparse.Namespace, good: bool) -> str:
    """Name the command that a user is likely to need after a check."""
    if len(options.robot) != 1:
        return "" if options.html else "`treefactor check --html` also draws every robot as a page"
    robot = shlex.quote(options.robot[0])
    if not good and not options.html:
        return f"`treefactor check {robot} --html` draws which entries differ"
    return f"`treefactor generate {robot} -o FOLDER` writes its dynamics as C" if good else ""


def run_info(options: argparse.Namespace) -> int:
    """Print the tree of one robot, or the names of all bundled ones."""
    if options.list:
        print(*robots.bundled(), sep="\n")
        return 0
    if options.robot is None:
        raise TreefactorError(
            "info needs the file or name of a robot; `treefactor info --list` prints the names"
        )
    robot = robots.find(options.robot, _floating(options))
    tree = robots.model_of(robot, options.mimic).tree
    report.print_tree(f"{robot.name}, {robot.base} base", tree)
    with replacing(options.json) as file:
        content = {
            "robot": robot.name,
            "base": robot.base,
            "parent": tree.parent.tolist(),
            "names": tree.names,
        }
        report.write_json(file, {**content, **report.tree_figures(tree)})
    with replacing(options.plot) as file:
        if file is not None:
            from .plots import draw_tree

            draw_tree(tree, f"{robot.name}, {robot.base} base", file)
    name = shlex.quote(options.robot)
    report.print_next(
        f"`treefactor bench {name}` measures it, `treefactor check {name}` compares the engines"
    )
    return 0


def run_bench(options: argparse.Namespace) -> int:
    """Print what `treefactor.bench` measures of one robot, of contact problems, or of closed loops."""
    prepare = {CONTACTS: _contacts, LOOPS: _loops}.get(options.robot, _robot)
    title, caption, subject, fights = prepare(options)
    results: list[bench.Result] = []
    with replacing(options.json) as file:
        fought = (duel.fight() for duel in fights)
        for result in _progress(fought, len(fights), "timing", lambda one: f"{one.what}, {one.peer}"):
            results.append(result)
        report.print_results(title, results, caption, options.goals)
        content = {**subject, "config": show_config("dicts")}
        report.write_json(file, {**content, "results": [_as_dict(one, options.goals) for one in results]})
    if options.json is None:
        report.print_next(f"`treefactor bench {shlex.quote(options.robot)} --json FILE` keeps the figures")
    return 0


def _as_dict(result: bench.Result, goals: bool) -> dict:
    """Plain values of a result, without the project's goals unless they are wanted."""
    return {key: value for key, value in result.as_dict().items() if goals or key not in bench.GOALS}


def _robot(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Duel]]:
    """Title, caption, subject and duels of a robot."""
    robot = robots.find(options.robot, _floating(options))
    title, subject = f"{robot.name}, {robot.base} base", {"robot": robot.name, "base": robot.base}
    case = duels.Case(robot)
    if case.model is None:
        print(NO_PEER, file=sys.stderr)
    caption = report.ROBOT_CAPTION + report.ROBOT_GOALS * options.goals
    return title, caption, subject, duels.case_duels(case, options.threads)


def _contacts(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Duel]]:
    """Title, caption, subject and duels of contact problems; says which solvers are left out."""
    from . import duels_mlcp

    for name in duels_mlcp.missing():
        print(f"{name} is left out: it is not installed", file=sys.stderr)
    return "contact problems", report.CONTACTS_CAPTION, {"problems": CONTACTS}, duels_mlcp.mlcp_duels()


def _loops(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Duel]]:
    """Title, caption, subject and duels of mechanisms with closed loops."""
    from . import duels_loops

    return "closed loops", report.LOOPS_CAPTION, {"mechanisms": LOOPS}, duels_loops.loop_duels()


def run_families(options: argparse.Namespace) -> int:
    """Print how the costs of the papers' trees grow."""
    grown: list[growth.Growth] = []
    with replacing(options.json) as json_file, replacing(options.plot) as plot_file:
        measured = (growth.growth(family, options.nodes) for family in growth.FAMILIES)
        for found in _progress(measured, len(growth.FAMILIES), "timing", lambda found: found[-1].family):
            grown += found
        report.print_growth(grown)
        report.write_json(json_file, {"trees": [one.as_dict() for one in grown]})
        if plot_file is not None:
            from .plots import draw_growth

            draw_growth(grown, plot_file)
    if options.plot is None:
        report.print_next("`treefactor families --plot FILE` draws them")
    return 0


def run_tables(options: argparse.Namespace) -> int:
    """Print the papers' tables beside what was executed; 1 if a figure differs without a known reason."""
    chosen = tables.makers(options.paper)
    found: list[tables.Table] = []
    meta = show_config("dicts")
    with replacing(options.json) as json_file, replacing(options.html) as html_file:
        executed = (make() for make in chosen)
        for table in _progress(executed, len(chosen), "executing", lambda table: table.title):
            found.append(table)
        report.write_json(json_file, {"config": meta, "tables": [table.as_dict() for table in found]})
        if html_file is not None:
            from .html import write_tables

            write_tables(html_file, found, meta)
    report.print_tables(found)
    if options.html is None:
        report.print_next("`treefactor tables --html` writes them as a page")
    return DISAGREE if tables.differing(found) else 0


def run_generate(options: argparse.Namespace) -> int:
    """Write a robot's straight-line dynamics in C, and print what they cost; 1 if --verify finds an error."""
    from .codegen import folder, generate, verify
    from .codegen.program import available

    model, name, base = _model(options)
    with replacing(options.json) as file:
        functions = options.functions or available(model, options.tips)
        program = generate(model, functions, options.tips)
        folder.write(model, program, options.output, options.force)
        title = f"{name}, {base} base"
        report.print_operations(f"{title}: {options.output}", program.operations)
        verdicts = verify(model, functions, options.tips) if options.verify else []
        if verdicts:
            report.print_verdicts(f"{title}: all variants and methods", verdicts)
        counts = {function: asdict(count) for function, count in program.operations.items()}
        content = {"robot": name, "base": base, "operations": counts}
        report.write_json(file, content | {"verified": [asdict(one) for one in verdicts]})
    report.print_next(
        f"`make -C {shlex.quote(str(options.output))} check` compiles it and checks its results"
    )
    return DISAGREE if any(one.first for one in verdicts) else 0


def _model(options: argparse.Namespace) -> tuple[Model, str, str]:
    """Model of a robot or mechanism, its name and its base."""
    if options.robot in MECHANISMS and not Path(options.robot).exists():
        if options.base == "floating":
            raise TreefactorError(f"{options.robot} stands on a fixed base")
        return MECHANISMS[options.robot]().model, options.robot, "fixed"
    robot = robots.find(options.robot, _floating(options))
    return robots.model_of(robot), robot.name, robot.base


def _chosen_robots(options: argparse.Namespace) -> list[robots.Robot]:
    """Robots named on the command line, or the default selection, on the base asked for."""
    floating = _floating(options)
    if options.robot:
        return [robots.find(name, floating) for name in options.robot]
    chosen = robots.default_robots()
    if not chosen:
        raise TreefactorError("no robots are bundled: pip install 'treefactor[pinocchio,pybullet]'")
    return chosen if floating is None else [replace(robot, floating=floating) for robot in chosen]


def _floating(options: argparse.Namespace) -> bool | None:
    return None if options.base is None else options.base == "floating"


def _installed_engines() -> list[str]:
    """Engines whose adapters can be imported; says which are left out."""
    found = []
    for engine in check.DEFAULT_ENGINES:
        try:
            import_module(f".adapters.{engine}_", __package__)
            found.append(engine)
        except AdapterError as error:
            print(f"{engine} is left out: {error}", file=sys.stderr)
    return found


def _engine_version(engine: str) -> str | None:
    """Version of the wheel an engine comes in."""
    try:
        return version({"pinocchio": "pin"}.get(engine, engine))
    except PackageNotFoundError:
        return None


def _progress(
    results: Iterable[Found], total: int, doing: str, line: Callable[[Found], str]
) -> Iterator[Found]:
    """Show a bar on a terminal, a line for every result in a pipe."""
    errors = Console(stderr=True)
    if errors.is_terminal:
        yield from track(results, doing, total, console=errors, transient=True)
        return
    for count, found in enumerate(results, start=1):
        print(f"[{count}/{total}] {line(found)}", file=sys.stderr)
        yield found


def _verdicts(found: list[check.Row]) -> str:
    """What every engine makes of one robot."""
    return f"{found[0].robot}: " + ", ".join(f"{row.engine} {row.verdict}" for row in found)


def _open_streams() -> None:
    """Put something in the place of closed streams, which processes are started with."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.set_inheritable(descriptor, True)  # for the engines' processes
            setattr(sys, name, os.fdopen(descriptor, "w"))


@contextmanager
def _terminable() -> Iterator[None]:
    """Clean up on SIGTERM as on Ctrl-C: no engine's process and no temporary file is left behind."""
    if current_thread() is not main_thread():  # which alone may handle signals
        yield
        return
    kept = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, kept)


@contextmanager
def _engines_aside() -> Iterator[None]:
    """Keep what the engines' own C code prints out of stdout, and out of a progress bar."""
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


COMMANDS = {
    "check": run_check,
    "info": run_info,
    "bench": run_bench,
    "families": run_families,
    "tables": run_tables,
    "generate": run_generate,
    None: run_help,
}
