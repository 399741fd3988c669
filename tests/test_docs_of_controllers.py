"""The pages on controllers show the stored figures, and measuring them keeps those of absent peers."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

from treefactor import robots
from treefactor.report import duration, ratio

pytestmark = pytest.mark.unsanitized

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {  # with the examples that they show
    "sampling_mpc": ("mppi",),
    "inverse_kinematics": ("ik_batch",),
    "trajectory_optimization": ("ddp_batch", "trajectory_in_jax", "trajectory_in_torch"),
}
FENCES = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"\d+(?:\.\d+)? (?:ns|µs|ms|seconds|times|%)")
PEERS = ("mjx", "frax", "adam")  # of gradients
LARGEST = 150_000  # bytes of a picture


def text(page):
    return (DOCS / "tutorials" / f"{page}.md").read_text(encoding="utf-8")


@pytest.fixture
def controllers(monkeypatch):
    """Return the module that makes the tables."""
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("controllers")


@pytest.fixture
def measure(monkeypatch):
    """Return the module that measures, where the robot of the examples is installed."""
    pytest.importorskip("pinocchio", reason="the examples compare with it")
    if "panda" not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    monkeypatch.syspath_prepend(DOCS / "code")
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module("measure_controllers")


@pytest.fixture
def stored():
    return json.loads((DOCS / "measured" / "controllers.json").read_text(encoding="utf-8"))


def cells(table):
    return re.findall(r"<td[^>]*>([^<]*)</td>", table)


@pytest.mark.parametrize("page", PAGES)
def test_text_has_no_measured_figure_of_its_own(page):
    assert FIGURE.findall(FENCES.sub("", text(page))) == []


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_their_examples_and_show_a_small_picture(page):
    written = text(page)
    assert all(f"examples/{name}.py" in written for name in PAGES[page])
    assert f"python examples/{PAGES[page][0]}.py --out {page}.png" in written
    assert f"{{image}} ../images/{page}.png" in written
    assert (DOCS / "images" / f"{page}.png").stat().st_size < LARGEST


def test_every_table_is_shown_once(controllers):
    shown = re.findall(r"controllers\.(\w+)\(", "".join(map(text, PAGES)))
    inner = {"rollouts", "per", "per_target", "per_problem", "per_problem_alone", "beside", "millimetres"}
    made = {
        name for name, one in vars(controllers).items() if getattr(one, "__module__", "") == "controllers"
    }
    assert set(shown) == {name for name in made - inner if name[0].islower()}
    assert {one for one in shown if shown.count(one) > 1} == {"goals", "machine"}


def test_tables_have_the_stored_times(controllers, stored):
    steps = cells(controllers.sampling())
    for one in stored["mppi"].values():
        for seconds in one["rollout"]["seconds"].values():
            assert duration(seconds) in steps
            assert ratio(one["rollout"]["seconds"]["mujoco.rollout"] / seconds) in steps
    own, peers = stored["ik_batch"]["beside"], stored["peers"]
    for table, times in (
        (
            controllers.inverse_kinematics(),
            (own["treefactor"], own["Pinocchio"], peers["Pink"]["steps"] * peers["Pink"]["seconds"]),
        ),
        (
            controllers.dynamic_programming(),
            [
                part["seconds"]
                for one in (stored["ddp_batch"], peers["Crocoddyl"])
                for part in (one, one["alone"])
            ],
        ),
        (controllers.gradients(), [peers[name][of] for name in PEERS for of in ("seconds", "ours")]),
    ):
        assert {duration(seconds) for seconds in times} <= set(cells(table))


def test_missed_targets_are_called_missed(controllers, stored):
    for example, goals in controllers.GOALS.items():
        shown = cells(controllers.goals(example))
        for goal, verdict in zip(goals, shown[2::3], strict=True):
            assert verdict.startswith("missed" if goal.value(stored) < goal.least else "met")


def test_peers_agree_in_the_stored_run(stored):
    for one in stored["mppi"].values():
        assert max(one["rollout"]["deviations"]) < 1e-11
    assert stored["ik_batch"]["beside"]["deviation"] < 1e-9
    assert stored["peers"]["Crocoddyl"]["deviation"] < 1e-6
    assert all(max(stored["peers"][name]["deviations"]) < 1e-9 for name in PEERS)


def test_stored_sizes_are_the_full_ones(measure, stored):
    assert stored["sizes"] == measure.FULL
    assert "controllers" in importlib.import_module("measure").NAMES
    assert "docs/code/measure.py" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_absent_peers_keep_their_figures(measure, monkeypatch, capsys):
    for name in measure.VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    peers = {"Pink": {"seconds": 1.0}}
    inverse = measure.inverse_kinematics(peers, **measure.SMALL["ik_batch"])
    programs = measure.dynamic_programming(peers, **measure.SMALL["ddp_batch"])
    assert peers == {"Pink": {"seconds": 1.0}}
    printed = capsys.readouterr().out
    assert "PINK_PYTHON is not set; its stored figures are kept" in printed
    assert "TREEFACTOR_CROCODDYL_PYTHON is not set; there are no stored figures" in printed
    assert inverse["beside"]["Pinocchio"] > 0.0
    assert programs["problems"] == measure.SMALL["ddp_batch"]["problems"]


def test_present_peers_are_stored_with_versions(measure, monkeypatch):
    monkeypatch.setitem(measure.PACKAGES, "Pink", ("numpy",))
    peers = {}
    measure.store(peers, "Pink", sys.executable, {"seconds": 1.0})
    assert peers["Pink"]["seconds"] == 1.0
    assert peers["Pink"]["versions"]["numpy"].count(".") == 2


def test_sampling_is_measured_robot_by_robot(measure):
    pytest.importorskip("mujoco", reason="the example compares with it")
    figures = measure.sampling(**measure.SMALL["mppi"])
    assert set(figures) == {"panda", "solo12"}
    for one in figures.values():
        assert one["rollout"]["seconds"]["mujoco.rollout"] > 0.0
        assert set(one["run"]["seconds"]) == {"float64", "float32"}
