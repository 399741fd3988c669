"""Programs that close loops compute what dense equations and Pinocchio do, on every backend; their costs."""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from generated_models import compiled_on
from oracles import loops as dense

import treefactor as tf
from treefactor.codegen import generate, numpy_
from treefactor.codegen.program import LOOP_FUNCTIONS
from treefactor.mechanisms import MECHANISMS, Mechanism, four_bar, five_bar

RELATIVE = 1e-10
BACKENDS = ("interp", "numpy", "cc", "llvm")
COUNTS = {  # mul, add, div, trig
    "four-bar": {},
}


@cache
def mechanism(name: str) -> Mechanism:
    return MECHANISMS[name]()


@cache
def program(name: str) -> tf.Program:
    return generate(mechanism(name).model, LOOP_FUNCTIONS)


def state(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A closed configuration, velocities that keep it so, forces."""
    rng = np.random.default_rng(seed)
    found, model = mechanism(name), mechanism(name).model
    q = found.random(rng)
    v = numpy_.evaluate(program(name).functions["loop_velocity"], q, rng.normal(size=model.nv))
    return q, v, rng.normal(size=model.nv) * 10


def assert_close(actual, expected, tolerance=RELATIVE):
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()
