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

OMITTED = ("target", "model", "peer", "note")  # of a result in JSON: the same for all, or known
CAPTION = (
    "Times faster than Pinocchio: medians of the processor's time of runs taken in turns. One call: factor, "
    "solve with and without out=, and crba, rnea and aba with bound arrays. Batches on one thread: "
    "factorizations of 256 matrices, dynamics of 1024 configurations. cholesky.decompose and crba "
    "have no batch and are called once per item; rneaInParallel and abaInParallel compute batches."
)


def print_all_robots(
    measured: Sequence[Measured], found: Sequence[Distribution], goals: bool = False
) -> None:
    """Print the ratios of every robot, their distribution, and which robots are left out."""
    out = console()
    out.print(_by_robot(measured))
    out.print(_by_quantity(found, goals))
    for one in measured:
        if one.missing:
            out.print(Text(f"{one.robot} is left out: {one.missing}"))
    out.print(Text(CAPTION, style="dim"))


def all_robots_figures(
    measured: Sequence[Measured], found: Sequence[Distribution], goals: bool = False
) -> dict:
    """Return all results for JSON, without the project's goals unless they are requested."""
    left_out = (*OMITTED, *GOALS[1:]) if not goals else OMITTED
    robots = [
        {
            **{"robot": one.robot, "base": one.base, "nv": one.nv, "density": one.density},
            "results": [
                {key: value for key, value in result.as_dict().items() if key not in left_out}
                for result in one.results
            ],
        }
        for one in measured
        if not one.missing
    ]
    kept = [
        {key: value for key, value in asdict(one).items() if goals or key not in ("goal", "goals", "reached")}
        for one in found
    ]
    return {
        "robots": robots,
        "distribution": kept,
        "left out": {one.robot: one.missing for one in measured if one.missing},
    }


def _by_robot(measured: Sequence[Measured]) -> Table:
    """Return a table with a line for every robot, by number of freedoms."""
    table = Table("robot", "base", header_style="bold", box=SIMPLE_HEAD)
    for title in ("nv", "density", *(short.replace(" ", "\n") for short, _ in TITLES.values())):
        table.add_column(title, justify="right", no_wrap=True)
    for one in sorted(measured, key=lambda one: one.nv):
        if not one.missing:
            ratios = (ratio(result.ratio) for result in one.results)
            table.add_row(one.robot, one.base, str(one.nv), f"{one.density:.2f}", *ratios)
    return table


def _by_quantity(found: Sequence[Distribution], goals: bool) -> Table:
    """Return a table of the distribution of every quantity."""
    table = Table("what", "Pinocchio's", header_style="bold", box=SIMPLE_HEAD)
    for title in ("robots", "least", "quartile", "median", "quartile", "most"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("least on")
    if goals:
        table.add_column("goal", justify="right")
        table.add_column("reached", justify="right")
    for one in found:
        ratios = map(ratio, (one.least, one.low, one.median, one.high, one.most))
        reached = (ratio(one.goal), f"{one.reached} of {one.goals}") if one.goal is not None else ("", "")
        table.add_row(
            *(one.what, TITLES[one.what][1], str(one.robots), *ratios, one.worst), *(reached if goals else ())
        )
    return table
