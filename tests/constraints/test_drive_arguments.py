"""Check drives on batches, sampled motions, and the errors for invalid drives."""

import math
import pickle

import numpy as np
import pytest
from helpers.dynamics_cases import free
from helpers.model_cases import random_model

import treefactor as tf
from treefactor import constraints, mechanisms
from treefactor.constraints import Drive, Stepper

SAME = 1e-12
BAR = mechanisms.four_bar()
ALL = tf.Model(
    [
        tf.Joint("leader", "revolute", axis=[0, 0, 1.0], inertia=tf.Inertia(1.0, tensor=np.eye(3))),
        tf.Joint("follower", "revolute", 0, axis=[0, 0, 1.0], mimic=tf.Mimic(0, 2.0)),
        tf.Joint("ball", "spherical", 0, inertia=tf.Inertia(1.0, tensor=np.eye(3))),
        tf.Joint(
            "cross", "universal", 0, axis=[[1.0, 0, 0], [0, 1, 0]], inertia=tf.Inertia(1.0, tensor=np.eye(3))
        ),
    ]
)


def crank(t):
    """Return the motion of a crank that speeds up."""
    return 0.7 + 2.0 * t + t * t, 2.0 + 2.0 * t, 2.0 + 0.0 * t


MOTOR = Drive("crank", crank)
STILL = Drive("crank", (0.7, 0.0, 0.0))


def arm():
    """Return an arm whose joints can all be driven, and states of it."""
    model = free(random_model([-1, 0, 1], ["continuous", "prismatic", "universal"], 3))
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng, size=(2, 9))
    return model, q, *rng.normal(size=(2, 2, 9, model.nv))


def test_batches_are_single_states():
    model, q, v, tau = arm()
    t = np.linspace(0.0, 1.0, 18).reshape(2, 9)
    drives = [
        Drive("j0", crank),
        Drive("j1", lambda t: (t * t, 2.0 * t, 2.0)),
        Drive("j2", (0.1, 0.2, 0.3), 1),
    ]
    a, force = constraints.forward_dynamics(model, q, v, tau, drives=drives, t=t, stabilization=2.0)
    rows = constraints.loop_rows(model, q, v, drives, t)
    assert force.shape == rows.rate.shape == (2, 9, 3)
    for i in np.ndindex(2, 9):
        one = constraints.forward_dynamics(
            model, q[i], v[i], tau[i], drives=drives, t=t[i], stabilization=2.0
        )
        np.testing.assert_allclose(a[i], one[0], rtol=SAME, atol=SAME * np.abs(one[0]).max())
        np.testing.assert_allclose(force[i], one[1], rtol=SAME, atol=SAME * np.abs(one[1]).max())
        row = constraints.loop_rows(model, q[i], v[i], drives, t[i])
        np.testing.assert_allclose(rows.residual[i], row.residual, rtol=SAME)
        np.testing.assert_allclose(rows.bias[i], row.bias, rtol=SAME)


def test_many_times_of_one_state():
    t = np.linspace(0.0, 1.0, 11)
    state = BAR.closed, np.ones(3), np.zeros(3)
    a, force = constraints.forward_dynamics(BAR.model, *state, drives=[MOTOR], t=t)
    samples = Drive("crank", np.stack(np.broadcast_arrays(*crank(t)), axis=-1))
    for own, expected in zip(
        constraints.forward_dynamics(BAR.model, *state, drives=[samples]), (a, force), strict=True
    ):
        np.testing.assert_array_equal(own, expected)
    rows = constraints.loop_rows(BAR.model, BAR.closed, drives=[MOTOR], t=t)
    np.testing.assert_allclose(rows.residual[:, -1], BAR.closed[0] - crank(t)[0], atol=1e-15)
    np.testing.assert_array_equal(rows.rate[:, :3], np.zeros((11, 3)))


def test_motions_that_are_not_finite_spoil_their_element_alone():
    model, q, v, tau = (x[0] if isinstance(x, np.ndarray) else x for x in arm())
    motion = np.ones((9, 3))
    good = constraints.forward_dynamics(model, q, v, tau, drives=[Drive("j1", motion)])
    for row, value in ((1, np.nan), (8, np.inf)):
        bad = motion.copy()
        bad[row, 2] = value
        for own, expected in zip(
            constraints.forward_dynamics(model, q, v, tau, drives=[Drive("j1", bad)]), good, strict=True
        ):
            assert np.isnan(own[row]).all()
            np.testing.assert_array_equal(np.delete(own, row, 0), np.delete(expected, row, 0))


def test_sampled_motions_move_as_functions_do():
    h, steps = 5e-3, 40
    t = h * np.arange(steps + 1)
    samples = Drive("crank", np.stack(np.broadcast_arrays(*crank(t)), axis=-1))
    rows = constraints.loop_rows(BAR.model, BAR.closed, drives=[MOTOR])
    v = np.linalg.lstsq(rows.dense(), -rows.rate, rcond=1e-9)[0]
    own, expected = (
        Stepper(BAR.model, h=h, limits=False, drives=[drive]).run(BAR.closed, v, steps)
        for drive in (samples, MOTOR)
    )
    np.testing.assert_allclose(own.q, expected.q, rtol=1e-12)
    stepper = Stepper(BAR.model, h=h, limits=False, drives=[samples])
    for late in (h * steps, h * 0.5, -h):
        with pytest.raises(tf.ShapeError, match=r"^drives\[0\]: a motion of shape \(41, 3\) has no row for"):
            stepper.step(BAR.closed, v, t=late)


def test_models_are_closed_with_their_drives():
    q = constraints.close(BAR.model, BAR.closed, drives=[MOTOR], t=0.1)
    rows = constraints.loop_rows(BAR.model, q, drives=[MOTOR], t=0.1)
    assert np.abs(rows.residual).max() <= 1e-12
    far = Drive("rocker", (2.9, 0.0, 0.0)), Drive("crank", (-1.5, 0.0, 0.0))
    with pytest.raises(tf.ConfigurationError, match=r"joint '\w+' cannot be driven to|loop 'tip' cannot be"):
        constraints.close(BAR.model, BAR.closed, drives=far)


def test_steppers_with_drives_are_pickled():
    stepper = Stepper(BAR.model, h=1e-3, drives=[STILL])
    first = stepper.step(BAR.closed, np.zeros(3))
    again = pickle.loads(pickle.dumps(Stepper(BAR.model, h=1e-3, drives=[STILL])))
    np.testing.assert_array_equal(again.step(BAR.closed, np.zeros(3)).drive_impulse, first.drive_impulse)


CALLS = {
    "rows": lambda model, *drives: constraints.loop_rows(model, tf.neutral(model), drives=drives),
    "dynamics": lambda model, *drives: constraints.forward_dynamics(
        model, tf.neutral(model), np.zeros(model.nv), np.zeros(model.nv), drives=drives
    ),
    "close": lambda model, *drives: constraints.close(model, tf.neutral(model), drives=drives),
    "stepper": lambda model, *drives: Stepper(model, drives=drives),
}
REFUSED = {
    r"drives\[0\] is not a Drive": (BAR.model, ["crank"], tf.InvalidModelError),
    r"drives\[0\]: 'crnk' is not a joint, body or loop of the model; did you mean 'crank'": (
        *(BAR.model, [Drive("crnk", crank)]),
        tf.InvalidModelError,
    ),
    r"^drives\[1\]: joint must be less than 3, the number of joints, got 7": (
        *(BAR.model, [MOTOR, Drive(7, crank)]),
        tf.InvalidModelError,
    ),
    r"drives\[0\] and drives\[1\] move the same: 0": (
        BAR.model,
        [MOTOR, Drive(0, crank)],
        tf.InvalidModelError,
    ),
    r"joint 'follower' follows 'leader': drive that": (ALL, [Drive("follower", crank)], tf.InvalidModelError),
    r"joint 'ball' is of the kind 'spherical', expected": (ALL, [Drive("ball", crank)], tf.InvalidModelError),
    r"freedom of 'cross' must be less than 2, got 2": (ALL, [Drive("cross", crank, 2)], tf.InvalidModelError),
    r"freedom of 'tip' must be less than 3, got 3": (
        BAR.model,
        [Drive("tip", crank, 3)],
        tf.InvalidModelError,
    ),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("message", REFUSED)
def test_drives_that_move_nothing_are_refused(message, call):
    model, drives, error = REFUSED[message]
    with pytest.raises(error, match=message):
        CALLS[call](model, *drives)


def test_drives_that_contradict_a_loop_are_infeasible():
    drives = [Drive("crank", lambda t: (0.7 + t, 1.0, 0.0)), Drive("rocker", (BAR.closed[2], 0.0, 0.0))]
    with pytest.raises(tf.StepError, match="INFEASIBLE"):
        Stepper(BAR.model, h=1e-3, drives=drives).step(BAR.closed, np.zeros(3))


@pytest.mark.parametrize("motion", [np.zeros(2), 1.0, np.zeros((3, 4))], ids=str)
def test_motions_of_other_shapes_are_refused(motion):
    with pytest.raises(tf.ShapeError, match="motion must be a function of t, or hold position, velocity and"):
        Drive("crank", motion)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((True, crank), tf.DtypeError, "joint must be a whole number or a name, got True"),
        ((np.True_, crank), tf.DtypeError, "joint must be a whole number"),
        ((0, [0.0, 0.0, np.nan]), tf.NonFiniteError, r"motion is not finite: motion\[2\]"),
        ((0, [np.inf, 0.0, 0.0]), tf.NonFiniteError, r"motion is not finite: motion\[0\]"),
    ],
)
def test_invalid_drives_are_refused_at_once(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        Drive(*arguments)


def lost(which):
    """Return a motion with one value that is not finite."""
    return lambda t: tuple(np.where(np.arange(3) == which, np.nan, 0.0))


SPOILT = CALLS | {
    "stepper": lambda model, *drives: Stepper(model, drives=drives).step(BAR.closed, np.zeros(3))
}


@pytest.mark.parametrize("call", SPOILT)
@pytest.mark.parametrize(("which", "name"), [(0, "position"), (1, "velocity"), (2, "acceleration")])
def test_motions_that_are_not_finite_are_named(call, which, name):
    drives = STILL, Drive("rocker", lost(which))
    with pytest.raises(
        tf.NonFiniteError, match=rf"^drives\[1\]: the {name} of its motion is not finite"
    ) as caught:
        SPOILT[call](BAR.model, *drives)
    assert caught.value.row == 3 + which


def test_samples_of_a_stepper_are_finite():
    samples = np.zeros((3, 3))
    samples[1, 1] = np.inf
    with pytest.raises(tf.NonFiniteError, match=r"^drives\[0\]: the velocity of .* at t = 0.001 s, got inf"):
        Stepper(BAR.model, h=1e-3, drives=[Drive("crank", samples)]).step(BAR.closed, np.zeros(3))


def test_one_sample_holds():
    stepper = Stepper(BAR.model, h=1e-3, drives=[Drive("crank", (0.0, 1.0, 0.0))])
    with pytest.raises(
        tf.ShapeError, match=r"^drives\[0\]: one sample \[0.0, 1.0, 0.0\] moves; give a funct"
    ):
        stepper.step(BAR.closed, np.zeros(3))


@pytest.mark.parametrize(
    "fails", [math.sin, lambda t: 1.0 if t > 0.5 else 0.0], ids=["TypeError", "ValueError"]
)
def test_functions_of_one_time_are_named(fails):
    drive = Drive("crank", lambda t: (fails(t), 0.0, 0.0))
    with pytest.raises(
        tf.ShapeError, match=r"^drives\[0\]: motion\(t\) of t with shape \(4,\) raised .*Error: "
    ):
        constraints.loop_rows(BAR.model, BAR.closed, drives=[drive], t=np.zeros(4))


@pytest.mark.parametrize("returned", [1.0, (1.0, 2.0), (np.zeros(2), 0.0, 0.0)], ids=str)
def test_functions_that_return_other_shapes_are_refused(returned):
    with pytest.raises(tf.ShapeError, match=r"^drives\[0\]: motion\(t\)"):
        constraints.loop_rows(BAR.model, BAR.closed, drives=[Drive("crank", lambda t: returned)])


def test_leading_axes_of_motions_match():
    state = np.tile(BAR.closed, (4, 1)), np.ones((4, 3)), np.ones((4, 3))
    with pytest.raises(tf.ShapeError, match=r"^drives must have shape"):
        constraints.forward_dynamics(BAR.model, *state, drives=[Drive("crank", np.ones((3, 3)))])
    two = [Drive("crank", np.ones((3, 3))), Drive("rocker", np.ones((4, 3)))]
    with pytest.raises(tf.ShapeError, match=r"drives\[1\] has leading axes \(4,\), drives\[0\] \(3,\)"):
        constraints.forward_dynamics(BAR.model, *state, drives=two)
