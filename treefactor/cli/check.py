"""Run `treefactor check`: cross-validation of robots between engines."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from .. import check, report
from .._util.files import replacing
from .._version import __version__
from ..check import robots
from ..check.isolated import flush
from ..exceptions import AdapterError, TreefactorError
from .common import DISAGREE, on_floating_base, progress

NO_REFERENCE = (
    "without Pinocchio there is no reference: treefactor's recursions and each engine are checked against "
    "themselves only"
)


def run_check(options: argparse.Namespace) -> int:
    """Print the results of a cross-validation; return 1 if a verdict is neither agrees nor explained."""
    if options.derivatives and options.html:
        raise TreefactorError("--html draws inertia matrices: leave it out with --derivatives")
    chosen = _chosen_robots(options)
    defaults = check.DERIVATIVE_ENGINES if options.derivatives else check.DEFAULT_ENGINES
    with _engines_aside():
        engines = options.engine or _installed_engines(defaults)
        if not check.run.has_pinocchio():
            print(NO_REFERENCE, file=sys.stderr)
    rows: list = []
    compare = check.check_derivatives if options.derivatives else check.check
    meta = {
        "treefactor": __version__,
        "engines": {engine: _engine_version(engine) for engine in engines},
        "samples": options.samples,
        "seed": options.seed,
    }
    try:
        with replacing(options.json) as json_file, replacing(options.html) as html_file:
            with _engines_aside():
                results = compare(chosen, engines, options.samples, options.seed, options.timeout)
                for found in progress(results, len(chosen), "checking", _verdicts):
                    rows += found
            report.write_json(json_file, {**meta, "rows": [row.as_dict() for row in rows]})
            if html_file is not None:
                from ..report.html import write_html

                write_html(html_file, rows, meta)
    finally:
        if rows:  # after the files: the reader of a pipe may close it
            (report.print_derivative_rows if options.derivatives else report.print_rows)(rows)
    good = all(row.verdict in check.GOOD for row in rows)
    report.print_next(_after_check(options, good))
    return 0 if good else DISAGREE


def _after_check(options: argparse.Namespace, good: bool) -> str:
    """Suggest the command that a user is likely to need after a check."""
    if options.derivatives:
        return ""
    if len(options.robot) != 1:
        return "" if options.html else "`treefactor check --html` also draws every robot as a page"
    robot = shlex.quote(options.robot[0])
    if not good and not options.html:
        return f"`treefactor check {robot} --html` draws which entries differ"
    return f"`treefactor generate {robot} -o FOLDER` writes its dynamics as C" if good else ""


def _chosen_robots(options: argparse.Namespace) -> list[robots.Robot]:
    """Return the robots named on the command line, or the default selection, on the requested base."""
    floating = on_floating_base(options)
    if options.robot:
        return [robots.find(name, floating) for name in options.robot]
    chosen = robots.default_robots()
    if not chosen:
        raise TreefactorError("no robots are bundled: pip install 'treefactor[pinocchio,pybullet]'")
    return chosen if floating is None else [replace(robot, floating=floating) for robot in chosen]


def _installed_engines(engines: Iterable[str]) -> list[str]:
    """Return the engines whose adapters can be imported; print which are left out."""
    found = []
    for engine in engines:
        try:
            import_module(f"treefactor.adapters.{engine}_")
            found.append(engine)
        except AdapterError as error:
            print(f"{engine} is left out: {error}", file=sys.stderr)
    return found


def _engine_version(engine: str) -> str | None:
    """Return the version of an engine's wheel."""
    try:
        return version({"pinocchio": "pin"}.get(engine, engine))
    except PackageNotFoundError:
        return None


def _verdicts(found: list) -> str:
    """Format the verdicts of every engine on one robot."""
    return f"{found[0].robot}: " + ", ".join(f"{row.engine} {row.verdict}" for row in found)


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
