"""Compare forces at rest with inverse dynamics, Pinocchio and the potential energy."""

import numpy as np
import pytest
from helpers.body_frames import jacobian, placement
from helpers.dynamics_cases import EXACT, MODELS, arguments, error, force_scale, free
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given
from hypothesis import strategies as st
from oracles import dynamics as textbook

import treefactor as tf
from treefactor import robots
from treefactor.model.joints import SIZES

pytestmark = pytest.mark.isa

seeds = st.integers(0, 2**32 - 1)
ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
STEP = 1e-5  # of central differences
SMOOTH = 1e-8  # their relative error


def assert_at_rest(model, seed=0):
    """Assert that forces are those of inverse dynamics without motion, by another recursion."""
    q, _, _, fext = arguments(model, seed)
    still = np.zeros(model.nv)
    scale = force_scale(tf.crba(model, q)) * (1 + np.abs(fext).max(initial=0.0))
    expected = tf.rnea(model, q, still, still)
    assert error(tf.generalized_gravity(model, q), expected, scale) < EXACT
    expected = tf.rnea(model, q, still, still, fext)
    assert error(tf.static_torque(model, q, fext), expected, scale) < EXACT


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_is_at_rest(kind):
    assert_at_rest(random_model([-1], [kind], 1))
    assert_at_rest(random_model([-1, 0, 1, 1], ["revolute", "spherical", kind, "prismatic"], 2))


@given(models(), seeds)
def test_a_tree_is_at_rest(model, seed):
    assert_at_rest(model, seed)


@pytest.mark.parametrize("kind", SIZES)
def test_gravity_is_the_textbooks(kind):
    model = free(random_model([-1, 0, 1, 0], [kind, "revolute", kind, "helical"], 5))
    q, _, _, fext = arguments(model)
    still = np.zeros(model.nv)
    scale = force_scale(textbook.crba(model, q))
    expected = textbook.rnea(model, q, still, still, fext)
    assert error(tf.static_torque(model, q, fext), expected, scale) < EXACT


def test_external_forces_act_by_the_jacobians_of_the_joints():
    model = MODELS["followers"]
    q, _, _, fext = arguments(model)
    expected = tf.generalized_gravity(model, q)
    for i, force in enumerate(fext):
        R, _ = placement(model, q, i)
        expected = expected - jacobian(model, q, i, R=np.eye(3)).T @ force
    assert error(tf.static_torque(model, q, fext), expected) < EXACT
    assert np.linalg.det(R) > 0


def test_gravity_is_the_gradient_of_the_potential_energy():
    for model in (MODELS["all kinds"], MODELS["followers"], MODELS["freeflyer"]):
        q = arguments(model)[0]
        sides = (
            tf.potential_energy(model, tf.integrate(model, q, x))
            for x in (STEP * np.eye(model.nv), -STEP * np.eye(model.nv))
        )
        ahead, behind = sides
        expected = (ahead - behind) / (2 * STEP)
        assert error(tf.generalized_gravity(model, q), expected, 10.0) < SMOOTH


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_robots_are_pinocchios(name, floating):
    pinocchio_ = pytest.importorskip("treefactor.adapters.pinocchio_", reason="Pinocchio is the reference")
    theirs = pinocchio_.load(robots.find(name).path, floating)
    assert_pinocchios(pinocchio_.model(theirs), theirs)


@pytest.mark.parametrize("name", ["panda", "tiago_pro"])
def test_robots_with_mimic_joints_are_pinocchios(name):
    pinocchio_ = pytest.importorskip("treefactor.adapters.pinocchio_", reason="Pinocchio is the reference")
    theirs = pinocchio_.load(robots.find(name).path, mimic=True)
    assert_pinocchios(pinocchio_.model(theirs), theirs)


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_is_pinocchios(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model = free(random_model([-1, 0, 1, 0], [kind, "revolute", kind, "spherical"], 1))
    assert_pinocchios(model, in_pinocchio(model))


def assert_pinocchios(model, theirs):
    """Assert that forces at rest are Pinocchio's."""
    import pinocchio as pin

    data = theirs.createData()
    q, _, _, fext = arguments(model)
    expected = pin.computeGeneralizedGravity(theirs, data, q).copy()
    assert error(tf.generalized_gravity(model, q), expected) < EXACT
    expected = pin.computeStaticTorque(theirs, data, q, [pin.Force.Zero(), *map(pin.Force, fext)])
    assert error(tf.static_torque(model, q, fext), expected) < EXACT


def test_a_robot_far_away_loses_no_digit():
    model = MODELS["freeflyer"]
    q, _, _, fext = arguments(model)
    far = q.copy()
    far[:3] += 1e6
    np.testing.assert_array_equal(tf.generalized_gravity(model, far), tf.generalized_gravity(model, q))
    np.testing.assert_array_equal(tf.static_torque(model, far, fext), tf.static_torque(model, q, fext))
