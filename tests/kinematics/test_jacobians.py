"""Compare placements, Jacobians and accelerations of frames with Pinocchio and with differences."""

import numpy as np
import pytest
from helpers.body_frames import acceleration_bias, jacobian, placement
from helpers.dynamics_cases import EXACT, MODELS, arguments, error, free
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor import robots
from treefactor.exceptions import AdapterError
from treefactor.model.joints import SIZES

FEW = ["panda", "double_pendulum_continuous", "baxter", "solo12", "talos_reduced"]
STEP = 1e-5  # of central differences
BY_DIFFERENCES = 1e-7  # relative


def random_frame(seed):
    rng = np.random.default_rng(seed)
    return Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)


def assert_agrees(model, theirs, seed=0):
    """Assert that frames on all bodies agree with Pinocchio."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    q, v, _, _ = arguments(model, seed)
    R, p = random_frame(seed)
    local, aligned = pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    frames = [
        theirs.addFrame(pin.Frame(f"f{j}", j, 0, pin.SE3(R, p), pin.FrameType.OP_FRAME))
        for j in range(1, theirs.njoints)
    ]
    data = theirs.createData()
    pin.computeJointJacobians(theirs, data, q)
    pin.forwardKinematics(theirs, data, q, v, np.zeros(model.nv))
    pin.updateFramePlacements(theirs, data)
    for frame in frames:
        body = own_number(model, theirs, theirs.frames[frame].parentJoint)
        turned, origin = placement(model, q, body, R, p)
        assert error(turned, data.oMf[frame].rotation) < EXACT
        assert error(origin, data.oMf[frame].translation, 1.0) < EXACT
        for rotation, reference in ((R, local), (None, aligned)):
            J = pin.getFrameJacobian(theirs, data, frame, reference).reshape(6, model.nv)
            assert error(jacobian(model, q, body, rotation, p), J, 1.0) < EXACT
            classical = pin.getFrameClassicalAcceleration(theirs, data, frame, reference).vector
            scale = 1.0 + np.square(v).max(initial=0.0)
            assert error(acceleration_bias(model, q, v, body, rotation, p), classical, scale) < EXACT


def own_number(model, theirs, joint):
    """Return the number of our last joint for Pinocchio's joint, which may be composite."""
    last = theirs.idx_vs[joint] + theirs.nvs[joint]
    starts = [v for v, j in zip(model.idx_v, model.joints, strict=True) if not j.mimic]
    return max(i for i, v in enumerate(starts) if v < last)


@pytest.mark.parametrize("kind", SIZES)
def test_frames_on_each_joint_are_pinocchios(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    for kinds in [[kind], [kind, kind], ["revolute", kind, "spherical"]]:
        model = free(random_model(range(-1, len(kinds) - 1), kinds, 1))
        assert_agrees(model, in_pinocchio(model))


@given(models(depth_first=True), st.integers(0, 2**32 - 1))
def test_frames_on_trees_are_pinocchios(model, seed):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model = free(model)
    assert_agrees(model, in_pinocchio(model), seed)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_frames_on_robots_are_pinocchios(name, floating):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    from treefactor.adapters import pinocchio_

    theirs = pinocchio_.load(robots.find(name).path, floating)
    assert_agrees(pinocchio_.model(theirs), theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(robots.bundled()))
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_frames_on_all_robots_are_pinocchios(name, floating):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    from treefactor.adapters import pinocchio_

    try:
        theirs = pinocchio_.load(robots.find(name).path, floating)
    except AdapterError as refusal:
        pytest.skip(f"Pinocchio cannot load it: {refusal}")
    assert_agrees(pinocchio_.model(theirs), theirs)


@given(models(), st.integers(0, 2**32 - 1))
def test_jacobian_is_the_derivative_of_the_placement(model, seed):
    """Covers mimic joints: R' = ω × R, p' = J v, and J' v is the bias."""
    q, v, _, _ = arguments(model, seed)
    R, p = random_frame(seed)
    body = seed % model.njoints
    J = jacobian(model, q, body, p=p)
    after, before = (tf.integrate(model, q, sign * STEP * v) for sign in (1.0, -1.0))
    rate = [
        (x - y) / (2 * STEP)
        for x, y in zip(
            placement(model, after, body, R, p),
            placement(model, before, body, R, p),
            strict=True,
        )
    ]
    turned, _ = placement(model, q, body, R, p)
    scale = 1.0 + np.abs(J).max() ** 2 * (1.0 + np.square(v).max())
    assert error(np.cross((J @ v)[3:], turned.T).T, rate[0], scale) < BY_DIFFERENCES
    assert error((J @ v)[:3], rate[1], scale) < BY_DIFFERENCES
    change = jacobian(model, after, body, p=p) - jacobian(model, before, body, p=p)
    bias = acceleration_bias(model, q, v, body, p=p)
    assert error(change @ v / (2 * STEP), bias, scale) < BY_DIFFERENCES


@pytest.mark.parametrize("name", [name for name in MODELS if name != "nothing"])
def test_batches_are_single_ones(name):
    model = MODELS[name]
    q, v, _, _ = arguments(model, 1, (3, 4))
    R, p = random_frame(1)
    body = model.njoints - 1
    J = jacobian(model, q, body, R, p)
    a = acceleration_bias(model, q, v, body, R, p)
    turned, origin = placement(model, q, body, R, p)
    assert J.shape == (3, 4, 6, model.nv)
    for i in np.ndindex(3, 4):
        assert error(J[i], jacobian(model, q[i], body, R, p)) < EXACT
        expected = acceleration_bias(model, q[i], v[i], body, R, p)
        assert error(a[i], expected, 1.0 + np.square(v).max()) < EXACT
        single = placement(model, q[i], body, R, p)
        assert error(turned[i], single[0]) < EXACT
        assert error(origin[i], single[1]) < EXACT


def test_only_the_path_of_a_body_moves_it():
    model = free(random_model([-1, 0, 0, 1], ["revolute"] * 4, 3))
    J = jacobian(model, np.ones(4), 3)
    assert not J[:, 2].any()
    assert np.abs(J[:, [0, 1, 3]]).max(axis=0).all()


def test_far_from_the_base_a_jacobian_is_as_exact():
    model = MODELS["freeflyer"]
    q, _, _, _ = arguments(model, 2)
    far = q + np.array([1e9, -2e9, 3e9, *np.zeros(model.nq - 3)])
    body = model.njoints - 1
    assert np.array_equal(jacobian(model, far, body), jacobian(model, q, body))


def test_the_base_stays():
    model = MODELS["freeflyer"]
    q, v, _, _ = arguments(model)
    assert not jacobian(model, q, -1).any()
    assert not acceleration_bias(model, q, v, -1).any()
    R, p = placement(model, q, -1, p=[1, 2, 3])
    assert np.array_equal(R, np.eye(3))
    assert np.array_equal(p, [1, 2, 3])


def in_the_world(model, q):
    """Return the columns of all joints, from the kinematics records of the dynamics."""
    at = tf.kinematics.BodyMotions(model, q)
    columns = np.zeros((6, model.nv))
    leader = np.arange(model.nv) if model.coupling is None else np.argmax(model.coupling.G != 0, axis=1)
    joints = np.repeat(range(model.njoints), [SIZES[joint.kind][1] for joint in model.joints])
    for joint, column, motion in zip(joints, leader, at.S, strict=True):
        columns[:3, column] += motion[:3] - np.cross(motion[3:], at.origin[joint])
        columns[3:, column] += motion[3:]
    return columns


TREES = random_model([-1, -1, 0, 1, -1, 2, 4, 3], ["revolute", "planar", *["helical", "spherical"] * 3], 5)
SEVERAL = {
    **MODELS,
    "trees": TREES,
    "far": random_model([-1, 0, -1], ["freeflyer", "prismatic", "revolute"], 1),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_columns_of_all_joints(name):
    model = SEVERAL[name]
    q = arguments(model, 2, (11,))[0]
    if name == "far":
        q[:, :3] *= 1e4
    columns = tf.joint_jacobians(model, q)
    for k in range(11):
        expected = in_the_world(model, q[k])
        for own in (columns[k], tf.joint_jacobians(model, q[k])):
            assert error(own, expected) < EXACT
    for joint in model.joints if model.coupling is None else ():
        J, support = tf.frame_jacobian(model, q, joint.name, "WORLD"), model.support(joint.name)
        assert error(columns[..., support], J[..., support]) < EXACT


@pytest.mark.parametrize("name", ["panda", "talos_reduced"])
def test_columns_of_all_joints_are_those_of_pinocchio(name):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    from treefactor.adapters import pinocchio_

    theirs = pinocchio_.load(robots.find(name).path, name != "panda")
    model, data = pinocchio_.model(theirs), theirs.createData()
    q = arguments(model, 3)[0]
    pin.computeJointJacobians(theirs, data, q)
    assert error(tf.joint_jacobians(model, q), data.J.copy()) < EXACT
