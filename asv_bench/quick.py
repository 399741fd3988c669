"""Print one table of all targets on this machine: `make bench`."""

from collections import defaultdict

import numpy as np
from benchmarks.comparisons import MODELS, results
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from treefactor.bench import Result
from treefactor.report import console, ratio


def main() -> None:
    """Measure every target on all its models."""
    found = defaultdict(list)
    errors = Console(stderr=True)
    for ended in track(results(), "timing", MODELS, console=errors, transient=True):
        for one in ended:
            if not errors.is_terminal:
                errors.print(f"{one.subject}, {one.model}: {one.what}, {one.peer} {ratio(one.ratio)}")
            found[one.target, one.what, one.peer].append(one)
    table = Table("", "what", "peer", header_style="bold", box=SIMPLE_HEAD)
    for title in ("models", "times faster", "quartiles", "least", "most", "goal", "reached"):
        table.add_column(title, justify="right", no_wrap=True)
    for key, group in sorted(found.items(), key=lambda item: natural(item[0][0])):
        table.add_row(group[0].subject, *key[1:], *summary(group))
    console().print(table)
    console().print(CAPTION, style="dim")


def natural(target: str) -> tuple[int, str]:
    """Return a sort key: targets with a number after the S come first, in numerical order."""
    number = target.removeprefix("S")
    return (int(number), "") if number.isdecimal() else (LAST, target)


def summary(group: list[Result]) -> list[str | Text]:
    """Summarize: models, median ratio, quartiles of its runs, least and most, goal, models that reach it."""
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


LAST = 99
CAPTION = (
    "Median over the models of the median ratio of runs taken in turns; typical quartiles of the runs of a "
    "model; the models with the smallest and the largest ratio. Growth with size: time per operation of the "
    "fastest size over that of the slowest. SuperLU analyses the pattern every time, SciPy offers nothing "
    "else; CHOLMOD has no wheel and is left out."
)


if __name__ == "__main__":
    main()
