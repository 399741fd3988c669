"""The command line: `treefactor check`, `info`, `bench`, `families`, `tables` and `generate`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import current_thread, main_thread
from typing import TypeVar

from rich.console import Console
from rich.progress import track
from rich.text import Text

from . import __version__, bench, check, duels, growth, report, robots, tables
from ._files import replacing
from .config import show_config
from .exceptions import TreefactorError
from .mechanisms import MECHANISMS
from .model import Model
from .workers import flush

CONTACTS, LOOPS = "mlcp", "loops"  # in place of a robot
DISAGREE, FAILED, INTERRUPTED, TERMINATED = 1, 2, 130, 143  # exit statuses

Found = TypeVar("Found")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 where something disagrees, or 2 where the command could not run."""
    options = _parser().parse_args(arguments)
    _open_streams()
    try:
        with _terminable():
            return options.command(options)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="treefactor", description="Branch-sparse dynamics of kinematic trees."
    )
    parser.add_argument("--version", action="version", version=f"treefactor {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("check", help="compare H and q̈ between the engines")
    command.add_argument(
        "robot", nargs="*", help="a URDF or MJCF, or the name of a bundled robot (default: a selection)"
    )
    command.add_argument("--engine", nargs="+", choices=tuple(check.ENGINES), help="default: all but drake")
    command.add_argument("--base", choices=("fixed", "floating"), help="default: what the robot is meant for")
    command.add_argument("--samples", type=_positive, default=3, metavar="N", help="random states per robot")
    command.add_argument("--seed", type=_natural, default=0, metavar="S", help="seed of the random states")
    command.add_argument(
        "--timeout", type=_positive, default=120, metavar="S", help="seconds an engine has for a robot"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the results as JSON")
    command.add_argument("--html", type=Path, metavar="FILE", help="also write them as a self-contained page")
    command.set_defaults(command=run_check)

    command = commands.add_parser("info", help="print the tree of a robot, its sparsity and its costs")
    command.add_argument("robot", nargs="?", help="URDF or bundled name")
    command.add_argument("--list", action="store_true", help="print the names of the bundled robots")
    command.add_argument("--base", choices=("fixed", "floating"), help="default: what the robot is meant for")
    command.add_argument("--mimic", action="store_true", help="couple mimic joints to those they follow")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    command.add_argument("--plot", type=Path, metavar="FILE", help="draw the tree and the pattern of H")
    command.set_defaults(command=run_info)

    command = commands.add_parser("bench", help="time a robot's factorizations in turns with others'")
    command.add_argument(
        "robot",
        help=f"a URDF, the name of a bundled robot, {CONTACTS} for solvers of contact problems, "
        f"or {LOOPS} for mechanisms with closed loops",
    )
    command.add_argument("--base", choices=("fixed", "floating"), help="default: what the robot is meant for")
    command.add_argument("--threads", type=_positive, default=2, metavar="N", help="to compare with one")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the results as JSON")
    command.set_defaults(command=run_bench)

    command = commands.add_parser("families", help="cost, time and memory of chains, binary trees, lattices")
    command.add_argument("--nodes", type=_positive, default=growth.NODES, metavar="N", help="at most")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    command.add_argument("--plot", type=Path, metavar="FILE", help="draw cost and time on logarithmic axes")
    command.set_defaults(command=run_families)

    command = commands.add_parser("tables", help="execute the papers' tables and figures")
    command.add_argument(
        "paper", nargs="*", type=_paper, help=f"{', '.join(tables.PAPERS)} (default: all of them)"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the tables as JSON")
    command.add_argument("--html", type=Path, metavar="FILE", help="also write them as a self-contained page")
    command.set_defaults(command=run_tables)

    command = commands.add_parser("generate", help="write a robot's dynamics as C that compiles by itself")
    command.add_argument("robot", help=f"a URDF, a bundled robot, or one of {', '.join(MECHANISMS)}")
    command.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DIR", help="new, or generated before"
    )
    command.add_argument("--functions", nargs="+", metavar="F", help="default: all that there are")
    command.add_argument(
        "--tips", nargs="+", default=(), metavar="JOINT", help="joints of the functions jacobian and delassus"
    )
    command.add_argument(
        "--verify", action="store_true", help="compare all intermediates with numeric matrix algorithms"
    )
    command.add_argument("--base", choices=("fixed", "floating"), help="default: what the robot is meant for")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the operation counts as JSON")
    command.set_defaults(command=run_generate)
    return parser


def run_check(options: argparse.Namespace) -> int:
    """Print the table of `treefactor.check.check`; 1 if a verdict is neither agrees nor explained."""
    chosen = _chosen_robots(options)
    engines = options.engine or _installed_engines()
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
    return 0 if all(row.verdict in check.GOOD for row in rows) else DISAGREE


def run_info(options: argparse.Namespace) -> int:
    """Print the tree of one robot, or the names of all bundled ones."""
    if options.list:
        print(*robots.bundled(), sep="\n")
        return 0
    if options.robot is None:
        raise TreefactorError("name a robot, or ask for --list")
    from .adapters import pinocchio_

    robot = robots.find(options.robot, _floating(options))
    tree = pinocchio_.tree(pinocchio_.load(robot.path, robot.floating, options.mimic))
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
    return 0


def run_bench(options: argparse.Namespace) -> int:
    """Print what `treefactor.bench` measures of one robot, of contact problems, or of closed loops."""
    prepare = {CONTACTS: _contacts, LOOPS: _loops}.get(options.robot, _robot)
    title, caption, subject, fights = prepare(options)
    results: list[bench.Result] = []
    with replacing(options.json) as file:
        fought = (duel.fight() for duel in fights)
        for result in _progress(
            fought, len(fights), "timing", lambda one: f"{one.target} {one.what}, {one.peer}"
        ):
            results.append(result)
        report.print_results(title, results, caption)
        content = {**subject, "config": show_config("dicts")}
        report.write_json(file, {**content, "results": [result.as_dict() for result in results]})
    return 0


def _robot(options: argparse.Namespace) -> tuple[str, str, dict[str, str], list[bench.Duel]]:
    """Title, caption, subject and duels of a robot."""
    robot = robots.find(options.robot, _floating(options))
    title, subject = f"{robot.name}, {robot.base} base", {"robot": robot.name, "base": robot.base}
    return title, report.ROBOT_CAPTION, subject, duels.robot_duels(robot, options.threads)


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
    return DISAGREE if tables.differing(found) else 0


def run_generate(options: argparse.Namespace) -> int:
    """Write a robot's straight-line dynamics in C, and print what they cost; 1 if --verify finds an error."""
    from .codegen import folder, generate, verify
    from .codegen.program import available

    model, name, base = _model(options)
    with replacing(options.json) as file:
        functions = options.functions or available(model, options.tips)
        program = generate(model, functions, options.tips)
        folder.write(model, program, options.output)
        title = f"{name}, {base} base"
        report.print_operations(f"{title}: {options.output}", program.operations)
        verdicts = verify(model, functions, options.tips) if options.verify else []
        if verdicts:
            report.print_verdicts(f"{title}: all variants and methods", verdicts)
        counts = {function: asdict(count) for function, count in program.operations.items()}
        content = {"robot": name, "base": base, "operations": counts}
        report.write_json(file, content | {"verified": [asdict(one) for one in verdicts]})
    return DISAGREE if any(one.first for one in verdicts) else 0


def _model(options: argparse.Namespace) -> tuple[Model, str, str]:
    """Model of a robot or mechanism, its name and its base."""
    if options.robot in MECHANISMS and not Path(options.robot).exists():
        if options.base == "floating":
            raise TreefactorError(f"{options.robot} stands on a fixed base")
        return MECHANISMS[options.robot]().model, options.robot, "fixed"
    robot = robots.find(options.robot, _floating(options))
    return Model.from_urdf(robot.path, robot.floating), robot.name, robot.base


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
    """Engines that can be imported; says which are left out."""
    found = [engine for engine in check.DEFAULT_ENGINES if find_spec(check.ENGINES[engine])]
    for engine in (engine for engine in check.DEFAULT_ENGINES if engine not in found):
        print(f"{engine} is left out: pip install 'treefactor[{engine}]'", file=sys.stderr)
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


def _paper(text: str) -> str:
    if text not in tables.PAPERS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(tables.PAPERS)}")
    return text


def _positive(text: str) -> int:
    value = _natural(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no natural number")
    return int(text)
