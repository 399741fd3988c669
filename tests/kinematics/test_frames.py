"""Compare placements, motions and Jacobians of frames with Pinocchio's conventions and with differences."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.dynamics_cases import arguments, error, free
from helpers.frame_cases import REFERENCES, ROBOTS, Expected, loaded, with_frames
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.model.joints import SIZES

CLOSE = 1e-13  # relative to the largest entry, or to 1
STEP = 1e-5  # of central differences
BY_DIFFERENCES = 1e-7  # relative


def motion_scale(v, a):
    """Return the size of the terms of velocities and accelerations, which may cancel."""
    return 1.0 + np.square(v).sum() + np.abs(a).sum()


def assert_agrees(model, theirs, frames, seed=0, mimic=False):
    """Assert K1 to K5: all results of all frames are Pinocchio's."""
    q, v, a, _ = arguments(model, seed)
    expected, size = Expected(theirs, q, v, a), motion_scale(v, a)
    for i, frame in enumerate(frames):
        T = expected.placement(i)
        scale = 1.0 + np.abs(T).max()
        assert error(tf.frame_placement(model, q, frame), T, scale) < CLOSE
        for ref in REFERENCES:
            own = {
                "velocity": tf.frame_velocity(model, q, v, frame, ref),
                "acceleration": tf.frame_acceleration(model, q, v, a, frame, ref),
                "classical": tf.frame_acceleration(model, q, v, a, frame, ref, classical=True),
            }
            wanted = {
                "velocity": expected.velocity(i, ref),
                "acceleration": expected.acceleration(i, ref, False),
                "classical": expected.acceleration(i, ref, True),
            }
            for name, value in own.items():
                assert error(value, wanted[name], size * scale) < CLOSE, (frame.name, ref, name)
            if mimic:
                continue
            J = expected.jacobian(i, ref)
            assert error(tf.frame_jacobian(model, q, frame, ref), J, scale) < CLOSE, (frame.name, ref)
            if any(joint.kind == "universal" for joint in model.joints):
                continue  # Pinocchio 4.1 leaves out that its first axis turns in the body
            dJ = tf.frame_jacobian_dot(model, q, v, frame, ref)
            assert error(dJ, expected.jacobian_dot(i, ref), size * scale) < CLOSE, (frame.name, ref)


@pytest.mark.parametrize("name", ROBOTS)
def test_frames_of_robots_are_pinocchios(name):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    theirs, model = loaded(*ROBOTS[name])
    assert_agrees(model, theirs, model.frames, mimic=model.coupling is not None)


@pytest.mark.parametrize("name", ROBOTS)
def test_joints_of_robots_are_pinocchios(name):
    """Covers K15: the Jacobians of a model with mimic joints have nv columns, with ratios."""
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    theirs, model = loaded(*ROBOTS[name])
    q, v, a, _ = arguments(model, 1)
    expected = Expected(theirs, q, v, a)
    T = expected.joints()
    assert error(tf.joint_placements(model, q), T, 1.0) < CLOSE
    for joint in range(model.njoints):
        for ref in REFERENCES:
            J = expected.joint_jacobian(joint, ref)
            assert error(tf.joint_jacobian(model, q, joint, ref), J, 1.0 + np.abs(T).max()) < CLOSE


@pytest.mark.parametrize("kind", SIZES)
def test_frames_on_each_kind_of_joint_are_pinocchios(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    for kinds in [[kind], [kind, kind], ["revolute", kind, "spherical"]]:
        model = free(random_model(range(-1, len(kinds) - 1), kinds, 1))
        theirs = in_pinocchio(model)
        frames = with_frames(theirs, model)
        assert_agrees(model, theirs, frames)


@settings(max_examples=25)
@given(models(depth_first=True, max_joints=6), st.integers(0, 2**32 - 1))
def test_frames_on_trees_are_pinocchios(model, seed):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model = free(model)
    theirs = in_pinocchio(model)
    assert_agrees(model, theirs, with_frames(theirs, model, seed), seed)


@settings(max_examples=50)
@given(models(), st.integers(0, 2**32 - 1), st.sampled_from(REFERENCES))
def test_results_are_derivatives_of_each_other(model, seed, reference):
    """Covers mimic joints of every ratio: p' = v, J v = velocity, J' = dJ, and K5."""
    q, v, a, _ = arguments(model, seed)
    rng = np.random.default_rng(seed)
    frame = tf.Frame("f", seed % model.njoints, p=rng.normal(size=3))
    J = tf.frame_jacobian(model, q, frame, reference)
    dJ = tf.frame_jacobian_dot(model, q, v, frame, reference)
    scale = (1.0 + np.abs(J).max() ** 2) * motion_scale(v, a)
    assert error(J @ v, tf.frame_velocity(model, q, v, frame, reference), scale) < CLOSE
    classical = reference == "LOCAL_WORLD_ALIGNED"
    acceleration = tf.frame_acceleration(model, q, v, a, frame, reference, classical)
    assert error(dJ @ v + J @ a, acceleration, scale) < CLOSE
    after, before = (tf.integrate(model, q, sign * STEP * v) for sign in (1.0, -1.0))
    change = tf.frame_jacobian(model, after, frame, reference) - tf.frame_jacobian(
        model, before, frame, reference
    )
    assert error(change / (2 * STEP), dJ, scale) < BY_DIFFERENCES
    moved = tf.frame_placement(model, after, frame) - tf.frame_placement(model, before, frame)
    rate = tf.frame_velocity(model, q, v, frame, "LOCAL_WORLD_ALIGNED")
    assert error(moved[:, 3] / (2 * STEP), rate[:3], scale) < BY_DIFFERENCES


def test_where_the_base_stands_changes_no_bit():
    joints = list(
        free(random_model([-1, 0, 1, 2], ["revolute", "helical", "revolute", "spherical"], 3)).joints
    )
    near = tf.Model(joints)
    far = tf.Model([replace(joints[0], p=joints[0].p + 2.0**20), *joints[1:]])
    q, v, a, _ = arguments(near, 2)
    frame = tf.Frame("f", 3, p=[0.3, -0.2, 0.1])
    for ref in ("LOCAL", "LOCAL_WORLD_ALIGNED"):
        for function, arrays in [
            (tf.frame_jacobian, (q,)),
            (tf.frame_jacobian_dot, (q, v)),
            (tf.frame_velocity, (q, v)),
            (tf.frame_acceleration, (q, v, a)),
        ]:
            assert (function(near, *arrays, frame, ref) == function(far, *arrays, frame, ref)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(tf.robots.bundled()))
@pytest.mark.parametrize("mimic", [False, True], ids=["free", "mimic"])
def test_frames_of_all_robots_are_pinocchios(name, mimic):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    try:
        theirs, model = loaded(name, True, mimic)
    except (tf.AdapterError, tf.InvalidModelError) as refusal:
        pytest.skip(f"it is not loaded: {refusal}")
    assert_agrees(model, theirs, model.frames, mimic=model.coupling is not None)


def test_a_million_metres_away_no_digit_is_lost():
    """Compare a floating robot at the origin with the same one far away."""
    model = free(
        random_model([-1, 0, 1, 2, 1], ["freeflyer", "revolute", "helical", "prismatic", "revolute"], 3)
    )
    q, v, a, _ = arguments(model, 2)
    q[:3] = 0.0
    far = q.copy()
    far[:3] = 2.0**20, -(2.0**20), 2.0**19
    frame = tf.Frame("f", 4, p=[0.3, -0.2, 0.1])
    for ref in ("LOCAL", "LOCAL_WORLD_ALIGNED"):
        for function, arrays in [
            (tf.frame_jacobian, ()),
            (tf.frame_jacobian_dot, (v,)),
            (tf.frame_velocity, (v,)),
            (tf.frame_acceleration, (v, a)),
        ]:
            near, away = (function(model, x, *arrays, frame, ref) for x in (q, far))
            assert (near == away).all()
    near, away = (tf.frame_placement(model, x, frame) for x in (q, far))
    assert (near[:, :3] == away[:, :3]).all()
    shift = model.joints[0].R @ far[:3]
    assert np.abs(away[:, 3] - near[:, 3] - shift).max() <= 8 * np.spacing(2.0**20)
