"""Gradients by inertias and armature against central differences of Pinocchio's ``aba``."""

import numpy as np
import pytest

import treefactor as tf
from treefactor.exceptions import ShapeError
from treefactor.identification import log_cholesky_gradient
from treefactor.model.parameters import from_log_cholesky, to_log_cholesky

pin = pytest.importorskip("pinocchio")
pinocchio_ = pytest.importorskip("treefactor.adapters.pinocchio_")

STEP = 1e-6


def differences(loss, x):
    """Return the central differences of a function at x."""
    slopes = np.empty(x.size)
    for k in range(x.size):
        steps = STEP * np.eye(x.size)[k].reshape(x.shape)
        slopes[k] = (loss(x + steps) - loss(x - steps)) / (2 * STEP)
    return slopes.reshape(x.shape)


@pytest.fixture(params=["ur5_robot", "panda", "solo12"])
def case(request):
    """Return Pinocchio's model with dense inertias and armature, ours, a state, and weights of qdd."""
    path = tf.robots.bundled().get(request.param)
    if path is None:
        pytest.skip("needs example-robot-data")
    theirs = pinocchio_.load(path, floating=request.param == "solo12")
    rng = np.random.default_rng(0)
    bodies = theirs.njoints - 1
    theta = rng.normal(size=(bodies, 10)) * 0.3 - np.eye(10)[0]
    for body, pi in enumerate(from_log_cholesky(theta)):
        theirs.inertias[body + 1] = pin.Inertia.FromDynamicParameters(pi)
    armature = np.zeros(theirs.nv)
    armature[-6:] = rng.random(6)
    theirs.armature = armature
    q = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
    return (
        theirs,
        pinocchio_.model(theirs),
        theta,
        (q, *rng.normal(size=(2, theirs.nv))),
        rng.normal(size=theirs.nv),
    )


def test_gradients_by_log_cholesky_coordinates(case):
    theirs, model, theta, state, w = case
    gradient = tf.forward_dynamics_vjp(model, *state, w, inertia_gradient=True)

    def loss(theta):
        changed = theirs.copy()
        for body, pi in enumerate(from_log_cholesky(theta)):
            changed.inertias[body + 1] = pin.Inertia.FromDynamicParameters(pi)
        return w @ pin.aba(changed, changed.createData(), *state)

    expected = differences(loss, theta)
    by_theta = log_cholesky_gradient(theta, gradient.inertia)
    assert np.abs(by_theta - expected).max() < 1e-7 * np.abs(expected).max()


def test_gradients_by_armature(case):
    theirs, model, _, state, w = case
    gradient = tf.forward_dynamics_vjp(model, *state, w, with_value=True)

    def loss(armature):
        changed = theirs.copy()
        changed.armature = armature
        return w @ pin.aba(changed, changed.createData(), *state)

    expected = differences(loss, theirs.armature.copy())[-6:]
    assert np.abs((-gradient.tau * gradient.value)[-6:] - expected).max() < 1e-7 * np.abs(expected).max()


def test_one_body_serves_a_batch_of_states():
    rng = np.random.default_rng(1)
    theta, gradient = rng.normal(size=(3, 10)), rng.normal(size=(5, 3, 10))
    by_theta = log_cholesky_gradient(theta, gradient)
    assert by_theta.shape == (5, 3, 10)
    assert np.allclose(by_theta[2, 1], log_cholesky_gradient(theta[1], gradient[2, 1]), rtol=1e-14)


def test_descent_in_coordinates_finds_the_parameters_of_torques():
    rod = tf.Inertia(1.0, [0.1, 0.2, -0.5], np.diag([0.1, 0.12, 0.06]))
    model = tf.Model([tf.Joint("ball", "spherical", inertia=rod)])
    theta = to_log_cholesky(rod.parameters) + 0.1
    rng = np.random.default_rng(2)
    q = tf.random_configuration(model, rng, size=(50,))
    v, a = rng.normal(size=(2, 50, 3))
    tau = tf.rnea(model, q, v, a)
    losses = []
    for _ in range(60):
        guess = tf.Model(
            [tf.Joint("ball", "spherical", inertia=tf.Inertia.from_parameters(from_log_cholesky(theta)))]
        )
        rest = tf.rnea(guess, q, v, a) - tau
        gradient = tf.rnea_vjp(guess, q, v, a, rest, inertia_gradient=True).inertia[:, 0]
        losses.append(0.5 * np.sum(rest**2))
        theta = theta - 1e-4 * log_cholesky_gradient(theta, gradient).sum(axis=0)
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 0.05 * losses[0]


def test_wrong_shapes_are_named():
    with pytest.raises(ShapeError, match=r"gradient must have shape \(..., 10\), got \(4,\)"):
        log_cholesky_gradient(np.zeros(10), np.zeros(4))
    with pytest.raises(ShapeError, match=r"theta must have shape \(..., 10\)"):
        log_cholesky_gradient(np.zeros(9), np.zeros(10))
    with pytest.raises(ShapeError, match=r"must fit, got shapes \(3, 10\) and \(2, 10\)"):
        log_cholesky_gradient(np.zeros((3, 10)), np.zeros((2, 10)))
