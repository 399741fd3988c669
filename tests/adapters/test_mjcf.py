"""Test MuJoCo's own format on the models that dm_control contains, an optional extra."""

from pathlib import Path

import pytest

from treefactor import AdapterError, Tree, check, robots

pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")
pytest.importorskip("mujoco", reason="MuJoCo is not installed")

import mujoco

from treefactor.adapters import (
    _mujoco_settings,
    _pinocchio_conventions,
    _pinocchio_placements,
    mujoco_,
    pinocchio_,
)
from treefactor.check.differences import OTHER_MASS, TENDONS

DAMPING = "joint damping of the file acts"

SWING = """<mujoco><worldbody><body name="arm">
<joint name="j" axis="0 1 0" damping="{damping}" armature="0.3"/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/></body></worldbody>{option}</mujoco>"""


TWO = """<mujoco><worldbody><body name="a"><joint name="i" axis="0 1 0"/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>
<body name="b"><joint name="j" axis="1 0 0"/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/></body></body></worldbody></mujoco>"""


def verdicts(path):
    robot = robots.find(str(path))
    assert robot.base == "own"
    return {row.engine: row for row in next(check.check([robot]))}


def write_model(tmp_path, damping=0.0, option=""):
    path = tmp_path / "swing.xml"
    path.write_text(SWING.format(damping=damping, option=option))
    return path


def test_armature_of_an_mjcf_agrees(tmp_path):
    rows = verdicts(write_model(tmp_path))
    assert set(rows) == {"pinocchio", "mujoco"}  # PyBullet's adapter reads URDFs
    assert {row.verdict for row in rows.values()} == {check.AGREES}


def test_damping_of_an_mjcf_is_named(tmp_path):
    row = verdicts(write_model(tmp_path, damping=2.0))["mujoco"]
    assert row.verdict == check.EXPLAINED
    (cause,) = row.causes
    assert (cause.name, cause.where, cause.way, cause.quantity) == (DAMPING, ("j",), "simulated", "q̈")
    assert cause.effect > 1e-3
    assert str(cause) in row.reason


def test_what_no_setting_explains_is_no_agreement(tmp_path, monkeypatch):
    others = {name: how for name, how in _mujoco_settings.SETTINGS.items() if name != DAMPING}
    for module in (_mujoco_settings, mujoco_):
        monkeypatch.setattr(module, "SETTINGS", others)
    row = verdicts(write_model(tmp_path, damping=2.0))["mujoco"]
    assert row.verdict == check.DISAGREES
    assert "unexplained" in row.reason


def test_a_model_that_pinocchio_cannot_load_has_settings_as_well(tmp_path, monkeypatch):
    def refuse(path, *_, **__):
        raise AdapterError("out of order", "pinocchio", path)

    monkeypatch.setattr(pinocchio_, "load", refuse)
    row = verdicts(write_model(tmp_path, damping=2.0))["mujoco"]
    assert row.verdict == check.EXPLAINED
    assert [cause.name for cause in row.causes] == [DAMPING]
    assert "against itself" in row.reason


@pytest.mark.parametrize(
    "option", ["<option><flag gravity='disable'/></option>", "<option gravity='0 0 -1.62'/>"]
)
def test_another_gravity_is_named(tmp_path, option):
    row = verdicts(write_model(tmp_path, option=option))["mujoco"]
    assert row.verdict == check.EXPLAINED
    assert [cause.name for cause in row.causes] == [_pinocchio_conventions.GRAVITY]


def test_another_armature_is_named(tmp_path, monkeypatch):
    right = pinocchio_.load

    def without_armature(*arguments, **options):
        model = right(*arguments, **options)
        model.armature = 0.0 * model.armature
        return model

    monkeypatch.setattr(pinocchio_, "load", without_armature)
    row = verdicts(write_model(tmp_path))["mujoco"]
    assert row.verdict == check.EXPLAINED
    assert [(cause.name, cause.where) for cause in row.causes] == [(_pinocchio_conventions.ARMATURE, ("j",))]


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="actuators have no armature")
def test_armature_of_an_actuator_is_named(tmp_path):
    servo = '<actuator><position joint="j" kp="1" gear="2" armature="0.1" damping="3"/></actuator>'
    row = verdicts(write_model(tmp_path, option=servo))["mujoco"]
    assert row.verdict == check.EXPLAINED
    armature, acting = row.causes
    assert (armature.name, armature.where) == (_pinocchio_conventions.ARMATURE, ("j",))
    assert (acting.name, acting.where) == ("actuators act, their controls zero", ("actuator 0",))


INERTIAL = '<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
CLASS = """<mujoco><default><default class="c"><joint pos="0.1 0.3 -0.2"/></default></default>
<worldbody><body name="trunk"><freejoint name="free"/>{0}<body name="arm" pos="0.3 0 0.1" quat="1 2 3 4">{1}
{0}<body name="hand" pos="0 0.2 0"><joint name="k" axis="0 0.6 0.8"/>{0}</body></body></body></worldbody>
</mujoco>"""
HINGE, HINGES = '<joint class="c" name="i" axis="1 0 2"/>', '<joint class="c" name="j" axis="0 1 0"/>'
BALL, SLIDE = '<joint class="c" name="i" type="ball"/>', '<joint class="c" name="s" type="slide"/>'


@pytest.mark.parametrize(
    ("joints", "name"),
    [
        (HINGE, "i"),
        (BALL, "i"),
        (HINGE + HINGES, "Composite_i"),
        (SLIDE + HINGE + HINGES, "Composite_s"),
        (HINGE + '<joint name="j" axis="0 1 0" pos="0.2 0.1 0"/>', "Composite_i"),
    ],
)
def test_a_position_that_a_default_class_gives_is_named(tmp_path, joints, name):
    path = tmp_path / "class.xml"
    path.write_text(CLASS.format(INERTIAL, joints))
    row = verdicts(path)["mujoco"]
    assert row.verdict == check.EXPLAINED, row.reason
    (cause,) = row.causes
    assert (cause.name, cause.where) == (_pinocchio_placements.POSITION, (name,))
    assert cause.effect == pytest.approx(row.error_plain)


def test_a_first_body_that_is_turned_is_named(tmp_path):
    path = tmp_path / "turned.xml"
    turned = f'<worldbody><body name="base" pos="1 2 3" quat="1 2 3 4">{INERTIAL}'
    path.write_text(TWO.replace("<worldbody>", turned).replace("</worldbody>", "</body></worldbody>"))
    row = verdicts(path)["mujoco"]
    assert row.verdict == check.EXPLAINED, row.reason
    (cause,) = row.causes
    assert (cause.name, cause.where, cause.effect) == (_pinocchio_placements.PLACEMENT, ("a",), None)


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "tendon_armature"), reason="tendons have no armature")
def test_armature_of_tendons_is_named(tmp_path):
    path = tmp_path / "tendon.xml"
    tendon = '<tendon><fixed name="t" armature="0.2"><joint joint="i" coef="1"/><joint joint="j" coef="-1"/>'
    path.write_text(TWO.replace("</worldbody>", f"</worldbody>{tendon}</fixed></tendon>"))
    row = verdicts(path)["mujoco"]
    assert row.verdict == check.EXPLAINED, row.reason
    (cause,) = row.causes
    assert (cause.name, cause.where) == (TENDONS, ("t",))
    assert cause.effect == pytest.approx(row.error_plain)


def test_causes_of_a_joint_and_a_body_of_one_name_stay_distinct(tmp_path, monkeypatch):
    """Assert that an armature and a mass, both of an element named "i", stay distinct."""
    right = pinocchio_.load

    def spoilt(*arguments, **options):
        model = right(*arguments, **options)
        model.armature = 1.0 + model.armature
        model.inertias[1] += model.inertias[1]
        return model

    monkeypatch.setattr(pinocchio_, "load", spoilt)
    path = tmp_path / "same.xml"
    path.write_text(TWO.replace('"a"', '"i"'))
    row = verdicts(path)["mujoco"]
    assert row.verdict == check.EXPLAINED, row.reason
    assert {cause.name for cause in row.causes} == {_pinocchio_conventions.ARMATURE, OTHER_MASS}


@pytest.mark.parametrize("function", ["own_acceleration", "qld", "tree"])
def test_a_wrong_figure_is_not_explained_by_inertias(tmp_path, monkeypatch, function):
    right = getattr(mujoco_, function)
    wrong = {
        "own_acceleration": lambda *arguments: 2 * right(*arguments),
        "qld": lambda *arguments: (right(*arguments)[0], 5 * right(*arguments)[1]),
        "tree": lambda *arguments: Tree([-1, -1]),
    }
    path = tmp_path / "two.xml"
    path.write_text(TWO)
    assert verdicts(path)["mujoco"].verdict == check.AGREES
    monkeypatch.setattr(mujoco_, function, wrong[function])
    assert verdicts(path)["mujoco"].verdict == check.DISAGREES


def test_a_broken_file_is_a_row_for_both(tmp_path):
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco><worldbody>")
    rows = verdicts(path)
    assert {row.verdict for row in rows.values()} == {check.CANNOT_LOAD}
    assert all("broken.xml" in row.reason for row in rows.values())


def suite():
    dm_control = pytest.importorskip("dm_control", reason="dm_control is an optional extra")
    return Path(dm_control.__path__[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "causes"),
    [
        ("suite/humanoid.xml", {DAMPING, "joint springs of the file act", "joint limits push back"}),
        ("suite/humanoid_CMU.xml", {DAMPING, "contacts act"}),
        ("locomotion/walkers/assets/humanoid_CMU_V2020.xml", {DAMPING, "contacts act"}),
        ("suite/walker.xml", {DAMPING, "joint limits push back"}),
        ("suite/hopper.xml", {DAMPING}),
        ("suite/finger.xml", {DAMPING, "friction loss of the file acts"}),
        ("suite/ball_in_cup.xml", {DAMPING, "joint limits push back"}),  # that of a tendon
        ("suite/dog.xml", {DAMPING}),  # against itself: Pinocchio reads other joints
        ("suite/quadruped.xml", {DAMPING, "actuators act, their controls zero"}),  # it has no height fields
        ("suite/fish.xml", {"another gravity", "drag of the fluid acts"}),
        ("suite/cheetah.xml", {"another mass or centre of mass", DAMPING}),
        ("suite/swimmer.xml", {"another mass or centre of mass", "drag of the fluid acts"}),
        ("suite/manipulator.xml", {"mimic joints and other equalities are soft constraints"}),
    ],
)
def test_models_of_dm_control(name, causes):
    row = verdicts(suite() / name)["mujoco"]
    found = {cause.name: cause for cause in row.causes}
    assert row.verdict == check.EXPLAINED, row.reason
    assert causes <= found.keys()
    if all(cause.way == "simulated" for cause in row.causes):
        assert row.error_h is None or row.error_h < 1e-13
