"""Print how many times faster than other packages everything is on this machine: `make bench`."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from treefactor import report
from treefactor.bench import SUBJECTS, Result
from treefactor.bench.registry import MODELS, everything
from treefactor.report import console, ratio


def main(goals: bool) -> None:
    """Measure everything, and print a table; with goals, also those that treefactor set itself."""
    results: list[Result] = []
    errors = Console(stderr=True)
    for ended in track(everything(), "timing", MODELS, console=errors, transient=True):
        for one in ended:
            if not errors.is_terminal:
                errors.print(f"{one.subject}, {one.model}: {one.what}, {one.peer} {ratio(one.ratio)}")
        results += ended
    out = console()
    out.print(table(results, goals))
    out.print(CAPTION, style="dim")
    report.print_busy(results)


def table(results: Iterable[Result], goals: bool) -> Table:
    """Return a table with a section for each subject, and a line for what is timed with which package."""
    groups = defaultdict(list)
    for one in results:
        groups[one.target, one.what, one.peer].append(one)
    shown = Table("what", "compared with", header_style="bold", box=SIMPLE_HEAD)
    titles = ("cases", "times faster", "quartiles", "least", "most", "goal", "reached")
    for title in titles if goals else titles[: -len(GOALS)]:
        shown.add_column(title, justify="right", no_wrap=True)
    ordered = sorted(groups.items(), key=lambda item: order(item[0][0]))
    for target, lines in groupby(ordered, key=lambda item: item[0][0]):
        shown.add_row(Text(SUBJECTS.get(target, target), style="bold"))
        for (_, what, peer), group in lines:
            cells = summary(group)
            shown.add_row(f"  {what}", peer, *(cells if goals else cells[: -len(GOALS)]))
    return shown


def order(target: str) -> tuple[int, str]:
    """Return a sort key: targets in the order of SUBJECTS, then the others."""
    return (list(SUBJECTS).index(target) if target in SUBJECTS else len(SUBJECTS), target)


def summary(group: list[Result]) -> list[str | Text]:
    """Summarize: cases, median ratio, quartiles of its runs, least and most, goal, cases that reach it."""
    ratios = [one.ratio for one in group]
    low, high = (np.median([getattr(one, end) / one.ratio - 1 for one in group]) for end in ("low", "high"))
    goals = [one for one in group if one.goal is not None]
    reached = sum(one.reached for one in goals)
    return [
        str(len(group)),
        ratio(float(np.median(ratios))),
        f"{low:+.0%} {high:+.0%}",
        ratio(min(ratios)),
        ratio(max(ratios)),
        " or ".join(sorted({ratio(one.goal) for one in goals}, key=float)),
        Text(f"{reached}/{len(goals)}", style="green" if reached == len(goals) else "red") if goals else "",
    ]


GOALS = ("goal", "reached")  # columns
CAPTION = (
    "Times faster: how many times longer the other package takes, both timed in turns in one process; below "
    "1 it is faster. Cases: robots, trees or problems; the median over them, the quartiles of the runs of a "
    "typical one, the case with the least and the one with the most. FMA peak: a share of the multiply-adds "
    "that a core can do. Growth with size: time per operation of the fastest size over that of the slowest. "
    "SuperLU analyses the pattern every time, SciPy offers nothing else; CHOLMOD has no wheel and is absent."
)


if __name__ == "__main__":
    main("--goals" in sys.argv[1:])
