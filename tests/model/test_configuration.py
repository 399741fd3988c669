"""Check integrate, difference and random configurations against Pinocchio, at all scales and in batches."""

import numpy as np
import pytest
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import robots
from treefactor.model.joints import SIZES
from treefactor.tolerances import UNIT_SQUARE

CURVED = ("continuous", "spherical", "planar", "freeflyer")
SCALES = (0.0, 1e-300, 1e-12, 1e-8, 1e-5, 1e-3, 0.05, 0.0999, 0.1001, 0.3, 1.0, 3.0, 10.0)


def all_kinds(repeat=2):
    kinds = [kind for kind in SIZES for _ in range(repeat)]
    return random_model([-1] * len(kinds), kinds, 3)


def without_followers(model):
    return tf.Model([tf.Joint(j.name, j.kind, j.parent, axis=j.axis) for j in model.joints])


@pytest.fixture(params=[1, 2], ids=["one of each", "two of each"])
def model(request):
    return without_followers(all_kinds(request.param))


@pytest.fixture
def pin():
    return pytest.importorskip("pinocchio")


# ----------------------------------------------------------------------------------- as Pinocchio does


@pytest.mark.parametrize("scale", SCALES)
def test_integrate_is_pinocchios(model, pin, scale):
    twin, rng = in_pinocchio(model), np.random.default_rng(0)
    for _ in range(10):
        q, v = tf.random_configuration(model, rng), scale * rng.normal(size=model.nv)
        expected = pin.integrate(twin, q, v)
        np.testing.assert_allclose(tf.integrate(model, q, v), expected, rtol=0, atol=1e-13 * max(1.0, scale))


def test_difference_is_pinocchios(model, pin):
    twin, rng = in_pinocchio(model), np.random.default_rng(0)
    for _ in range(20):
        q0, q1 = tf.random_configuration(model, rng, size=2)
        np.testing.assert_allclose(tf.difference(model, q0, q1), pin.difference(twin, q0, q1), atol=1e-12)


def test_neutral_is_pinocchios(model, pin):
    np.testing.assert_array_equal(tf.neutral(model), pin.neutral(in_pinocchio(model)))


# ------------------------------------------------------------------------------------------ both ways


@pytest.mark.parametrize("scale", SCALES[:-2])
def test_difference_is_the_inverse_of_integrate(model, scale):
    rng = np.random.default_rng(1)
    q, v = tf.random_configuration(model, rng), scale * rng.uniform(-1, 1, size=model.nv)
    there = tf.integrate(model, q, v)
    back = tf.difference(model, q, there)
    np.testing.assert_allclose(back, v, rtol=1e-13, atol=4e-15)  # entries of q have an error of 1e-16
    np.testing.assert_allclose(tf.integrate(model, q, tf.difference(model, q, q)), q, atol=1e-15)


def test_from_the_origin_small_velocities_are_exact():
    model = tf.Model([tf.Joint("s", "spherical"), tf.Joint("f", "freeflyer", 0)])
    v = 1e-9 * np.arange(1.0, 10.0)
    q = tf.neutral(model)
    np.testing.assert_allclose(tf.difference(model, q, tf.integrate(model, q, v)), v, rtol=1e-15)


def test_half_turns():
    model = tf.Model([tf.Joint("f", "freeflyer")])
    for axis in np.eye(3):
        v = np.concatenate([[1.0, 2.0, 3.0], np.pi * axis])
        there = tf.integrate(model, tf.neutral(model), v)
        again = tf.integrate(model, tf.neutral(model), tf.difference(model, tf.neutral(model), there))
        np.testing.assert_allclose(again[:3], there[:3], atol=1e-14)
        np.testing.assert_allclose(abs(again[3:] @ there[3:]), 1.0)


@given(models(), st.integers(0, 2**32 - 1))
def test_steps_along_one_velocity_add_up(model, seed):
    rng = np.random.default_rng(seed)
    q, v = tf.random_configuration(model, rng), rng.normal(size=model.nv)
    once = tf.integrate(model, q, v)
    twice = tf.integrate(model, tf.integrate(model, q, 0.3 * v), 0.7 * v)
    np.testing.assert_allclose(tf.difference(model, once, twice), 0.0, atol=1e-12)


def test_results_are_of_unit_length(model):
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng)
    for _ in range(200):
        q = tf.integrate(model, q, rng.normal(size=model.nv))
    tf.difference(model, q, q)
    for kind, turned in (("continuous", 2), ("spherical", 4), ("planar", 2), ("freeflyer", 4)):
        for x in q[model.entries[kind][0]][:, -turned:]:
            np.testing.assert_allclose(x @ x, 1.0, rtol=1e-15)


# -------------------------------------------------------------------------------------------- batches


def test_one_configuration_and_many_velocities(model):
    rng = np.random.default_rng(0)
    q, v = tf.random_configuration(model, rng), rng.normal(size=(4, model.nv))
    np.testing.assert_allclose(tf.integrate(model, q, v)[2], tf.integrate(model, q, v[2]), atol=1e-15)
    with pytest.raises(tf.ShapeError, match=r"v must have shape \(3, \d+\), got \(4, \d+\)"):
        tf.integrate(model, np.stack([q] * 3), v)


# -------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("kind", CURVED)
def test_a_rotation_of_another_length_is_named(kind):
    model = tf.Model([tf.Joint("a", "translation"), tf.Joint("wrist", kind, axis=axis_of(kind))])
    for q in (np.zeros(model.nq), tf.neutral(model) * 1.00001):
        q[:3] = 0.0
        with pytest.raises(tf.ConfigurationError, match="'wrist' in q has length") as caught:
            tf.integrate(model, q, np.zeros(model.nv))
        assert caught.value.joint == "wrist"
    for scale in (1e200, 1e-200):  # the square overflows, or underflows
        with pytest.raises(
            tf.ConfigurationError, match=rf"length {scale:.0e}, not 1: .*norm".replace("+", r"\+")
        ):
            tf.crba(model, tf.neutral(model) * scale)


@pytest.mark.parametrize("kind", CURVED)
def test_a_rotation_of_length_zero_is_named_with_its_entries(kind):
    """Pinocchio's computations run with (cos, sin) = (0, 0), as its tutorial with the robot Tiago does."""
    model = tf.Model([tf.Joint("a", "translation"), tf.Joint("wrist", kind, axis=axis_of(kind))])
    where = rf"q\[{model.nq - (4 if kind in ('spherical', 'freeflyer') else 2)}:{model.nq}\]"
    identity = r"\(0, 0, 0, 1\)" if kind in ("spherical", "freeflyer") else r"\(1, 0\)"
    q, message = np.zeros(model.nq), f"'wrist' in q has length 0, not 1: set {where} to {identity}"
    for call in (tf.crba, tf.normalize, lambda model, q: tf.integrate(model, q, np.zeros(model.nv))):
        with pytest.raises(tf.ConfigurationError, match=message + r".*treefactor\.neutral\(model\)"):
            call(model, q)
    batch = np.stack([tf.neutral(model), q])
    assert np.isnan(tf.normalize(model, batch)[1]).all()


@pytest.mark.parametrize("step", range(-3, 4))
def test_lengths_at_the_limit_are_accepted_or_named(step):
    """Kernels and messages round squares differently: one of them must not leave a case to the other."""
    model = tf.Model([tf.Joint("f", "freeflyer")])
    rng = np.random.default_rng(step + 3)
    for sign in (-1.0, 1.0):
        q = tf.random_configuration(model, rng, size=200)
        q[:, 3:] *= np.sqrt(1.0 + sign * UNIT_SQUARE * (1.0 + step * 2.0**-33))
        for one in q:
            for call in (tf.normalize, lambda model, q: tf.integrate(model, q, np.zeros(6)), tf.crba):
                try:
                    assert np.isfinite(call(model, one)).all()
                except tf.ConfigurationError as error:
                    assert "has length" in str(error)  # noqa: PT017


def axis_of(kind):
    return [1, 0, 0] if kind == "continuous" else None


@pytest.mark.parametrize("shift", [-1, 1])
def test_lengths_of_q_and_v(model, shift):
    q, v = tf.neutral(model), np.zeros(model.nv)
    for call in (lambda q: tf.integrate(model, q, v), lambda q: tf.crba(model, q)):
        with pytest.raises(tf.ShapeError, match="q must have shape"):
            call(np.zeros(model.nq + shift))
    with pytest.raises(tf.ShapeError, match="v must have shape"):
        tf.integrate(model, q, np.zeros(model.nv + shift))
    with pytest.raises(tf.ShapeError, match="q1 must have shape"):
        tf.difference(model, q, 0.0)


# ----------------------------------------------------------------------------------------------- random


@given(models(), st.integers(0, 2**32 - 1))
def test_random_configurations_are_configurations(model, seed):
    q = tf.random_configuration(model, seed, size=3)
    assert q.shape == (3, model.nq)
    np.testing.assert_array_equal(q, tf.random_configuration(model, np.random.default_rng(seed), size=3))
    tf.difference(model, q, q)


@pytest.mark.parametrize("size", [1.5, (2, 1.5), "2"])
def test_the_size_of_a_batch_is_made_of_integers(model, size):
    with pytest.raises(TypeError):
        tf.random_configuration(model, 0, size=size)


def test_random_configurations_keep_limits():
    model = tf.Model.from_urdf(robots.find("talos_reduced").path, floating=True)
    q = tf.random_configuration(model, 0, size=200)
    assert (q >= model.lower).all()
    assert (q <= model.upper).all()
    assert (np.ptp(q, axis=0)[7:] > 0.8 * (model.upper - model.lower)[7:]).all()
    narrow = tf.random_configuration(model, 0, np.full(model.nq, 0.1), np.full(model.nq, 0.2), size=20)
    assert ((0.1 <= narrow[:, 7:]) & (narrow[:, 7:] <= 0.2)).all()


def test_half_open_limits():
    hinge = {"kind": "revolute", "axis": [1, 0, 0]}
    model = tf.Model([tf.Joint("a", lower=5.0, **hinge), tf.Joint("b", upper=-5.0, **hinge)])
    q = tf.random_configuration(model, 0, size=100)
    assert q[:, 0].min() >= 5.0 >= q[:, 0].max() - np.pi
    assert q[:, 1].max() <= -5.0 <= q[:, 1].min() + np.pi


def test_lower_limits_above_upper_ones_are_named():
    model = tf.Model([tf.Joint("a", "translation"), tf.Joint("slide", "prismatic", axis=[1, 0, 0])])
    with pytest.raises(tf.ConfigurationError, match="'slide' has limits 2 > 1"):
        tf.random_configuration(model, 0, [0, 0, 0, 2], np.ones(4))
    with pytest.raises(tf.ShapeError, match="lower"):
        tf.random_configuration(model, 0, [0, 0])
