"""Test the table of `treefactor bench --all`, and the warning of a busy machine; never how fast."""

import json

import pytest
from helpers.few_turns import small_sizes

from treefactor import bench, cli, robots
from treefactor.bench import Result
from treefactor.bench.comparisons import all_robots

pytestmark = pytest.mark.unsanitized


@pytest.fixture(autouse=True)
def small(monkeypatch):
    small_sizes(monkeypatch.setattr)


def result(ratio, model="robot", goal=None, spread=0.0):
    return Result("S1", model, "factor", "p", 1.0, ratio, ratio, ratio, ratio * (1.0 + spread), goal)


def test_a_line_for_every_robot_and_the_distribution(monkeypatch, tmp_path, capsys):
    pytest.importorskip("pinocchio", reason="the peer")
    monkeypatch.setattr(all_robots, "names", lambda: ["double_pendulum", "solo12", "absent"])
    file = tmp_path / "all.json"
    assert cli.main(["bench", "--all", "--json", str(file)]) == 0
    content, shown = json.loads(file.read_text()), capsys.readouterr()
    assert [(one["robot"], one["base"], one["nv"]) for one in content["robots"]] == [
        ("double_pendulum", "fixed", 2),
        ("solo12", "floating", 18),
    ]
    assert [one["what"] for one in content["distribution"]] == list(all_robots.TITLES)
    for k, one in enumerate(content["distribution"]):
        ratios = {robot["robot"]: robot["results"][k]["ratio"] for robot in content["robots"]}
        assert (one["least"], one["most"]) == (min(ratios.values()), max(ratios.values()))
        assert ratios[one["worst"]] == one["least"]
        assert one["what"].split()[0] in shown.out
    assert "goal" not in file.read_text()
    assert "reached" not in shown.out
    assert content["left out"] == {"absent": "not installed, or not loaded by Pinocchio"}
    assert "absent is left out" in shown.out
    assert shown.err.count("\n") == 3


def test_goals_of_the_distribution():
    distribution = all_robots.distribution([result(3.0, "a", 2.0), result(1.0, "b", 2.0), result(4.0, "c")])
    assert (distribution.least, distribution.median, distribution.most, distribution.worst) == (
        1.0,
        3.0,
        4.0,
        "b",
    )
    assert (distribution.goal, distribution.reached, distribution.goals, distribution.robots) == (
        2.0,
        1,
        2,
        3,
    )


def test_every_robot_of_example_robot_data_is_listed():
    pytest.importorskip("pinocchio", reason="the peer")
    listed = all_robots_names()
    assert {name for name in robots.bundled() if "pybullet" not in name} < set(listed)
    assert len([name for name in listed if name.startswith("dm_control")]) == 3
    assert set(all_robots.MOBILE) <= set(listed)
    assert not set(all_robots.MOBILE) & set(robots.FLOATING)


all_robots_names = all_robots.names  # before the fixture replaces it


def test_an_inertia_matrix_that_is_not_positive_definite_is_a_reason(tmp_path):
    pytest.importorskip("pinocchio", reason="the peer")
    inertia = (
        "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    )
    (tmp_path / "light.urdf").write_text(
        f"<robot name='light'><link name='a'/><link name='b'>{inertia}</link><link name='c'/>"
        "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>"
        "<joint name='k' type='continuous'><parent link='b'/><child link='c'/></joint></robot>"
    )
    (measured,) = all_robots.measure([str(tmp_path / "light.urdf")])
    assert "not positive" in measured.missing
    assert measured.results == ()


@pytest.mark.parametrize("arguments", [[], ["panda", "--all"], ["--all", "--base", "fixed"]])
def test_a_robot_or_all_of_them(arguments, capsys):
    assert cli.main(["bench", *arguments]) == cli.FAILED
    assert "--all" in capsys.readouterr().err


def test_the_rule_for_a_busy_machine(capsys):
    from treefactor import report

    idle, loaded = result(2.0, spread=0.9 * bench.BUSY), result(2.0, spread=2.0 * bench.BUSY)
    assert not bench.busy([])
    assert not bench.busy([idle, idle, loaded])
    assert bench.busy([idle, loaded, loaded])
    report.print_busy([idle, idle, loaded])
    assert capsys.readouterr().out == ""
    report.print_busy([loaded])
    shown = " ".join(capsys.readouterr().out.split())
    assert "more than 30% of the ratio apart, on an idle machine less than 15%" in shown
