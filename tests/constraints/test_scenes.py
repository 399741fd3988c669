"""Test time steps of random scenes: each is solved, verified from the data, and creates no energy."""

import numpy as np
import pytest
from helpers.mlcp_verify import verify
from helpers.scenes import PARTS, STEPS, SceneMachine, random_scene
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from test_stepper import at, bodies

import treefactor as tf
from treefactor.constraints import Contact, Plane, Sphere, Stepper, contacts_between
from treefactor.mlcp import Status

SEEDS = st.integers(0, 2**32 - 1)
WALL = Plane(normal=[-1.0, 0, 0], point=[0.3, 0, 0])
FRICTION = "pyramid", "box"


class Scenes(SceneMachine):
    """Random scenes take steps with kicks, forces, copies, and warm or cold starts."""

    @initialize(
        seed=SEEDS,
        parts=st.sets(st.sampled_from(PARTS), min_size=1, max_size=2),
        friction=st.sampled_from(FRICTION),
        h=st.sampled_from(STEPS),
    )
    def made(self, seed, parts, friction, h):
        self.scene = random_scene(seed, sorted(parts), friction, h)

    @rule(seed=SEEDS, count=st.integers(1, 20), size=st.sampled_from([0.0, 1.0, 10.0]))
    def stepped(self, seed, count, size):
        tau = size * np.random.default_rng(seed).normal(size=len(self.scene.v))
        for _ in range(count):
            if not self.scene.stopped:
                self.scene.step(tau)


TestScenes = Scenes.TestCase
TestScenes.settings = settings(max_examples=10, stateful_step_count=8, deadline=None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_random_scenes_through_a_thousand_steps(seed):
    scene, rng = random_scene(seed), np.random.default_rng(seed)
    for k in range(1000):
        if k % 50 == 0:
            tau = rng.choice([0.0, 1.0, 10.0]) * rng.normal(size=len(scene.v))
        if not scene.stopped:
            scene.step(tau)


def roll(velocity, h, friction):
    """Return all steps of a ball that rolls over a floor against a wall."""
    ball = bodies(1, tf.Inertia(1.0, tensor=0.004 * np.eye(3)))
    contacts = [Contact(Sphere(0, radius=0.1), plane, 0.5) for plane in (Plane(), WALL)]
    stepper = Stepper(ball, contacts, h=h, friction=friction)
    return stepper.run(at([0, 0, 0.1]), [*velocity, 0, 0, 0, 0], round(1.5 / h))


def velocities(count):
    """Return two velocities for which steps once failed, then random ones."""
    rng = np.random.default_rng(0)
    return [[1.0, 1.0], [0.4, 0.1], *rng.uniform([0.1, -2.0], [2.0, 2.0], (count - 2, 2))]


@pytest.mark.parametrize("friction", FRICTION)
@pytest.mark.parametrize("h", [0.002, 0.005, 0.01])
@pytest.mark.parametrize("count", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_a_ball_rolls_into_a_wall(friction, h, count):
    for velocity in velocities(count):
        run = roll(velocity, h, friction)
        assert run.q[:, 0].max() < 0.2 + 1e-6
        for step in run.steps[::10]:
            assert step.solution.status is Status.SOLVED
            verify(step.solution.problem, step.solution)


@pytest.mark.parametrize("count", [2, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("friction", FRICTION)
def test_five_balls_fall_into_a_bin(friction, count):
    walls = [Plane()]
    for axis in np.eye(3)[:2]:
        walls += [Plane(-1, axis, -0.25 * axis), Plane(-1, -axis, 0.25 * axis)]
    model = bodies(5, tf.Inertia(1.0, tensor=0.004 * np.eye(3)))
    contacts = contacts_between([Sphere(i, radius=0.1) for i in range(5)], walls, 0.5, model)
    assert len(contacts) == 35
    for seed in range(count):
        places = np.random.default_rng(seed).uniform(-0.12, 0.12, (5, 3)) + np.outer(range(5), [0, 0, 0.25])
        run = Stepper(model, contacts, h=0.005, friction=friction).run(
            at(*(places + np.array([0, 0, 0.3]))), np.zeros(30), 300
        )
        assert run.q[-1].reshape(5, 7)[:, 2].min() > 0.09
        for step in run.steps[::10]:
            verify(step.solution.problem, step.solution)
