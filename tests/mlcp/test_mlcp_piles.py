"""Check that the solver needs no dense matrices for spheres with friction that come to rest in a bin."""

import numpy as np
import pytest

import treefactor as tf
from treefactor.constraints import Plane, Sphere, Stepper, contacts_between
from treefactor.mlcp import problem

RADIUS = 0.1
WALLS = [
    Plane(),
    Plane(-1, [1.0, 0, 0], [-0.23, 0, 0]),
    Plane(-1, [-1.0, 0, 0], [0.23, 0, 0]),
    Plane(-1, [0, 1.0, 0], [0, -0.22, 0]),
    Plane(-1, [0, -1.0, 0], [0, 0.22, 0]),
]


@pytest.fixture
def no_dense_method(monkeypatch):
    def refuse(*_):
        raise AssertionError("the dense dual method was called")

    monkeypatch.setattr(problem._dual, "solve", refuse)


@pytest.mark.parametrize(("count", "seed"), [(8, 1), (12, 0), (12, 3)])
def test_a_settling_pile_needs_no_dense_method(no_dense_method, count, seed):
    stepper, q = pile(count, seed)
    v = np.zeros(stepper.model.nv)
    worst = 0.0
    for _ in range(250):
        step = stepper.step(q, v)
        q, v = step.q, step.v
        worst = max(worst, step.solution.residual())
    assert worst <= 1e-9


def pile(count: int, seed: int) -> tuple[Stepper, np.ndarray]:
    """Return the stepper of spheres in a bin, with four rows for each contact, and their configuration."""
    ball = tf.Inertia(1.0, tensor=0.4 * RADIUS**2 * np.eye(3))
    model = tf.Model([tf.Joint(f"ball{i}", "freeflyer", inertia=ball) for i in range(count)])
    contacts = contacts_between([Sphere(i, radius=RADIUS) for i in range(count)], WALLS, mu=0.3)
    layer, place = np.divmod(np.arange(count), 4)
    spots = np.stack([0.22 * (place % 2) - 0.11, 0.22 * (place // 2) - 0.11, 0.15 + 0.22 * layer], axis=1)
    spots += np.random.default_rng(seed).uniform(-0.008, 0.008, spots.shape)
    q = np.concatenate([[*spot, 0, 0, 0, 1.0] for spot in spots])
    return Stepper(model, contacts, h=0.005, margin=0.1), q
