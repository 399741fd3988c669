"""Print the results of `treefactor bench --all`: ratios of every robot, and their distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..bench.comparisons.all_robots import TITLES, Distribution, Measured
from ..bench.timing import GOALS
from .console import console, ratio

# entries of a result left out of JSON: equal for all robots, or given elsewhere
OMITTED = ("target", "model", "peer", "note")
CAPTION = (
    "Times faster than Pinocchio: medians of the processor's time of runs taken in turns. One call: factor, "
    "solve with and without out=, and crba, rnea and aba with bound arrays. Batches on one thread: "
    "factorizations of 256 matrices, dynamics of 1024 configurations. cholesky.decompose and crba "
    "have no batch and are called once per item; rneaInParallel and abaInParallel compute batches."
)


def print_all_robots(
    measured: Sequence[Measured], distributions: Sequence[Distribution], goals: bool = False
) -> None:
    """Print the ratios of every robot, their distribution, and which robots are left out."""
    out = console()
    out.print(_by_robot(measured))
    out.print(_by_quantity(distributions, goals))
    for entry in measured:
        if entry.missing:
            out.print(Text(f"{entry.robot} is left out: {entry.missing}"))
    out.print(Text(CAPTION, style="dim"))


def all_robots_figures(
    measured: Sequence[Measured], distributions: Sequence[Distribution], goals: bool = False
) -> dict:
    """Return all results for JSON, without the project's goals unless they are requested."""
    left_out = (*OMITTED, *GOALS[1:]) if not goals else OMITTED
    robots = [
        {
            **{"robot": entry.robot, "base": entry.base, "nv": entry.nv, "density": entry.density},
            "results": [
                {key: value for key, value in result.as_dict().items() if key not in left_out}
                for result in entry.results
            ],
        }
        for entry in measured
        if not entry.missing
    ]
    kept = [
        {
            key: value
            for key, value in asdict(entry).items()
            if goals or key not in ("goal", "goals", "reached")
        }
        for entry in distributions
    ]
    return {
        "robots": robots,
        "distribution": kept,
        "left out": {entry.robot: entry.missing for entry in measured if entry.missing},
    }


def _by_robot(measured: Sequence[Measured]) -> Table:
    """Return a table with a line for every robot, by number of freedoms."""
    table = Table("robot", "base", header_style="bold", box=SIMPLE_HEAD)
    for title in ("nv", "density", *(short.replace(" ", "\n") for short, _ in TITLES.values())):
        table.add_column(title, justify="right", no_wrap=True)
    for entry in sorted(measured, key=lambda entry: entry.nv):
        if not entry.missing:
            ratios = (ratio(result.ratio) for result in entry.results)
            table.add_row(entry.robot, entry.base, str(entry.nv), f"{entry.density:.2f}", *ratios)
    return table


def _by_quantity(distributions: Sequence[Distribution], goals: bool) -> Table:
    """Return a table of the distribution of every quantity."""
    table = Table("what", "Pinocchio's", header_style="bold", box=SIMPLE_HEAD)
    for title in ("robots", "least", "quartile", "median", "quartile", "most"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("least on")
    if goals:
        table.add_column("goal", justify="right")
        table.add_column("reached", justify="right")
    for distribution in distributions:
        ratios = map(
            ratio,
            (distribution.least, distribution.low, distribution.median, distribution.high, distribution.most),
        )
        reached = (
            (ratio(distribution.goal), f"{distribution.reached} of {distribution.goals}")
            if distribution.goal is not None
            else ("", "")
        )
        table.add_row(
            *(
                distribution.what,
                TITLES[distribution.what][1],
                str(distribution.robots),
                *ratios,
                distribution.worst,
            ),
            *(reached if goals else ()),
        )
    return table
