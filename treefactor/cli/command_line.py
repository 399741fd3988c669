"""Run the commands of `treefactor`, such as check, info, bench and tables.

Each prints for people, writes JSON for machines where ``--json`` names a file, and ends with what to do next.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread

from rich.console import Console
from rich.text import Text

from .. import report
from ..exceptions import TreefactorError
from .advise import run_advise
from .bench import run_bench
from .check import run_check
from .common import FAILED, HUNG_UP, INTERRUPTED, TERMINATED
from .families import run_families
from .generate import run_generate
from .identify import run_identify
from .info import run_info
from .options import parser
from .tables import run_tables
from .where import run_where

SIGNALLED = {signal.SIGTERM: TERMINATED, signal.SIGHUP: HUNG_UP}  # exit statuses


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 where something disagrees, or 2 where the command could not run."""
    _open_streams()
    options = parser().parse_args(arguments)
    try:
        with _terminable(), _plain_warnings():
            return COMMANDS[options.command](options)
    except (TreefactorError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of a pipe has closed it
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


def _open_streams() -> None:
    """Open closed standard streams, which some parent processes pass on."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.set_inheritable(descriptor, True)  # for the engines' processes
            setattr(sys, name, os.fdopen(descriptor, "w"))


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print warnings about the user's files as sentences, without the place in the code that gave them."""
    with warnings.catch_warnings():
        print_raw = warnings.showwarning

        def show(message, category, *place, **others):
            if category is UserWarning:
                text = Text("warning: ", style="yellow").append(str(message), style="default")
                Console(stderr=True, highlight=False).print(text, soft_wrap=True)
            else:
                print_raw(message, category, *place, **others)

        warnings.showwarning = show
        yield


@contextmanager
def _terminable() -> Iterator[None]:
    """Clean up on SIGTERM and SIGHUP as on Ctrl-C: end the engines' processes, delete temporary files."""
    if current_thread() is not main_thread():  # which alone may handle signals
        yield
        return
    kept = {signalled: signal.getsignal(signalled) for signalled in SIGNALLED}
    try:
        for signalled, handler in kept.items():
            if handler != signal.SIG_IGN:  # as nohup has it
                signal.signal(signalled, lambda number, _: sys.exit(SIGNALLED[number]))
        yield
    finally:
        for signalled, handler in kept.items():
            signal.signal(signalled, handler)


COMMANDS = {
    "check": run_check,
    "info": run_info,
    "bench": run_bench,
    "families": run_families,
    "tables": run_tables,
    "where": run_where,
    "generate": run_generate,
    "identify": run_identify,
    "advise": run_advise,
    None: run_help,
}
