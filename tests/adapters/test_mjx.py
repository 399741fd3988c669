"""Test MJX, as an engine of the comparison, against Pinocchio and MuJoCo."""

from contextlib import closing

import numpy as np
import pytest
from helpers.engine_trials import assert_all_agree
from helpers.heavy_engines import GRAVITY, heavy

import treefactor as tf
from treefactor import robots

mjx_ = heavy("mjx")
mujoco = mjx_.mujoco

from treefactor.adapters._mjcf import mjcf  # noqa: E402

pytestmark = pytest.mark.slow  # a robot is compiled in seconds to a minute

EVERY_JOINT = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="torso" pos="0 0 1"><freejoint name="base"/>
    <inertial pos="0.1 0.2 0.3" quat="1 2 3 4" mass="1.5" diaginertia="0.1 0.2 0.25"/>
    <body name="a" pos="0.1 0 0" euler="1 2 3">
      <joint name="h" axis="0 0 1" pos="0.3 0.1 0.2" ref="0.4" armature="0.3" damping="2"/>
      <joint name="s" type="slide" axis="1 1 0"/>
      <inertial pos="0.1 0.2 0.3" quat="1 2 3 4" mass="1.5" diaginertia="0.1 0.2 0.25"/>
      <site name="tool" pos="0.2 -0.1 0.4" quat="1 -2 0.5 3"/>
      <body name="b" pos="0.1 0.2 0.1" euler="4 5 6">
        <joint name="ball" type="ball" pos="0 0 0.2"/>
        <inertial pos="0.1 0.2 0.3" quat="1 2 3 4" mass="1.5" diaginertia="0.1 0.2 0.25"/></body></body>
  </body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("name", "floating"),
    [
        *(("double_pendulum", False), ("double_pendulum", True), ("panda", False), ("ur5_robot", False)),
        *(("solo12", True), ("talos_reduced", True)),
    ],
)
def test_robots_are_pinocchios(name, floating, tmp_path):
    robot, path = robots.find(name).path, tmp_path / "robot.xml"
    text, odd = mjcf(robot, floating)
    assert not odd
    path.write_text(text)
    assert_all_agree(mjx_, path, floating, read=robot)


def test_every_kind_of_joint_is_mujocos(write_text):
    rng = np.random.default_rng(0)
    with closing(mjx_.load(write_text(EVERY_JOINT, "robot.xml"), True, GRAVITY)) as body:
        model = body.own.model
        data = mujoco.MjData(model)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
        v, a, tau = rng.normal(size=(3, model.nv))
        data.qvel[:], q = v, data.qpos.copy()
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        H, J = np.zeros((model.nv, model.nv)), np.zeros((6, model.nv))
        mujoco.mj_fullM(model, H, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, H)
        mujoco.mj_jacSite(model, data, J[:3], J[3:], 0)
        pairs = {
            "H": (mjx_.mass_matrix(body, q), H),
            "bias": (mjx_.bias(body, q, v), data.qfrc_bias),
            "inverse": (mjx_.inverse_dynamics(body, q, v, a), H @ a + data.qfrc_bias),
            "site": (mjx_.placement(body, q, "tool")[:3, 3], data.site_xpos[0]),
            "jacobian": (mjx_.jacobian(body, q, "tool"), J),
            "com": (mjx_.com(body, q), data.subtree_com[0]),
            "momentum": (mjx_.momentum(body, q, v)[3:], data.subtree_angmom[0]),
        }
        for name, (value, expected) in pairs.items():
            np.testing.assert_allclose(value, expected, atol=1e-13, err_msg=name)
        qdd = mjx_.acceleration(body, q, v, tau)
        np.testing.assert_allclose(H @ qdd + data.qfrc_bias, tau, atol=1e-12)
        joints = mjx_.joints(body)
    assert [(joint.name, joint.kind, joint.parent, joint.body) for joint in joints] == [
        *(("base", "free", -1, "torso"), ("h", "revolute", 0, "a")),
        *(("s", "prismatic", 1, "a"), ("ball", "spherical", 2, "b")),
    ]
    assert mjx_.frames(body) == ["tool", "torso", "a", "b"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('mass="1.5"', 'mass="0"', r"MuJoCo cannot load it: .*mass and inertia"),
        ("<worldbody>", '<option integrator="implicit"/><worldbody>', "MJX cannot load it: NotImplemented"),
    ],
)
def test_refusals_have_a_reason(write_text, old, new, reason):
    path = write_text(EVERY_JOINT.replace(old, new), "robot.xml")
    with pytest.raises(tf.AdapterError, match=reason) as caught:
        mjx_.load(path, True, GRAVITY)
    assert caught.value.file == str(path)


def test_the_precision_of_the_process_is_left_unchanged():
    assert not mjx_.jax.config.jax_enable_x64
