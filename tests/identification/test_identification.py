"""Estimate parameters from samples, and compare with explicit least squares."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from helpers.identification_cases import DRY, OFFSET, VISCOUS, rows_of, samples
from helpers.model_cases import models, random_model
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.check import robots
from treefactor.identification import slow_rows, torque_delay

EPS = np.finfo(float).eps


@pytest.fixture(scope="module")
def ur5():
    """Return the model of an arm with six joints."""
    return robots.model_of(robots.find("ur5_robot"))


def joined(fit):
    """Return the triangle of a problem, columns scaled to unit norm."""
    R = fit.triangle()
    return R / np.linalg.norm(R, axis=0)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 300), max_size=4), st.integers(0, 3))
def test_any_split_of_the_samples_gives_the_same_triangle(cuts, merged):
    """Rows in any portions, in one object or in several that are merged in any order: 1e-12."""
    model = random_model([-1, 0, 0, 2], ["revolute", "prismatic", "spherical", "continuous"], 3)
    given_samples = samples(model, 1, 300, 0.1)
    whole = tf.Identification(model)
    whole.add(*given_samples)
    parts = [tf.Identification(model) for _ in range(merged + 1)]
    bounds = [0, *sorted(cuts), 300]
    for k, (start, stop) in enumerate(pairwise(bounds)):
        parts[k % len(parts)].add(*(x[start:stop] for x in given_samples))
    for other in parts[:0:-1]:
        parts[0].merge(other)
    assert np.array_equal(parts[0].rows, whole.rows)
    np.testing.assert_allclose(joined(parts[0]), joined(whole), atol=1e-12)


def test_one_sample_at_a_time_gives_the_same_triangle(ur5):
    """A stream of single samples without a leading axis."""
    many = samples(ur5, 2, 70, 0.1)
    whole, stream = tf.Identification(ur5), tf.Identification(ur5)
    whole.add(*many)
    for sample in zip(*many, strict=True):
        stream.add(*sample)
    np.testing.assert_allclose(joined(stream), joined(whole), atol=1e-12)


def test_values_and_deviations_are_those_of_weighted_least_squares(ur5):
    """NumPy's lstsq on the explicit matrix, with the weights of two passes."""
    q, v, a, tau = samples(ur5, 3, 150, np.arange(1, 7) * 0.05)
    fit = tf.Identification(ur5)
    fit.add(q, v, a, tau)
    estimate = fit.solve()
    Y = rows_of(fit, q, v, a)
    first = np.linalg.lstsq(Y.reshape(900, -1), tau.ravel())[0]
    weights = 1 / np.sqrt(((tau - Y @ first) ** 2).mean(axis=0))
    np.testing.assert_allclose(estimate.weights, weights, rtol=1e-9)
    A, b = (weights[:, None] * Y).reshape(900, -1), (weights * tau).ravel()
    values, squares, rank, _ = np.linalg.lstsq(A, b)
    np.testing.assert_allclose(estimate.values, values, atol=1e-10 * np.abs(values).max())
    assert estimate.rank == rank == 58
    covariance = np.linalg.inv(A.T @ A) * squares[0] / (900 - 58)
    np.testing.assert_allclose(estimate.standard_deviations, np.sqrt(np.diag(covariance)), rtol=1e-9)
    scaled = A / np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(estimate.cond, np.linalg.cond(scaled), rtol=1e-9)
    residuals = tau - Y @ values
    np.testing.assert_allclose(estimate.residuals.residuals, np.sqrt((residuals**2).mean(axis=0)), rtol=1e-9)
    relative = np.linalg.norm(residuals) / np.linalg.norm(tau)
    np.testing.assert_allclose(estimate.residuals.relative, relative, rtol=1e-9)


def test_standard_deviations_are_those_of_repeated_noise(ur5):
    """Differences from the truth over the standard deviations have a deviation of 1."""
    q, v, a, tau = samples(ur5, 4, 300)
    exact = tf.Identification(ur5)
    exact.add(q, v, a, tau)
    truth = exact.solve().values
    scores = []
    for seed in range(20):
        fit = tf.Identification(ur5)
        fit.add(q, v, a, tau + 0.1 * np.random.default_rng(seed).normal(size=tau.shape))
        estimate = fit.solve()
        scores.append((estimate.values - truth) / estimate.standard_deviations)
    assert 0.9 < np.std(scores) < 1.1


@settings(max_examples=30)
@given(models(max_joints=5), st.integers(0, 1000))
def test_noise_free_samples_give_the_parameters_of_the_model(model, seed):
    """On random trees with every kind of joint, followers too, prediction and friction are exact."""
    q, v, a, tau = samples(model, seed, 40 * model.njoints)
    fit = tf.Identification(model)
    fit.add(q, v, a, tau)
    estimate = fit.solve()
    assert estimate.residuals.relative < 1e-10
    assert estimate.rank == len(fit.names) or estimate.not_excited
    for name, value in zip(estimate.names, estimate.values, strict=True):
        expected = {"viscous": VISCOUS, "dry": DRY, "offset": OFFSET}.get(name.split()[0])
        if expected is not None and not np.isnan(value):
            np.testing.assert_allclose(value, expected, atol=1e-7)
    new = samples(model, seed + 1, 10)
    predicted = estimate.predict(*new[:3])
    known = ~np.isnan(predicted)
    np.testing.assert_allclose(predicted[known], new[3][known], atol=1e-7 * np.abs(new[3]).max())


@pytest.mark.parametrize("name", ["ur5_robot", "panda", "solo12"])
def test_base_parameters_of_a_robot_are_found(name):
    """Values are K times those of the model, the error within 100 eps times the condition."""
    model = robots.model_of(robots.find(name))
    fit = tf.Identification(model)
    fit.add(*samples(model, 5, 300))
    estimate = fit.solve()
    rotors = [model.armature[v] for joint, v in zip(model.joints, model.idx_v, strict=True) if joint.nv == 1]
    expected = fit.base.values(np.concatenate([model.parameters.ravel(), rotors]))
    assert estimate.names[: fit.base.count] == fit.base.names
    norms = np.linalg.norm(fit.triangle(estimate.weights), axis=0)
    error = norms[: fit.base.count] * (estimate.values[: fit.base.count] - expected)
    assert np.linalg.norm(error) < 100 * EPS * estimate.cond * norms[-1]


def test_rows_that_the_mask_leaves_out_do_not_count(ur5):
    """Whatever their torques are, NaN too; the rows used give the estimate."""
    q, v, a, tau = samples(ur5, 6, 300, 0.1)
    mask = np.random.default_rng(0).random(tau.shape) < 0.6
    fit, other = tf.Identification(ur5, weights=np.ones(6)), tf.Identification(ur5, weights=np.ones(6))
    fit.add(q, v, a, np.where(mask, tau, np.nan), mask)
    assert np.array_equal(fit.rows, mask.sum(axis=0))
    Y = rows_of(fit, q, v, a)[mask]
    np.testing.assert_allclose(fit.solve().values, np.linalg.lstsq(Y, tau[mask])[0], rtol=1e-8, atol=1e-9)
    for k in range(6):
        only = np.zeros_like(mask)
        only[:, k] = mask[:, k]
        other.add(q, v, a, tau, only)
    np.testing.assert_allclose(joined(other), joined(fit), atol=1e-12)


def test_residuals_of_other_samples_need_no_samples(ur5):
    """The held-out residual from the triangles is that of the predictions."""
    fit, test = tf.Identification(ur5), tf.Identification(ur5)
    fit.add(*samples(ur5, 7, 100, 0.3))
    q, v, a, tau = samples(ur5, 8, 55, 0.3)
    test.add(q, v, a, tau)
    estimate = fit.solve()
    rest = tau - estimate.predict(q, v, a)
    errors = test.residuals(estimate)
    np.testing.assert_allclose(errors.residuals, np.sqrt((rest**2).mean(axis=0)), rtol=1e-9)
    np.testing.assert_allclose(errors.relative, np.linalg.norm(rest) / np.linalg.norm(tau), rtol=1e-9)
    assert errors.relative > estimate.residuals.relative


def test_parameters_that_are_not_estimated_are_those_of_the_model(ur5):
    """Bodies and rotors known, friction alone; and bodies alone with known rotors."""
    model = ur5.with_parameters(ur5.parameters, np.arange(1.0, 7.0))
    q, v, a, tau = samples(model, 9, 50)
    friction = tf.Identification(model, columns=("offset", "viscous", "dry"))
    friction.add(q, v, a, tau)
    estimate = friction.solve()
    np.testing.assert_allclose(estimate.values, np.repeat([VISCOUS, DRY, OFFSET], 6), atol=1e-11)
    np.testing.assert_allclose(estimate.predict(q, v, a), tau, atol=1e-10)
    rotors = tf.Identification(model, columns=("armature", "viscous", "dry", "offset"))
    rotors.add(q, v, a, tau)
    np.testing.assert_allclose(rotors.solve().values[:6], np.arange(1.0, 7.0), atol=1e-11)
    bodies = tf.Identification(model, columns=("inertia", "viscous", "dry", "offset"))
    bodies.add(q, v, a, tau)
    expected = bodies.base.values(model.parameters.ravel())
    np.testing.assert_allclose(bodies.solve().values[: bodies.base.count], expected, atol=1e-10)
    assert bodies.solve().residuals.relative < 1e-12


def test_further_columns_have_names_and_values(ur5):
    """A coupling of two motors, as a column of the caller."""
    q, v, a, tau = samples(ur5, 10, 200)
    extra = np.zeros((200, 6, 1))
    extra[:, 4, 0], extra[:, 5, 0] = a[:, 5], a[:, 4]
    fit = tf.Identification(ur5, extra=("coupling of the wrist",))
    fit.add(q, v, a, tau + 0.25 * extra[..., 0], extra=extra)
    estimate = fit.solve()
    np.testing.assert_allclose(estimate.value_of("coupling of the wrist"), 0.25, atol=1e-11)
    np.testing.assert_allclose(estimate.predict(q, v, a, extra), tau + 0.25 * extra[..., 0], atol=1e-10)
    with pytest.raises(tf.ShapeError, match="expected extra of shape"):
        fit.add(q, v, a, tau)


def test_bodies_that_can_exist_need_columns_of_bodies(ur5):
    """Without noise they are those of the model; a prior needs the same joints."""
    fit = tf.Identification(ur5)
    fit.add(*samples(ur5, 16, 200))
    estimate = fit.physical()
    np.testing.assert_allclose(estimate.value_of("dry friction of elbow_joint"), DRY, rtol=1e-3)
    assert estimate.residuals.relative < 1e-3
    assert fit.residuals(estimate).relative == estimate.residuals.relative
    with pytest.raises(ValueError, match="joints of the model"):
        fit.physical(robots.model_of(robots.find("panda")))
    with pytest.raises(ValueError, match='with "inertia" in columns'):
        tf.Identification(ur5, columns=("viscous",)).physical()


def test_identifications_and_estimates_can_be_pickled(ur5):
    """A copy goes on where the original is."""
    fit = tf.Identification(ur5)
    fit.add(*samples(ur5, 11, 60, 0.1))
    copy = pickle.loads(pickle.dumps(fit))
    for each in (fit, copy):
        each.add(*samples(ur5, 12, 60, 0.1))
    assert np.array_equal(copy.solve().values, fit.solve().values)
    assert np.array_equal(pickle.loads(pickle.dumps(fit.solve())).values, fit.solve().values)
    assert repr(fit) == "<Identification of 'ur5': 58 parameters, 720 rows>"


def test_the_report_has_every_value_and_every_joint(ur5):
    """Values, deviations, rank, residuals by joint."""
    fit = tf.Identification(ur5)
    fit.add(*samples(ur5, 13, 100, 0.1))
    estimate = fit.solve()
    text = estimate.report()
    assert all(name in text for name in (*estimate.names, *ur5.tree.names))
    assert f"{estimate.value_of('viscous friction of elbow_joint'):.5g}" in text
    assert "rank 58 of 58" in text
    assert "100 rows" in text


def test_wrong_arguments_are_named(ur5):
    """Messages say which argument, what was expected and what was received."""
    q, v, a, tau = samples(ur5, 14, 5)
    fit = tf.Identification(ur5)
    with pytest.raises(ValueError, match="columns must be one or more of"):
        tf.Identification(ur5, columns=("inertia", "friction"))
    with pytest.raises(ValueError, match="not negative"):
        tf.Identification(ur5, weights=[1, 1, 1, 1, 1, -1])
    with pytest.raises(tf.ShapeError, match=r"expected v of shape \(5, 6\), got \(4, 6\)"):
        fit.add(q, v[:4], a, tau)
    with pytest.raises(tf.NonFiniteError, match=r"tau\[2, 3\]"):
        fit.add(q, v, a, np.where(np.arange(30).reshape(5, 6) == 15, np.nan, tau))
    with pytest.raises(tf.DtypeError, match="mask of bool"):
        fit.add(q, v, a, tau, np.ones((5, 6)))
    with pytest.raises(tf.ShapeError, match="mask of shape"):
        fit.add(q, v, a, tau, np.ones((4, 6), dtype=bool))
    with pytest.raises(ValueError, match="same parameters"):
        fit.merge(tf.Identification(ur5, columns=("inertia",)))
    assert fit.rows.sum() == 0


def test_a_bad_quaternion_is_named_and_adds_nothing():
    """Regressors of batches would be NaN there, and every later estimate too."""
    model = robots.model_of(robots.find("solo12"))
    q, v, a, tau = samples(model, 14, 20)
    q[7, 3:7] *= 1.1
    fit = tf.Identification(model)
    with pytest.raises(tf.ConfigurationError, match="root_joint"):
        fit.add(q, v, a, tau)
    assert fit.rows.sum() == 0
    assert not fit.triangle().any()


def test_slow_rows_are_those_below_a_share_of_the_largest_speed():
    v = np.array([[1.0, 0.0], [-0.02, 0.0], [0.005, 0.0]])
    assert np.array_equal(slow_rows(v), [[False, True], [False, True], [True, True]])
    assert np.array_equal(slow_rows(v, 0.1)[:, 0], [False, True, True])
    with pytest.raises(tf.ShapeError, match="expected v of shape"):
        slow_rows(v[0])


def test_state_of_a_problem_does_not_grow(ur5):
    """However many samples were added."""
    fit = tf.Identification(ur5)
    fit.add(*samples(ur5, 15, 10))
    small = len(pickle.dumps(fit))
    for seed in range(3):
        fit.add(*samples(ur5, seed, 2000))
    assert len(pickle.dumps(fit)) == small


def test_delays_of_both_signs_are_found():
    t = 0.01 * np.arange(600)[:, None]
    signal = lambda s: np.sin(2 * s) + 0.5 * np.cos(5 * s)  # noqa: E731
    late = np.array([0.034, -0.021])
    delay = torque_delay(signal(t - late), signal(t + 0 * late), 0.01)
    np.testing.assert_allclose(delay.values, late, atol=5e-4)
    assert delay.significant.all()
    for count in (9, 50, 501):
        for size in (1e-9, 1.0, 1e9):
            constant = np.full((count, 1), size)
            assert np.isnan(torque_delay(constant, constant, 0.01).values).all()
    slow = np.sin(0.5 * np.arange(5000)[:, None] / 5000)  # 0.5 rad/s at 5 kHz
    assert abs(torque_delay(slow, slow, 2e-4).values) < 1e-6
    few = torque_delay(signal(t - late)[:20], signal(t + 0 * late)[:20], 0.01)
    assert np.isnan(few.standard_deviations).all()
    assert not few.significant.any()


@pytest.mark.parametrize("memory", [0.0, 0.8])  # of the noise, from sample to sample
def test_the_deviation_of_a_delay_is_that_of_many_seeds(memory):
    """Errors are their deviations in size; without a delay few are significant, and real ones are found."""
    rng, count, seeds = np.random.default_rng(0), 1200, 200
    t = 0.01 * np.arange(count)[:, None]
    phase = rng.uniform(0, 6, (3, seeds))
    signal = lambda s: sum(np.sin(w * s + one) for w, one in zip((2.0, 3.1, 5.3), phase, strict=True))  # noqa: E731
    noise = rng.normal(size=(count, seeds))
    for k in range(1, count):
        noise[k] += memory * noise[k - 1]
    for late in (0.0, 0.004, -0.05):
        tau, predicted = signal(t - late) + 0.3 * noise, signal(t)
        delay = torque_delay(tau, predicted, 0.01)
        ratio = (delay.values - late) / delay.standard_deviations
        assert 0.8 < np.sqrt(np.mean(ratio**2)) < 1.4
        if late != 0.004:
            one_by_one = (torque_delay(tau[:, [k]], predicted[:, [k]], 0.01) for k in range(seeds))
            share = np.mean([one.significant[0] for one in one_by_one])
            assert share > (0.7 if memory else 0.99) if late else share < 0.01
