"""Data that leave parameters open, or that do not fit together: named, never hidden by a pseudo-inverse."""

import numpy as np
import pytest
from helpers.identification_cases import samples, series
from scipy.signal import butter, filtfilt

import treefactor as tf
from treefactor.check import robots
from treefactor.identification import PayloadIdentification, torque_delay


@pytest.fixture(scope="module")
def ur5():
    """Return the model of an arm with six joints."""
    return robots.model_of(robots.find("ur5_robot"))


def one_joint(kind, axis):
    """Return a robot with one joint."""
    body = tf.Inertia(2.0, [0.1, 0.2, 0.3], np.diag([0.1, 0.2, 0.25]))
    return tf.Model([tf.Joint("lift", kind, axis=axis, inertia=body)])


def test_parameters_at_rest_are_named(ur5):
    """Without velocity and acceleration only first moments are felt, and the rest has no value."""
    q, v, a, _ = samples(ur5, 0, 200)
    v, a = 0 * v, 0 * a
    fit = tf.Identification(ur5, columns=("inertia", "viscous"))
    fit.add(q, v, a, tf.rnea(ur5, q, v, a))
    estimate = fit.solve()
    assert estimate.rank < len(fit.names)
    assert set(estimate.not_excited) == {
        name for name, value in zip(estimate.names, estimate.values, strict=True) if np.isnan(value)
    }
    motion = {name for name in fit.names if name.startswith("viscous") or name.startswith("I_")}
    assert len(motion) > 20
    assert motion <= set(estimate.not_excited)
    assert any(name.startswith("h_") for name in set(fit.names) - set(estimate.not_excited))
    assert np.isnan(estimate.standard_deviations[np.isnan(estimate.values)]).all()
    known = ~np.isnan(estimate.values)
    expected = fit.base.values(ur5.parameters.ravel())
    np.testing.assert_allclose(estimate.values[known], expected[known[: len(expected)]], atol=1e-9)
    text = estimate.report()
    assert text.count("not excited") == len(estimate.not_excited)


def test_predictions_that_need_unknown_parameters_are_nan(ur5):
    """Torques at rest are known from samples at rest; torques in motion are not."""
    q, v, a, _ = samples(ur5, 0, 200)
    fit = tf.Identification(ur5, columns=("inertia",))
    fit.add(q, 0 * v, 0 * a, tf.rnea(ur5, q, 0 * v, 0 * a))
    estimate = fit.solve()
    np.testing.assert_allclose(estimate.predict(q, 0 * v, 0 * a), tf.rnea(ur5, q, 0 * v, 0 * a), atol=1e-9)
    assert np.isnan(estimate.predict(q, v, a)).all()
    moving = tf.Identification(ur5, columns=("inertia",))
    moving.add(q, v, a, tf.rnea(ur5, q, v, a))
    assert np.isnan(moving.residuals(estimate).residuals).all()


def test_weight_and_offset_of_a_slow_lift_are_one_column():
    """A vertical prismatic joint at constant velocity: m g and offset cannot be told apart."""
    model = one_joint("prismatic", [0, 0, 1])
    q, v = np.linspace(0, 0.1, 50)[:, None], np.full((50, 1), 1e-3)
    fit = tf.Identification(model, columns=("inertia", "offset"))
    fit.add(q, v, 0 * v, tf.rnea(model, q, v, 0 * v) + 3.0)
    estimate = fit.solve()
    assert estimate.not_excited == ("m of lift", "offset of lift")
    assert estimate.unfelt == ("offset of lift - 0.101937 m of lift",)
    np.testing.assert_allclose(estimate.predict(q, v, 0 * v), 2.0 * 9.81 + 3.0)
    assert np.isnan(estimate.predict(q, v, 1 + 0 * v)).all()
    a = np.random.default_rng(0).normal(size=v.shape)
    fit.add(q, v, a, tf.rnea(model, q, v, a) + 3.0)
    np.testing.assert_allclose(fit.solve().values, [2.0, 3.0])


def test_dry_friction_and_offset_at_one_velocity_are_one_column():
    """With v constant, viscous and dry friction and offset are one column; with both signs they are not."""
    model = one_joint("revolute", [0, 0, 1])
    q, v = np.linspace(0, 1, 40)[:, None], np.full((40, 1), 0.5)
    fit = tf.Identification(model)
    fit.add(q, v, 0 * v, 0.3 * v + 0.2 * np.sign(v) + 0.1)
    estimate = fit.solve()
    assert estimate.rank == 1
    assert set(estimate.not_excited) == set(fit.names)
    fit.add(q, -v, 0 * v, -0.3 * v - 0.2 * np.sign(v) + 0.1)
    estimate = fit.solve()
    assert "offset of lift" not in estimate.not_excited
    np.testing.assert_allclose(estimate.value_of("offset of lift"), 0.1)
    assert {"viscous friction of lift", "dry friction of lift"} <= set(estimate.not_excited)


def test_a_floating_base_without_its_wrench_leaves_the_base_open():
    """Without the six rows of the base, the parameters of the base have no value."""
    model = robots.model_of(robots.find("solo12"))
    q, v, a, tau = samples(model, 1, 300)
    mask = np.ones(tau.shape, dtype=bool)
    mask[:, :6] = False
    fit = tf.Identification(model, columns=("inertia",))
    fit.add(q, v, a, tf.rnea(model, q, v, a), mask)
    estimate = fit.solve()
    assert estimate.rank == 84
    assert len(estimate.not_excited) == 10
    assert all("root_joint" in name for name in estimate.not_excited)
    assert np.isnan(estimate.residuals.residuals[:6]).all()
    predicted = estimate.predict(q, v, a)
    assert np.isnan(predicted[:, :6]).all()
    np.testing.assert_allclose(predicted[:, 6:], tf.rnea(model, q, v, a)[:, 6:], atol=1e-9)


def test_freedoms_of_zero_weight_do_not_count(ur5):
    """Their own friction has no value, and their torques may be wrong."""
    q, v, a, tau = samples(ur5, 2, 200)
    wrong = tau + np.eye(6)[5] * 1e3 * np.random.default_rng(0).normal(size=(200, 1))
    fit = tf.Identification(ur5, weights=[1, 1, 1, 1, 1, 0])
    fit.add(q, v, a, wrong)
    estimate = fit.solve()
    assert {"viscous friction of wrist_3_joint", "offset of wrist_3_joint"} <= set(estimate.not_excited)
    np.testing.assert_allclose(estimate.predict(q, v, a)[:, :5], tau[:, :5], atol=1e-9)
    assert np.nanmax(estimate.standard_deviations) < 1e-9
    nothing = tf.Identification(ur5, weights=np.zeros(6))
    nothing.add(q, v, a, tau)
    assert nothing.solve().rank == 0
    assert len(nothing.solve().not_excited) == len(nothing.names)


def test_fewer_rows_than_columns_leave_parameters_open(ur5):
    """Three samples are 18 rows for 58 columns."""
    fit = tf.Identification(ur5)
    fit.add(*samples(ur5, 3, 3))
    estimate = fit.solve()
    assert estimate.rank <= 18
    assert len(estimate.null) == 58 - estimate.rank
    assert np.isnan(estimate.values).any()
    assert np.isnan(estimate.standard_deviations).all()


def test_results_without_samples_are_refused(ur5):
    """The error says which call adds samples; rows that a mask leaves out do not count."""
    fit, other = tf.Identification(ur5), tf.Identification(ur5)
    other.add(*samples(ur5, 3, 20))
    payload = PayloadIdentification(ur5, "wrist_3_joint")
    for masked in (False, True):
        if masked:
            fit.add(*samples(ur5, 3, 3), mask=np.zeros(6, dtype=bool))
        for call in (fit.solve, fit.physical, lambda: fit.residuals(other.solve()), payload.solve):
            with pytest.raises(tf.TreefactorError, match=r"no samples .* call add\(q, v, a, tau\) first"):
                call()


def test_columns_of_a_follower_are_not_counted_twice():
    """A joint that follows another one with ratio 1 has no column of its own; everything is determined."""
    body = tf.Inertia(1.0, [0.1, 0, 0.5], np.diag([0.1, 0.1, 0.05]))
    first = tf.Joint("first", "revolute", axis=[0, 1, 0], inertia=body)
    second = tf.Joint(
        "second", "revolute", 0, p=[0, 0, 1], axis=[0, 1, 0], inertia=body, mimic=tf.Mimic("first")
    )
    model = tf.Model([first, second])
    q, v, a, tau = samples(model, 4, 300)
    fit = tf.Identification(model)
    fit.add(q, v, a, tau)
    estimate = fit.solve()
    assert estimate.not_excited == ()
    assert estimate.residuals.relative < 1e-12


@pytest.fixture(scope="module")
def motion():
    """Return a robot with two joints, its motion and its torques, at 1 kHz."""
    body = tf.Inertia(1.0, [0.1, 0, 0.5], np.diag([0.1, 0.1, 0.05]))
    joints = [
        tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=body),
        tf.Joint("elbow", "revolute", 0, p=[0, 0, 1], axis=[0, 1, 0], inertia=body),
    ]
    model = tf.Model(joints)
    q, v, a, _ = series(2, 1e-3, 6000, seed=1, speed=3.0)
    return model, q, v, a, tf.rnea(model, q, v, a) + 0.5 * v


def test_a_delay_of_the_torques_shows_in_residuals_and_is_found(motion):
    """Torques that come 20 ms late: the residual is large, the delay has the right sign."""
    model, q, v, a, tau = motion
    late = 20
    fits = []
    for shift in (0, late):
        fit = tf.Identification(model, columns=("inertia", "armature", "viscous"))
        fit.add(q[late:], v[late:], a[late:], tau[late - shift : len(tau) - shift])
        fits.append(fit.solve())
    assert fits[0].residuals.relative < 1e-10
    assert fits[1].residuals.relative > 0.03
    predicted = fits[1].predict(q[late:], v[late:], a[late:])
    delay = torque_delay(tau[: len(tau) - late], predicted, 1e-3)
    assert delay.significant.any()
    assert (delay.values > 0.003).all()
    assert (delay.values < 0.02).all()
    truth = fits[0].predict(q[late:], v[late:], a[late:])
    exact = torque_delay(tau[: len(tau) - late], truth, 1e-3)
    np.testing.assert_allclose(exact.values, 0.02, atol=1e-3)
    assert exact.significant.all()


def test_filters_that_differ_show_in_residuals(motion):
    """Motions and torques through the same filter fit; torques through a narrower filter do not."""
    model, q, _, _, tau = motion
    relative = []
    for cutoff in (40.0, 4.0):
        narrow = filtfilt(*butter(4, cutoff / 500.0), tau, axis=0)
        smooth = filtfilt(*butter(4, 40.0 / 500.0), q, axis=0)
        v = np.gradient(smooth, 1e-3, axis=0)
        a = np.gradient(v, 1e-3, axis=0)
        fit = tf.Identification(model, columns=("inertia", "armature", "viscous"))
        inside = slice(300, -300)
        fit.add(smooth[inside], v[inside], a[inside], narrow[inside])
        relative.append(fit.solve().residuals.relative)
    assert relative[0] < 0.01
    assert relative[1] > 3 * relative[0]


def test_rounded_angles_do_not_make_parameters_with_snapped_base():
    """An angle of 1.5708 separates an armature that no torque shows, unless the base parameters snap it."""
    body = tf.Inertia(2.0, [0.1, 0.05, 0.2], np.diag([0.03, 0.04, 0.05]))
    c, s = np.cos(1.5708), np.sin(1.5708)
    shoulder = tf.Joint("shoulder", "revolute", axis=[0, 0, 1], inertia=body)
    turned = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    elbow = tf.Joint("elbow", "revolute", 0, R=turned, axis=[0, 0, 1], inertia=body, armature=0.2)
    model = tf.Model([shoulder, elbow])
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 500, 2))
    tau = tf.rnea(model, q, v, a) + 0.01 * rng.normal(size=(500, 2))
    base = tf.base_parameters(model, snap=1e-5)
    estimates = []
    for given in (None, base):
        fit = tf.Identification(model, ("inertia", "armature"), base=given)
        fit.add(q, v, a, tau)
        estimates.append(fit.solve())
    assert estimates[0].standard_deviations.max() > 10.0
    assert estimates[0].cond > 1e4
    error = np.abs(estimates[1].values - base.values(model))
    assert estimates[1].cond < 100.0
    assert (error < 5 * estimates[1].standard_deviations).all()


def test_base_parameters_must_be_those_of_the_columns(ur5):
    """Base parameters of another robot, or of other columns, are refused."""
    with pytest.raises(ValueError, match="with inertia, got <BaseParameters"):
        tf.Identification(ur5, ("inertia",), base=tf.base_parameters(ur5))
    with pytest.raises(TypeError, match="base must be BaseParameters, got str"):
        tf.Identification(ur5, base="base")


def test_a_mask_of_freedoms_serves_all_samples(ur5):
    """A mask of shape (nv,) leaves freedoms out of every sample."""
    parts = [tf.Identification(ur5, ("inertia",)) for _ in range(2)]
    data, mask = samples(ur5, 0, 50), np.arange(6) != 2
    parts[0].add(*data, mask=mask)
    parts[1].add(*data, mask=np.tile(mask, (50, 1)))
    assert parts[0].rows.tolist() == [50, 50, 0, 50, 50, 50]
    np.testing.assert_array_equal(parts[0].triangle(), parts[1].triangle())


def test_names_of_other_parameters_are_refused(ur5):
    """A name that is not a parameter raises an error with those that are similar."""
    fit = tf.Identification(ur5, ("viscous",))
    fit.add(*samples(ur5, 0, 50))
    with pytest.raises(ValueError, match="did you mean 'viscous friction of elbow_joint'"):
        fit.solve().value_of("viscous friction of elbow")


@pytest.mark.parametrize("argument", range(6))
def test_the_memory_order_of_arguments_has_no_influence(ur5, argument):
    """An array in Fortran's order, or a slice, gives the triangle of its contiguous copy."""
    rng = np.random.default_rng(0)
    given = [*samples(ur5, 0, 50), rng.random((50, 6)) < 0.7, rng.normal(size=(50, 6, 1))]
    spread = np.zeros((100, *given[argument].shape[1:]), given[argument].dtype)
    spread[::2] = given[argument]
    triangles = []
    for other in (given[argument], np.asfortranarray(given[argument]), spread[::2]):
        fit = tf.Identification(ur5, extra=("coupling",))
        fit.add(*given[:argument], other, *given[argument + 1 :])
        triangles.append(fit.triangle())
    np.testing.assert_array_equal(triangles[1], triangles[0])
    np.testing.assert_array_equal(triangles[2], triangles[0])
