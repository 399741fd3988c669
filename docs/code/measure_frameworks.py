"""Measure the functions for JAX and PyTorch beside those for NumPy: `python docs/code/measure_frameworks.py`.

Processor times in one thread, taken in turns; a framework that is not installed is left out. No path and no
name of the machine is stored.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from rich.progress import track

import treefactor as tf
from treefactor import bench, report, robots
from treefactor.bench.comparisons import frameworks as times
from treefactor.bench.comparisons import robot as robot_times

FILE = Path(__file__).parents[1] / "measured" / "frameworks.json"
ROBOTS = ("panda", "solo12", "talos_reduced")


def main() -> None:
    """Measure every robot and write frameworks.json."""
    for name in times.missing():
        print(f"{name} is left out: it is not installed", file=sys.stderr)
    found = {name: measured(name) for name in track(ROBOTS, "timing")}
    versions = {name: version(name) for name in (*times.available(), "numpy")}
    report.write_json(FILE, {"config": tf.show_config("dicts"), "versions": versions, "robots": found})


def measured(name: str) -> dict:
    """Return the freedoms of a robot, and the results of all comparisons."""
    case = robot_times.Case(robots.find(name))
    results: list[bench.Result] = [one.measure() for one in times.frameworks(case)]
    return {"nv": case.ours.nv, "results": [one.as_dict() for one in results]}


if __name__ == "__main__":
    main()
