"""Restitution: bounces, the cradle, elastic collisions, and compiled steps with the bits of single ones."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from helpers.step_differences import check

import treefactor as tf
from treefactor.constraints import Box, Contact, Plane, Sphere, Stepper
from treefactor.exceptions import InvalidModelError
from treefactor.mlcp import SensitivityStatus

G, H = 9.81, 2e-3


def sliders(masses, axis=(1, 0, 0)):
    """Return a model of bodies that slide along one axis."""
    joints = [
        tf.Joint(f"ball {k}", "prismatic", axis=axis, inertia=tf.Inertia(m)) for k, m in enumerate(masses)
    ]
    return tf.Model(joints)


def row_of_balls(restitution, gap, masses=(1.0,) * 5):
    """Return the stepper of balls in a row, the first of which is fast, and their state."""
    balls = [Sphere(k, radius=0.05) for k in range(len(masses))]
    contacts = [Contact(b, a, restitution=restitution) for a, b in pairwise(balls)]
    q, v = (0.1 + gap) * np.arange(len(masses)), np.zeros(len(masses))
    v[0] = 1.0
    return Stepper(sliders(masses), contacts, h=H), q, v


@pytest.mark.parametrize(
    ("restitution", "gap", "expected"),
    [
        (1.0, 0.0, (-0.6, 0.4, 0.4, 0.4, 0.4)),
        (1.0, 2.5 * H, (0.0, 0.0, 0.0, 0.0, 1.0)),
        (0.0, 0.0, (0.2, 0.2, 0.2, 0.2, 0.2)),
    ],
)
def test_a_cradle(restitution, gap, expected):
    stepper, q, v = row_of_balls(restitution, gap)
    run = stepper.run(q, v, 20)
    np.testing.assert_allclose(run.v[-1], expected, atol=1e-9)
    assert all(step.solution.residual() <= 1e-9 for step in run.steps)
    assert all(step.solution.complementarity() <= 1e-9 for step in run.steps)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_two_balls_part_as_newton_has_it(restitution):
    stepper, q, v = row_of_balls(restitution, 0.01, masses=(1.0, 3.0))
    after = stepper.run(q, v, 20).v[-1]
    assert after[0] + 3.0 * after[1] == pytest.approx(1.0, abs=1e-9)
    assert after[1] - after[0] == pytest.approx(restitution, abs=1e-9)


def test_a_ball_bounces_lower_and_lower_until_it_rests():
    stepper = Stepper(sliders([1.0], (0, 0, 1)), [Contact(Sphere(0, radius=0.1), restitution=0.5)], h=1e-3)
    run = stepper.run([1.1], [0.0], 3000)
    height, v = run.q[:, 0] - 0.1, run.v[:, 0]
    peaks = height[1:-1][(v[1:-1] > 0.0) & (v[2:] <= 0.0)]
    speed = np.sqrt(2 * G)
    np.testing.assert_allclose(peaks[:3], [0.25, 0.25**2, 0.25**3], atol=2e-3 * speed)
    assert height.min() > -1e-9
    assert abs(v[-1]) < 1e-9
    assert height[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("h", [1e-3, 4e-3])
def test_how_high_a_ball_bounces(h):
    """Not higher than it fell from for e = 1, and for others than e^2 of that by the bound of the notes."""
    model = sliders([1.0], (0, 0, 1))
    for restitution in (1.0, 0.8, 0.5, 1 / 6):
        stepper = Stepper(model, [Contact(Sphere(0), restitution=restitution)], h=h)
        starts = np.linspace(0.1, 0.11, 23)
        excess = []
        for start in starts:
            steps = int((6.0 if restitution == 1.0 else 0.45) / h)
            run = copy.copy(stepper).run([start], [0.0], steps, keep_steps=False)
            z, v = run.q[:, 0], run.v[:, 0]
            peaks = z[1:-1][(v[1:-1] > 0.0) & (v[2:] <= 0.0)]
            excess.append(peaks[0] - restitution**2 * start)
            if restitution == 1.0:
                assert len(peaks) >= 10
                np.testing.assert_allclose(peaks, start, rtol=0.0, atol=1e-9)
                break
        bound = (1 - restitution) * (1 + 1.5 * restitution) * h * np.sqrt(2 * G * starts[: len(excess)])
        assert (np.array(excess) >= -1e-9).all()
        assert (np.array(excess) <= bound + G * h**2).all()
        if restitution < 1.0:
            assert max(excess / bound) > 0.8  # the bound is not loose


def test_slow_contacts_do_not_rebound():
    stepper = Stepper(sliders([1.0], (0, 0, 1)), [Contact(Sphere(0, radius=0.1), restitution=1.0)], h=H)
    for share, expected in ((1.9, 0.0), (2.1, 2.1)):
        speed = share * H * G
        assert stepper.step([0.1], [-speed]).v[0] == pytest.approx(expected * H * G, abs=1e-9)
    far = 0.1 + 1.1 * H * 1.0  # what does not reach the ground in this step falls on
    assert stepper.step([far], [-1.0]).v[0] == pytest.approx(-1.0 - H * G, abs=1e-9)


@pytest.mark.parametrize("correction", ["velocity", "split"])
@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_a_box_bounces_on_its_corners_also_in_compiled_steps(friction, correction):
    inertia = tf.Inertia(1.0, tensor=np.eye(3) / 150)
    model = tf.Model([tf.Joint("box", "freeflyer", inertia=inertia)])
    contacts = [Contact(Box(0, [0.2, 0.2, 0.2]), mu=0.5, restitution=0.6)]
    stepper = Stepper(model, contacts, h=H, friction=friction, correction=correction)
    q, v = np.array([0, 0, 0.101, 0, 0, 0, 1]), np.array([0, 0, -1.0, 0, 0, 0])
    expected = copy.copy(stepper).run(q, v, 100)
    np.testing.assert_allclose(expected.v[1], [0, 0, 0.6, 0, 0, 0], atol=1e-9)
    np.testing.assert_array_equal(stepper.run(q, v, 100, keep_steps=False).q, expected.q)


def test_restitution_out_of_range_is_an_error():
    for restitution in (-0.1, 1.1):
        with pytest.raises(InvalidModelError, match="restitution must be from 0 to 1"):
            Contact(Sphere(0), restitution=restitution)


@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_derivatives_of_bodies_that_rebound(friction):
    inertia = tf.Inertia(1.0, [0.01, 0.02, -0.01], np.diag([0.02, 0.03, 0.025]))
    model = tf.Model([tf.Joint(f"body {k}", "freeflyer", inertia=inertia) for k in range(2)])
    ball, brick = Sphere(0, [0.05, 0, 0], 0.1), Box(0, [0.3, 0.2, 0.2])
    q = np.array([0.02, 0.03, 0, 0.1, 0.05, 0.02, 1, 0, 0, 0, 0.05, 0.1, 0, 1])
    v = np.array([0.3, 0.2, -1.0, 0.3, 0.2, -0.1, 0, 0.1, 0, 0.1, 0.2, 0.3])
    directions = np.random.default_rng(0).normal(size=(12, 3))
    for shape, other, height in (
        (ball, Plane(), 0.1),
        (ball, Sphere(1, radius=0.2), 0.3),
        (brick, Plane(), 0.14),
        (brick, Box(1, [1.0, 1.0, 1.0]), 0.63),
    ):
        q[2] = height
        contacts = [Contact(shape, other, 0.5, restitution=0.6)]
        stepper = Stepper(model, contacts, h=0.01, friction=friction)
        derivatives = check(stepper, tf.normalize(model, q), v, np.zeros(12), directions=directions)
        assert np.abs(stepper._last.gamma).max() > 0.1
        assert derivatives.status in (SensitivityStatus.STRICT, SensitivityStatus.DEPENDENT)
    q[2] = 0.1
    at_surface = [Contact(Sphere(0, radius=0.1), restitution=0.6)]
    check(Stepper(model, at_surface, h=0.01), tf.normalize(model, q), v, np.zeros(12), directions=directions)
    resting = Stepper(model, [Contact(ball, restitution=0.6)], h=0.01, stabilization=1.0, friction=friction)
    q[:7] = [0, 0, 0.1, 0, 0, 0, 1]
    check(resting, tf.normalize(model, q), 0.0 * v, np.zeros(12), directions=directions)
