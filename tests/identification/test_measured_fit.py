"""Test fits to blocks of measured motions: units, values of the file, residuals, notes and failures."""

import re
from dataclasses import replace

import numpy as np
import pytest
from helpers import measured_arm

import treefactor as tf
from treefactor.identification import Measurements, TorqueDelay, _fit_notes, fit_measurements


def measured(model, truth=None, seconds=8.0, noise=0.0):
    """Return measurements of an arm, without friction."""
    t, q, v, a = measured_arm.motion(seconds, nv=model.nv)
    tau = tf.rnea(truth or model, q, v, a)
    tau = tau + noise * np.random.default_rng(0).normal(size=tau.shape)
    return Measurements.of(model, t, q, tau, v, a, cutoff=0, decimate=5)


@pytest.fixture
def arm():
    return tf.Model.from_urdf_string(measured_arm.URDF)


def test_values_beside_those_of_the_model(arm):
    truth = arm.with_parameters(1.2 * arm.parameters, armature=[0.2, 0.1])
    fit = fit_measurements(arm, measured(arm, truth), ("inertia", "armature"), physical=True)
    base = tf.base_parameters(arm)
    before = base.values([*arm.parameters.ravel(), 0, 0])
    right = base.values([*truth.parameters.ravel(), 0.2, 0.1])
    for one, old, new in zip(fit.parameters, before, right, strict=True):
        assert one.before == pytest.approx(old, abs=1e-12)
        assert one.value == pytest.approx(new, abs=1e-9)
        assert one.bodies == pytest.approx(new, abs=1e-3)
    assert fit.joints[-1].fit < 1e-9
    assert fit.joints[-1].held_out < 1e-9
    assert fit.failures == ()
    assert not fit.model.faults()


def test_residuals_are_norms_of_shares(arm):
    measurements = measured(arm, noise=0.5)
    fit = fit_measurements(arm, measurements, ("inertia",), hold_out=0.4, block=1.0)
    residual = fit.measured - fit.predicted
    held = measurements.held_out(0.4, 1.0)
    assert (fit.held == held).all()
    for k, one in enumerate(fit.joints[:-1]):
        for share, rows in ((one.fit, ~held), (one.held_out, held)):
            wanted = np.linalg.norm(residual[rows, k]) / np.linalg.norm(fit.measured[rows, k])
            assert share == pytest.approx(wanted, rel=1e-12)
        assert one.torque == pytest.approx(np.sqrt(np.mean(fit.measured[:, k] ** 2)), rel=1e-12)
    assert fit.joints[-1].before == pytest.approx(
        np.linalg.norm(fit.measured - tf.rnea(arm, measurements.q, measurements.v, measurements.a))
        / np.linalg.norm(fit.measured),
        rel=1e-12,
    )


def test_units():
    body = tf.Inertia(1.0, [0.1, 0.2, 0.3], np.diag([0.1, 0.2, 0.25]))
    model = tf.Model(
        [
            tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=body),
            tf.Joint("hinge", "revolute", 0, axis=[0, 0, 1], inertia=body),
        ]
    )
    units = {one.name: one.unit for one in fit_measurements(model, measured(model)).parameters}
    for kind, linear, angular in (
        ("viscous friction", "N s/m", "N m s"),
        ("dry friction", "N", "N m"),
        ("offset", "N", "N m"),
    ):
        assert units[f"{kind} of slide"] == linear
        assert units[f"{kind} of hinge"] == angular
    for name, unit in units.items():
        if name.startswith(("m ", "h_", "I_")):
            assert unit == {"m": "kg", "h": "kg m", "I": "kg m²"}[name[0]]


def test_a_floating_base_without_measured_forces():
    body = tf.Inertia(2.0, [0.02, 0.01, 0.05], np.diag([0.1, 0.12, 0.15]))
    model = tf.Model(
        [
            tf.Joint("base", "freeflyer", inertia=body),
            tf.Joint("arm", "revolute", 0, p=[0.2, 0, 0], axis=[0, 1, 0], inertia=body),
        ]
    )
    rng, step = np.random.default_rng(0), 1 / 200
    t = step * np.arange(1200)
    w, phase = np.array([3.0, 5.0, 8.0]), rng.uniform(0, 6, size=(model.nv, 3))
    v = np.sin(w * t[:, None, None] + phase).sum(-1)
    a = (w * np.cos(w * t[:, None, None] + phase)).sum(-1)
    q = [tf.neutral(model)]
    for one in v[:-1]:
        q.append(tf.integrate(model, q[-1], step * one))
    tau = tf.rnea(model, q, v, a)
    tau[:, :6] = np.nan
    fit = fit_measurements(model, Measurements.of(model, t, q, tau, v, a, cutoff=0), ("inertia",))
    assert np.isnan([one.fit for one in fit.joints[:6]]).all()
    assert fit.joints[6].held_out < 1e-9
    assert "rows are left out" in fit.notes[0]
    assert "m of base" in fit.estimate.not_excited[0]
    assert any("does not excite" in failure for failure in fit.failures)


def test_nothing_held_out_and_nothing_left(arm):
    measurements = measured(arm)
    fit = fit_measurements(arm, measurements, ("inertia",), hold_out=0)
    assert np.isnan(fit.joints[-1].held_out)
    assert any("nothing was held out" in note for note in fit.notes)
    still = replace(measurements, v=np.zeros_like(measurements.v))
    with pytest.raises(tf.TreefactorError, match="no torque is left to fit"):
        fit_measurements(arm, still)


@pytest.mark.parametrize("signs", [(-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])
@pytest.mark.parametrize("columns", [("inertia",), ("inertia", "viscous", "dry"), ("viscous", "offset")])
def test_torques_of_the_wrong_sign_are_a_failure(arm, signs, columns):
    measurements = measured(arm, measured_arm.true_model(arm), noise=0.1)
    fit = fit_measurements(arm, measurements, columns)
    assert not any("opposite sign" in failure for failure in fit.failures)
    fit = fit_measurements(arm, replace(measurements, tau=measurements.tau * signs), columns)
    names = [name for name, sign in zip(arm.tree.names, signs, strict=True) if sign < 0]
    assert any(f"torques of {', '.join(names)} have the opposite" in failure for failure in fit.failures)


def test_torques_that_were_not_recorded_are_a_failure(arm):
    measurements = measured(arm)
    fit = fit_measurements(arm, replace(measurements, tau=np.zeros_like(measurements.tau)))
    assert "all measured torques are zero" in fit.failures


def test_rows_of_slow_joints_are_left_out_of_dry_friction_only(arm):
    measurements = measured(arm)
    assert fit_measurements(arm, measurements, ("inertia", "offset")).used.all()
    fit = fit_measurements(arm, measurements, slow_share=0.2)
    limit = 0.2 * np.abs(measurements.v).max(axis=0)
    assert (fit.used == (np.abs(measurements.v) > limit)).all()


def test_results_are_read_only(arm):
    fit = fit_measurements(arm, measured(arm), ("inertia",))
    for array in (fit.measured, fit.predicted, fit.used, fit.held, fit.t):
        assert not array.flags.writeable


def fit_of_late_torques(folder, noise, seed, late=0):
    """Fit measurements of the arm whose torques come some samples late, 2 ms each."""
    model = measured_arm.write(folder)
    t, q, v, a = measured_arm.motion(seed=seed)
    tau, rng = measured_arm.torques(model, q, v, a), np.random.default_rng(seed)
    kept = slice(late, None)
    tau = tau[: len(tau) - late] + noise * rng.normal(size=tau[kept].shape)
    q = q[kept] + 1e-4 * noise * rng.normal(size=q[kept].shape)
    return fit_measurements(model, Measurements.of(model, t[kept], q, tau))


def delays_noted(fit):
    """Return the note about delays, if there is one."""
    return [note for note in fit.notes if "come later or earlier" in note]


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5, 1.0, 2.0])
def test_no_delay_is_noted_that_the_data_do_not_contain(tmp_path, noise):
    for seed in range(8):
        assert not delays_noted(fit_of_late_torques(tmp_path, noise, seed))


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("late", [2, 5, 20])
def test_delays_are_noted_with_their_deviations(tmp_path, noise, late):
    for seed in range(2):
        (note,) = delays_noted(fit_of_late_torques(tmp_path, noise, seed, late))
        assert re.search(r"[\d.]+ ± [\d.]+ ms later", note)
        assert "earlier," not in note


@pytest.mark.parametrize("error", ["not beside the parameters", "without a deviation"])
def test_delays_without_a_test_of_their_significance_are_false(tmp_path, monkeypatch, error):
    """The planted errors are notes of every delay, and of delays that the noise of positions makes."""
    if error == "without a deviation":
        monkeypatch.setattr(_fit_notes, "SUSPECTED", 0.0)
    delays = TorqueDelay(np.full(2, -1.0), np.zeros(2))
    monkeypatch.setattr(_fit_notes, "_delays_beside_parameters", lambda *_: delays)
    with pytest.raises(AssertionError):
        test_no_delay_is_noted_that_the_data_do_not_contain(tmp_path, 1.0)


def test_few_rows_do_not_prove_an_opposite_sign(arm, monkeypatch):
    """A correlation of noise with the torques of the model is not farther from 0 than chance explains."""
    measurements = measured(arm, measured_arm.true_model(arm))
    rng, few = np.random.default_rng(0), slice(0, 400, 10)

    def false_failures():
        noise = rng.normal(size=(40, 2))
        for k in range(1, 40):
            noise[k] += 0.5 * noise[k - 1]
        part = {name: getattr(measurements, name)[few] for name in ("t", "q", "v", "a")}
        fit = fit_measurements(arm, replace(measurements, tau=noise, **part), ("viscous",), hold_out=0)
        return any("opposite sign" in failure for failure in fit.failures)

    assert not any(false_failures() for _ in range(40))
    monkeypatch.setattr(_fit_notes, "least_ratio", lambda count: 0.0)  # the planted error
    assert any(false_failures() for _ in range(40))
