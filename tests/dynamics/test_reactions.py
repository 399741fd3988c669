"""Compare forces in joints and on the base with textbook recursions, Pinocchio, and the laws of motion."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.body_frames import jacobian, placement
from helpers.dynamics_cases import EXACT, MODELS, arguments, error, force_scale, free
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import dynamics as textbook

import treefactor as tf
from treefactor import robots
from treefactor.model.joints import SIZES

pytestmark = pytest.mark.isa

seeds = st.integers(0, 2**32 - 1)
ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
STEP = 1e-4  # s, of finite differences
SMOOTH = 1e-6  # relative error of finite differences


def assert_textbook(model, seed=0):
    """Assert that forces are the textbook's, with and without external forces."""
    q, v, a, fext = arguments(model, seed)
    scale = force_scale(textbook.crba(free(model), np.concatenate(textbook.positions(model, q))), v, a)
    for forces in (None, fext):
        expected = textbook.joint_forces(model, q, v, a, forces)
        assert error(tf.joint_forces(model, q, v, a, forces), expected, scale) < EXACT
        expected = textbook.base_force(model, q, v, a, forces)
        assert error(tf.base_force(model, q, v, a, forces), expected, scale) < EXACT


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_is_the_textbooks(kind):
    assert_textbook(random_model([-1], [kind], 1))
    assert_textbook(random_model([-1, 0, 1, 1], ["revolute", "spherical", kind, "prismatic"], 2))
    assert_textbook(random_model([-1, 0, 0, 1], [kind, kind, "spherical", "helical"], 3))


@given(models(), seeds)
def test_a_tree_is_the_textbooks(model, seed):
    assert_textbook(model, seed)


def assert_pinocchios(model, theirs, seed=0):
    """Assert that forces are `data.f` of Pinocchio's rnea, which sums up no force on the universe."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    q, v, a, fext = arguments(model, seed)
    data = theirs.createData()
    for forces in (None, fext):
        given_forces = [] if forces is None else [[pin.Force.Zero(), *map(pin.Force, forces)]]
        pin.rnea(theirs, data, q, v, a, *given_forces)
        expected = np.array([force.vector for force in data.f])[1:]
        scale = np.abs(expected).max()
        assert error(tf.joint_forces(model, q, v, a, forces), expected, scale) < EXACT
        roots = [i for i in range(1, theirs.njoints) if theirs.parents[i] == 0]
        expected = -sum(data.liMi[i].act(data.f[i]).vector for i in roots)
        assert error(tf.base_force(model, q, v, a, forces), expected, scale) < EXACT


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_robots_are_pinocchios(name, floating):
    pinocchio_ = pytest.importorskip("treefactor.adapters.pinocchio_", reason="Pinocchio is the reference")
    theirs = pinocchio_.load(robots.find(name).path, floating)
    assert_pinocchios(pinocchio_.model(theirs), theirs)


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_is_pinocchios(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model = free(random_model([-1, 0, 1, 0], [kind, "revolute", kind, "spherical"], 1))
    assert_pinocchios(model, in_pinocchio(model))


@pytest.mark.parametrize("name", ["ur5_robot", "solo12"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_robots_are_mujocos(name, floating):
    """Forces are `cfrc_int`, which MuJoCo takes at the centre of mass of the tree, in base axes."""
    mujoco = pytest.importorskip("mujoco", reason="engines are optional")
    pinocchio_ = pytest.importorskip("treefactor.adapters.pinocchio_", reason="it describes the robots")
    from treefactor.adapters import mujoco_

    path = robots.find(name).path
    theirs, body = pinocchio_.load(path, floating), mujoco_.load(path, floating)
    model = pinocchio_.model(theirs)
    q, v, a, _ = arguments(model)
    forces, data = tf.joint_forces(model, q, v, a), body.data
    data.qpos[:], data.qvel[:] = mujoco_.from_pinocchio(body, theirs, q, v)
    T, c = mujoco_.transform(body, theirs, q), mujoco_.acceleration_offset(body, theirs, q, v)
    mujoco.mj_forward(body.model, data)
    data.qacc[:] = np.linalg.solve(T, a - c)
    mujoco.mj_rnePostConstraint(body.model, data)
    for joint, (F, N) in zip(model.joints, in_base(model, q, forces), strict=True):
        at = body.model.jnt_bodyid[mujoco.mj_name2id(body.model, mujoco.mjtObj.mjOBJ_JOINT, joint.name)]
        center = data.subtree_com[body.model.body_rootid[at]]
        own = np.concatenate([N - np.cross(center, F), F])
        assert np.abs(own - data.cfrc_int[at]).max() < EXACT * np.abs(forces).max()


def momenta(model, q, v):
    """Return linear momenta and angular momenta about the base origin of all bodies, and centres of mass."""
    P, L, centers = np.zeros((3, model.njoints, 3))
    for i, joint in enumerate(model.joints):
        R, _ = placement(model, q, i)
        velocity = jacobian(model, q, i, p=joint.inertia.com) @ v
        centers[i] = placement(model, q, i, p=joint.inertia.com)[1]
        P[i] = joint.inertia.mass * velocity[:3]
        L[i] = np.cross(centers[i], P[i]) + R @ joint.inertia.tensor @ R.T @ velocity[3:]
    return P, L, centers


def in_base(model, q, forces):
    """Return forces and moments, given at the joints in their axes, at the base origin in its axes."""
    at_origin = np.zeros((model.njoints, 2, 3))
    for i, (f, n) in enumerate(forces.reshape(-1, 2, 3)):
        R, p = placement(model, q, i)
        at_origin[i] = R @ f, R @ n + np.cross(p, R @ f)
    return at_origin


@settings(max_examples=30)
@given(models(max_joints=5), seeds)
def test_every_body_is_in_equilibrium(model, seed):
    """Forces of the joints, weight and external force are the rate of the momentum of every body."""
    q, v, a, fext = arguments(model, seed)
    before, after = (
        momenta(model, tf.integrate(model, q, h * v + h * h / 2 * a), v + h * a) for h in (-STEP, STEP)
    )
    force = in_base(model, q, tf.joint_forces(model, q, v, a, fext))
    balance = force + in_base(model, q, fext)
    for i, joint in enumerate(model.joints):
        if joint.parent >= 0:
            balance[joint.parent] -= force[i]
        weight = joint.inertia.mass * model.gravity
        balance[i] += weight, np.cross(momenta(model, q, v)[2][i], weight)
    rate = np.stack([(y - x) / (2.0 * STEP) for x, y in zip(before, after, strict=True)][:2], axis=1)
    scale = max(np.abs(force).max(), np.abs(rate).max(), 1.0)
    assert np.abs(balance - rate).max() <= SMOOTH * scale * (1.0 + np.abs(v).max()) ** 2
    total = tf.base_force(model, q, v, a, fext)
    roots = [i for i, joint in enumerate(model.joints) if joint.parent < 0]
    np.testing.assert_allclose(-force[roots].sum(axis=0).ravel(), total, atol=1e-11 * scale)


@given(models(), seeds)
def test_drives_are_the_part_along_the_freedoms(model, seed):
    model = free(model)
    q, v, a, fext = arguments(model, seed)
    forces = tf.joint_forces(model, q, v, a, fext)
    tau = np.concatenate([S.T @ f for f, (_, _, S) in zip(forces, textbook.place(model, q), strict=True)])
    expected = tf.rnea(model, q, v, a, fext) - model.armature * a
    assert error(tau, expected, force_scale(textbook.crba(model, q), v, a)) < EXACT


def test_a_free_flyer_without_drives_transmits_nothing():
    root, *others = MODELS["freeflyer"].joints
    model = tf.Model([replace(root, armature=0.0), *others], MODELS["freeflyer"].gravity)
    q, v, tau, fext = arguments(model)
    tau[:6] = 0.0
    a = tf.forward_dynamics(model, q, v, tau, fext)
    scale = np.abs(tf.joint_forces(model, q, v, a, fext)).max()
    assert np.abs(tf.joint_forces(model, q, v, a, fext)[0]).max() < 1e-12 * scale
    assert np.abs(tf.base_force(model, q, v, a, fext)).max() < 1e-11 * scale


def test_a_robot_at_rest_weighs_on_its_base():
    model = MODELS["all kinds"]
    q, still = arguments(model)[0], np.zeros(model.nv)
    mass = sum(joint.inertia.mass for joint in model.joints)
    np.testing.assert_allclose(tf.base_force(model, q, still, still)[:3], mass * model.gravity, rtol=1e-12)


def test_models_without_joints():
    nothing = np.zeros(0)
    assert tf.joint_forces(MODELS["nothing"], nothing, nothing, nothing).shape == (0, 6)
    np.testing.assert_array_equal(tf.base_force(MODELS["nothing"], nothing, nothing, nothing), np.zeros(6))
