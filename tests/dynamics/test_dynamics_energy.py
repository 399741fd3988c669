"""Check that the energy of passive motions drifts with the order of the integrator, and no more."""

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, free
from helpers.model_cases import random_model
from oracles import dynamics as textbook

import treefactor as tf

ORDER = 4
accelerations = pytest.mark.parametrize("acceleration", [tf.forward_dynamics, tf.aba], ids=["factor", "aba"])


def energy(model, q, v):
    """Return kinetic plus potential energy; the latter from the centres of mass."""
    total = v @ tf.h_times(model, q, v) / 2
    frames = []
    for joint, (R, p, _) in zip(model.joints, textbook.place(model, q), strict=True):
        above, origin = frames[joint.parent] if joint.parent >= 0 else (np.eye(3), np.zeros(3))
        frames.append((above @ R, origin + above @ p))
        centre = frames[-1][1] + frames[-1][0] @ joint.inertia.com
        total -= joint.inertia.mass * model.gravity @ centre
    return total


def step(model, acceleration, q, v, h):
    """Take a commutator-free Runge-Kutta step of order 4 (Celledoni, Marthinsen & Owren 2003)."""
    still = np.zeros(model.nv)

    a1 = acceleration(model, q, v, still)
    v2 = v + h / 2 * a1
    q2 = tf.integrate(model, q, h / 2 * v)
    a2 = acceleration(model, q2, v2, still)
    v3 = v + h / 2 * a2
    q3 = tf.integrate(model, q, h / 2 * v2)
    a3 = acceleration(model, q3, v3, still)
    v4 = v + h * a3
    q4 = tf.integrate(model, q2, h * v3 - h / 2 * v)
    a4 = acceleration(model, q4, v4, still)
    half = tf.integrate(model, q, h / 12 * (3 * v + 2 * v2 + 2 * v3 - v4))
    return (
        tf.integrate(model, half, h / 12 * (-v + 2 * v2 + 2 * v3 + 3 * v4)),
        v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4),
    )


def drift(model, acceleration, q, v, duration, steps):
    """Return the change of the energy."""
    before = energy(model, q, v)
    for _ in range(steps):
        q, v = step(model, acceleration, q, v, duration / steps)
    return abs(energy(model, q, v) - before)


def assert_order(model, acceleration, q, v, duration, steps):
    """Assert that half the step size leaves at most 2^-4 of the drift."""
    coarse, fine = (drift(model, acceleration, q, v, duration, count) for count in (steps, 2 * steps))
    scale = v @ tf.h_times(model, q, v)
    assert 1e-12 * scale < coarse < 1e-3 * scale  # neither rounding nor another motion
    assert fine < coarse / 2 ** (ORDER - 0.5)


def rod():
    return tf.Inertia(1.0, [0, 0, -0.5], np.diag([1 / 12, 1 / 12, 0.0]))


@accelerations
def test_a_double_pendulum(acceleration):
    upper = tf.Joint("upper", "revolute", axis=[0, 1, 0], inertia=rod())
    lower = tf.Joint("lower", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=rod())
    model = tf.Model([upper, lower])
    assert_order(model, acceleration, np.array([2.0, 1.0]), np.array([1.0, -1.0]), 1.0, 200)


@accelerations
def test_a_humanoid(acceleration):
    """Uses a free-flying body with spherical hips and shoulders, and hinges below them."""
    limbs = ["spherical", "revolute", "revolute"]
    parent = [-1, 0, 1, 2, 0, 4, 5, 0, 7, 8, 0, 10, 11]
    model = free(random_model(parent, ["freeflyer", *limbs * 4], 1))
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng)
    assert_order(model, acceleration, q, rng.normal(size=model.nv) / 2, 0.2, 20)


def test_joints_that_follow():
    model = MODELS["followers"]
    assert model.coupling
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng)
    assert_order(model, tf.forward_dynamics, q, rng.normal(size=model.nv) / 2, 1.0, 40)
