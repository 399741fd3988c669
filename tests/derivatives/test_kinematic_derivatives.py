"""Compare derivatives of frames, masses and configurations with complex steps, identities and Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import (
    FIRST_ORDER,
    KINDS,
    MODELS,
    ROBOTS,
    SINGLE,
    class_error,
    is_linear,
    random_case,
    robot,
    rooted,
)
from helpers.dynamics_cases import error
from helpers.model_cases import in_pinocchio, models
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import derivatives as oracle

import treefactor as tf

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
ROUNDING = 1e-13  # Pinocchio's, and of terms that cancel
STEP = 1e-5  # of central differences
SMOOTH = 1e-7  # their relative error
FAR = np.array([1e6, -2e6, 0.5e6])
TURNS = [False] * 3 + [True] * 3  # rows of a motion


def tips(model):
    """Return a frame on every joint, and one on the base."""
    return [tf.Frame(f"f{i}", i, p=[0.3, -0.2, 0.1]) for i in range(-1, model.njoints)]


def assert_motions(model, own, expected, scale=1.0):
    """Assert that derivatives agree: every class of rows and columns within its size or the scale."""
    columns = is_linear(model)
    for one, other in zip(own, expected, strict=True):
        rows = TURNS if other.shape[-2] == 6 else [False] * 3
        assert class_error(one, other, rows, columns, scale) < FIRST_ORDER


def size_of(q, v, a):
    """Return the size of the terms of accelerations, which may cancel."""
    return (1.0 + np.abs(q).max()) * (1.0 + np.square(v).sum() + np.abs(a).sum())


def by_steps(model, function):
    """Return the derivatives of an array by displacements of q, v and a."""
    zero, n = np.zeros((model.nv, model.nv)), model.nv  # every quantity is one of a batch
    return (
        oracle.by_complex_steps(lambda x: function(x, zero, zero), n),
        oracle.by_complex_steps(lambda x: function(zero, x, zero), n),
        oracle.by_complex_steps(lambda x: function(zero, zero, x), n),
    )


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", MODELS)
def test_motions_of_frames_change_as_complex_steps_of_them(name, reference):
    model = MODELS[name]
    q, v, a, _, _ = random_case(model)
    derivatives = [
        tf.frame_derivatives(model, q, v, a, tips(model), reference, turned) for turned in (False, True)
    ]
    for i, frame in enumerate(tips(model)):

        def motions(dq, dv, da, frame=frame):
            state = oracle.frame_state(model, q, v, a, frame, reference, dq, dv, da)
            return np.stack(state[1:], axis=-2)

        by_q, by_v, by_a = by_steps(model, motions)
        for classical, one in enumerate(derivatives):
            own = [part[i] for part in one]
            expected = by_v[..., 0, :, :], by_q[..., 0, :, :], by_q[..., 1 + classical, :, :]
            expected = *expected, by_v[..., 1 + classical, :, :]
            assert_motions(model, own, expected)
            assert_motions(model, own[:1], [by_a[..., 1 + classical, :, :]])


@pytest.mark.parametrize("name", MODELS)
def test_frames_move_by_their_jacobian(name):
    """The Jacobian is the derivative of the placement: of the point, and of the angle of the rotation."""
    model = MODELS[name]
    q, v, a, _, _ = random_case(model, 1)
    for frame in tips(model)[1:]:
        derivatives = tf.frame_derivatives(model, q, v, a, frame, "LOCAL_WORLD_ALIGNED")
        local = tf.frame_derivatives(model, q, v, a, frame, "LOCAL")
        moved = by_steps(
            model, lambda *x, frame=frame: oracle.frame_state(model, q, v, a, frame, "LOCAL", *x).placement
        )[0]
        R = tf.frame_placement(model, q, frame)[:, :3]
        turns = np.einsum("ijn,kj->ikn", moved[:, :3], R)
        assert error(derivatives.jacobian[:3], moved[:, 3], 1.0) < ROUNDING
        assert error(derivatives.jacobian[3:], turns[[2, 0, 1], [1, 2, 0]], 1.0) < ROUNDING
        assert error(R.T @ derivatives.jacobian[:3], local.jacobian[:3], 1.0) < ROUNDING
        assert derivatives.velocity_v is derivatives.jacobian
        assert derivatives.acceleration_a is derivatives.jacobian


@pytest.mark.parametrize("name", MODELS)
def test_masses_change_as_complex_steps_of_them(name):
    model = MODELS[name]
    q, v, a, _, _ = random_case(model, 2)
    mass = sum(joint.inertia.mass for joint in model.joints)

    def masses(dq, dv, da):
        return np.concatenate(oracle.centroidal_state(model, q, v, a, dq, dv, da), axis=-1)

    parts = np.cumsum([3, 3, 3, 6])
    com, velocity, acceleration, momentum, rate = zip(
        *(np.split(by, parts) for by in by_steps(model, masses)), strict=True
    )
    of = tf.com_derivatives(model, q, v, a)
    assert_motions(model, of, [com[0], velocity[0], *acceleration[:2]])
    assert_motions(model, [of.velocity_v, of.acceleration_a], [velocity[1], acceleration[2]])
    h = tf.centroidal_derivatives(model, q, v, a)
    assert_motions(model, h, [rate[2], momentum[0], *rate[:2]], mass)
    assert_motions(model, [h.dh_dv], [momentum[1]], mass)


@pytest.mark.parametrize("name", ["all kinds", "followers"])
def test_centres_of_subtrees_change_as_differences_of_them(name):
    model = MODELS[name]
    q, v, a, _, _ = random_case(model, 3)
    for root in range(model.njoints):
        by_q, by_v = (
            [
                np.stack(
                    [(f(step)[k] - f(-step)[k]) / (2 * STEP) for step in STEP * np.eye(model.nv)], axis=-1
                )
                for k in range(3)
            ]
            for f in (
                lambda x, root=root: tf.center_of_mass(model, tf.integrate(model, q, x), v, a, root),
                lambda x, root=root: tf.center_of_mass(model, q, v + x, a, root),
            )
        )
        own = tf.com_derivatives(model, q, v, a, root)
        for one, other in zip(own, (*by_q, by_v[2]), strict=True):
            assert error(one, other, 1.0) < SMOOTH


@settings(max_examples=50)
@given(models(), st.sampled_from(REFERENCES), st.integers(0, 2**32 - 1))
def test_derivatives_are_those_of_motions_in_time(model, reference, seed):
    """Along v and a: V' = A, h' = rate; Euler: A and the rate are quadratic in v."""
    q, v, a, _, _ = random_case(model, seed)
    still, scale = np.zeros(model.nv), 1e2 * size_of(q, v, a) ** 2
    aligned = reference == "LOCAL_WORLD_ALIGNED"
    for frame in (-1, model.joints[-1].name):
        derivatives = tf.frame_derivatives(model, q, v, a, frame, reference, aligned)
        rate = tf.frame_acceleration(model, q, v, a, frame, reference, aligned)
        assert error(derivatives.velocity_q @ v + derivatives.jacobian @ a, rate, scale) < ROUNDING
        twice = 2.0 * tf.frame_acceleration(model, q, v, still, frame, reference, aligned)
        assert error(derivatives.acceleration_v @ v, twice, scale) < ROUNDING
        assert error(derivatives.jacobian, tf.frame_jacobian(model, q, frame, reference)) < ROUNDING
    scale *= 1.0 + sum(joint.inertia.mass for joint in model.joints)
    h, rate = tf.centroidal_derivatives(model, q, v, a), tf.centroidal_momentum_rate(model, q, v, a)
    assert error(h.dh_dq @ v + h.dhdot_da @ a, rate, scale) < ROUNDING
    assert error(h.dhdot_dv @ v, 2.0 * tf.centroidal_momentum_rate(model, q, v, None), scale) < ROUNDING
    com = tf.com_derivatives(model, q, v)
    moving = tf.center_of_mass(model, q, v, still)
    assert error(com.velocity_q @ v, moving[2], scale) < ROUNDING
    assert error(com.acceleration_v @ v, 2.0 * moving[2], scale) < ROUNDING
    assert error(com.jacobian, tf.center_of_mass_jacobian(model, q), 1.0) < ROUNDING


def pairs():
    """Return functions that load Pinocchio's model and ours where its derivatives are right."""
    trees = {name: model for name, model in SINGLE.items() if "universal" not in name}
    named = {name: lambda name=name: robot(name) for name in ROBOTS}
    return named | {name: lambda model=model: (in_pinocchio(model), model) for name, model in trees.items()}


@pytest.mark.parametrize("name", pairs())
def test_derivatives_of_motions_are_pinocchios(name):
    """Aligned ones are its matrices in WORLD moved to the frame, without the motion of its origin."""
    pin = pytest.importorskip("pinocchio")
    theirs, model = pairs()[name]()
    q, v, a, _, _ = random_case(model, 4)
    data, joint, scale = theirs.createData(), theirs.njoints - 1, size_of(q, v, a)
    pin.computeForwardKinematicsDerivatives(theirs, data, q, v, a)
    moving = "mid" in name and any(kind in name for kind in ("spherical", "planar", "freeflyer"))
    for reference in REFERENCES:
        at = pin.ReferenceFrame.names[reference]
        expected = [x.copy() for x in pin.getJointAccelerationDerivatives(theirs, data, joint, at)]
        by_q = pin.getJointVelocityDerivatives(theirs, data, joint, at)[0].copy()
        own = tf.frame_derivatives(model, q, v, a, model.joints[-1].name, reference)
        wanted = [expected[3], by_q, *expected[1:3]]
        if reference == "LOCAL_WORLD_ALIGNED":  # less the displacement of the point that they leave out
            p = own.jacobian[:3]
            own = [own[0], *(x.copy() for x in own[1:])]
            for k, y in ((1, tf.frame_velocity), (2, tf.frame_acceleration)):
                args = (q, v) if k == 1 else (q, v, a)
                turning = y(model, *args, model.joints[-1].name, reference)[3:]
                own[k][:3] -= np.cross(turning, p, axisb=0).T
        if moving and reference != "LOCAL":
            assert error(own[2], wanted[2], scale) > 1e-3  # a defect of Pinocchio 4.1; fails when mended
            own, wanted = [*own[:2], own[3]], [*wanted[:2], wanted[3]]
        for one, other in zip(own, wanted, strict=True):
            assert error(one, other, scale) < ROUNDING


@pytest.mark.parametrize("name", pairs())
def test_derivatives_of_masses_are_pinocchios(name):
    pin = pytest.importorskip("pinocchio")
    theirs, model = pairs()[name]()
    q, v, a, _, _ = random_case(model, 5)
    data, mass = theirs.createData(), sum(joint.inertia.mass for joint in model.joints)
    expected = [x.copy() for x in pin.computeCentroidalDynamicsDerivatives(theirs, data, q, v, a)]
    own = tf.centroidal_derivatives(model, q, v, a)
    for one, other in zip((*own[1:], own[0]), expected, strict=True):
        assert error(one, other, mass * size_of(q, v, a)) < ROUNDING
    pin.computeForwardKinematicsDerivatives(theirs, data, q, v, a)
    pin.centerOfMass(theirs, data, q, v)
    by_q = pin.getCenterOfMassVelocityDerivatives(theirs, data)
    assert error(tf.com_derivatives(model, q, v, a).velocity_q, by_q, size_of(q, v, a)) < ROUNDING


@pytest.mark.parametrize("kind", KINDS)
def test_a_base_far_away_changes_nothing(kind):
    model = rooted(kind)
    first, *others = model.joints
    away = tf.Model([replace(first, p=first.p + FAR), *others], model.gravity)
    q, v, a, _, _ = random_case(model, 6)
    for reference in ("LOCAL", "LOCAL_WORLD_ALIGNED"):
        for classical in (False, True):
            near, far = (
                tf.frame_derivatives(m, q, v, a, m.joints[2].name, reference, classical)
                for m in (model, away)
            )
            assert all(map(np.array_equal, near, far))
    for function in (tf.com_derivatives, tf.centroidal_derivatives):
        assert all(map(np.array_equal, function(model, q, v, a), function(away, q, v, a)))


@pytest.mark.parametrize("name", ["all kinds", "followers", "forest"])
def test_elements_of_batches_are_apart(name):
    """A row of NaN makes its own result NaN, and changes no bit of others; zero columns stay zero."""
    model = MODELS[name]
    q, v, a, _, _ = random_case(model, 7, (19,))
    functions = [
        *(
            lambda q, v, a, r=r, **o: tf.frame_derivatives(model, q, v, a, tips(model), r, True, **o)
            for r in REFERENCES
        ),
        lambda q, v, a, **o: tf.com_derivatives(model, q, v, a, **o),
        lambda q, v, a, **o: tf.centroidal_derivatives(model, q, v, a, **o),
        lambda q, v, a, **o: tf.integrate_derivatives(model, q, v, **o),
        lambda q, v, a, **o: tf.difference_derivatives(model, q, np.roll(q, 1, 0), **o),
    ]
    for i, function in enumerate(functions):
        plain = function(q, v, a)
        out = type(plain)(*map(np.full_like, plain, [7.0] * 4)) if i < 5 else tuple(map(np.zeros_like, plain))
        assert function(q, v, a, out=out, num_threads=2)[0] is out[0]
        assert all(map(np.array_equal, plain, out))
        bad = q.copy(), v.copy()
        bad[i == 5][5] = np.nan  # derivatives of integrate do not read q
        rest = np.arange(19) != 5
        if i == 6:
            rest[6] = False  # whose second configuration that is
        for one, other in zip(function(*((bad[0], v) if i != 5 else (q, bad[1])), a), plain, strict=True):
            np.testing.assert_array_equal(one[rest], other[rest])
            if i < 5:
                moved = np.broadcast_to(np.any(plain[0] != 0.0, axis=(0, -2), keepdims=True), other.shape)[5]
                np.testing.assert_array_equal(one[5], np.where(moved, np.nan, 0.0))
            else:
                assert np.isnan(one[5]).any()


def test_frames_are_given_as_other_functions_take_them():
    model = MODELS["all kinds"]
    q, v, a, _, _ = random_case(model, 8, (3,))
    frames = ["j3", -1, tf.Frame("tip", 2, p=[0.1, 0.2, 0.3])]
    many = tf.frame_derivatives(model, q, v, a, frames, "WORLD")
    for k, frame in enumerate(frames):
        one = tf.frame_derivatives(model, q, v, a, frame, "WORLD")
        assert all(np.array_equal(x[:, k], y) for x, y in zip(many, one, strict=True))
    still = tf.frame_derivatives(model, q, v, None, "j3")
    for x, y in zip(still, tf.frame_derivatives(model, q, v, 0.0 * a, "j3"), strict=True):
        np.testing.assert_array_equal(x, y)
    with pytest.raises(tf.InvalidModelError, match="j33"):
        tf.frame_derivatives(model, q, v, a, "j33")
    with pytest.raises(ValueError, match="reference"):
        tf.frame_derivatives(model, q, v, a, "j3", "local")
    with pytest.raises(TypeError, match="v is needed"):
        tf.com_derivatives(model, q, None, a)
    with pytest.raises(tf.ShapeError, match="out must be a tuple of 4 arrays, got ndarray"):
        tf.centroidal_derivatives(model, q, v, a, out=np.empty((3, 6, model.nv)))


@pytest.mark.parametrize("name", MODELS)
def test_steps_of_configurations_change_as_complex_steps_of_them(name):
    model = MODELS[name]
    q, v, _, _, _ = random_case(model, 9)
    reached = tf.integrate(model, q, v)
    d = tf.difference(model, q, reached)
    for own, expected in [
        (tf.integrate_derivatives(model, q, v), oracle.integrate_derivatives(model, v)),
        (tf.difference_derivatives(model, q, reached), oracle.difference_derivatives(model, d)),
    ]:
        for one, other in zip(own, expected, strict=True):
            assert class_error(one, other, is_linear(model), is_linear(model), 1.0) < 1e-12
    assert all(map(np.array_equal, tf.integrate_derivatives(model, q, v), tf.d_integrate(model, q, v)))
    assert all(
        map(np.array_equal, tf.difference_derivatives(model, q, reached), tf.d_difference(model, q, reached))
    )
    with pytest.raises(ValueError, match="out must be a tuple of 2 arrays"):
        tf.integrate_derivatives(model, q, v, out=np.empty((model.nv, model.nv)))
    for out, reason in ((None, "a tuple of 2"), ([np.empty((model.nv, model.nv))] * 2, "share memory")):
        with pytest.raises(ValueError, match=reason):
            tf.bind(tf.difference_derivatives, model, q, reached, out=out)


def test_a_model_of_one_joint_gives_its_block():
    model = rooted("freeflyer")
    q, v, _, _, _ = random_case(model, 10, (5,))
    base = tf.Model([model.joints[0]])
    for whole, block in zip(
        tf.integrate_derivatives(model, q, v),
        tf.integrate_derivatives(base, q[:, :7], v[:, :6]),
        strict=True,
    ):
        np.testing.assert_array_equal(whole[:, :6, :6], block)
        assert not whole[:, :6, 6:].any()
