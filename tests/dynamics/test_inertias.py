"""Inertias of their own for every element of a batch: the same bits as models with these inertias."""

import numpy as np
import pytest

import treefactor as tf
from treefactor.adapters import pinocchio_

ROBOTS = {"ur5_robot": False, "panda": False, "solo12": True, "tiago": False}
BATCH = 11  # not a multiple of 8


def flat(found):
    """Return one array of all results."""
    return np.concatenate([np.ravel(x) for x in found]) if isinstance(found, tuple) else found


FUNCTIONS = {
    "crba": lambda m, q, v, i: tf.crba(m, q, inertias=i),
    "crba packed": lambda m, q, v, i: tf.crba(m, q, layout="packed", inertias=i),
    "rnea": lambda m, q, v, i: tf.rnea(m, q, v, v, inertias=i),
    "bias": lambda m, q, v, i: tf.bias(m, q, v, inertias=i),
    "h_times": lambda m, q, v, i: tf.h_times(m, q, v, inertias=i),
    "forward_dynamics": lambda m, q, v, i: tf.forward_dynamics(m, q, v, v, inertias=i),
    "kinetic_energy": lambda m, q, v, i: tf.kinetic_energy(m, q, v, inertias=i),
    "potential_energy": lambda m, q, v, i: tf.potential_energy(m, q, inertias=i),
    "mechanical_energy": lambda m, q, v, i: tf.mechanical_energy(m, q, v, inertias=i),
    "generalized_gravity": lambda m, q, v, i: tf.generalized_gravity(m, q, inertias=i),
    "coriolis_matrix": lambda m, q, v, i: tf.coriolis_matrix(m, q, v, inertias=i),
    "inverse_inertia": lambda m, q, v, i: tf.inverse_inertia(m, q, inertias=i),
    "joint_forces": lambda m, q, v, i: tf.joint_forces(m, q, v, v, inertias=i),
    "base_force": lambda m, q, v, i: tf.base_force(m, q, v, v, inertias=i),
    "rnea_derivatives": lambda m, q, v, i: flat(tf.rnea_derivatives(m, q, v, v, inertias=i)),
    "fd_derivatives": lambda m, q, v, i: flat(tf.forward_dynamics_derivatives(m, q, v, v, inertias=i)),
    "rnea_vjp": lambda m, q, v, i: flat(tf.rnea_vjp(m, q, v, v, v, inertia_gradient=True, inertias=i)),
    "rnea_jvp": lambda m, q, v, i: flat(tf.rnea_jvp(m, q, v, v, v, v, v, inertias=i)),
    "fd_vjp": lambda m, q, v, i: flat(tf.forward_dynamics_vjp(m, q, v, v, v, inertias=i)),
    "fd_jvp": lambda m, q, v, i: flat(tf.forward_dynamics_jvp(m, q, v, v, v, v, v, inertias=i)),
    "rnea_hessian": lambda m, q, v, i: flat(tf.rnea_hessian(m, q, v, v, v, inertias=i)),
    "fd_hessian": lambda m, q, v, i: flat(tf.forward_dynamics_hessian(m, q, v, v, v, inertias=i)),
    "step": lambda m, q, v, i: flat(tf.step(m, q, v, v, 1e-3, method="rk4", inertias=i)),
    "rollout": lambda m, q, v, i: flat(tf.rollout(m, q, v, v, 1e-3, steps=3, inertias=i)),
}


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    """Return a model, and a batch of configurations and velocities."""
    model = pinocchio_.model(pinocchio_.load(tf.robots.find(request.param).path, ROBOTS[request.param]))
    rng = np.random.default_rng(0)
    v = rng.standard_normal((BATCH, model.nv))
    return model, tf.integrate(model, np.tile(tf.neutral(model), (BATCH, 1)), v), v


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_inertias_give_the_bits_of_the_model(robot, name):
    model, q, v = robot
    pi = model.parameters
    which = np.random.default_rng(1).integers(0, 3, BATCH)
    expected = FUNCTIONS[name](model, q, v, None)
    for inertias in (
        tf.Inertias(model, pi),
        tf.Inertias(model, np.tile(pi, (BATCH, 1, 1))),
        tf.Inertias(model, np.stack([pi] * 3), which=which),
        tf.Inertias(model, np.stack([pi] * 3), which=np.sort(which)),
    ):
        np.testing.assert_array_equal(FUNCTIONS[name](model, q, v, inertias), expected)


@pytest.mark.parametrize("name", ["crba", "rnea", "kinetic_energy", "generalized_gravity"])
def test_every_element_has_the_bits_of_its_own_set(robot, name):
    model, q, v = robot
    pi = model.parameters * np.random.default_rng(2).uniform(0.8, 1.2, (BATCH, 1, 1))
    found = FUNCTIONS[name](model, q, v, tf.Inertias(model, pi))
    for k in range(BATCH):
        np.testing.assert_array_equal(found[k], FUNCTIONS[name](model, q[k], v[k], pi[k]))


def test_inertias_of_a_batch_make_a_batch_of_one_state(robot):
    model, q, v = robot
    pi = model.parameters * np.random.default_rng(3).uniform(0.8, 1.2, (3, 2, 1, 1))
    found = tf.rnea(model, q[0], v[0], v[0], inertias=pi)
    assert found.shape == (3, 2, model.nv)
    np.testing.assert_array_equal(found[1, 1], tf.rnea(model, q[0], v[0], v[0], inertias=pi[1, 1]))


def test_threads_change_no_bit(robot):
    model, _, _ = robot
    rng = np.random.default_rng(4)
    pi = model.parameters * rng.uniform(0.8, 1.2, (600, 1, 1))
    v = rng.standard_normal((600, model.nv))
    one, two = (tf.rnea(model, tf.neutral(model), v, v, inertias=pi, num_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_empty_batches(robot, name):
    model, q, v = robot
    expected = FUNCTIONS[name](model, q[:0], v[:0], None)
    inertias = np.empty((0, model.njoints, 10))
    np.testing.assert_array_equal(FUNCTIONS[name](model, q[:0], v[:0], inertias), expected)


def test_a_bound_call_takes_one_set(robot):
    model, q, v = robot
    call = tf.bind(tf.rnea, model, q[0], v[0], v[0], out=np.empty(model.nv), inertias=2 * model.parameters)
    np.testing.assert_allclose(call(), tf.rnea(model, q[0], v[0], v[0], inertias=2 * model.parameters))
    with pytest.raises(ValueError, match="cannot be bound"):
        tf.bind(
            tf.rnea, model, q[0], v[0], v[0], out=np.empty(model.nv), inertias=np.stack([model.parameters])
        )


def test_errors_name_what_differs(robot):
    model, q, v = robot
    pi = np.tile(model.parameters, (5, 1, 1))
    with pytest.raises(
        tf.ShapeError, match=r"inertias have leading axes \(5,\), the other arguments \(11,\)"
    ):
        tf.rnea(model, q, v, v, inertias=pi)
    with pytest.raises(
        tf.ShapeError, match=r"inertias must have shape \(\.\.\., \d+, 10\), got .* 10 numbers"
    ):
        tf.rnea(model, q, v, v, inertias=pi[..., :9])
    with pytest.raises(tf.NonFiniteError, match=r"inertias is not finite: m of joint"):
        tf.rnea(model, q, v, v, inertias=pi * np.nan)
    with pytest.raises(tf.DtypeError, match="inertias must hold real numbers"):
        tf.rnea(model, q, v, v, inertias="heavy")
    with pytest.raises(tf.ShapeError, match="pi must have shape"):
        tf.Inertias(model, pi[..., :9])
