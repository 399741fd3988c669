"""Identifications of other robots do not mix, copies do not share samples, and any size of torques counts."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.other_robots import other_robot

import treefactor as tf
from treefactor.model.arms import PUMA_560

rng = np.random.default_rng(20)
ARM = other_robot(PUMA_560.model(), seed=1)
Q, V, A = rng.normal(size=(3, 200, ARM.nv))
TAU = tf.rnea(ARM, Q, V, A) + 0.2 * V + 0.3 * np.sign(V)


def identified(model=ARM, tau=TAU):
    """Return an identification with the samples of the arm."""
    fit = tf.Identification(model)
    fit.add(Q, V, A, tau)
    return fit


def test_samples_of_robots_with_other_distances_are_not_merged():
    fit, expected = identified(), identified().triangle()
    longer = [replace(joint, p=(1 - 1e-9) * joint.p) for joint in ARM.joints]
    other = tf.Identification(tf.Model(longer, ARM.gravity))
    assert other.names == fit.names  # names, of six digits, do not tell them apart
    with pytest.raises(ValueError, match="equal distances of its joints"):
        fit.merge(other)
    np.testing.assert_array_equal(fit.triangle(), expected)


def test_samples_under_other_gravity_and_of_models_with_other_inertias_are_merged():
    fit, moon = identified(), tf.Model(ARM.joints, ARM.gravity / 6)
    expected = fit.solve().values
    fit.merge(identified(moon, TAU - tf.rnea(ARM, Q, V, A) + tf.rnea(moon, Q, V, A)))
    fit.merge(identified(other_robot(ARM)))  # its inertias are not in the rows
    np.testing.assert_allclose(fit.solve().values, expected, atol=1e-10)
    assert (fit.rows == 3 * len(Q)).all()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda fit: pickle.loads(pickle.dumps(fit))])
def test_copies_do_not_get_later_samples(copied):
    fit = identified()
    expected = fit.triangle()
    other = copied(fit)
    other.add(Q, V, A, 2 * TAU)
    np.testing.assert_array_equal(fit.triangle(), expected)
    fit.add(Q, V, A, 2 * TAU)
    np.testing.assert_array_equal(fit.triangle(), other.triangle())


@pytest.mark.parametrize("size", [1e-60, 1e-30, 1e-9, 1e9, 1e30, 1e60])
def test_torques_of_any_size_give_their_share_of_the_parameters(size):
    expected, estimate = identified().solve(), identified(tau=size * TAU).solve()
    assert estimate.rank == expected.rank
    np.testing.assert_allclose(estimate.values / size, expected.values, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("strength", [1e-3, 10.0, 1e4])
def test_exact_torques_of_the_prior_give_it_back(strength):
    estimate = identified().physical(strength=strength)
    assert estimate.converged
    np.testing.assert_allclose(estimate.parameters, ARM.parameters, atol=1e-9)


def test_a_model_without_joints_has_no_parameters():
    model, nothing = tf.Model([]), np.zeros((5, 0))
    fit = tf.Identification(model)
    fit.add(nothing, nothing, nothing, nothing)
    fit.merge(tf.Identification(model))
    estimate = fit.solve()
    assert (estimate.rank, estimate.names) == (0, ())
    assert estimate.predict(nothing, nothing, nothing).shape == (5, 0)
    assert estimate.report().startswith("       value")
