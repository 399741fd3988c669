"""Test time steps of random shapes: each is solved and verified, creates no energy and no deep overlap."""

import numpy as np
import pytest
from helpers.scenes import STEPS as LONGER
from helpers.scenes import Scene, SceneMachine, solid
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.constraints import Box, Capsule, Contact, Cylinder, Mesh, Plane, Sphere, Stepper

STEPS = (2e-4, *LONGER)  # s
FRICTION, CORRECTIONS = ("pyramid", "box"), ("velocity", "split")
DEEP, ROUND = 5e-4, 0.15  # m
KINDS = "sphere", "capsule", "cylinder", "box", "mesh"
GROUNDS = (
    Plane(),
    Box(-1, [6.0, 6.0, 1.0], p=[0, 0, -0.5]),
    Cylinder(-1, 3.0, 1.0, p=[0, 0, -0.5]),
    Mesh(-1, 3.0 * np.array([[1, 0, 0], [-1, 1, 0], [-1, -1, 0], [0, 0, -1]])),
)


def random_shape(rng, body, kind):
    """Return a shape that reaches at most 0.15 m."""
    x, y, z = rng.uniform(0.03, 0.07, 3)
    R = Rotation.random(random_state=rng).as_matrix()
    points = rng.uniform(-1.0, 1.0, (rng.integers(6, 24), 3)) * (x, y, z)
    return {
        "sphere": lambda: Sphere(body, radius=x),
        "capsule": lambda: Capsule(body, x, y, R),
        "cylinder": lambda: Cylinder(body, x, 2 * y, R),
        "box": lambda: Box(body, [2 * x, 2 * y, 2 * z], R),
        "mesh": lambda: Mesh(body, points, R),
    }[kind]()


def random_shapes(seed, friction=None, h=None, count=4, correction=None):
    """Return free bodies and perhaps an arm above the ground, with shapes that may touch each other."""
    rng = np.random.default_rng(seed)
    joints = [tf.Joint(f"body {k}", "freeflyer", inertia=solid(rng, 0.2)) for k in range(count)]
    shapes = [random_shape(rng, k, rng.choice(KINDS)) for k in range(count)]
    q = []
    for k in range(count):
        turn = Rotation.random(random_state=rng).as_quat()
        q += [*(0.02 * rng.normal(size=2) + [0.3 * (k % 2), 0.0]), 0.2 + 0.35 * (k // 2), *turn]
    has_arm = rng.random() < 0.5
    if has_arm:
        for k in range(2):
            joints.append(
                tf.Joint(
                    f"link {k}",
                    "revolute",
                    count - 1 + k if k else -1,
                    p=[-0.4, 0, 0.9] if k == 0 else [0, 0, -0.3],
                    axis=Rotation.random(random_state=rng).as_matrix()[0],
                    inertia=solid(rng, 0.2),
                )
            )
        shapes.append(random_shape(rng, count + 1, rng.choice(KINDS)))
        q += [0.0, 0.0]
    model, mu = tf.Model(joints), rng.choice([0.0, 0.3, 0.9])
    ground = GROUNDS[rng.integers(4)]
    contacts = [Contact(shape, ground, mu) for shape in shapes]
    contacts += [Contact(one, other, mu) for k, one in enumerate(shapes) for other in shapes[:k]]
    stepper = Stepper(
        model,
        contacts,
        h=rng.choice(STEPS) if h is None else h,
        friction=rng.choice(FRICTION) if friction is None else friction,
        correction=rng.choice(CORRECTIONS) if correction is None else correction,
    )
    scene = Scene(stepper, np.array(q), np.zeros(model.nv), not has_arm)
    scene.kick(rng, rng.choice([0.0, 0.3, 1.0]))
    return scene


def step(scene, tau=None):
    """Take a step; the one before added no overlap but what turning shapes leave their tangents by."""
    if not scene.stopped:
        before, turn = scene.overlap, scene.turn
        scene.step(tau)
        assert scene.overlap < before + DEEP + ROUND * turn**2


class Shapes(SceneMachine):
    """Random shapes take steps with kicks, forces, copies, and warm or cold starts."""

    fastest = 0.3

    @initialize(
        seed=st.integers(0, 2**32 - 1),
        friction=st.sampled_from(FRICTION),
        h=st.sampled_from(STEPS),
        correction=st.sampled_from(CORRECTIONS),
    )
    def made(self, seed, friction, h, correction):
        self.scene = random_shapes(seed, friction, h, correction=correction)

    @rule(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 20), size=st.sampled_from([0.0, 1.0]))
    def stepped(self, seed, count, size):
        tau = size * np.random.default_rng(seed).normal(size=len(self.scene.v))
        for _ in range(count):
            step(self.scene, tau)


TestShapes = Shapes.TestCase
TestShapes.settings = settings(max_examples=5, stateful_step_count=5, deadline=None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_random_shapes_through_five_hundred_steps(seed):
    scene, rng = random_shapes(seed), np.random.default_rng(seed)
    for k in range(500):
        if k % 100 == 0:
            tau = rng.choice([0.0, 0.5]) * rng.normal(size=len(scene.v))
        step(scene, tau)
    assert not scene.stopped
