"""Compare the terms of the equation of motion that are computed together with those computed one by one."""

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments
from helpers.frame_cases import ROBOTS, loaded

import treefactor as tf

MASSIVE = ["all kinds", "freeflyer", "followers", "one"]


def one_by_one(model, q, v):
    """Return the results of single functions."""
    center, velocity = tf.center_of_mass(model, q, v)
    return (
        tf.crba(model, q), tf.bias(model, q, v), tf.generalized_gravity(model, q),
        tf.kinetic_energy(model, q, v), tf.potential_energy(model, q), tf.joint_placements(model, q),
        center, velocity, tf.center_of_mass_jacobian(model, q), tf.centroidal_map(model, q),
        tf.centroidal_map_dot(model, q, v), tf.centroidal_momentum(model, q, v),
        tf.centroidal_inertia(model, q),
    )  # fmt: skip


def assert_close(found, expected, exact=1e-13):
    """Assert that results agree relative to the largest entry of each, NaN in the same places."""
    for name, x, y in zip(found._fields, found, expected, strict=True):
        scale = max(np.nanmax(np.abs(y), initial=0.0), 1.0)
        assert x.shape == np.shape(y), name
        np.testing.assert_allclose(x, y, rtol=0, atol=exact * scale, err_msg=name)


@pytest.mark.parametrize("name", MASSIVE)
@pytest.mark.parametrize("size", [(), (1,), (11,), (2, 5), (0,)])
def test_results_are_those_of_single_functions(name, size):
    model = MODELS[name]
    q, v, *_ = arguments(model, 3, size)
    found = tf.all_terms(model, q, v)
    assert_close(found, one_by_one(model, q, v))
    again = tf.all_terms(model, q, v, out=found)
    assert again is found
    assert_close(found, one_by_one(model, q, v))
    assert_close(tf.all_terms(model, q.tolist(), v.tolist()) if q.size else found, found, 0)
    if size:
        assert_close(tf.all_terms(model, q, v, num_threads=2), found, 0)


@pytest.mark.parametrize("name", MASSIVE)
def test_a_shared_array_applies_to_every_configuration(name):
    model = MODELS[name]
    q, v, *_ = arguments(model, 4, (9,))
    assert_close(tf.all_terms(model, q, v[0]), tf.all_terms(model, q, np.repeat(v[:1], 9, 0)), 0)
    assert_close(tf.all_terms(model, q[0], v), tf.all_terms(model, np.repeat(q[:1], 9, 0), v), 0)


def test_rows_that_are_not_finite_disturb_no_others():
    model = MODELS["all kinds"]
    q, v, *_ = arguments(model, 5, (10,))
    q[3, 2], v[7, 1] = np.nan, np.inf
    found, fine = tf.all_terms(model, q, v), np.delete(np.arange(10), [3, 7])
    expected = tf.all_terms(model, q[fine], v[fine])
    assert_close(type(found)(*(x[fine] for x in found)), expected, 1e-15)
    assert np.isnan(found.bias[[3, 7]]).all()
    assert np.isnan(found.kinetic_energy[[3, 7]]).all()
    assert np.isnan(found.potential_energy[3])


def test_strides_and_other_outputs():
    model = MODELS["freeflyer"]
    q, v, *_ = arguments(model, 6, (10,))
    expected = tf.all_terms(model, q, v)
    strided = np.asfortranarray(q), v[::-1].copy()[::-1]
    assert_close(tf.all_terms(model, *strided), expected, 0)
    out = type(expected)(*(np.empty((10, *x.shape[1:], 2))[..., 0] for x in expected))
    assert tf.all_terms(model, q, v, out=out) is out
    assert_close(out, expected, 0)
    one = tf.all_terms(model, q[0], v[0])
    apart = type(one)(*(np.empty((*x.shape, 2))[..., 0] for x in one))
    assert_close(tf.all_terms(model, q[0], v[0], out=apart), one, 0)


def test_wrong_arguments_are_named():
    model = MODELS["freeflyer"]
    q, v, *_ = arguments(model)
    out = tf.all_terms(model, q, v)
    with pytest.raises(tf.ShapeError, match=r"q must have shape|q has"):
        tf.all_terms(model, q[1:], v)
    with pytest.raises(tf.NonFiniteError, match="v is not finite"):
        tf.all_terms(model, q, v * np.nan)
    with pytest.raises(tf.ConfigurationError):
        tf.all_terms(model, 2.0 * q, v)
    with pytest.raises(tf.ShapeError, match="out must be a tuple of 13 arrays"):
        tf.all_terms(model, q, v, out=out.H)
    with pytest.raises(tf.ShapeError, match=r"out\[0\] must have shape"):
        tf.all_terms(model, q, v, out=out._replace(H=np.empty(3)))
    with pytest.raises(TypeError, match="model must be"):
        tf.all_terms(None, q, v)
    with pytest.raises(tf.InvalidModelError, match="no centre of mass"):
        tf.all_terms(MODELS["nothing"], [], [])
    with pytest.raises(ValueError, match="out shares memory with v"):
        tf.bind(tf.all_terms, model, q, v, out=out._replace(bias=v))


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
    found = tf.all_terms(model, q, v)
    expected = (
        np.triu(data.M) + np.triu(data.M, 1).T, data.nle, data.g, data.kinetic_energy, data.potential_energy,
        np.array([M.homogeneous[:3] for M in data.oMi[1:]]), data.com[0], data.vcom[0], data.Jcom, data.Ag,
        data.dAg, data.hg.vector, data.Ig.inertia,
    )  # fmt: skip
    assert_close(found, [np.asarray(x) for x in expected], 1e-12)
