"""Test Newton as an engine: values against Pinocchio's, and what it makes of difficult files."""

import numpy as np
import pytest
from helpers import engine_errors as cases
from helpers.engine_errors import INERTIA, INERTIAL, SPHERE, ZERO, arm, errors, joint, link, write

import treefactor as tf
from treefactor import robots

newton_ = pytest.importorskip("treefactor.adapters.newton_", reason="Newton", exc_type=tf.AdapterError)

EPS = float(np.finfo(np.float32).eps)
ALLOWED = 64 * EPS
QDD = 1e-4
ICUB_QDD = 5e-2  # where H is closer to singular
KEEP = ("keep_inertia",)

ROBOTS = [("panda", False), ("ur5_robot", False), ("solo12", True)]
SLOW = [("baxter", False), ("icub", True), ("tiago_dual", False), ("g1_29dof_rev_1_0", True)]


def assert_agrees(deviations, qdd=QDD):
    """Assert that all quantities have rounding errors only."""
    for name, error in deviations.items():
        assert error <= (qdd if name == "acceleration" else ALLOWED), (name, error)


@pytest.mark.parametrize(
    ("name", "floating"), [*ROBOTS, *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW)]
)
def test_robots_are_as_in_pinocchio(name, floating):
    deviations = errors(newton_, robots.find(name).path, floating, KEEP)
    assert_agrees(deviations, ICUB_QDD if name == "icub" else QDD)


def test_conventions_are_those_of_small_files(tmp_path):
    path = write(tmp_path, arm())
    for floating in (False, True):
        assert_agrees(errors(newton_, path, floating))


def test_mass_of_a_collision_shape_is_invented(tmp_path):
    more = joint("wrist", "lower", "hand", "fixed")
    path = write(tmp_path, arm(more=more + link("hand", SPHERE)))
    assert errors(newton_, path)["mass_matrix"] > 1.0
    body = newton_.load(path, False, None)
    assert body.model.body_mass.numpy()[body.links["hand"]] == pytest.approx(1000 * 4 / 3 * np.pi * 0.4**3)
    assert_agrees(errors(newton_, write(tmp_path, arm(more=more + link("hand", ZERO + SPHERE)))))


def test_link_without_inertia_or_shape_has_none(tmp_path):
    more = link("hand", "") + joint("wrist", "lower", "hand", "fixed")
    assert_agrees(errors(newton_, write(tmp_path, arm(more=more))))


BROKEN = {
    "triangle": '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.9"/>',
    "negative": '<inertia ixx="-0.2" ixy="0" ixz="0" iyy="0.6" iyz="0" izz="0.7"/>',
}


@pytest.mark.parametrize("kind", BROKEN)
def test_impossible_inertias_are_replaced_unless_kept(tmp_path, kind):
    path = write(tmp_path, arm(tip=INERTIAL.replace(INERTIA, BROKEN[kind])))
    assert errors(newton_, path)["mass_matrix"] > 0.01
    deviations = errors(newton_, path, options=KEEP)
    deviations.pop("acceleration")  # H may be indefinite
    assert_agrees(deviations)


def test_inertia_without_mass_is_dropped_unless_kept(tmp_path):
    path = write(tmp_path, arm(tip=INERTIAL.replace('value="2"', 'value="0"')))
    assert errors(newton_, path)["mass_matrix"] > 0.01
    assert_agrees(errors(newton_, path, options=KEEP))


@pytest.mark.parametrize(
    "inside", ['<mimic joint="first" multiplier="2"/>', '<dynamics damping="0.7" friction="0.3"/>']
)
def test_mimic_damping_and_friction_do_not_act(tmp_path, inside):
    assert_agrees(errors(newton_, write(tmp_path, arm(joint("second", "upper", "lower", inside=inside)))))


def test_limits_do_not_act(tmp_path):
    text = arm().replace('lower="-9" upper="9"', 'lower="-1e-3" upper="1e-3"')
    assert_agrees(errors(newton_, write(tmp_path, text)))


@pytest.mark.parametrize("axis", ["0 0 -1", "1 -2 0.5", "0 -1 0"])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_axes_and_kinds_of_joints(tmp_path, kind, axis):
    assert_agrees(errors(newton_, write(tmp_path, arm(joint("second", "upper", "lower", kind, axis)))))


def test_root_on_a_fixed_joint_of_world(tmp_path):
    text = arm(more=link("world", "") + joint("mount", "world", "base", "fixed"))
    assert_agrees(errors(newton_, write(tmp_path, text)))


def test_names_with_slashes_are_kept(tmp_path):
    text = arm().replace('"upper"', '"a/b"').replace("'arm'", "'x/y'").replace('"first"', '"c/d"')
    path = write(tmp_path, text)
    assert_agrees(errors(newton_, path))
    body = newton_.load(path, True, None)
    assert newton_.frames(body) == ("base", "a/b", "lower")
    assert [one.name for one in newton_.joints(body)] == ["floating_base", "c/d", "second"]


def test_joints_are_depth_first_in_the_order_of_the_file(tmp_path):
    more = [link(name) for name in "mc"] + [joint("m", "base", "m"), joint("c", "upper", "c")]
    body = newton_.load(write(tmp_path, arm(more="".join(more))), False, None)
    assert [one.name for one in newton_.joints(body)] == ["first", "second", "c", "m"]
    assert [one.parent for one in newton_.joints(body)] == [-1, 0, 0, -1]


def test_planar_joint_loses_its_angle(tmp_path):
    body = newton_.load(write(tmp_path, arm(joint("second", "upper", "lower", "planar"))), False, None)
    slide = newton_.joints(body)[1]
    assert (slide.kind, slide.v.stop - slide.v.start) == ("other", 2)


@pytest.mark.parametrize("text", ["<robot", "", "<robot name='empty'/>"])
def test_refusals_name_the_file(tmp_path, text):
    with pytest.raises(tf.AdapterError, match=r"arm\.urdf: Newton refuses it"):
        newton_.load(write(tmp_path, text), False, None)


def test_spherical_joint_and_mimic_of_a_fixed_joint_are_refused(tmp_path):
    with pytest.raises(tf.AdapterError, match="Unsupported joint type: spherical"):
        newton_.load(write(tmp_path, arm(joint("second", "upper", "lower", "spherical"))), False, None)
    fixed = joint("second", "upper", "lower", "fixed", inside='<mimic joint="first"/>')
    with pytest.raises(tf.AdapterError, match="Mimic followers"):
        newton_.load(write(tmp_path, arm(fixed)), False, None)


def test_robot_without_freedoms(tmp_path):
    body, none = (
        newton_.load(write(tmp_path, f"<robot name='r'>{link('base')}</robot>"), False, None),
        np.zeros(0),
    )
    assert newton_.mass_matrix(body, none).shape == (0, 0)
    assert newton_.bias(body, none, none).shape == newton_.acceleration(body, none, none, none).shape == (0,)
    assert newton_.jacobian(body, none, "base").shape == (6, 0)


def test_gravity_is_the_callers(tmp_path):
    path = write(tmp_path, arm())
    down, side = (newton_.load(path, True, gravity) for gravity in (None, (3.0, 0.0, 0.0)))
    q = np.array([0, 0, 0, 0, 0, 0, 1.0, 0, 0])
    np.testing.assert_allclose(newton_.gravity_forces(down, q)[:3], [0, 0, 6 * 9.81], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(newton_.gravity_forces(side, q)[:3], [-18, 0, 0], rtol=1e-5, atol=1e-5)


MJCF = """
<mujoco model="walker"><compiler angle="radian"/>
  <worldbody>
    <body name="torso-1" pos="0 0 1">
      <joint name="root_y" type="hinge" axis="0 1 0"/><joint name="root_x" type="slide" axis="1 0 0"/>
      <joint type="hinge" axis="0 0 1"/>
      <geom type="sphere" size="0.1"/>
      <body name="leg" pos="0 0 -0.2"><joint name="hip" axis="0 1 0" armature="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.1 0 -0.3" size="0.05"/></body>
    </body>
    <body name="ball"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
  </worldbody>
</mujoco>
"""


def test_joints_of_an_mjcf_body_are_separate(tmp_path):
    path = tmp_path / "walker.xml"
    path.write_text(MJCF)
    body = newton_.load(path, False, None)
    joints = [(one.name, one.kind, one.parent, one.v.start, one.body) for one in newton_.joints(body)]
    assert joints[:-1] == [
        ("root_x", "prismatic", -1, 0, "torso-1"),
        ("root_y", "revolute", 0, 1, "torso-1"),
        ("torso-1Joint_2", "revolute", 1, 2, "torso-1"),
        ("hip", "revolute", 2, 3, "leg"),
    ]
    assert joints[-1][1:4] == ("free", -1, 4)
    assert newton_.frames(body) == ("torso-1", "leg", "ball")


TWO_FREE = '<body name="ball"><freejoint/>'
HINGED = MJCF.replace('<joint name="root_y" type="hinge" axis="0 1 0"/>', "")
HINGED = HINGED.replace(TWO_FREE, '<body name="ball">')  # slides before hinges


def assert_as_in_mujoco(tmp_path, text, wrong=()):
    """Assert that H, bias and placements of an MJCF are MuJoCo's, but some that are not."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo compiles the file")
    path = tmp_path / "walker.xml"
    path.write_text(text)
    body, model = newton_.load(path, False, None), mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    data.qpos[:], data.qvel[:] = rng.normal(size=(2, model.nv))
    mujoco.mj_forward(model, data)
    H = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, H)
    deviations = {
        "H": cases.deviation(newton_.mass_matrix(body, data.qpos), H),
        "bias": cases.deviation(newton_.bias(body, data.qpos, data.qvel), data.qfrc_bias),
        "placement": cases.deviation(newton_.placement(body, data.qpos, "leg")[:3, 3], data.body("leg").xpos),
    }
    assert {name for name, error in deviations.items() if error > ALLOWED} == set(wrong), deviations


def test_mjcf_of_slides_before_hinges_is_as_in_mujoco(tmp_path):
    assert_as_in_mujoco(tmp_path, HINGED)


MISREAD = {
    "total mass": ("<compiler ", '<compiler settotalmass="9" ', {"H", "bias"}),
    "gravity": ("<worldbody>", '<option gravity="0 0 -3"/><worldbody>', {"bias"}),
    "reference position": ('axis="1 0 0"', 'axis="1 0 0" ref="0.5"', {"placement"}),
    "second anchor": ('axis="0 0 1"', 'axis="0 0 1" pos="0.3 0 0"', {"H", "bias", "placement"}),
}


@pytest.mark.parametrize("kind", MISREAD)
def test_mjcf_that_newton_misreads(tmp_path, kind):
    old, new, wrong = MISREAD[kind]
    assert old in HINGED
    assert_as_in_mujoco(tmp_path, HINGED.replace(old, new), wrong)


def test_free_joint_after_fixed_bodies_has_its_own_centre_of_mass(tmp_path):
    path = tmp_path / "loose.xml"
    geom = '<geom type="sphere" size="0.1" pos="0.1 0.2 0.3"/>'
    path.write_text(
        f"<mujoco><worldbody><body name='a'><geom type='sphere' size='0.2'/></body>"
        f"<body name='b'><freejoint/>{geom}</body></worldbody></mujoco>"
    )
    np.testing.assert_allclose(newton_.base(newton_.load(path, False, None)).com, [0.1, 0.2, 0.3], rtol=1e-6)


def test_empty_world_has_no_dynamics(tmp_path):
    path, none = tmp_path / "empty.xml", np.zeros(0)
    path.write_text("<mujoco><worldbody/></mujoco>")
    body = newton_.load(path, False, None)
    assert newton_.mass_matrix(body, none).shape == (0, 0)
    assert newton_.inverse_dynamics(body, none, none, none).shape == (0,)


def test_accelerations_do_not_lose_digits_far_from_the_origin(tmp_path):
    body = newton_.load(write(tmp_path, arm()), True, None)
    q, (v, tau) = np.zeros(9), np.random.default_rng(0).normal(size=(2, 8))
    q[6], accelerations = 1.0, []
    for x in (0.0, 1000.0):
        q[0] = x
        accelerations.append(newton_.acceleration(body, q, v, tau))
    np.testing.assert_array_equal(*accelerations)
    control, after = body.model.control(), body.model.state()
    control.joint_f = body.array(tau)
    body.solver.step(body.at(q, v), after, control, None, 1.0)  # where the body is
    assert cases.deviation(after.joint_qd.numpy() - v, accelerations[0]) > 0.1
