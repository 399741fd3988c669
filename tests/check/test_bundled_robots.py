"""Compare every engine that loads fast with Pinocchio on all robots of example-robot-data."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from treefactor.check import AGREES
from treefactor.check.engines import ChosenEngine
from treefactor.check.matrix import Matrix, compare
from treefactor.check.project.configuration import Expectation, configuration
from treefactor.check.project.expectations import failing, with_expectations
from treefactor.check.robots import bundled, find

pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
CHOSEN = configuration(Path(__file__).parents[2] / "docs" / "conformance" / "treefactor.toml")
LIGHT = ("pinocchio", "treefactor", "mujoco", "drake", "idyntree", "dart", "adam")
NOT_LOADED = {"ur3"}  # the file has no links
OTHERS = (  # expected of robots that the published comparison does not include
    Expectation("pr2", "adam", cause="Could not perform duck-typed parsing"),
    Expectation("*", "pinocchio", cause="The parent joint of the mimic joint is not in the kinematic tree"),
)


@pytest.mark.slow
def test_every_difference_on_a_bundled_robot_is_explained():
    robots = [find(name) for name in bundled() if not name.startswith("pybullet_data/")]
    report = compare(Matrix(robots, [ChosenEngine(name) for name in LIGHT], samples=1))
    chosen = replace(CHOSEN, expect=(*CHOSEN.expect, *OTHERS), narrowed=True)
    report = with_expectations(report, chosen, date.today())
    names = {str(robot.name) for robot in robots} - NOT_LOADED
    assert {cell.robot for cell in report.cells if cell.state == AGREES} == names
    wrong = [(one.robot, one.engine, one.quantity, one.reason) for one in failing(report, CHOSEN.fail_on)]
    assert wrong == []
