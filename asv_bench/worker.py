"""Measure one build of treefactor: print shares of Pinocchio's time and exact operations as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import treefactor
from treefactor.bench.comparisons import all_robots
from treefactor.codegen import generate

ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced", "talos_full_v2", "tiago_dual")
COUNTED = ("crba", "rnea", "forward_dynamics")


def main(package: str) -> None:
    """Measure the build in a folder; end with an error if another one is imported."""
    imported = Path(treefactor.__file__).parents[1]
    if imported != Path(package).resolve():
        sys.exit(f"expected treefactor of {package}, got {imported}")
    json.dump(measured(ROBOTS), sys.stdout)


def measured(robots) -> dict:
    """Return ours / Pinocchio's times by robot and quantity, exact operations of programs, and settings."""
    shares = {
        one.robot: {result.what: 1.0 / result.ratio for result in one.results}
        for one in all_robots.measure(robots)
    }
    return {"config": treefactor.show_config("dicts"), "shares": shares, "operations": operations(robots)}


def operations(robots) -> dict[str, dict[str, int]]:
    """Return the exact operations of generated programs by robot and function."""
    models = {robot: all_robots.case_of(robot).ours for robot in robots}
    return {
        robot: {name: generate(model, [name]).operations[name].total for name in COUNTED}
        for robot, model in models.items()
    }


if __name__ == "__main__":
    main(sys.argv[1])
