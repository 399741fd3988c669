"""Test what Pinocchio and MuJoCo read from MuJoCo's own format: one peculiarity in each file."""

import pytest

from treefactor import robots
from treefactor.check.matrix import check

pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

INERTIAL = '<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
SWING = f"""<mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0" {{joint}} armature="0.3"/>
{INERTIAL}</body></worldbody>{{rest}}</mujoco>"""
TWO = f"""<mujoco><worldbody>{{first}}<body name="a"><joint name="i" axis="0 1 0"/>{INERTIAL}
<body name="b"><joint name="j" axis="1 0 0"/>{INERTIAL}</body></body>{{last}}</worldbody>{{rest}}</mujoco>"""
CLASS = f"""<mujoco><default><default class="c"><joint pos="0.1 0.3 -0.2"/></default></default><worldbody>
<body name="trunk"><freejoint name="free"/>{INERTIAL}<body name="arm" pos="0.3 0 0.1" quat="1 2 3 4">{{}}
{INERTIAL}<body name="hand" pos="0 0.2 0"><joint name="k" axis="0 0.6 0.8"/>{INERTIAL}</body></body></body>
</worldbody></mujoco>"""
FREE = f"""<mujoco><worldbody><body name="b"><joint name="base" type="free" armature="{{}}"/>{INERTIAL}
<body name="a"><joint name="h" axis="0 1 0" armature="0.1"/>{INERTIAL}</body></body></worldbody></mujoco>"""
HINGE, HINGES = '<joint class="c" name="i" axis="1 0 2"/>', '<joint class="c" name="j" axis="0 1 0"/>'
BALL, SLIDE = '<joint class="c" name="i" type="ball"/>', '<joint class="c" name="s" type="slide"/>'
SERVO = '<actuator><position joint="j" kp="1" gear="2" armature="0.1" damping="3"/></actuator>'
FIXED = f'<body name="base" pos="1 2 3" quat="1 2 3 4">{INERTIAL}'
TENDON = """<tendon><fixed name="t" armature="0.2"><joint joint="i" coef="1"/><joint joint="j" coef="-1"/>
</fixed></tendon>"""


@pytest.fixture
def cells(tmp_path):
    """Return a function that compares an engine on a file: its cells by quantity."""

    def compared(text, engine):
        path = tmp_path / "robot.xml"
        path.write_text(text)
        (row,) = check([robots.find(str(path))], [engine])
        return {cell.quantity: cell for cell in row}

    return compared


def causes(judged):
    """Return the causes of all cells, with the joints."""
    assert {cell.state for cell in judged.values()} <= {"agrees", "explained", "excluded", "not offered"}
    return {(cause.text, cause.where) for cell in judged.values() for cause in cell.causes}


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
@pytest.mark.parametrize("text", [SWING.format(joint="", rest=""), FREE.format(0.0)], ids=["hinge", "free"])
def test_armature_agrees(cells, text, engine):
    assert causes(cells(text, engine)) == set()


def test_damping_acts_in_simulations_only(cells):
    judged = cells(SWING.format(joint='damping="2"', rest=""), "mujoco")
    assert causes(judged) == {("joint damping of the file acts", ("j",))}
    assert judged["simulation"].state == "explained"


@pytest.mark.parametrize(
    "option", ["<option><flag gravity='disable'/></option>", "<option gravity='0 0 -1.62'/>"]
)
def test_another_gravity_is_named(cells, option):
    text = SWING.format(joint="", rest=option)
    assert causes(cells(text, "pinocchio")) == {("ignores gravity of the file", ())}
    assert causes(cells(text, "mujoco")) == set()


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="actuators have no armature")
def test_armature_of_an_actuator_is_found(cells):
    text = SWING.format(joint="", rest=SERVO)
    judged = cells(text, "pinocchio")
    assert judged["H"].state == "explained"
    assert judged["placements"].state == "agrees"
    assert causes(cells(text, "mujoco")) == {("actuators act, their controls zero", ("actuator 0",))}


@pytest.mark.parametrize("joints", [HINGE, BALL, HINGE + HINGES, SLIDE + HINGE + HINGES])
def test_a_position_that_a_default_class_gives_is_named(cells, joints):
    text = CLASS.format(joints)
    assert ("reads default classes differently", ()) in causes(cells(text, "pinocchio"))
    assert causes(cells(text, "mujoco")) == set()


def test_a_first_body_that_is_turned_is_named(cells):
    text = TWO.format(first=FIXED, last="</body>", rest="")
    judged = cells(text, "pinocchio")
    assert ("puts the first body at the world's origin if no joint moves it", ()) in causes(judged)
    assert judged["placements"].state == "explained"
    assert judged["H"].state == "agrees"
    assert causes(cells(text, "mujoco")) == set()


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "tendon_armature"), reason="tendons have no armature")
def test_armature_of_tendons_is_named(cells):
    text = TWO.format(first="", last="", rest=TENDON)
    assert causes(cells(text, "pinocchio")) == {("ignores armature of tendons", ("t",))}


@pytest.mark.parametrize("size", [0.02, 3.0])
def test_axes_of_the_armature_of_a_free_joint_are_named(cells, size):
    judged = cells(FREE.format(size), "pinocchio")
    text = "lets the armature of free joints act along the axes of the body, not of the world"
    assert causes(judged) == {(text, ("base",))}
    assert judged["bias"].state == "explained"
    assert causes(cells(FREE.format(size), "mujoco")) == set()


def test_a_broken_file_has_no_reference(cells):
    judged = cells("<mujoco><worldbody>", "mujoco")
    assert {cell.state for cell in judged.values()} == {"refused"}
    assert all("no reference: treefactor: " in cell.reason for cell in judged.values())
