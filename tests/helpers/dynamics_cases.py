"""Functions of the dynamics with one calling convention, models for them, and comparisons."""

from dataclasses import replace

import numpy as np

import treefactor as tf
from helpers.model_cases import random_model
from treefactor.model.joints import SIZES

EXACT = 1e-12  # relative to the scale of what is added up
PER_CONDITION = 1e-14  # of accelerations, times the condition number of H, where that is more

CALLS = {
    "crba": lambda model, q, v, x, fext, **options: tf.crba(model, q, **options),
    "packed": lambda model, q, v, x, fext, **options: tf.crba(model, q, layout="packed", **options),
    "lanes": lambda model, q, v, x, fext, **options: tf.crba(model, q, layout="lanes", **options),
    "bias": lambda model, q, v, x, fext, **options: tf.bias(model, q, v, fext, **options),
    "h_times": lambda model, q, v, x, fext, **options: tf.h_times(model, q, x, **options),
    "rnea": tf.rnea,
    "joint_forces": tf.joint_forces,
    "base_force": tf.base_force,
    "factor": tf.forward_dynamics,
    "aba": tf.aba,
    "gravity": lambda model, q, v, x, fext, **options: tf.generalized_gravity(model, q, **options),
    "static_torque": lambda model, q, v, x, fext, **options: tf.static_torque(
        model, q, np.zeros((model.njoints, 6)) if fext is None else fext, **options
    ),
    "kinetic_energy": lambda model, q, v, x, fext, **options: tf.kinetic_energy(model, q, v, **options),
    "potential_energy": lambda model, q, v, x, fext, **options: tf.potential_energy(model, q, **options),
    "mechanical_energy": lambda model, q, v, x, fext, **options: tf.mechanical_energy(model, q, v, **options),
    "coriolis": lambda model, q, v, x, fext, **options: tf.coriolis_matrix(model, q, v, **options),
    "packed coriolis": lambda model, q, v, x, fext, **options: tf.coriolis_matrix(
        model, q, v, layout="packed", **options
    ),
    "inverse": lambda model, q, v, x, fext, **options: tf.inverse_inertia(model, q, **options),
}
TAKES = {
    **{name: ["q", "v", "x", "fext"] for name in CALLS},
    **{name: ["q"] for name in ("crba", "packed", "lanes", "gravity", "potential_energy", "inverse")},
    **{name: ["q", "v"] for name in ("kinetic_energy", "mechanical_energy", "coriolis", "packed coriolis")},
    "static_torque": ["q", "fext"],
    "bias": ["q", "v", "fext"],
    "h_times": ["q", "x"],
}


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


def names_of(model):
    """Return functions that can be called for a model."""
    return [name for name in CALLS if not (name == "aba" and model.coupling)]


def arguments(model, seed=0, size=()):
    """Return random q, v, x and external forces."""
    rng = np.random.default_rng(seed)
    reach = np.full(model.nq, 3.0)  # whatever limits a robot's file sets
    q = tf.random_configuration(model, rng, -reach, reach, size)
    batch = q.shape[:-1]
    return q, *rng.normal(size=(2, *batch, model.nv)), rng.normal(size=(*batch, model.njoints, 6))


def results(model, arguments, **options):
    """Return all results by name."""
    return {name: CALLS[name](model, *arguments, **options) for name in names_of(model)}


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
