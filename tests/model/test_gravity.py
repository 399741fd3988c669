"""Models without gravity are the same robot; a model keeps its one."""

import pickle

import numpy as np
import pytest
from helpers.derivative_cases import FOLLOWERS, TREES, random_case

import treefactor as tf
from treefactor.model.gravity import without_gravity


@pytest.mark.parametrize(
    "model", [TREES["all kinds"], FOLLOWERS["followers"]], ids=["all kinds", "followers"]
)
def test_inverse_dynamics_at_rest_is_the_product_with_h(model):
    q, v, a, *_ = random_case(model, 5)
    tau = tf.rnea(without_gravity(model), q, 0 * v, a)
    np.testing.assert_allclose(tau, tf.h_times(model, q, a), rtol=1e-12, atol=1e-12)


def test_all_but_gravity_is_kept():
    odd = tf.Inertia(1.0, np.zeros(3), np.diag([1.0, 0.1, 0.1]))  # no body can have it
    joint = tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=odd)
    ring = tf.Loop("ring", "spherical", -1, 0)
    model = tf.Model([joint], name="odd", strict=False, loops=[ring]).add_frame("tool", "hinge")
    still = without_gravity(model)
    assert not still.gravity.any()
    assert (still.joints, still.loops, still.frames) == (model.joints, model.loops, model.frames)
    assert still.name == "odd"


def test_a_model_keeps_one_and_its_pickle_none():
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=tf.Inertia(1.0))])
    assert without_gravity(model) is without_gravity(model)
    assert "_without_gravity" not in pickle.loads(pickle.dumps(model)).__dict__
