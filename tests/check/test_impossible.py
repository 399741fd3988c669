"""Links whose inertias no body can have: named with their lines in all reports, and failures by default."""

import json
from dataclasses import replace
from datetime import date
from functools import partial

import pytest
from helpers.blemishes import ARM, BLEMISHES, LOWER
from helpers.stand_in_engines import write_project
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import cli
from treefactor.check.cells import AGREES, Cell, CheckedRobot, Fault, Report, UsedEngine
from treefactor.check.files import BUNDLED, faults_of
from treefactor.check.matrix import Matrix
from treefactor.check.project import selection
from treefactor.check.project.configuration import Configuration, Expectation
from treefactor.check.project.expectations import exit_status, with_expectations
from treefactor.check.robots import Robot, default_robots
from treefactor.check.traps import trap_robots
from treefactor.report.conformance import read_json, write_json

TODAY = date(2026, 6, 1)
ODD = ARM.replace(LOWER, LOWER.replace('ixx="0.03"', 'ixx="-1"'))
WHERE = "link 'lower', line 11"
REASON = "principal moment -1 of the inertia tensor is negative"
KINDS = ("json", "html", "junit", "sarif", "markdown")


@pytest.mark.parametrize("blemish", BLEMISHES, ids=lambda blemish: blemish.name)
def test_files_with_one_blemish_have_a_fault_only_if_it_is_one_of_the_inertia(blemish, tmp_path):
    found = faults_of(Robot("arm", blemish.write(tmp_path)))
    expected = [(blemish.part, blemish.line)] if blemish.impossible else []
    assert [(one.link, one.line) for one in found] == expected
    assert all(blemish.impossible in one.reason and not one.expected for one in found)


@given(st.lists(st.sampled_from([-0.1, 0.0, 0.01, 0.02, 0.04, 1.0]), min_size=6, max_size=6))
def test_the_faults_of_links_are_those_of_the_model(tmp_path_factory, values):
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    tensor = " ".join(f'{key}="{value}"' for key, value in zip(keys, values, strict=True))
    path = tmp_path_factory.getbasetemp() / "random.urdf"
    path.write_text(ARM.replace(LOWER, f'<mass value="1"/><inertia {tensor}/>'))
    model = tf.Model.from_urdf(path)
    expected = [joint.body for joint in model.joints if joint.name in model.faults()]
    assert [fault.link for fault in faults_of(Robot("arm", path))] == expected


@pytest.fixture
def project(tmp_path, monkeypatch, in_process):
    """Return a folder with an arm that cannot exist, and an engine that is right about it."""
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path, "good")
    (tmp_path / "odd.urdf").write_text(ODD)
    return tmp_path


def status(*arguments):
    return cli.main(["check", "odd.urdf", "--engine", "good.py", "--quantity", "H", *arguments])


@pytest.fixture
def in_process(monkeypatch):
    """Let `treefactor check` start no processes."""
    monkeypatch.setattr(selection, "Matrix", partial(Matrix, processes=False))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((), 1), (("--fail-on", "impossible"), 1), (("--fail-on", "disagrees", "refused"), 0)],
)
def test_an_impossible_link_fails_by_default(project, capsys, arguments, expected):
    assert status(*arguments) == expected
    assert f"odd.urdf impossible: {WHERE}: {REASON}" in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
def test_every_report_names_link_and_line(project, kind):
    assert status(f"--{kind}", f"report.{kind}") == 1
    (file,) = project.glob("report.*")
    text = file.read_text().replace("&#39;", "'").replace("&#x27;", "'")
    if kind == "json":
        (robot,) = json.loads(text)["robots"]
        assert robot["impossible"] == [{"link": "lower", "line": 11, "reason": REASON, "expected": ""}]
    else:
        assert f"{WHERE}: {REASON}" in text
    if kind == "sarif":
        (result,) = json.loads(text)["runs"][0]["results"]
        assert result["level"] == "error"
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 11
    if kind == "junit":
        assert 'failures="1"' in text


def test_the_badge_is_red(project):
    assert status("--badge", "badge.json") == 1
    badge = json.loads((project / "badge.json").read_text())
    assert (badge["message"], badge["color"]) == ("1 impossible link", "red")


def test_a_project_may_expect_it(project, capsys):
    (project / "treefactor.toml").write_text('[[expect]]\nrobot = "odd.urdf"\ncause = "negative"\n')
    assert status("--sarif", "report.sarif") == 0
    assert "as expected: negative" in capsys.readouterr().out
    (result,) = json.loads((project / "report.sarif").read_text())["runs"][0]["results"]
    assert result["suppressions"]
    (project / "treefactor.toml").write_text('[[expect]]\nrobot = "odd.urdf"\ncause = "triangle"\n')
    assert status() == 1


def test_info_names_link_and_line(project, capsys):
    assert cli.main(["info", "odd.urdf", "--json", "info.json"]) == 0
    assert f"impossible: {WHERE}: {REASON}" in capsys.readouterr().out
    content = json.loads((project / "info.json").read_text())
    assert content["impossible"] == [{"link": "lower", "line": 11, "reason": REASON, "expected": ""}]
    assert cli.main(["info", "arm.urdf"]) == 0
    assert "impossible" not in capsys.readouterr().out


def report(*faults):
    robot = CheckedRobot("arm", "fixed", "arm.urdf", "urdf", "", 2, faults)
    again = replace(robot, base="fixed, mimic")
    cells = [Cell("arm", base, "good", "H", AGREES, 0.0, 1e-14) for base in (robot.base, again.base)]
    return Report({"schema": 1}, [UsedEngine("good")], [robot, again], ["H"], cells)


def test_a_file_that_is_compared_twice_has_its_faults_once():
    assert len(report(Fault("a", 3, "odd")).impossible) == 1


@pytest.mark.parametrize(
    ("one", "expected", "stale"),
    [
        (Expectation("arm"), True, False),
        (Expectation("arm", cause="odd"), True, False),
        (Expectation("a*", cause="impossible*'a'"), True, False),
        (Expectation("arm", until=TODAY), True, False),
        (Expectation("arm", until=date(2026, 5, 31)), False, False),
        (Expectation("arm", cause="even"), False, True),
        (Expectation("leg"), False, False),  # it is about another robot, which was not compared
        (Expectation("arm", engine="good"), False, True),
        (Expectation("arm", quantity="H"), False, True),
    ],
)
def test_an_entry_about_a_robot_expects_its_faults(one, expected, stale):
    chosen = Configuration(expect=(one,), narrowed=True)
    found = with_expectations(report(Fault("a", 3, "odd")), chosen, TODAY)
    assert exit_status(found, ("impossible",)) == (not expected)
    assert exit_status(found, ("disagrees",)) == 0
    assert found.expectations[0]["stale"] == stale


def test_faults_of_files_of_other_packages_are_expected(tmp_path):
    robots = [*default_robots(), *trap_robots(tmp_path)]
    faults = [fault for robot in robots for fault in faults_of(robot)]
    assert {fault.link for fault in faults} >= {"lower"}  # of the traps on purpose
    assert {fault.expected for fault in faults} == {BUNDLED}
    own = [fault for robot in robots for fault in faults_of(replace(robot, bundled=False))]
    assert {fault.expected for fault in own} == {""}


@pytest.mark.parametrize("compact", [False, True])
def test_faults_are_read_back(tmp_path, compact):
    first = replace(report(Fault("a", 3, "odd", "known"), Fault("b", 4, "flat")), expectations=[])
    write_json(tmp_path / "r.json", first, compact)
    assert read_json(tmp_path / "r.json").robots == first.robots
