"""Test that the loops over bodies on counting scalars compute what the kernels compute."""

from collections import Counter

import numpy as np
import pytest
from helpers.tolerances import assert_close

import treefactor as tf
from treefactor import OperationCount, robots
from treefactor.papers.textbook.recursions import evaluate, operations

pin = pytest.importorskip("pinocchio", reason="the reference")

from treefactor.adapters import pinocchio_  # noqa: E402

COUNTS = {  # mul, add, div, sqrt, trig; the generated programs have to undercut them
    ("ur5_robot", "crba"): (969, 792, 0, 0, 12),
    ("ur5_robot", "rnea"): (1317, 1098, 0, 0, 12),
    ("ur5_robot", "aba"): (1803, 1617, 6, 0, 12),
    ("solo12", "crba"): (2122, 1730, 1, 0, 24),
    ("solo12", "rnea"): (2980, 2492, 1, 0, 24),
    ("solo12", "aba"): (4438, 3986, 19, 0, 24),
}


def load(robot):
    entry = robots.find(robot)
    return pinocchio_.load(entry.path, entry.floating)


@pytest.mark.parametrize("robot", ["ur5_robot", "solo12"])
def test_counted_loops_compute_what_the_kernels_do(robot):
    theirs = load(robot)
    model = pinocchio_.model(theirs)
    move, v, x = np.random.default_rng(0).normal(size=(3, model.nv))
    q = pin.integrate(theirs, pin.neutral(theirs), move)
    for function, kernel in {
        "crba": tf.crba(model, q, layout="packed"),
        "bias": tf.bias(model, q, v),
        "rnea": tf.rnea(model, q, v, x),
        "aba": tf.aba(model, q, v, x),
    }.items():
        assert_close(evaluate(model, function, q, v, x, Counter()), kernel, model.nv, 10)


@pytest.mark.parametrize(("robot", "function"), COUNTS)
def test_operations_of_the_loops(robot, function):
    assert operations(pinocchio_.model(load(robot)), function) == OperationCount(*COUNTS[robot, function])
