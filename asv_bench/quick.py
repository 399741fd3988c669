"""Print one table of treefactor against its peers on this machine: `make bench`."""

import numpy as np
from benchmarks.common import ROBOTS, case, ratios, times_in_turns
from benchmarks.factorization import PEERS, factor_calls, solve_calls
from rich.console import Console
from rich.progress import track
from rich.table import Table

from treefactor.report import console


def main() -> None:
    """Time every case in turns with its peers."""
    table = Table("robot", "operation", header_style="bold")
    for title in ("nv", "treefactor", *PEERS, *(f"faster than {peer}" for peer in PEERS)):
        table.add_column(title, justify="right")
    work = [(robot, calls) for robot in ROBOTS for calls in (factor_calls, solve_calls)]
    for robot, calls in track(work, "timing", console=Console(stderr=True), transient=True):
        times = times_in_turns(calls(robot))
        table.add_row(
            robot,
            calls.__name__.removesuffix("_calls"),
            str(case(robot).nv),
            *(f"{times[name].min():.2f} µs" for name in ("treefactor", *PEERS)),
            *(spread(ratios(times, peer)) for peer in PEERS),
        )
    console().print(table)


def spread(ratio: np.ndarray) -> str:
    """Median, and the range of the middle half."""
    low, middle, high = np.quantile(ratio, (0.25, 0.5, 0.75))
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


if __name__ == "__main__":
    main()
