"""Compare the terms of the equation of motion that are computed together with those computed one by one."""

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments
from helpers.frame_cases import ROBOTS, loaded

import treefactor as tf
from treefactor.quantities.functions import QUANTITIES
from treefactor.quantities.kinematics import all_terms

MASSIVE = ["all kinds", "freeflyer", "followers", "one"]


def one_by_one(model, q, v):
    """Return the results of single functions."""
    center, velocity = tf.center_of_mass(model, q, v)
    results = {"H": tf.crba(model, q), "center_of_mass": center, "center_of_mass_velocity": velocity}
    for name in (result.name for result in all_terms.results if result.name not in results):
        arrays = [v if array.name == "v" else q for array in QUANTITIES[name].inputs if not array.optional]
        results[name] = getattr(tf, name)(model, *arrays)
    return [results[result.name] for result in all_terms.results]


def assert_close(terms, expected, exact=1e-13):
    """Assert that results agree relative to the largest entry of each, NaN in the same places."""
    for name, x, y in zip(terms._fields, terms, expected, strict=True):
        scale = max(np.nanmax(np.abs(y), initial=0.0), 1.0)
        assert x.shape == np.shape(y), name
        np.testing.assert_allclose(x, y, rtol=0, atol=exact * scale, err_msg=name)


@pytest.mark.parametrize("name", MASSIVE)
@pytest.mark.parametrize("size", [(), (1,), (11,), (2, 5), (0,)])
def test_results_are_those_of_single_functions(name, size):
    model = MODELS[name]
    q, v, *_ = arguments(model, 3, size)
    terms = tf.all_terms(model, q, v)
    assert_close(terms, one_by_one(model, q, v))
    again = tf.all_terms(model, q, v, out=terms)
    assert again is terms
    assert_close(terms, one_by_one(model, q, v))
    assert_close(tf.all_terms(model, q.tolist(), v.tolist()) if q.size else terms, terms, 0)
    if size:
        assert_close(tf.all_terms(model, q, v, num_threads=2), terms, 0)


def test_a_robot_far_away_loses_no_digit():
    model = MODELS["freeflyer"]
    q, v, *_ = arguments(model, 8)
    far = q.copy()
    far[:3] = 2.0**20, -(2.0**20), 2.0**19
    near, moved = tf.all_terms(model, q, v), tf.all_terms(model, far, v)
    for name in ("H", "bias", "generalized_gravity", "kinetic_energy", "centroidal_inertia"):
        x, y = getattr(near, name), getattr(moved, name)
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-13 * max(np.abs(x).max(), 1.0), err_msg=name)


@pytest.mark.parametrize("name", ROBOTS)
def test_results_are_those_of_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    theirs, model = loaded(*ROBOTS[name])
    if model.coupling is not None:
        pytest.skip("Pinocchio's computeAllTerms does not take mimic joints")
    q, v, *_ = arguments(model, 9)
    data = theirs.createData()
    pin.computeAllTerms(theirs, data, q, v)
    terms = tf.all_terms(model, q, v)
    expected = (
        np.triu(data.M) + np.triu(data.M, 1).T, data.nle, data.g, data.kinetic_energy, data.potential_energy,
        np.array([M.homogeneous[:3] for M in data.oMi[1:]]), data.com[0], data.vcom[0], data.Jcom, data.Ag,
        data.dAg, data.hg.vector, data.Ig.inertia,
    )  # fmt: skip
    assert_close(terms, [np.asarray(x) for x in expected], 1e-12)
