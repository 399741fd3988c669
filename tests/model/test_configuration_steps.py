"""Check interpolation, distances, derivatives of steps and bound steps, against Pinocchio and differences."""

import numpy as np
import pytest
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor.model.joints import SIZES

KINDS = [kind for kind in SIZES for _ in range(2)]


@pytest.fixture(scope="module")
def model():
    joints = random_model([-1, *range(len(KINDS) - 1)], KINDS, 3).joints
    return tf.Model([tf.Joint(j.name, j.kind, j.parent, axis=j.axis) for j in joints])


@pytest.fixture(scope="module")
def pin():
    return pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def twin(model, pin):
    return in_pinocchio(model)


def up_to_sign(model, q, other):
    for kind in ("spherical", "freeflyer"):
        for at in model.entries[kind][0][:, -4:]:
            other[at] *= np.sign(other[at] @ q[at])
    return other


# ----------------------------------------------------------------------------------- as Pinocchio does


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 0.0999, 0.1001, 0.2999, 0.3001, 1.0, 3.0])
def test_derivatives_are_pinocchios(model, twin, pin, scale):
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = tf.random_configuration(model, rng), scale * rng.uniform(-1, 1, model.nv)
        q1 = tf.integrate(model, q, v)
        atol = 1e-9 if scale <= 1e-3 else 1e-12  # Pinocchio's cancel there; the series below are exact
        for mine, theirs in zip(tf.d_integrate(model, q, v), pin.dIntegrate(twin, q, v), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=atol)
        for mine, theirs in zip(tf.d_difference(model, q, q1), pin.dDifference(twin, q, q1), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=atol)


@pytest.mark.parametrize("kind", ["continuous", "spherical", "planar", "freeflyer"])
@pytest.mark.parametrize("count", [3, 40000])
def test_many_small_steps_are_one(kind, count):
    """Roundings of thousands of steps must not all turn the same way: 4e-13 after 100000, for Pinocchio."""
    turning = random_model([-1], [kind], 0)
    rng = np.random.default_rng(0)
    for seed in range(3):
        start = q = tf.random_configuration(turning, seed)
        v = rng.normal(size=turning.nv)
        for _ in range(count):
            q = tf.integrate(turning, q, v / count)
        whole = tf.difference(turning, tf.integrate(turning, start, v), q)
        np.testing.assert_allclose(whole, 0.0, atol=1e-15 + 2e-16 * count**0.5)


def cross(a):
    return np.cross(np.eye(3), a)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-8, 1e-3, 0.0999, 0.1001, 0.2999, 0.3001, 1.0, 3.0])
def test_derivatives_are_power_series(angle):
    free = tf.Model([tf.Joint("f", "freeflyer")])
    v = np.concatenate([[0.3, -2.0, 1.0], angle * np.array([2.0, -1.0, 2.0]) / 3.0])
    ad = np.block([[cross(v[3:]), cross(v[:3])], [np.zeros((3, 3)), cross(v[3:])]])
    term, by_v, backward = np.eye(6), np.zeros((6, 6)), np.zeros((6, 6))
    for k in range(60):  # J(v) = sum of (-ad)^k / (k + 1)!, and J(-v)
        by_v += (-1.0) ** k * term
        backward += term
        term = term @ ad / (k + 2)
    q0 = tf.neutral(free)
    q1 = tf.integrate(free, q0, v)
    first, second = tf.d_integrate(free, q0, v)
    np.testing.assert_allclose(second, by_v, atol=2e-14)
    np.testing.assert_allclose(first, np.eye(6) - by_v @ ad, atol=2e-14)  # exp(-ad) = 1 - J ad
    first, second = tf.d_difference(free, q0, q1)
    np.testing.assert_allclose(second @ by_v, np.eye(6), atol=2e-14)
    np.testing.assert_allclose(first @ backward, -np.eye(6), atol=2e-14)


def test_interpolation_and_distances_are_pinocchios(model, twin, pin):
    rng = np.random.default_rng(1)
    for u in (0.0, 0.25, 1, 1.5):
        q0, q1 = tf.random_configuration(model, rng, size=2)
        between = tf.interpolate(model, q0, q1, u)
        np.testing.assert_allclose(
            between, up_to_sign(model, between, pin.interpolate(twin, q0, q1, float(u))), atol=1e-12
        )
        np.testing.assert_allclose(tf.distance(model, q0, q1), pin.distance(twin, q0, q1), rtol=1e-13)
        np.testing.assert_allclose(
            tf.squared_distance(model, q0, q1), pin.squaredDistance(twin, q0, q1), atol=1e-12
        )
        raw = rng.normal(size=model.nq)
        np.testing.assert_allclose(tf.normalize(model, raw), pin.normalize(twin, raw), rtol=1e-15)


@pytest.mark.parametrize("size", [0.0, 1e-13, 1e-11, 1e-3])
def test_the_same_configurations(model, twin, pin, size):
    rng = np.random.default_rng(2)
    q0 = tf.random_configuration(model, rng)
    q1 = tf.integrate(model, q0, np.full(model.nv, size))
    for at in model.entries["spherical"][0]:
        q1[at] *= -1.0
    assert tf.is_same_configuration(model, q0, q1) is pin.isSameConfiguration(twin, q0, q1, 1e-12)
    assert tf.is_same_configuration(model, q0, q1) is (size < 1e-12)
    assert tf.is_same_configuration(model, q0, q1, 0.01)
    assert tf.is_same_configuration(model, [q0, q0], [q0, q1]).tolist() == [True, size < 1e-12]


def test_a_follower_has_no_distance_of_its_own():
    hinge = {"kind": "revolute", "axis": [1, 0, 0]}
    model = tf.Model([tf.Joint("a", **hinge), tf.Joint("b", mimic=tf.Mimic("a", 2.0), **hinge)])
    np.testing.assert_allclose(tf.squared_distance(model, [1.0], [4.0]), [9.0])
    assert tf.distance(model, [1.0], [4.0]) == 3.0


# --------------------------------------------------------------------------------------- differences


@given(models(max_joints=4), st.integers(0, 2**32 - 1))
def test_derivatives_are_differences(model, seed):
    rng, h = np.random.default_rng(seed), 1e-6
    q, v = tf.random_configuration(model, rng), rng.uniform(-0.9, 0.9, model.nv)
    q1, steps = tf.integrate(model, q, v), h * np.eye(model.nv)
    some = np.broadcast_to(v, steps.shape)

    def central(function):
        return (function(steps) - function(-steps)).T / (2 * h)

    there = np.broadcast_to(q1, (model.nv, model.nq))
    checks = [
        (tf.d_integrate(model, q, v, 0), lambda d: step(tf.integrate(model, moved(q, d), some))),
        (tf.d_integrate(model, q, v, "ARG1"), lambda d: step(tf.integrate(model, q, v + d))),
        (tf.d_difference(model, q, q1, "ARG0"), lambda d: tf.difference(model, moved(q, d), q1)),
        (tf.d_difference(model, q, q1, 1), lambda d: tf.difference(model, q, moved(q1, d))),
    ]

    def moved(q, d):
        return tf.integrate(model, q, d)

    def step(q):
        return tf.difference(model, there, q)

    for derivative, function in checks:
        np.testing.assert_allclose(derivative, central(function), atol=1e-7)


@given(models(), st.integers(0, 2**32 - 1))
def test_interpolation_runs_along_the_difference(model, seed):
    rng = np.random.default_rng(seed)
    q0, q1 = tf.random_configuration(model, rng, size=2)
    u = rng.random()
    there = tf.interpolate(model, q0, q1, u)
    np.testing.assert_allclose(tf.distance(model, q0, there), u * tf.distance(model, q0, q1), rtol=1e-9)
    assert tf.is_same_configuration(model, tf.interpolate(model, q0, q1, 1), q1, 1e-12)
    assert tf.is_same_configuration(model, tf.interpolate(model, q0, q1, 0), q0, 1e-12)


# -------------------------------------------------------------------------------------------- batches


# ---------------------------------------------------------------------------------------------- bound


def test_arguments_of_derivatives(model, pin):
    q, v = tf.neutral(model), np.ones(model.nv)
    first, second = tf.d_integrate(model, q, v)
    np.testing.assert_array_equal(tf.d_integrate(model, q, v, pin.ARG0), first)
    np.testing.assert_array_equal(tf.d_integrate(model, q, v, pin.ArgumentPosition.ARG1), second)
    with pytest.raises(ValueError, match="one of 'ARG0', 'ARG1', 0, 1; got 2"):
        tf.d_integrate(model, q, v, 2)
    for function, other in ((tf.d_integrate, v), (tf.d_difference, q)):
        for lead in ((), (3,)):
            states = np.broadcast_to(q, (*lead, model.nq)), np.broadcast_to(other, (*lead, len(other)))
            out = tuple(np.empty((2, *lead, model.nv, model.nv)))
            assert function(model, *states, out=out)[0] is out[0]
            for argument, block in enumerate(out):
                np.testing.assert_array_equal(block, function(model, *states, argument))
    with pytest.raises(ValueError, match="out must be a tuple of 2 arrays"):
        tf.d_difference(model, q, q, out=np.empty((model.nv, model.nv)))
    with pytest.raises(ValueError, match="share memory"):
        tf.d_difference(model, q, q, out=(out[0][0], out[0][0]))


@pytest.mark.parametrize("size", [(), (3,), (2, 3)])
def test_random_configurations_are_those_of_numpy(model, size):
    rng, shape = np.random.default_rng(8), (*size, model.nq)
    expected = rng.uniform(*finite_limits(model), shape)
    for kind, count in (("continuous", 2), ("spherical", 4), ("planar", 2), ("freeflyer", 4)):
        at = model.entries[kind][0][:, -count:]
        direction = rng.standard_normal((*size, *at.shape))
        expected[..., at] = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    np.testing.assert_array_equal(tf.random_configuration(model, 8, size=size), expected)
    other = np.random.default_rng(8)
    tf.random_configuration(model, other, size=size)
    assert other.random() == rng.random()


def test_one_random_configuration_between_given_limits_is_the_first_of_many(model):
    low, span = finite_limits(model)[0] - 1.0, np.arange(model.nq)
    wide = np.where(np.arange(model.nq) == 1, np.inf, low + span)
    for limits in ((low, low + span), (low[::-1][::-1], list(low + span)), (low, wide)):
        one = tf.random_configuration(model, np.random.default_rng(3), *limits)
        many = tf.random_configuration(model, np.random.default_rng(3), *limits, size=1)
        np.testing.assert_array_equal(one, many[0])
    with pytest.raises(tf.ConfigurationError, match="has limits"):
        tf.random_configuration(model, np.random.default_rng(3), low + 1.0, low)


def finite_limits(model):
    """Return the limits in the place of infinite ones: 1 m, and pi for all other entries."""
    reach = np.full(model.nq, np.pi)
    for kind, count in (("prismatic", 1), ("translation", 3), ("planar", 2), ("freeflyer", 3)):
        reach[model.entries[kind][0][:, :count]] = 1.0
    return -reach, reach


def test_random_rotations_are_uniform(model):
    q = tf.random_configuration(model, 9, size=20000)
    for kind in ("spherical", "freeflyer"):
        x = q[:, model.entries[kind][0][0][-4:]]
        np.testing.assert_allclose(x.mean(axis=0), 0.0, atol=0.02)
        np.testing.assert_allclose(x.T @ x / len(x), np.eye(4) / 4, atol=0.01)
