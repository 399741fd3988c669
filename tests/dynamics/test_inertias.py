"""Inertias of their own for every element of a batch: the same bits as models with these inertias."""

import numpy as np
import pytest
from helpers.declared import cases

import treefactor as tf

pytest.importorskip("pinocchio", reason="Pinocchio reads the robots")

from treefactor.adapters import pinocchio_

ROBOTS = {"ur5_robot": False, "panda": False, "solo12": True, "tiago": False}
BATCH = 11  # not a multiple of 8


def is_single(case):
    """Return whether the case has plain results of one function that takes inertias."""
    return case.quantity.inertias and case.is_plain


@pytest.mark.parametrize("name", ROBOTS)
def test_equal_inertias_give_the_bits_of_the_model(name):
    model = pinocchio_.model(pinocchio_.load(tf.robots.find(name).path, ROBOTS[name]))
    pi = model.parameters
    which = np.random.default_rng(1).integers(0, 3, BATCH)
    for case in cases({name: model}, is_single, undeclared=True)["argvalues"]:
        arrays = case.arguments(0, (BATCH,))
        expected = case.parts(case.call(arrays))
        for inertias in (
            tf.Inertias(model, pi),
            tf.Inertias(model, np.tile(pi, (BATCH, 1, 1))),
            tf.Inertias(model, np.stack([pi] * 3), which=which),
            tf.Inertias(model, np.stack([pi] * 3), which=np.sort(which)),
        ):
            for own, other in zip(case.parts(case.call(arrays, inertias=inertias)), expected, strict=True):
                np.testing.assert_array_equal(own, other, err_msg=case.quantity.name)
