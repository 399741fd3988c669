"""Test that PyBullet's adapter agrees with Pinocchio, on real robots and on spherical joints."""

import numpy as np
import pytest
from helpers.engine_trials import assert_all_agree, differing
from helpers.pybullet_cases import (
    ARM,
    H_TOLERANCE,
    RAW_TOLERANCE,
    assert_agrees,
    assert_close,
    example_robot,
    joint,
    link,
    load,
    load_raw,
    pin,
    pinocchio_model,
    pybullet,
    pybullet_,
    state,
)

import treefactor as tf
from treefactor import robots

# ------------------------------------------------------------------------------------------ agreement


FAST = [
    *(("panda", False), ("ur5_robot", False), ("solo12", True), ("talos_reduced", True), ("baxter", False)),
    *(("double_pendulum_continuous", True), ("allegro_right_hand", False)),
]
SLOW = [
    *(("icub", True), ("tiago_dual", False), ("tiago", True), ("anymal_c_simple/anymal", True)),
    *(("pybullet_data/kuka_iiwa/model", False), ("pybullet_data/laikago/laikago", True)),
    ("pybullet_data/mini_cheetah/mini_cheetah", True),
]


@pytest.mark.parametrize(
    ("name", "floating"), [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_real_robots_agree_with_pinocchio(name, floating):
    """Assert that all quantities agree after the rewriting, fixed links merged, and with all options."""
    assert_all_agree(pybullet_, robots.find(name).path, floating, pybullet_.OPTIONS, steps=5)


def test_ordinary_loading_takes_inertias_from_shapes():
    path = robots.find("solo12").path
    assert {"H", "bias", "momentum"} <= differing(pybullet_, path, True)
    assert_all_agree(pybullet_, path, True, ["inertia_from_file"])


@pytest.mark.parametrize("floating", [False, True])
def test_tree_has_the_pattern_of_the_mass_matrix_and_the_names(floating):
    path = example_robot("talos_reduced.urdf")
    model = pinocchio_model(path, floating)
    with load(path, floating) as body:
        tree = pybullet_.tree(body)
        H = pybullet_.mass_matrix(body, pybullet_.from_pinocchio(body, model, *state(model)[:2])[0])
    assert not H[~tree.mask()].any()
    assert np.count_nonzero(H) > 0.95 * tree.mask().sum()
    assert tree.names[0] == ("root_joint[0]" if floating else body.moving[0].joint)
    assert tree.names[-1] == body.moving[-1].joint


def test_a_rotated_fixed_base(write):
    path = write(ARM)
    model = pinocchio_model(path)
    with load(path) as body:
        turned = pin.Quaternion(pin.utils.rpyToMatrix(0.4, 1.1, -0.7)).coeffs()
        pybullet.resetBasePositionAndOrientation(body.id, [1, 2, 3], turned, physicsClientId=body.client)
        model.gravity.linear = pybullet_.pinocchio_gravity(body)
        assert np.abs(model.gravity.linear[:2]).min() > 1.0
        assert_agrees(body, model)


def test_a_rotated_fixed_base_with_a_rotated_inertial_frame(write, client):
    path = write(ARM)
    model = pinocchio_model(path)
    turned = pin.Quaternion(pin.utils.rpyToMatrix(0.4, 1.1, -0.7)).coeffs()
    pybullet.setGravity(0.5, -1, -9.81, physicsClientId=client)
    body = pybullet_.Body(load_raw(path, client, baseOrientation=turned), client)
    model.gravity.linear = pybullet_.pinocchio_gravity(body)
    assert_close(model.gravity.linear, pin.utils.rpyToMatrix(0.4, 1.1, -0.7).T @ [0.5, -1, -9.81], 1e-9)
    assert_agrees(body, model, RAW_TOLERANCE)


@pytest.mark.parametrize("floating", [False, True])
def test_a_body_the_user_loaded(client, floating):
    path = example_robot("solo12.urdf")
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    body = pybullet_.Body(
        load_raw(path, client, floating, flags=pybullet.URDF_IGNORE_COLLISION_SHAPES), client
    )
    model = pinocchio_model(path, floating)
    assert_agrees(body, model, RAW_TOLERANCE)
    body.close()
    assert pybullet.isConnected(client)


def test_a_body_without_joints_has_a_base_only(write):
    path = write(link("stone"))
    with load(path) as body:
        assert pybullet_.mass_matrix(body, []).shape == (0, 0)
        assert pybullet_.bias(body, [], []).shape == (0,)
    with load(path, floating=True) as body:
        assert_agrees(body, pinocchio_model(path, True))


# ------------------------------------------------------------------------------------ spherical joints

SPHERICAL = (
    link("base")
    + link("arm")
    + link("ball", 1.2, "ixx='.1' ixy='.01' ixz='.02' iyy='.15' iyz='-.01' izz='.2'")
    + link("tool", 0.7)
    + joint("shoulder", "continuous", "base", "arm")
    + joint("socket", "spherical", "arm", "ball")
    + joint("slider", "prismatic", "ball", "tool")
)


def spherical_model(path, floating):
    """Read a continuous joint and replace it by a spherical one, which Pinocchio's URDF reader lacks."""
    text = path.read_text().replace("spherical", "continuous")
    read = pin.buildModelFromXML(text, *[pin.JointModelFreeFlyer()] * floating)
    model = pin.Model()
    for j in range(1, read.njoints):
        kind = pin.JointModelSpherical() if read.names[j] == "socket" else read.joints[j]
        added = model.addJoint(read.parents[j], kind, read.jointPlacements[j], read.names[j])
        model.appendBodyToJoint(added, read.inertias[j], pin.SE3.Identity())
    return model


@pytest.mark.parametrize("floating", [False, True])
def test_spherical_joints_are_rotated_into_the_child_inertial_frame(write, floating):
    path = write(SPHERICAL)
    with load(path, floating) as body:
        for seed in range(4):
            assert_agrees(body, spherical_model(path, floating), seed=seed)


def test_pinocchio_cannot_read_spherical_joints(write):
    with pytest.raises(ValueError, match="URDF"):
        pinocchio_model(write(SPHERICAL))


def test_spherical_joint_in_gimbal_lock(write):
    path = write(SPHERICAL)
    model = spherical_model(path, False)
    with load(path) as body:
        q = pin.neutral(model)
        socket = body.moving[1]
        locked = pin.utils.rpyToMatrix(0.3, np.pi / 2, -0.8)
        R = socket.inertial @ locked @ socket.inertial.T
        q[2:6] = pin.Quaternion(R).coeffs()
        mine, _ = pybullet_.from_pinocchio(body, model, q, np.zeros(model.nv))
        T = pybullet_.transform(body, model)
        H = np.array(pin.crba(model, model.createData(), q))
        assert_close(pybullet_.mass_matrix(body, mine), T.T @ H @ T, H_TOLERANCE)


def test_trap_offset_of_a_spherical_joint_is_dropped(write, client):
    body_id = load_raw(write(SPHERICAL), client)
    with pytest.raises(tf.AdapterError, match=r"socket.*drops that offset") as caught:
        pybullet_.Body(body_id, client)
    assert caught.value.joint == "socket"


def test_trap_spherical_motors_are_on(write, client):
    at_origin = joint("socket", "spherical", "base", "ball").replace(".3 .2 -.4", ".1 -.2 .3")
    path = write(link("base") + link("ball", origin="xyz='0 0 .3'") + at_origin)
    body = pybullet_.Body(load_raw(path, client), client)
    q, v, tau = [0, 0, 0, 1], [1.0, 2.0, 3.0], [0.3, 0.2, 0.1]
    stepped = pybullet_.acceleration(body, q, v, tau)
    assert_close(stepped, pybullet_.forward_dynamics(body, q, v, tau), RAW_TOLERANCE)
