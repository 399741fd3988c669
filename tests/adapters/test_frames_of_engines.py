"""Test the frames of models against the engines and files that the models come from."""

import numpy as np
import pytest
from helpers import engine_cases as cases
from helpers.body_frames import placement
from helpers.engine_cases import pin
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor import robots
from treefactor.adapters import pinocchio_

ROBOTS = [("ur5_robot", False), ("panda", False), ("solo12", True), ("talos_reduced", True), ("tiago", True)]
KINDS = ("fixed", "fixed", "revolute", "continuous", "prismatic", "floating", "planar")


def listed(model):
    """Return what the frames of a model are, without their placements."""
    return [(frame.name, frame.joint, frame.type, frame.parent) for frame in model.frames]


def assert_placed(model, q, expected, atol=1e-12):
    """Assert that the frames of a model have the placements (R, p) in the base."""
    assert len(model.frames) == len(expected)
    for frame, (R, p) in zip(model.frames, expected, strict=True):
        own = placement(model, q, frame.joint, frame.R, frame.p)
        np.testing.assert_allclose(own[0], R, atol=atol, err_msg=frame.name)
        np.testing.assert_allclose(own[1], p, atol=atol, err_msg=frame.name)


def assert_as_in_pinocchio(pin_model, model, seed=0):
    """Assert that the frames of a model are Pinocchio's, number by number, also where they are."""
    assert [frame.name for frame in model.frames] == [frame.name for frame in pin_model.frames]
    assert [frame.type for frame in model.frames] == [frame.type.name.lower() for frame in pin_model.frames]
    parents = [pin_model.frames[frame.parentFrame].name for frame in pin_model.frames][1:]
    assert [frame.parent for frame in model.frames[1:]] == parents
    data, q = pin_model.createData(), cases.state(pin_model, seed)[0]
    pin.framesForwardKinematics(pin_model, data, q)
    places = [data.oMi[f.parentJoint] * f.placement for f in pin_model.frames]
    assert_placed(model, q, [(M.rotation, M.translation) for M in places])
    assert all(M.isApprox(place, 1e-12) for M, place in zip(data.oMf, places, strict=True))


# ------------------------------------------------------------------------------------------------- Pinocchio


@pytest.mark.parametrize("mimic", [False, True])
@pytest.mark.parametrize(("name", "floating"), ROBOTS)
def test_frames_of_robots_are_pinocchios(name, floating, mimic):
    pin_model = pinocchio_.load(robots.find(name).path, floating, mimic)
    assert_as_in_pinocchio(pin_model, pinocchio_.model(pin_model))


def test_frames_of_the_sample_humanoid_are_pinocchios():
    pin_model = pin.buildSampleModelHumanoid()
    pin_model.addFrame(pin.Frame("eye", 5, 7, pin.SE3.Random(), pin.FrameType.SENSOR))
    assert_as_in_pinocchio(pin_model, pinocchio_.model(pin_model))


def test_frames_of_joints_in_parts_are_on_their_last_part():
    pin_model = pin.Model()
    ball = pin_model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Random(), "ball")
    composite = pin.JointModelComposite(pin.JointModelRX())
    composite.addJoint(pin.JointModelPY(), pin.SE3.Random())
    last = pin_model.addJoint(ball, composite, pin.SE3.Random(), "composite")
    for joint in (ball, last):
        pin_model.addJointFrame(joint)
    pin_model.addBodyFrame("hand", last, pin.SE3.Random(), -1)
    model = pinocchio_.model(pin_model)
    assert [frame.joint for frame in model.frames] == [-1, 2, 4, 4]
    assert_as_in_pinocchio(pin_model, model)


def test_frames_without_a_name_of_their_own_are_numbered():
    pin_model = pin.buildSampleModelManipulator()
    count = pin_model.nframes
    pin_model.frames[2].name = ""
    pin_model.frames[4].name, pin_model.frames[4].type = pin_model.frames[3].name, pin_model.frames[3].type
    model = pinocchio_.model(pin_model)
    names = [frame.name for frame in model.frames]
    assert (names[2], names[4]) == ("(frame 2)", f"{names[3]} (frame 4)")
    assert len(names) == count


def test_a_model_does_not_follow_later_changes_of_pinocchios():
    pin_model = pin.buildSampleModelManipulator()
    model = pinocchio_.model(pin_model)
    pin_model.addFrame(pin.Frame("tool", 1, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    with pytest.raises(tf.InvalidModelError, match="'tool' is not a frame"):
        model.frame("tool")
    assert pinocchio_.model(pin_model).frame("tool").joint == 0


# ----------------------------------------------------------------------------------------------------- URDFs


def assert_urdf_has_pinocchios_frames(path, floating):
    """Assert that a URDF read without an engine has the frames of Pinocchio, in order, to rounding."""
    expected, own = pinocchio_.model(pinocchio_.load(path, floating)), tf.Model.from_urdf(path, floating)
    assert listed(own) == listed(expected)
    for one, other in zip(own.frames, expected.frames, strict=True):
        np.testing.assert_allclose(one.placement, other.placement, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("name", "floating"), ROBOTS)
def test_urdfs_of_robots_have_pinocchios_frames(name, floating):
    for base in (floating, not floating):
        assert_urdf_has_pinocchios_frames(robots.find(name).path, base)


@pytest.mark.slow
@pytest.mark.parametrize("name", robots.bundled())
def test_every_urdf_has_pinocchios_frames(name):
    path = robots.find(name).path
    try:
        pinocchio_.load(path)
    except tf.AdapterError as error:
        pytest.skip(f"Pinocchio cannot load it: {error}")
    for floating in (False, True):
        assert_urdf_has_pinocchios_frames(path, floating)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 10), st.sampled_from(KINDS)), max_size=10),
    st.booleans(),
)
def test_urdfs_with_fixed_joints_have_pinocchios_frames(tmp_path_factory, rows, floating):
    links = [cases.link(f"l{k}") for k in range(len(rows) + 1)]
    joints = [
        cases.joint(f"j{k}", f"l{min(above, k)}", f"l{k + 1}", kind, "0 0 1")
        for k, (above, kind) in enumerate(rows)
    ]
    path = tmp_path_factory.mktemp("frames") / "robot.urdf"
    path.write_text(cases.urdf(*links, *joints))
    assert_urdf_has_pinocchios_frames(path, floating)


# ---------------------------------------------------------------------------------------------------- MuJoCo

INERTIAL = '<inertial pos="0.1 0.2 0.3" quat="1 2 3 4" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
SITE = '<site pos="0.2 -0.1 0.4" quat="1 -2 0.5 3"/>'
MJCF = f"""
<mujoco><compiler angle="radian"/><worldbody>
  <site name="corner" pos="1 2 3"/><geom type="sphere" size="0.1"/>
  <body name="rail" pos="0 0 3" euler="0.3 0.2 0.1">
    <body pos="1 0 0"><site name="hook" euler="1 2 3"/></body></body>
  <body name="torso" pos="0 0 1"><freejoint name="base"/>{INERTIAL}<site name="torso" pos="0 1 0"/>{SITE}
    <body name="plate" pos="0.1 0.2 0.3" euler="3 2 1">{INERTIAL}{SITE}
      <body name="a" pos="0.1 0 0" euler="1 2 3">
        <joint name="h1" axis="0 0 1" pos="0.3 0.1 0.2" ref="0.4"/><joint name="s" type="slide" axis="1 1 0"/>
        {INERTIAL}<site name="tool" pos="0.2 -0.1 0.4" quat="1 -2 0.5 3"/>
        <body name="b" pos="0.1 0.2 0.1" euler="4 5 6">
          <joint name="ball" type="ball" pos="0 0 0.2"/>{INERTIAL}
          <body euler="1 1 1">{SITE}</body></body>
      </body></body>
  </body>
</worldbody></mujoco>"""


def assert_as_in_mujoco(mj_model, seed=0):
    """Assert that every body and site has a frame where MuJoCo puts it."""
    from treefactor.adapters import mujoco_

    mujoco = mujoco_.mujoco
    body = mujoco_.Body(mj_model)
    model, data = mujoco_.model(body), mujoco.MjData(mj_model)
    q = tf.random_configuration(model, seed)
    data.qpos[:] = mujoco_.from_pinocchio(body, model, q, np.zeros(model.nv))[0]
    mujoco.mj_forward(mj_model, data)
    for type, R, p in (("body", data.xmat, data.xpos), ("site", data.site_xmat, data.site_xpos)):
        some = tf.Model(
            model.joints, model.gravity, strict=False, frames=[f for f in model.frames if f.type == type]
        )
        assert_placed(some, q, [*zip(R.reshape(-1, 3, 3), p, strict=True)])
    given = [mj_model.body(k).name for k in range(mj_model.nbody)]
    names = [frame.name for frame in model.frames if frame.type == "body"]
    assert all(own in ("", name) for own, name in zip(given, names, strict=True))
    assert {frame.name for frame in model.frames if frame.type == "joint"} == {j.name for j in model.joints}
    return model


@pytest.mark.parametrize("armature", [None, "0.3"])
def test_bodies_and_sites_are_mujocos(armature):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    text = MJCF
    if armature:
        text = text.replace('<freejoint name="base"/>', '<joint name="base" type="free" armature="0.3"/>')
    model = assert_as_in_mujoco(mujoco.MjModel.from_xml_string(text))
    assert (model.frame("world").joint, model.frame("hook").joint) == (-1, -1)
    assert model.frame("plate").joint == model.frame("torso", "body").joint
    assert (model.frame("tool").parent, model.frame("plate").parent) == ("a", "torso")
    assert {frame.name for frame in model.frames} >= {"body 2", "site 3", "site 6"}
    with pytest.raises(tf.InvalidModelError, match="frames of types 'body', 'site'"):
        model.frame("torso")


@pytest.mark.parametrize(("name", "floating"), [("panda", False), ("solo12", True)])
def test_bodies_of_robots_are_mujocos(name, floating):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from treefactor.adapters import mujoco_

    with mujoco_.load(robots.find(name).path, floating) as body:
        assert_as_in_mujoco(body.model)


# -------------------------------------------------------------------------------------------------- PyBullet


@pytest.mark.parametrize(("name", "floating"), [("panda", False), ("solo12", True), ("talos_reduced", True)])
def test_links_and_joints_in_pybullet_are_placed_as_in_the_urdf(name, floating):
    pytest.importorskip("pybullet", reason="PyBullet is not installed")
    from helpers.pybullet_cases import load, pybullet_

    path = robots.find(name).path
    with load(path, floating) as body:
        model = pybullet_.model(body)
    expected = tf.Model.from_urdf(path, floating)
    carried = {frame.name for frame in model.frames if frame.type == "body"}
    assert carried
    names = [joint.name for joint in model.joints]
    for frame in model.frames:
        other = expected.frame(frame.name, frame.type)
        joint = expected.joints[other.joint].name if other.joint >= 0 else "base"
        assert (names[frame.joint] if frame.joint >= 0 else "base") == joint
        np.testing.assert_allclose(frame.placement, other.placement, atol=1e-6)
