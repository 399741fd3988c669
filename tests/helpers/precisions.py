"""Backends of programs, and random states, for the tests of programs of float32."""

import shutil
from importlib.util import find_spec

import numpy as np
import pytest

import treefactor as tf

CC = pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"))
LLVM = pytest.param("llvm", marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="no llvmlite"))
BACKENDS = ["interp", CC, "numpy"]  # of which none shares code with another


def states(model, count: int, dtype=np.float32, steps=()) -> list[np.ndarray]:
    """Return configurations, velocities, and forces of every step, in a dtype."""
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng, size=count)
    v, tau = rng.normal(size=(count, model.nv)), rng.normal(size=(count, *steps, model.nv))
    return [x.astype(dtype) for x in (q, v, tau)]
