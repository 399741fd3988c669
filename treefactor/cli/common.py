"""Define what several commands share: exit statuses, bases, progress."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import track

DISAGREE, FAILED, NOTHING = 1, 2, 3  # exit statuses
FEW = 10  # results of which each has a line in a pipe
HUNG_UP, INTERRUPTED, TERMINATED = 129, 130, 143


Result = TypeVar("Result")


def on_floating_base(options: argparse.Namespace) -> bool | None:
    """Return whether --base selects a floating base; None leaves it to the robot."""
    return None if options.base is None else options.base == "floating"


def progress(
    results: Iterable[Result], total: int, doing: str, line: Callable[[Result], str]
) -> Iterator[Result]:
    """Show a bar on a terminal; in a pipe a line for every result, of many robots for every tenth of them."""
    errors = Console(stderr=True)
    if errors.is_terminal:
        yield from track(results, doing, total, console=errors, transient=True)
        return
    for count, result in enumerate(results, start=1):
        if total <= FEW:
            print(f"[{count}/{total}] {line(result)}", file=sys.stderr)
        elif count * 10 // total > (count - 1) * 10 // total:
            print(f"{doing}: {count} of {total}", file=sys.stderr)
        yield result
