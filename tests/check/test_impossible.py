"""Links that cannot exist and files that cannot be read: in all reports with lines, failures by default."""

import json
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np
import pytest
from helpers.blemishes import ARM, BLEMISHES, LOWER
from helpers.stand_in_engines import write_project
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import cli
from treefactor.check.cells import (
    AGREES,
    IMPOSSIBLE,
    UNREADABLE,
    Cell,
    CheckedRobot,
    Fault,
    Report,
    UsedEngine,
)
from treefactor.check.files import BUNDLED, faults_of
from treefactor.check.matrix import Matrix
from treefactor.check.project import selection
from treefactor.check.project.configuration import Configuration, Expectation
from treefactor.check.project.expectations import exit_status, with_expectations
from treefactor.check.robots import Robot, default_robots
from treefactor.check.traps import trap_robots
from treefactor.report.conformance import read_json, write_badge, write_json

TODAY = date(2026, 6, 1)
ODD = ARM.replace(LOWER, LOWER.replace('ixx="0.03"', 'ixx="-1"'))
WHERE = "link 'lower', line 11"
REASON = "principal moment -1 of the inertia tensor is negative"
KINDS = ("json", "html", "junit", "sarif", "markdown")


@pytest.mark.parametrize("blemish", BLEMISHES, ids=lambda blemish: blemish.name)
def test_files_with_one_blemish_have_a_fault_only_if_a_part_cannot_exist(blemish, tmp_path):
    faults = faults_of(Robot("arm", blemish.write(tmp_path)))
    expected = [(blemish.part, blemish.line, IMPOSSIBLE)] if blemish.impossible else []
    if blemish.refusal:
        expected = [("", blemish.line, IMPOSSIBLE if "mass" in blemish.refusal.split()[1:] else UNREADABLE)]
    assert [(one.link or one.joint, one.line, one.word) for one in faults] == expected
    assert all(blemish.refusal + blemish.impossible in str(one) and not one.expected for one in faults)


WRIST = """<link name="hand"/><link name="tip">{}</link><joint name="wrist" type="continuous">
<parent link="lower"/><child link="hand"/></joint>
<joint name="grip" type="{}"><parent link="hand"/><child link="tip"/>{}</joint></robot>"""


@pytest.mark.parametrize(
    ("kind", "follows", "mimic", "named"),
    [
        ("fixed", "", False, ["wrist"]),
        ("continuous", "", False, ["wrist", "grip"]),
        ("continuous", '<mimic joint="elbow"/>', True, ["wrist"]),
        ("continuous", '<mimic joint="elbow"/>', False, ["wrist", "grip"]),
    ],
)
def test_joints_that_move_no_mass_are_named(kind, follows, mimic, named, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace("</robot>", WRIST.format("", kind, follows)), encoding="utf-8")
    faults = faults_of(Robot("arm", path, mimic=mimic))
    assert [(one.joint, one.word, one.line > 20) for one in faults] == [(n, IMPOSSIBLE, True) for n in named]
    assert "moves no mass" in str(faults[0])
    model = tf.Model.from_urdf(path, mimic=mimic)
    with pytest.raises(tf.NotPositiveDefiniteError, match="moves no mass"):
        tf.forward_dynamics(model, tf.neutral(model), *np.zeros((2, model.nv)))


@pytest.mark.parametrize("kind", ["fixed", "continuous"])
def test_a_joint_whose_link_has_no_mass_may_move_that_of_others(kind, tmp_path):
    path = tmp_path / "arm.urdf"
    heavy = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(ARM.replace("</robot>", WRIST.format(heavy, kind, "")), encoding="utf-8")
    assert faults_of(Robot("arm", path)) == ()


@pytest.mark.parametrize("mimic", [False, True])
def test_a_leader_without_mass_may_move_that_of_its_followers(mimic, tmp_path):
    heavy = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = f'<link name="dial"/><link name="gear"/><link name="hand">{heavy}</link>'
    joints = "".join(
        f'<joint name="to_{child}" type="continuous"><parent link="lower"/>'
        f'<child link="{child}"/>{more}</joint>'
        for child, more in (
            ("dial", ""),
            ("gear", '<mimic joint="to_dial"/>'),
            ("hand", '<mimic joint="to_dial" multiplier="2"/>'),
        )
    )
    path = tmp_path / "clock.urdf"
    path.write_text(ARM.replace("</robot>", f"{links}{joints}</robot>"), encoding="utf-8")
    named = [] if mimic else ["to_dial", "to_gear"]
    assert [one.joint for one in faults_of(Robot("clock", path, mimic=mimic))] == named


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("arm.urdf", ARM.replace('"lower"', '"low&er"'), 11),
        ("arm.urdf", ARM.replace("</robot>", '<xacro:property name="p" value="1"/></robot>'), 0),
        ("arm.urdf", "", 1),
        ("arm.sdf", "<sdf version='1.9'>\n</world></sdf>", 2),
        ("arm.xml", "<mujoco>\n<worldbody></mujoco>", 2),
    ],
)
def test_a_file_that_cannot_be_read_has_one_fault(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    (fault,) = faults_of(Robot("arm", tmp_path / name))
    assert (fault.link, fault.line, fault.word) == ("", line, UNREADABLE)
    assert str(fault) == fault.reason
    assert str(tmp_path) not in fault.reason


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


def status(*arguments, robots=("odd.urdf",)):
    return cli.main(["check", *robots, "--engine", "good.py", "--quantity", "H", *arguments])


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


@pytest.mark.parametrize(
    ("old", "new", "word", "reason"),
    [
        ('value="1"', 'value="-1"', "impossible", "line 11: link 'lower' has a negative mass, -1.0"),
        ('ixz="0.003"', 'ixz="0,003"', "unreadable", "line 11: "),
        ("</robot>", "", "unreadable", "not well-formed XML: "),
    ],
)
def test_a_file_that_cannot_be_read_fails_beside_others(project, capsys, old, new, word, reason):
    (project / "odd.urdf").write_text(ARM.replace(old, new))
    reports = [f"--{kind}=report.{kind}" for kind in KINDS]
    both = partial(status, robots=("odd.urdf", "arm.urdf"))
    assert both("--fail-on", "impossible", *reports) == 1
    assert f"odd.urdf {word}: {reason}" in capsys.readouterr().out
    for kind in KINDS[1:]:
        text = (project / f"report.{kind}").read_text().replace("&#39;", "'").replace("&#x27;", "'")
        assert reason in text
        assert word in text
    robots = {one["name"]: one for one in json.loads((project / "report.json").read_text())["robots"]}
    assert [fault["word"] for fault in robots["odd.urdf"]["impossible"]] == [word]
    assert robots["arm.urdf"]["impossible"] == []
    assert f'<failure type="{word}"' in (project / "report.junit").read_text()
    results = json.loads((project / "report.sarif").read_text())["runs"][0]["results"]
    assert [one["level"] for one in results if one["properties"]["state"] == word] == ["error"]
    assert both("--fail-on", "disagrees") == (word == "unreadable")
    assert both("--fail-on", "stale") == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_report_names_link_and_line(project, kind):
    assert status(f"--{kind}", f"report.{kind}") == 1
    (file,) = project.glob("report.*")
    text = file.read_text().replace("&#39;", "'").replace("&#x27;", "'")
    if kind == "json":
        (robot,) = json.loads(text)["robots"]
        assert robot["impossible"] == [
            {"link": "lower", "line": 11, "reason": REASON, "expected": "", "word": IMPOSSIBLE, "joint": ""}
        ]
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


@pytest.mark.parametrize(("count", "message"), [(1, "1 unreadable file"), (2, "2 unreadable files")])
def test_the_badge_counts_unreadable_files(tmp_path, count, message):
    first = report(Fault("a", 3, "odd"))
    unreadable = Fault("", 3, "line 3: odd", word=UNREADABLE)
    robots = [replace(first.robots[0], name=f"{k}", impossible=(unreadable,)) for k in range(count)]
    write_badge(tmp_path / "badge.json", replace(first, robots=robots))
    badge = json.loads((tmp_path / "badge.json").read_text())
    assert (badge["message"], badge["color"]) == (message, "red")


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
    assert content["impossible"] == [
        {"link": "lower", "line": 11, "reason": REASON, "expected": "", "word": IMPOSSIBLE, "joint": ""}
    ]
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
        (Expectation("arm", cause="impossible: link 'a'"), True, False),  # as reports have it
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
    judged = with_expectations(report(Fault("a", 3, "odd")), chosen, TODAY)
    assert exit_status(judged, ("impossible",)) == (not expected)
    assert exit_status(judged, ("disagrees",)) == 0
    assert judged.expectations[0]["stale"] == stale


def test_faults_of_files_of_other_packages_are_expected(tmp_path):
    robots = [*default_robots(), *trap_robots(tmp_path)]
    faults = [fault for robot in robots for fault in faults_of(robot)]
    assert {fault.link for fault in faults} >= {"lower"}  # of the traps on purpose
    assert {fault.expected for fault in faults} == {BUNDLED}
    own = [fault for robot in robots for fault in faults_of(replace(robot, bundled=False))]
    assert {fault.expected for fault in own} == {""}


@pytest.mark.parametrize("compact", [False, True])
def test_faults_are_read_back(tmp_path, compact):
    first = replace(
        report(Fault("a", 3, "odd", "known"), Fault("", 4, "flat", word=UNREADABLE)), expectations=[]
    )
    write_json(tmp_path / "r.json", first, compact)
    assert read_json(tmp_path / "r.json").robots == first.robots
