"""Our own expectations describe all that differs on the traps and is not explained, and are never stale."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from treefactor.check import robots
from treefactor.check.cells import AGREES, EXPECTED, NOT_INSTALLED, Cell, Report
from treefactor.check.engines import ENGINES, ChosenEngine, engine_version
from treefactor.check.matrix import Matrix, compare
from treefactor.check.project.configuration import Configuration, configuration, expected_of_traps
from treefactor.check.project.expectations import concerns, exit_status, failing, with_expectations
from treefactor.check.robots import SDF_ROBOTS
from treefactor.check.traps import trap_robots, traps

FILE = Path(__file__).parents[3] / "docs/conformance/treefactor.toml"
ENGINES_OF_TRAPS = ("pinocchio", "mujoco", "drake", "idyntree", "dart", "adam", "rtb", "newton", "pybullet")


@pytest.fixture
def chosen():
    return configuration(FILE)


def test_the_robots_are_those_that_wheels_contain_and_the_traps(chosen):
    assert chosen.traps
    listed = [robot.path for robot in chosen.robots]
    suite = [f"dm_control/{name}" for name in robots.SUITE]
    sdfs = [f"sdf-{version}/{name}" for version in ("1.6", "1.9") for name in SDF_ROBOTS]
    assert listed == [*robots.FIXED, *robots.FLOATING, *suite, *sdfs]
    assert len(suite) == 13


def test_every_expectation_is_about_a_robot_and_an_engine(chosen):
    names = [*(robot.path for robot in chosen.robots), *(trap.name for trap in traps())]
    for one in (*chosen.expect, *expected_of_traps()):
        assert one.engine in ENGINES
        assert one.cause
        assert any(concerns(replace(one, quantity="*"), name, one.engine, "H") for name in names), one
        assert not one.link or one.link.startswith("https://github.com/")


def test_models_of_dm_control_and_sdfs_are_found_by_name():
    pytest.importorskip("dm_control", reason="dm_control is an optional extra")
    assert robots.find("dm_control/cheetah").is_mjcf
    robot = robots.find("sdf-1.9/solo12")
    assert (robot.format, robot.floating) == ("sdf", True)
    assert 'version="1.9"' in robot.path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES_OF_TRAPS)
def test_nothing_else_differs_unexplained_on_the_traps(chosen, engine, tmp_path):
    if not engine_version(engine):
        pytest.skip(f"{engine} is not installed")
    report = compare(Matrix(trap_robots(tmp_path), [ChosenEngine(engine)], samples=1))
    own = [one for one in expected_of_traps() if one.engine == engine]
    report = with_expectations(report, replace(chosen, expect=tuple(own)), date.today())
    wrong = [(cell.robot, cell.quantity, cell.reason) for cell in failing(report, chosen.failures)]
    assert not wrong
    assert not [entry for entry in report.expectations if entry["stale"] and entry["robot"] != "*"]


def test_the_traps_are_expected_without_a_configuration_and_never_stale(tmp_path):
    """As `treefactor check --traps` in an empty folder, with whatever is installed."""
    engines = [ChosenEngine(name) for name in ("drake", "idyntree", "mujoco") if engine_version(name)]
    if not engines or not engine_version("pinocchio"):
        pytest.skip("no engine is installed, or not the reference")
    names = ("traps/planar", "traps/floating", "traps/plain")
    robots_of_traps = [robot for robot in trap_robots(tmp_path) if robot.name in names]
    chosen = Configuration().replaced(traps=True, engines=[one.name for one in engines])
    compared = compare(Matrix(robots_of_traps, engines, ("tree", "H", "bias"), samples=1))
    assert exit_status(compared, chosen.failures) == 1
    report = with_expectations(compared, chosen, date.today())
    assert exit_status(report, chosen.failures) == 0
    assert not report.expectations
    assert EXPECTED in {cell.state for cell in report.cells}
    own = replace(chosen, traps=False, narrowed=False)  # not those of the package
    assert exit_status(with_expectations(compared, own, date.today()), own.failures) == 1
    good = replace(compared, cells=[replace(cell, state=AGREES, causes=()) for cell in compared.cells])
    repaired = with_expectations(good, replace(chosen, narrowed=False), date.today())
    assert exit_status(repaired, chosen.failures) == 0


@pytest.mark.parametrize("state", [AGREES, NOT_INSTALLED])
def test_what_the_package_expects_of_the_traps_is_never_stale(state):
    cells = [Cell(trap.name, "fixed", engine, "H", state) for trap in traps() for engine in ENGINES]
    chosen = Configuration(traps=True)
    report = with_expectations(Report({}, cells=cells), chosen, date.today())
    assert exit_status(report, chosen.failures) == (0 if state == AGREES else 3)
