"""Payloads found from torques: rank, noise, removal, samples one by one, what is not excited."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import ROBOTS, followers

import treefactor as tf
from treefactor.exceptions import InvalidModelError, NonFiniteError, ShapeError
from treefactor.identification import PayloadIdentification, identify_payload

LOAD = tf.Inertia(1.5, [0.02, -0.03, 0.08], [[6e-3, 1e-4, 0], [1e-4, 5e-3, -2e-4], [0, -2e-4, 4e-3]])


def robot(name):
    file, floating = ROBOTS[name]
    path = tf.robots.bundled().get(file)
    if path is None:
        pytest.skip("needs example-robot-data")
    return tf.Model.from_urdf(path, floating=floating)


def loaded(model, number, load=LOAD):
    """Return a model whose joint carries a payload, too."""
    joints = list(model.joints)
    joints[number] = replace(joints[number], inertia=joints[number].inertia + load)
    return tf.Model(joints, model.gravity, strict=False)


def motion(model, count=200, seed=0):
    rng = np.random.default_rng(seed)
    reach = np.full(model.nq, 2.0)
    q = tf.random_configuration(model, rng, -reach, reach, (count,))
    return q, *rng.normal(size=(2, count, model.nv)) * [[[1.0]], [[3.0]]]


@pytest.mark.parametrize("name", ["ur5", "panda", "solo12"])
def test_exact_torques_give_the_payload_back(name):
    model = robot(name)
    number = model.njoints - 1
    q, v, a = motion(model)
    tau = tf.rnea(loaded(model, number), q, v, a)
    payload = identify_payload(model, number, q, v, a, tau)
    assert (payload.rank, payload.not_excited) == (10, ())
    assert payload.joint == model.joints[number].name
    assert np.allclose(payload.parameters, LOAD.parameters, atol=1e-10)
    assert np.allclose(payload.inertia.tensor, LOAD.tensor, atol=1e-10)
    assert payload.residual < 1e-10


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_at_rest_mass_and_first_moment_are_found(name):
    model = robot(name)
    number = model.njoints - 1
    q, _, _ = motion(model, 30)
    still = np.zeros((30, model.nv))
    tau = tf.rnea(loaded(model, number), q, still, still)
    payload = identify_payload(model, number, q, still, still, tau, static=True)
    name = model.joints[number].name
    assert payload.rank == 4
    assert payload.not_excited == tuple(f"I_{k} of {name}" for k in ("xx", "xy", "yy", "xz", "yz", "zz"))
    assert np.allclose(payload.parameters[:4], LOAD.parameters[:4], atol=1e-10)
    assert np.isnan(payload.parameters[4:]).all()
    assert np.isnan(payload.standard_deviations[4:]).all()
    assert np.allclose(payload.inertia.com, LOAD.com, atol=1e-9)
    assert not payload.inertia.tensor.any()
    moving = identify_payload(model, number, q, still, still, tau)  # of ten columns, six are zero
    assert moving.rank == 4
    assert moving.not_excited == payload.not_excited


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_two_hundred_noisy_samples_are_enough(name):
    model = robot(name)
    number = model.njoints - 1
    ratios = []
    for seed in range(20):
        q, v, a = motion(model, 200, seed)
        noise = 0.1 * np.random.default_rng(seed).normal(size=(200, model.nv))
        payload = identify_payload(model, number, q, v, a, tf.rnea(loaded(model, number), q, v, a) + noise)
        error = payload.parameters - LOAD.parameters
        assert abs(error[0]) < 0.02
        assert np.abs(error[1:]).max() < 5e-3
        assert np.isclose(payload.residual, 0.1, rtol=0.1)
        ratios.append(error / payload.standard_deviations)
    assert 0.8 < np.sqrt(np.mean(np.square(ratios))) < 1.2


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_a_payload_that_was_taken_off_is_negative(name):
    model = robot(name)
    number = model.njoints - 1
    heavy = loaded(model, number)
    q, v, a = motion(model)
    payload = identify_payload(heavy, number, q, v, a, tf.rnea(model, q, v, a))
    assert np.allclose(payload.parameters, -LOAD.parameters, atol=1e-10)
    parameters = heavy.parameters.copy()
    parameters[number] += payload.parameters
    assert np.allclose(parameters, model.parameters, atol=1e-10)
    assert np.allclose(
        tf.rnea(heavy.with_parameters(parameters), q, v, a), tf.rnea(model, q, v, a), atol=1e-9
    )
    with pytest.raises(InvalidModelError, match=r"carries 1\.5 kg less than in its model"):
        payload.inertia  # noqa: B018


def test_no_payload_is_not_called_a_lighter_one():
    """Noise gives a negative mass for half of the seeds; the error has its standard deviation."""
    model = robot("ur5")
    q, v, a = motion(model)
    tau = tf.rnea(model, q, v, a)
    for seed in range(8):
        noise = 0.1 * np.random.default_rng(seed).normal(size=tau.shape)
        payload = identify_payload(model, 5, q, v, a, tau + noise)
        if payload.parameters[0] < 0.0:
            with pytest.raises(InvalidModelError, match=r"do not show .* its mass is -.* ± .* kg"):
                payload.inertia  # noqa: B018


def test_samples_one_by_one_give_the_same_as_all_at_once():
    model = robot("ur5")
    q, v, a = motion(model, 60)
    tau = tf.rnea(loaded(model, 5), q, v, a) + 0.1 * np.random.default_rng(1).normal(size=v.shape)
    fit = PayloadIdentification(model, 5)
    for sample in zip(q, v, a, tau, strict=True):
        fit.add(*sample)
    whole = identify_payload(model, 5, q, v, a, tau)
    assert np.allclose(fit.solve().parameters, whole.parameters, atol=1e-12)
    assert np.allclose(fit.solve().standard_deviations, whole.standard_deviations, rtol=1e-9)
    again = pickle.loads(pickle.dumps(whole))
    assert np.array_equal(again.parameters, whole.parameters)


def test_one_sample_at_rest_leaves_the_body_open():
    model = robot("ur5")
    still = np.zeros(6)
    payload = identify_payload(model, "wrist_3_joint", tf.neutral(model), still, still, still, static=True)
    assert 0 < payload.rank < 4
    assert len(payload.not_excited) > 6
    with pytest.raises(InvalidModelError, match="do not determine h_y of wrist_3_joint"):
        payload.inertia  # noqa: B018


def test_what_a_turning_joint_cannot_feel_is_named():
    model = robot("ur5")  # its first axis is vertical
    q, v, a = motion(model)
    payload = identify_payload(model, 0, q, v, a, tf.rnea(loaded(model, 0), q, v, a))
    assert payload.rank == 1
    assert "I_zz of shoulder_pan_joint" not in payload.not_excited
    assert len(payload.not_excited) == 9
    assert np.isclose(payload.parameters[9], LOAD.parameters[9], atol=1e-10)


@pytest.mark.parametrize("number", range(7))
def test_joints_of_every_kind_and_mimic_joints_can_carry_payloads(number):
    model = followers()
    q, v, a = motion(model)
    payload = identify_payload(model, number, q, v, a, tf.rnea(loaded(model, number), q, v, a))
    assert payload.rank == 10
    assert np.allclose(payload.parameters, LOAD.parameters, atol=1e-8)


def test_weights_leave_a_broken_sensor_out():
    model = robot("ur5")
    q, v, a = motion(model)
    tau = tf.rnea(loaded(model, 5), q, v, a)
    tau[:, 1] += 30.0
    weights = [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    payload = identify_payload(model, 5, q, v, a, tau, weights=weights)
    assert np.allclose(payload.parameters, LOAD.parameters, atol=1e-10)


def test_a_base_without_measured_force_is_left_out_and_not_counted():
    model = robot("solo12")
    number = model.njoints - 1
    q, v, a = motion(model, 2000)
    tau = tf.rnea(loaded(model, number), q, v, a) + 0.1 * np.random.default_rng(1).normal(size=v.shape)
    tau[:, :6] = 1e3
    payload = identify_payload(model, number, q, v, a, tau, weights=np.arange(model.nv) >= 6)
    assert np.isclose(payload.residual, 0.1, rtol=0.05)
    assert (np.abs(payload.parameters - LOAD.parameters) < 5 * payload.standard_deviations).all()


def test_many_samples_are_added_in_parts():
    model = robot("ur5")
    q, v, a = motion(model, 3000)
    payload = identify_payload(model, 5, q, v, a, tf.rnea(loaded(model, 5), q, v, a))
    assert np.allclose(payload.parameters, LOAD.parameters, atol=1e-10)


def test_wrong_arguments_are_named():
    model = robot("ur5")
    q, v, a = motion(model, 5)
    tau = np.zeros_like(v)
    with pytest.raises(InvalidModelError, match="no torque shows what the base carries"):
        identify_payload(model, -1, q, v, a, tau)
    with pytest.raises(InvalidModelError, match="wrist_9"):
        identify_payload(model, "wrist_9", q, v, a, tau)
    with pytest.raises(ValueError, match="weights must not be negative, got -1"):
        identify_payload(model, 5, q, v, a, tau, weights=[-1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    with pytest.raises(ShapeError, match=r"tau must have shape \(N, 6\), got \(5, 5\)"):
        identify_payload(model, 5, q, v, a, tau[:, 1:])
    with pytest.raises(ShapeError, match="as many samples of q, v, a and tau, got 5, 5, 5, 4"):
        identify_payload(model, 5, q, v, a, tau[1:])
    with pytest.raises(NonFiniteError, match=r"tau is not finite: tau\[0, 0\]"):
        identify_payload(model, 5, q, v, a, tau * np.nan)


def test_inertias_take_a_payload_and_drop_it():
    """`Inertias.add` takes the result of `identify_payload`; an empty Inertia removes it."""
    arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.05]))
    model = tf.Model([tf.Joint("ball", "freeflyer", inertia=arm)])
    loaded = model.with_parameters(model.parameters + tf.Inertia(2.0, [0.1, 0, 0.2]).parameters)
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng, size=(20,))
    v, a = rng.normal(size=(2, 20, 6))
    payload = identify_payload(model, "ball", q, v, a, tf.rnea(loaded, q, v, a))
    inertias = tf.Inertias(model, model.parameters)
    inertias.add(None, "ball", payload)
    np.testing.assert_allclose(inertias.parameters, loaded.parameters, atol=1e-9)
    inertias.add(None, ["ball"], tf.Inertia())
    np.testing.assert_array_equal(inertias.parameters, model.parameters)
