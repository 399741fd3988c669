"""Exciting motions: limits at every time, rest at both ends, condition, seeds, robots they are not for."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import treefactor as tf
from treefactor.exceptions import InvalidModelError, NonFiniteError, ShapeError
from treefactor.identification import exciting_motion

ROD = tf.Inertia(1.0, [0.1, 0.05, -0.4], np.diag([0.1, 0.12, 0.06]))
KINDS = ("continuous", "revolute", "prismatic")
LIMITS = {"lower": [-2.0, -1.0, -0.1], "upper": [1.0, 2.0, 0.4], "velocity_limits": [1.5, 2.0, 0.5]}
FAST = {"harmonics": 3, "iterations": 3}


@pytest.fixture(scope="module")
def arm():
    """Return an arm with a continuous, a revolute and a prismatic joint."""
    axes = ([0, 0, 1], [0, 1, 0], [1, 0, 0])
    return tf.Model(
        [
            tf.Joint(kind, kind, i - 1, p=[0.1, 0, 0.3], axis=axis, inertia=ROD)
            for i, (kind, axis) in enumerate(zip(KINDS, axes, strict=True))
        ]
    )


@pytest.fixture(scope="module")
def motion(arm):
    return exciting_motion(arm, tf.base_parameters(arm), 8.0, **LIMITS, acceleration_limits=4.0, **FAST)


def angles(model, q):
    """Return the positions of the freedoms, from -pi to pi for the continuous joint."""
    start = np.broadcast_to(tf.neutral(model), q.shape)
    return tf.difference(model, start, q)


def test_limits_hold_at_every_time(arm, motion):
    q, v, a = motion.at(np.linspace(0, 8, 20001))
    x = angles(arm, q)
    assert (x >= np.array(LIMITS["lower"]) - 1e-12).all()
    assert (x <= np.array(LIMITS["upper"]) + 1e-12).all()
    assert (np.abs(v) <= np.array(LIMITS["velocity_limits"]) + 1e-12).all()
    assert np.abs(a).max() <= 4.0 + 1e-12
    share = np.maximum(np.abs(v).max(0) / LIMITS["velocity_limits"], np.abs(a).max(0) / 4.0)
    reach = np.ptp(x, axis=0) / (np.array(LIMITS["upper"]) - LIMITS["lower"])
    assert np.maximum(share, reach).max() > 0.7  # the limits are used


def test_it_rests_at_both_ends_and_repeats_itself(motion):
    q, v, a = motion.at([0.0, 8.0, 16.0])
    assert np.abs([v, a]).max() < 1e-12
    assert np.allclose(q, q[0], atol=1e-12)
    one = motion.at(3.0)
    assert [part.shape for part in one] == [(4,), (3,), (3,)]
    many = motion.at(np.full((2, 5), 3.0))
    for single, batch in zip(one, many, strict=True):
        assert batch.shape == (2, 5, single.size)
        assert np.allclose(batch[1, 2], single, atol=1e-14)


def test_velocities_and_accelerations_are_derivatives(arm, motion):
    t, step = np.linspace(0.1, 7.9, 50), 1e-5
    (before, v0, _), (_, v, a), (after, v1, _) = (motion.at(t + shift) for shift in (-step, 0.0, step))
    assert np.allclose(tf.difference(arm, before, after) / (2 * step), v, atol=1e-8)
    assert np.allclose((v1 - v0) / (2 * step), a, atol=1e-8)


def test_the_condition_is_that_of_the_regressor_and_iterations_lower_it(arm, motion):
    base = tf.base_parameters(arm)
    first = exciting_motion(arm, base, 8.0, **LIMITS, acceleration_limits=4.0, harmonics=3, iterations=0)
    better = exciting_motion(arm, base, 8.0, **LIMITS, acceleration_limits=4.0, harmonics=3, iterations=30)
    assert better.cond < 0.8 * first.cond
    assert better.cond <= motion.cond <= first.cond
    Y = tf.regressor(
        arm, *better.at(np.linspace(0, 8, 1000, endpoint=False)), columns=("inertia", "armature")
    )
    Y = Y[..., base.kept].reshape(-1, base.count)
    assert np.isclose(np.linalg.cond(Y / np.linalg.norm(Y, axis=0)), better.cond, rtol=1e-6)


def test_base_parameters_may_leave_armature_out(arm):
    exciting = exciting_motion(arm, tf.base_parameters(arm, armature=False), 8.0, **LIMITS, **FAST)
    assert 1.0 <= exciting.cond < 1e3


def test_equal_seeds_give_equal_motions(arm, motion):
    options = {**LIMITS, "acceleration_limits": 4.0, **FAST}
    base = tf.base_parameters(arm)
    assert np.array_equal(exciting_motion(arm, base, 8.0, **options).coefficients, motion.coefficients)
    other = exciting_motion(arm, base, 8.0, **options, seed=1)
    assert not np.allclose(other.coefficients, motion.coefficients)
    again = pickle.loads(pickle.dumps(motion))
    assert np.array_equal(again.at(2.0)[0], motion.at(2.0)[0])


def test_a_longer_motion_within_wider_limits_is_a_scaled_one(arm):
    """Without limits of velocity and acceleration, the shape does not depend on them."""
    base = tf.base_parameters(arm)
    options = {"lower": LIMITS["lower"], "upper": LIMITS["upper"], "harmonics": 2, "iterations": 0}
    short, long = (exciting_motion(arm, base, duration, **options) for duration in (1.0, 1.0 + 1e-12))
    assert np.allclose(short.coefficients, long.coefficients, atol=1e-9)
    assert short.coefficients.shape == (3, 5)


def test_progress_is_shown_on_stderr_only(arm, capsys):
    exciting_motion(arm, tf.base_parameters(arm), 8.0, **LIMITS, harmonics=2, iterations=0, progress=True)
    out, err = capsys.readouterr()
    assert not out
    assert "searching" in err


def test_followers_move_with_their_leaders(arm):
    joints = [
        tf.Joint("a", "revolute", axis=[0, 1, 0], inertia=ROD, lower=-1, upper=1),
        tf.Joint("b", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=ROD, mimic=tf.Mimic("a", -0.5)),
    ]
    model = tf.Model(joints)
    base = SimpleNamespace(columns=range(20), kept=np.array([1, 3, 6]))  # h_x, h_z and I_yy of a
    exciting = exciting_motion(model, base, 4.0, **FAST)
    assert np.abs(exciting.at(np.linspace(0, 4, 200))[0]).max() <= 1.0


def test_the_robot_of_a_file_uses_its_limits():
    path = tf.robots.bundled().get("ur5_robot")
    if path is None:
        pytest.skip("needs example-robot-data")
    model = tf.Model.from_urdf(path)
    exciting = exciting_motion(model, tf.base_parameters(model), 10.0, iterations=2)
    q, v, _ = exciting.at(np.linspace(0, 10, 500))
    assert ((q >= model.lower) & (q <= model.upper)).all()
    assert np.isfinite(model.velocity_limit).all()
    assert (np.abs(v) <= model.velocity_limit + 1e-12).all()
    assert exciting.cond < 100


def test_robots_and_arguments_that_do_not_fit_are_named(arm):
    base = tf.base_parameters(arm)
    ball = tf.Model([tf.Joint("ball", "spherical", inertia=ROD)])
    with pytest.raises(InvalidModelError, match="joint 'ball' is a spherical joint with 3 freedoms"):
        exciting_motion(ball, base, 5.0)
    with pytest.raises(InvalidModelError, match="joint 'revolute' has no limits: pass lower and upper"):
        exciting_motion(arm, base, 5.0)
    with pytest.raises(InvalidModelError, match="no joint that moves"):
        exciting_motion(tf.Model([]), base, 5.0)
    single = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=ROD)])
    with pytest.raises(ShapeError, match="expected base parameters of 30 or 33 parameters, got 11"):
        exciting_motion(arm, tf.base_parameters(single), 5.0, **LIMITS)
    with pytest.raises(ShapeError, match=r"lower must have shape \(\) or \(3,\)"):
        exciting_motion(arm, base, 5.0, lower=[0.0, 1.0], upper=2.0)
    with pytest.raises(
        ValueError, match=r"lower must be below upper, got 1\.0 and 1\.0 for joint 'continuous'"
    ):
        exciting_motion(arm, base, 5.0, lower=1.0, upper=1.0)
    with pytest.raises(ValueError, match="velocity_limits must be positive, got 0 for joint 'continuous'"):
        exciting_motion(arm, base, 5.0, lower=-1.0, upper=1.0, velocity_limits=0.0)
    with pytest.raises(ValueError, match="acceleration_limits must be positive, got -1 for joint"):
        exciting_motion(arm, base, 5.0, lower=-1.0, upper=1.0, acceleration_limits=-1.0)
    with pytest.raises(ValueError, match="duration must be positive"):
        exciting_motion(arm, base, 0.0, **LIMITS)
    with pytest.raises(ValueError, match="harmonics must be at least 2"):
        exciting_motion(arm, base, 5.0, 1, **LIMITS)
    with pytest.raises(NonFiniteError, match="t is not finite"):
        exciting_motion(arm, base, 8.0, **LIMITS, harmonics=2, iterations=0).at(np.nan)
