"""Convert configurations and velocities between MuJoCo's layout and ours, and compare what bodies do."""

import numpy as np
import pytest

import treefactor as tf

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from helpers import engine_cases as cases  # noqa: E402
from helpers.bundled_robots import bundled_robot  # noqa: E402

from treefactor.adapters import mujoco_  # noqa: E402

GEOM = '<geom type="box" size=".1 .2 .3" pos="{:.3f} 0.1 0.2" mass="{:.3f}"/>'
BALL = '<mujoco><worldbody><body name="b">{}<geom size=".1"/></body></worldbody></mujoco>'


def random_mjcf(rng, bodies=6, armature=False):
    """Return an MJCF: a tree of bodies with no, one or several joints of every type."""
    parent, text = [-1], []
    for k in range(bodies):
        parent.append(int(rng.integers(-1, k)) if k else -1)
    children = {k: [i for i in range(bodies) if parent[i + 1] == k] for k in range(-1, bodies)}

    def vector(count=3):
        return " ".join(f"{x:.6f}" for x in rng.normal(size=count))

    def write(k):
        text.append(f'<body name="body{k}" pos="{vector()}" quat="{vector(4)}">')
        if parent[k + 1] < 0 and rng.random() < 0.5:
            rotor = ' armature="0.3"' if armature else ""
            text.append(f'<joint name="free{k}" type="free"{rotor}/>')
        else:
            kinds = list(rng.permutation(["hinge", "slide", "hinge", "slide"])[: rng.integers(0, 4)])
            kinds += ["ball"] * (rng.random() < 0.4)  # MuJoCo wants it behind all hinges
            for i, kind in enumerate(kinds):
                at = "" if kind == "slide" else f'pos="{vector()}"'
                axis = "" if kind == "ball" else f'axis="{vector()}" ref="{rng.normal():.6f}"'
                text.append(f'<joint name="{kind}{k}_{i}" type="{kind}" {at} {axis}/>')
        text.append(GEOM.format(rng.normal(), 0.5 + rng.random()))
        for child in children[k]:
            write(child)
        text.append("</body>")

    for k in children[-1]:
        write(k)
    return f'<mujoco><compiler angle="radian"/><worldbody>{"".join(text)}</worldbody></mujoco>'


def random_states(model, rng, size=()):
    """Return random qpos with unit quaternions, and qvel."""
    qpos, qvel = rng.normal(size=(*size, model.nq)), rng.normal(size=(*size, model.nv))
    for j in range(model.njnt):
        first, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
        if kind in (0, 1):
            x = qpos[..., first + 3 * (kind == 0) :][..., :4]
            x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return qpos, qvel


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_bodies_are_where_mujoco_has_them(seed, armature):
    rng = np.random.default_rng(seed)
    source = mujoco.MjModel.from_xml_string(random_mjcf(rng, armature=armature))
    data, robot = mujoco.MjData(source), mujoco_.model(source)
    qpos, qvel = random_states(source, rng, (3,))
    q, v = mujoco_.configuration(source, qpos), mujoco_.velocity(source, qpos, qvel)
    assert (q.shape, v.shape) == ((3, robot.nq), (3, robot.nv))
    source.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    for i in range(3):
        data.qpos[:], data.qvel[:] = qpos[i], qvel[i]
        mujoco.mj_forward(source, data)
        for k in range(source.nbody):
            frame = robot.frame(source.body(k).name)
            placed = tf.frame_placement(robot, q[i], frame)
            np.testing.assert_allclose(placed[:, 3], data.xpos[k], rtol=0, atol=1e-12)
            np.testing.assert_allclose(placed[:, :3], data.xmat[k].reshape(3, 3), rtol=0, atol=1e-12)
            moved, theirs = tf.frame_velocity(robot, q[i], v[i], frame, "LOCAL_WORLD_ALIGNED"), np.zeros(6)
            mujoco.mj_objectVelocity(source, data, mujoco.mjtObj.mjOBJ_XBODY, k, theirs, 0)
            np.testing.assert_allclose(moved, np.roll(theirs, 3), rtol=0, atol=1e-11)
        energy = tf.kinetic_energy(robot, q[i], v[i])
        np.testing.assert_allclose(energy, data.energy[1], rtol=1e-12, atol=1e-12)
        moved = np.empty(source.nq)
        moved[:] = qpos[i]
        mujoco.mj_integratePos(source, moved, qvel[i], 1e-6)
        nearer = mujoco_.configuration(source, moved)
        if not armature:
            step = tf.difference(robot, q[i], nearer)
            np.testing.assert_allclose(step, 1e-6 * v[i], rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_there_and_back(seed):
    rng = np.random.default_rng(seed)
    source = mujoco.MjModel.from_xml_string(random_mjcf(rng))
    for size in [(), (4,), (2, 3), (0,)]:
        qpos, qvel = random_states(source, rng, size)
        q, v = mujoco_.configuration(source, qpos), mujoco_.velocity(source, qpos, qvel)
        np.testing.assert_array_equal(mujoco_.qpos(source, q), qpos)
        np.testing.assert_allclose(mujoco_.qvel(source, q, v), qvel, rtol=0, atol=1e-14)
        for i in np.ndindex(size):
            np.testing.assert_array_equal(mujoco_.configuration(source, qpos[i]), q[i])
            np.testing.assert_allclose(mujoco_.velocity(source, qpos[i], qvel[i]), v[i], rtol=0, atol=1e-14)
    one, many = random_states(source, rng)[0], random_states(source, rng, (5,))[1]
    assert mujoco_.velocity(source, one, many).shape == (5, source.nv)
    assert mujoco_.velocity(source, np.stack([one] * 5), many[0]).shape == (5, source.nv)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", cases.REAL)
def test_joints_of_another_model_are_matched_by_name(name, floating):
    """Pinocchio sorts joints by name, and its joints without limits have (cos, sin)."""
    path = bundled_robot(name)
    body, twin = mujoco_.load(path, floating), cases.pinocchio_model(path, floating)
    ours, rng = tf.Model.from_urdf(path, floating=floating), np.random.default_rng(0)
    q, v = tf.random_configuration(ours, rng, size=4), rng.normal(size=(4, ours.nv))
    for robot in (twin, ours):
        qpos, qvel = mujoco_.qpos(body, q, robot), mujoco_.qvel(body, q, v, robot)
        assert (qpos.shape, qvel.shape) == ((4, body.nq), (4, body.nv))
        for i in range(4):
            theirs, their_v = mujoco_.from_pinocchio(body, twin, q[i], v[i])
            np.testing.assert_allclose(qvel[i], their_v, rtol=0, atol=1e-13)
            for k in range(body.model.nbody):
                frame = body.model.body(k).name
                if k:
                    placed = mujoco_.placement(body, theirs, frame)
                    np.testing.assert_allclose(
                        mujoco_.placement(body, qpos[i], frame), placed, rtol=0, atol=1e-12
                    )
        back, back_v = (
            mujoco_.configuration(body, qpos, robot),
            mujoco_.velocity(body, qpos, qvel, robot),
        )
        np.testing.assert_allclose(back, q, rtol=0, atol=1e-15)
        np.testing.assert_allclose(back_v, v, rtol=0, atol=1e-13)


def test_mimic_joints_follow_their_leaders():
    hinge = '<body name="{0}"><joint name="{0}" axis="0 0 1"/><geom size=".1"/></body>'
    source = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{''.join(map(hinge.format, ('follower', 'leader', 'wheel')))}</worldbody>"
        '<equality><joint joint1="follower" joint2="leader" polycoef="0.5 2 0 0 0"/></equality></mujoco>'
    )
    axis = {"axis": [0, 0, 1]}
    robot = tf.Model(
        [
            tf.Joint("wheel", "continuous", **axis),
            tf.Joint("leader", "revolute", **axis),
            tf.Joint("follower", "revolute", **axis, mimic=tf.Mimic("leader", 2.0, 0.5)),
        ]
    )
    q, v = [np.cos(0.3), np.sin(0.3), 0.25], [3.0, 4.0]
    np.testing.assert_allclose(mujoco_.qpos(source, q, robot), [1.0, 0.25, 0.3], atol=1e-15)
    np.testing.assert_allclose(mujoco_.qvel(source, q, v, robot), [8.0, 4.0, 3.0])
    np.testing.assert_allclose(mujoco_.configuration(source, [1.0, 0.25, 0.3], robot), q, atol=1e-15)
    np.testing.assert_allclose(mujoco_.velocity(source, [1.0, 0.25, 0.3], [8, 4, 3], robot), v)


def test_quaternions_are_scaled_as_mujoco_scales_them_and_bad_rows_keep_their_places():
    source = mujoco.MjModel.from_xml_string(BALL.format('<freejoint name="base"/>'))
    qpos = np.tile([1.0, 2, 3, 0.8, 0.6, 0, 0], (3, 1))
    qpos[0, 3:] *= 3.0
    qpos[1, 3:] = 0.0
    q = mujoco_.configuration(source, qpos)
    np.testing.assert_array_equal(q[2], [1, 2, 3, 0.6, 0, 0, 0.8])
    np.testing.assert_allclose(q[0], q[2], rtol=0, atol=1e-15)
    assert np.isnan(q[1, 3:]).all()
    data, robot = mujoco.MjData(source), mujoco_.model(source)
    data.qpos[:] = qpos[0]
    mujoco.mj_kinematics(source, data)
    np.testing.assert_allclose(
        tf.frame_placement(robot, q[0], "base")[:, :3].ravel(), data.xmat[1], atol=1e-15
    )
    with pytest.raises(tf.ConfigurationError, match="joint 'base' in qpos has length 0") as caught:
        mujoco_.configuration(source, qpos[1])
    assert caught.value.joint == "base"
    v = mujoco_.velocity(source, qpos, np.ones(6))
    assert np.isnan(v[1]).any()
    np.testing.assert_allclose(v[0], v[2], rtol=1e-14)
    with pytest.raises(tf.ConfigurationError, match="joint 'base' in qpos has length 0") as caught:
        mujoco_.velocity(source, qpos[1], np.ones(6))
    assert caught.value.joint == "base"


def test_armature_that_is_set_later_makes_a_free_joint_two():
    source = mujoco.MjModel.from_xml_string(BALL.format('<freejoint name="base"/>'))
    qpos, qvel = [0, 0, 0, 0.8, 0.6, 0, 0], np.arange(6.0)
    assert (mujoco_.velocity(source, qpos, qvel) != qvel).any()
    source.dof_armature[:] = 0.1
    np.testing.assert_array_equal(mujoco_.velocity(source, qpos, qvel), qvel)


def test_errors_name_the_joints():
    source = mujoco.MjModel.from_xml_string(BALL.format('<freejoint name="base"/>'))
    with pytest.raises(tf.ShapeError, match=r"qpos must have shape \(..., 7\), got \(6,\).*base 7"):
        mujoco_.configuration(source, np.zeros(6))
    with pytest.raises(tf.ShapeError, match=r"v must have shape \(..., 6\), got \(7,\).*base 6"):
        mujoco_.qvel(source, np.eye(7)[6], np.zeros(7))
    with pytest.raises(tf.ShapeError, match="leading axes"):
        mujoco_.velocity(source, np.ones((2, 7)), np.ones((3, 6)))
    with pytest.raises(tf.NonFiniteError, match=r"qpos is not finite: qpos\[2\]"):
        mujoco_.configuration(source, [0, 0, np.nan, 1, 0, 0, 0])
    with pytest.raises(tf.AdapterError, match="arm"):
        mujoco_.configuration(source, np.eye(7)[3], tf.Model([tf.Joint("arm", "revolute", axis=[1, 0, 0])]))
    with pytest.raises(TypeError, match=r"model must be a mujoco.MjModel or a Body, got str; load a file"):
        mujoco_.configuration("robot.xml", np.zeros(7))
