"""Make the chart and the tables of the page on batches, layouts and threads from the stored figures."""

from __future__ import annotations

from exhibits import Html, curves, grid, measured
from performance import ROBOTS

from treefactor.bench.case import MATRICES
from treefactor.report import duration, ratio

WAYS = {"tf.aba": "aba", "tf.forward_dynamics": "forward_dynamics", "program, interpreted": "program, interp"}
ENOUGH = 1.25  # times the least time
LAYOUTS = {  # rows of the table: by the layout, the name of the measurement
    "factor": {"packed": "factor in cache float64, packed", "lanes": "factor in cache float64, lanes"},
    "factor, float32": {
        "packed": "factor in cache float32, packed",
        "lanes": "factor in cache float32, lanes",
    },
    "rnea_derivatives": {
        "dense": "rnea derivatives 256",
        "packed": "rnea derivatives 256, packed",
        "lanes": "rnea derivatives 256, lanes",
    },
}


def multiples(robot: str, way: str) -> tuple[list[int], list[float]]:
    """Return sizes of batches, and the times for a state in multiples of the least one."""
    points = measured("choosing")["robots"][robot]["batches"]
    seconds = [point["seconds"][way] for point in points]
    return [point["count"] for point in points], [one / min(seconds) for one in seconds]


def chart() -> Html:
    """Draw the time for a state against the size of the batch."""
    robots = measured("choosing")["robots"]
    lines = {f"{name}, nv = {one['nv']}": multiples(name, "aba") for name, one in robots.items()}
    description = "Time for a state against the size of the batch, in multiples of the least time"
    return curves({"tf.aba": lines}, "states in a call", "times the least", description)


def enough() -> Html:
    """Show the smallest batch that is nearly as fast as the best one."""
    robots = measured("choosing")["robots"]
    rows = []
    for title, way in WAYS.items():
        sweeps = (zip(*multiples(name, way), strict=True) for name in robots)
        rows.append([title, *(next(count for count, times in sweep if times <= ENOUGH) for sweep in sweeps)])
    return grid(["", *robots], rows)


def layouts() -> Html:
    """Show times for one matrix by the layout, robot by robot."""
    rows = []
    for what, by_layout in LAYOUTS.items():
        for layout, name in by_layout.items():
            times = (of(robot, name, "Pinocchio") for robot in ROBOTS)
            rows.append([what, layout, *("–" if one is None else duration(one["ours"]) for one in times)])
    return grid(["", "layout", *ROBOTS], rows)


def threads() -> Html:
    """Show how many times faster several threads are than one."""
    results = {
        robot: [one for one in measured(robot)["results"] if one["target"] == "S8"] for robot in ROBOTS
    }
    whats = dict.fromkeys(one["what"] for some in results.values() for one in some)
    cells = {
        (robot, one["what"]): f"{ratio(one['ratio'])} ({duration(MATRICES * one['theirs'])})"
        for robot, some in results.items()
        for one in some
    }
    return grid(
        ["", *ROBOTS], [[what, *(cells.get((robot, what), "–") for robot in ROBOTS)] for what in whats]
    )


def of(robot: str, what: str, peer: str) -> dict | None:
    """Return the stored result of a robot, or None."""
    results = measured(robot)["results"]
    return next((one for one in results if (one["what"], one["peer"]) == (what, peer)), None)
