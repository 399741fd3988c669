"""Test what acts in MuJoCo by default: models with one setting each, and its name."""

import numpy as np
import pytest
from helpers import engine_cases as cases

from treefactor import robots
from treefactor.check.matrix import check

pytest.importorskip("mujoco", reason="MuJoCo is not installed")

import mujoco

from treefactor.adapters import mujoco_

BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
MESH = '<collision><geometry><mesh filename="package://nowhere/absent.stl"/></geometry></collision>'
LIMITS, CONTACTS = "joint limits push back", "contacts act"
EQUALITY, ACTUATORS = (
    "mimic joints and other equalities are soft constraints",
    "actuators act, their controls zero",
)
ARM = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a"{body}><joint name="i" axis="0 1 0"{joint}/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>{geom}
<body name="b" pos="0 0 0.3"><joint axis="1 0 0"/><inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
<body name="c" pos="0 0 0.3"><joint name="k" axis="1 0 0"/>
<inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>{geom}</body>
</body></body></worldbody>{rest}</mujoco>"""
TENDON = '<tendon><fixed name="t" {}><joint joint="i" coef="1"/><joint joint="k" coef="-1"/></fixed></tendon>'


def acting(path, floating=False, seed=0):
    settings = mujoco_.settings(path, floating, (0.0, 0.0, -9.81), np.random.default_rng(seed))
    assert all(effect > 1e-6 for _, effect, _ in settings)
    return {name: where for name, _, where in settings}


@pytest.fixture
def write(tmp_path):
    def writer(text, name="robot.xml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return writer


def arm(body="", joint="", geom="", rest=""):
    return ARM.format(body=body, joint=joint, geom=geom, rest=rest)


@pytest.mark.parametrize(
    ("parts", "name", "where"),
    [
        ({"joint": ' damping="2"'}, "joint damping of the file acts", ("i",)),
        ({"joint": ' stiffness="3"'}, "joint springs of the file act", ("i",)),
        ({"joint": ' frictionloss="3"'}, "friction loss of the file acts", ("i",)),
        ({"joint": ' range="-0.001 0.001" limited="true"'}, LIMITS, ("i",)),
        ({"rest": TENDON.format('stiffness="2"')}, "tendon springs and dampers of the file act", ("t",)),
        ({"rest": TENDON.format('damping="2"')}, "tendon springs and dampers of the file act", ("t",)),
        ({"rest": TENDON.format('frictionloss="2"')}, "friction loss of the file acts", ("t",)),
        ({"rest": TENDON.format('range="-0.001 0.001" limited="true"')}, LIMITS, ("t",)),
        ({"body": ' gravcomp="1"'}, "gravity compensation acts", ("a",)),
        (
            {"body": ' gravcomp="1"', "joint": ' actuatorgravcomp="true"'},
            "gravity compensation acts",
            ("a",),
        ),
        ({"geom": "", "rest": '<option density="1000" viscosity="1"/>'}, "drag of the fluid acts", ()),
        ({"rest": '<equality><joint joint1="i" joint2="k"/></equality>'}, EQUALITY, ("i",)),
        (
            {"rest": '<equality><connect name="e" body1="a" body2="c" anchor="0 0 0"/></equality>'},
            EQUALITY,
            ("e",),
        ),
        ({"rest": '<actuator><position name="servo" joint="i" kp="9"/></actuator>'}, ACTUATORS, ("servo",)),
        ({"rest": '<actuator><position joint="k" kp="9"/></actuator>'}, ACTUATORS, ("actuator 0",)),
        ({"geom": '<geom size="0.5"/>'}, CONTACTS, ("a with c",)),
    ],
)
def test_one_setting_of_an_mjcf(write, parts, name, where):
    assert acting(write(arm(**parts))) == {name: where}


def test_nothing_acts_without_settings(write):
    assert acting(write(arm())) == {}
    off = '<option><flag contact="disable"/></option>'
    assert acting(write(arm(geom='<geom size="0.5"/>', rest=off))) == {}


def test_nothing_acts_on_a_robot_that_cannot_move(write):
    assert acting(write('<mujoco><worldbody><geom size="0.5"/></worldbody></mujoco>')) == {}


def test_the_joints_of_a_file_without_names(write):
    text = arm(joint=' damping="2"').replace(' name="i"', "")
    assert acting(write(text)) == {"joint damping of the file acts": ("aJoint_0",)}


def test_several_settings_are_distinguished(write):
    settings = acting(write(arm(joint=' damping="2" frictionloss="1"', geom='<geom size="0.5"/>')))
    assert set(settings) == {"joint damping of the file acts", "friction loss of the file acts", CONTACTS}


def test_a_robot_written_in_a_singular_configuration(write):
    """Assert that an initial state with coincident axes, where q̈ has no digits, is left out."""
    joints = "".join(f'<joint axis="{axis}" damping="1"/>' for axis in ("1 0 0", "0 1 0", "1 0 0"))
    inertial = '<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
    path = write(f'<mujoco><worldbody><body name="a">{joints}{inertial}</body></worldbody></mujoco>')
    assert set(acting(path)) == {"joint damping of the file acts"}


def test_contacts_of_the_first_keyframe(write):
    """Find contacts of the first keyframe on the ground; random states are far from it."""
    ball = (
        '<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>'
        '<body name="ball" pos="0 0 99"><freejoint/><geom size="0.1"/></body></worldbody>{}</mujoco>'
    )
    key = '<keyframe><key qpos="0 0 0.09 1 0 0 0"/></keyframe>'
    assert acting(write(ball.format(""))) == {}
    assert acting(write(ball.format(key))) == {CONTACTS: ("world with ball",)}


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "flex_bending"), reason="a plugin does it")
def test_cloth(write):
    elastic = '<elasticity young="3e4" poisson="0.1" thickness="0.01" elastic2d="both"/>'
    grid = 'type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="1" radius=".01"'
    apart = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
    cloth = f'<flexcomp name="f" {grid}>{elastic}{apart}</flexcomp>'
    path = write(f"<mujoco><worldbody>{cloth}</worldbody></mujoco>")
    assert acting(path) == {"elasticity of deformable bodies acts": ()}


# ----------------------------------------------------------------------------------------------------- URDFs


def star(extra):
    """Write two links, both at the origin of a third that carries neither of their shapes."""
    place = '<origin xyz="0.3 0.1 -0.2" rpy="0.5 -0.3 0.7"/>'
    joints = [cases.joint(name, "base", link, "continuous") for name, link in (("i", "a"), ("j", "b"))]
    links = [cases.link("base"), *(cases.link(name, extra=extra) for name in "ab")]
    return cases.urdf(*links, *(joint.replace(place, "") for joint in joints))


def limited(*joints):
    """Return what acts because of <limit> in continuous joints: before MuJoCo 4 it limits them."""
    return {LIMITS: joints} if int(mujoco.__version__.partition(".")[0]) < 4 else {}


def test_contacts_between_the_links_of_a_urdf(write):
    assert acting(write(star(BOX), "robot.urdf")) == {CONTACTS: ("a with b",), **limited("i", "j")}
    assert acting(write(star(MESH), "robot.urdf")) == limited("i", "j")


def test_contacts_are_causes_of_the_simulation(write):
    path = write(star(BOX), "robot.urdf")
    (cells,) = check([robots.Robot("star", path)], ["mujoco"])
    causes = [(cell.quantity, cause.text, cause.where) for cell in cells for cause in cell.causes]
    assert ("simulation", CONTACTS, ("a with b",)) in causes


def test_shapes_weigh_something_in_links_without_inertial(write):
    links = cases.link("base"), cases.link("a", None, extra=BOX), cases.link("b")
    joints = cases.joint("i", "base", "a", "continuous"), cases.joint("j", "a", "b", "continuous")
    path = write(cases.urdf(*links, *joints), "robot.urdf")
    (cells,) = check([robots.Robot("arm", path)], ["mujoco"])
    (cell,) = (cell for cell in cells if cell.quantity == "H")
    assert cell.state == "explained"
    assert ("a",) in [cause.where for cause in cell.causes]


def test_mimic_joints_of_a_urdf(write):
    text = cases.TRAPS["mimic"].replace('type="revolute"', 'type="continuous"')
    settings = acting(write(text, "robot.urdf"))
    assert settings == {EQUALITY: ("k",), **limited("j", "k")}
