"""Models of every kind of joint, random states of them, and comparisons of results."""

from dataclasses import replace

import numpy as np

import treefactor as tf
from helpers.model_cases import random_model
from treefactor.model.joints import SIZES

EXACT = 1e-12  # relative to the scale of what is added up
PER_CONDITION = 1e-14  # of accelerations, times the condition number of H, where that is more


def free(model):
    """Return the model whose joints follow none."""
    return tf.Model([replace(joint, mimic=None) for joint in model.joints], model.gravity)


MODELS = {
    "all kinds": free(random_model([-1, 0, 1, 2, 1, 4, 0, -1, 7], SIZES, 3)),
    "freeflyer": free(random_model([-1, 0, 1, 2, 1, 4, 5], ["freeflyer", *["revolute"] * 6], 0)),
    "followers": random_model(
        [-1, 0, 1, 2, 1, 4, 0], ["continuous", *["revolute", "prismatic", "helical"] * 2], 2
    ),
    "one": random_model([-1], ["revolute"], 0),
    "nothing": tf.Model([]),
}


def arguments(model, seed=0, size=()):
    """Return random q, v, x and external forces."""
    rng = np.random.default_rng(seed)
    reach = np.full(model.nq, 3.0)  # whatever limits a robot's file sets
    q = tf.random_configuration(model, rng, -reach, reach, size)
    batch = q.shape[:-1]
    return q, *rng.normal(size=(2, *batch, model.nv)), rng.normal(size=(*batch, model.njoints, 6))


def error(own, expected, scale=0.0):
    """Return the largest deviation, relative to the largest entry expected or to a larger scale."""
    assert own.shape == expected.shape
    assert own.dtype == np.float64
    return np.abs(own - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), scale, 1e-300)


def force_scale(H, *vectors):
    """Return the size of the terms of H a + bias, which may cancel."""
    return np.abs(H).max(initial=1e-300) * max([1.0, *(np.abs(x).max(initial=0.0) ** 2 for x in vectors)])


def assert_forces(own, expected, H, *vectors):
    assert error(own, expected, force_scale(H, *vectors)) < EXACT


def assert_accelerations(own, expected, H):
    assert error(own, expected) < max(EXACT, PER_CONDITION * np.linalg.cond(H))
