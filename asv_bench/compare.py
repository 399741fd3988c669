"""Print what is slower or faster than at another commit: `make compare BASE=<commit>`.

Both commits are built in folders of their own and measured in processes that take turns. Every process
measures the share of Pinocchio's time, so that the speed of the machine cancels; the changes are ratios of
shares of neighbouring processes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import builds
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from treefactor.report import console

ROUNDS = 5
TOLERANCE = 0.1  # two builds of the same kernels differ by up to 0.09 in calls of less than 100 ns
STYLES = {"slower": "red", "faster": "green", "": ""}


@dataclass(frozen=True)
class Change:
    """How the time of one quantity of one robot changed: new / old in every round.

    Notes
    -----
    Immutable.
    """

    robot: str
    what: str
    rounds: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """Either "slower" or "faster", if it is so in every round by more than the tolerance, or ""."""
        if min(self.rounds) > 1.0 + TOLERANCE:
            return "slower"
        return "faster" if max(self.rounds) < 1.0 / (1.0 + TOLERANCE) else ""


def main(base: str, new: str) -> None:
    """Build and measure both commits, and print the changes."""
    packages = {name: builds.build(builds.commit_of(name)) for name in (base, new)}
    if len(packages) < 2:
        sys.exit(f"expected two commits, got {base!r} twice")
    runs = track(
        builds.in_turns(packages, ROUNDS), "timing", 2 * ROUNDS, console=Console(stderr=True), transient=True
    )
    measured = defaultdict(list)
    for name, results in runs:
        measured[name].append(results)
    print_changes(changes(measured[base], measured[new]), base, new)
    print_operations(measured[base][0]["operations"], measured[new][0]["operations"])


def changes(old: Iterable[dict], new: Iterable[dict]) -> list[Change]:
    """Return the changes of all quantities that both builds have, the largest first."""
    rounds = defaultdict(list)
    for before, after in zip(old, new, strict=True):
        for robot, shares in after["shares"].items():
            for what, share in shares.items():
                if what in before["shares"].get(robot, {}):
                    rounds[robot, what].append(share / before["shares"][robot][what])
    listed = [Change(*key, tuple(values)) for key, values in rounds.items()]
    return sorted(listed, key=lambda one: -float(np.median(one.rounds)))


def print_changes(listed: Iterable[Change], base: str, new: str) -> None:
    """Print what became slower or faster, and the median over all."""
    table = Table("robot", "what", title=f"{new} against {base}", header_style="bold", box=SIMPLE_HEAD)
    for title in ("time, new / old", "least", "most", ""):
        table.add_column(title, justify="right", no_wrap=True)
    for one in listed:
        if one.verdict:
            values = (f"{value:.2f}" for value in (np.median(one.rounds), min(one.rounds), max(one.rounds)))
            table.add_row(one.robot, one.what, *values, Text(one.verdict, style=STYLES[one.verdict]))
    out, every = console(), [float(np.median(one.rounds)) for one in listed]
    if table.row_count:
        out.print(table)
    out.print(
        f"{table.row_count} of {len(every)} changed by more than {TOLERANCE:.0%} in each of {ROUNDS} rounds; "
        f"median over all {np.median(every):.2f}"
    )


def print_operations(old: dict, new: dict) -> None:
    """Print programs whose exact number of operations changed."""
    for robot, counts in new.items():
        for name, count in counts.items():
            before = old.get(robot, {}).get(name, count)
            if count != before:
                console().print(f"{robot}, program of {name}: {before} operations, now {count}")


if __name__ == "__main__":
    main(*sys.argv[1:])
