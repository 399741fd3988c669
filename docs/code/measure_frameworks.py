"""Measure the functions for JAX and PyTorch beside those for NumPy."""

from __future__ import annotations

from rich.progress import track

from treefactor.bench.registry import STUDIES, case

ROBOTS = ("panda", "solo12", "talos_reduced")


def measured(_: dict) -> dict:
    """Return the freedoms and the results of all comparisons, robot by robot."""
    return {"robots": {name: of_robot(name) for name in track(ROBOTS, "timing")}}


def of_robot(name: str) -> dict:
    """Return the freedoms of a robot, and the results of all comparisons."""
    robot = case(name)
    results = [one.measure().as_dict() for one in STUDIES["frameworks"].declare(robot)]
    return {"nv": robot.ours.nv, "results": results}
