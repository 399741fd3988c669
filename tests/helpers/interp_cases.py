"""Kernels for the tests of the interpreter, with one calling convention for their functions."""

from functools import cache

import numpy as np

import treefactor as tf
from helpers import codegen_models
from helpers.dynamics_cases import MODELS, arguments
from treefactor.codegen.program import ARGUMENTS

MODELS = {
    **{name: model for name, model in MODELS.items() if name not in ("nothing", "followers")},
    "followers": codegen_models.random_model(
        np.random.default_rng(1), ["revolute", "prismatic", "helical", "revolute"], 0.1, {2: 0, 3: 1}
    ),
}


@cache
def model(name):
    """Return a robot, a named arm, or a model of all kinds of joints."""
    return MODELS[name] if name in MODELS else codegen_models.model(name)


@cache
def kernels(name, backend="interp"):
    """Return kernels of all functions of a model."""
    return tf.compile(model(name), backend=backend)


def states(name, size=()):
    """Return random q, v and accelerations or forces, by name."""
    q, v, x, _ = arguments(model(name), size=size)
    return {"q": q, "v": v, "a": x, "tau": x}


def call(kernels, name, given, **options):
    """Return the result of a function."""
    return getattr(kernels, name)(*(given[argument] for argument in ARGUMENTS[name]), **options)


def functions(name):
    """Return the functions of a model."""
    return list(kernels(name).program.functions)
