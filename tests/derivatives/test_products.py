"""Compare products of vectors with derivatives of the dynamics with the reference derivatives."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import MODELS, PER_CONDITION, ROBOTS, random_case, robot, scaled_error, sizes
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import derivatives as oracle

import treefactor as tf

ROUNDING = 2e-14  # relative to the largest entry, scaled: sums of all freedoms
FAR = 1e-12
EVERYTHING = {"fext_gradient": True, "inertia_gradient": True, "with_value": True}

pytestmark = pytest.mark.isa


def motions(model, size, count, rng=1):
    """Return random directions in q, v and a; a force times one of them is an energy of order 1."""
    return np.random.default_rng(rng).normal(size=(count, model.nv)) / size


def error(own, expected, size):
    """Return the largest deviation of a gradient or force over the largest entry, both divided by sizes."""
    return scaled_error(np.atleast_2d(own), np.atleast_2d(expected), np.ones(1), size)


def allowed(model, q, size):
    """Return the relative error of solutions with H."""
    return PER_CONDITION * np.linalg.cond(tf.crba(model, q) / np.outer(size, size))


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_forces_are_products_with_the_matrices(name):
    model = MODELS[name]
    q, v, a, _, fext = random_case(model)
    size = sizes(model, q)
    (w,) = motions(model, size, 1)
    gradients = tf.rnea_vjp(model, q, v, a, w, fext, **EVERYTHING)
    assert gradients._fields == ("q", "v", "a", "fext", "inertia", "value")
    expected = [w @ matrix for matrix in oracle.rnea_derivatives(model, q, v, a, fext)]
    for own, other in zip(gradients[:3], expected, strict=True):
        assert error(own, other, size) < ROUNDING
    for own, other in (
        (gradients.fext, oracle.gradient_by_forces(model, q, w)),
        (gradients.inertia, oracle.gradient_by_inertia(model, q, v, a, w)),
    ):
        columns = np.abs(other).max(axis=0) + 1e-300  # numbers of one unit
        np.testing.assert_allclose(own / columns, other / columns, rtol=0, atol=ROUNDING)
    assert error(gradients.value, tf.rnea(model, q, v, a, fext), size) < ROUNDING


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_forces_are_products_with_the_matrices(name):
    model = MODELS[name]
    q, v, a, _, fext = random_case(model)
    size = sizes(model, q)
    directions = motions(model, size, 3)
    dfext = np.random.default_rng(2).normal(size=fext.shape)
    changes = tf.rnea_jvp(model, q, v, a, *directions, fext, dfext, with_value=True)
    assert error(changes.tau, tf.rnea(model, q, v, a, fext), size) < ROUNDING
    matrices = oracle.rnea_derivatives(model, q, v, a, fext)
    parts = [matrix @ d for matrix, d in zip(matrices, directions, strict=True)]
    parts.append(np.array([(oracle.gradient_by_forces(model, q, e) * dfext).sum() for e in np.eye(model.nv)]))
    assert error(changes.dtau, sum(parts), size) < ROUNDING
    for k, part in enumerate(parts):  # and one at a time
        alone = [d if j == k else None for j, d in enumerate([*directions, dfext])]
        own = tf.rnea_jvp(model, q, v, a, *alone[:3], fext, alone[3])
        assert error(own, part, size) < ROUNDING
    assert not tf.rnea_jvp(model, q, v, a, None, None, None, fext).any()


@pytest.mark.parametrize("name", MODELS)
def test_products_of_accelerations_are_products_with_the_matrices(name):
    model = MODELS[name]
    q, v, _, tau, fext = random_case(model)
    size = sizes(model, q)
    tau, dtau = tau * size, motions(model, 1 / size, 1)[0]
    w = motions(model, 1 / size, 1, 3)[0]
    dq, dv = motions(model, size, 2)
    matrices = oracle.forward_dynamics_derivatives(model, q, v, tau, fext)
    limit = 10 * allowed(model, q, size)
    gradients = tf.forward_dynamics_vjp(model, q, v, tau, w, fext, **EVERYTHING)
    for own, matrix, columns in zip(gradients[:3], matrices, (size, size, 1 / size), strict=True):
        assert error(own, w @ matrix, columns) < limit
    derivative = tf.forward_dynamics_jvp(model, q, v, tau, dq, dv, dtau, fext, with_value=True)
    expected = sum(matrix @ d for matrix, d in zip(matrices, (dq, dv, dtau), strict=True))
    assert error(derivative.da, expected, 1 / size) < limit
    a = tf.forward_dynamics(model, q, v, tau, fext)
    assert error(gradients.value, a, 1 / size) < limit
    assert error(derivative.a, a, 1 / size) < limit
    mu = -np.linalg.solve(tf.crba(model, q), w)
    a = oracle.forward_dynamics(model, q, v, tau, fext)
    for own, other in (
        (gradients.fext, oracle.gradient_by_forces(model, q, mu)),
        (gradients.inertia, oracle.gradient_by_inertia(model, q, v, a, mu)),
    ):
        columns = np.abs(other).max(axis=0) + 1e-300
        np.testing.assert_allclose(own / columns, other / columns, rtol=0, atol=limit)


@pytest.mark.parametrize("name", ROBOTS)
def test_products_of_robots_are_pinocchios(name):
    import pinocchio as pin

    theirs, model = robot(name)
    data = theirs.createData()
    q, v, a, tau, _ = random_case(model)
    size = sizes(model, q)
    w, dq, dv, da = motions(model, size, 4)
    by_q, by_v, by_a = (x.copy() for x in pin.computeRNEADerivatives(theirs, data, q, v, a))
    tau_gradients = tf.rnea_vjp(model, q, v, a, w, inertia_gradient=True)
    for own, matrix in zip(tau_gradients[:3], (by_q, by_v, by_a), strict=True):
        assert error(own, w @ matrix, size) < 10 * ROUNDING
    derivative = tf.rnea_jvp(model, q, v, a, dq, dv, da)
    assert error(derivative, by_q @ dq + by_v @ dv + by_a @ da, size) < 10 * ROUNDING
    regressor = pin.computeJointTorqueRegressor(theirs, data, q, v, a)
    expected = (w @ regressor).reshape(-1, 10)
    np.testing.assert_allclose(tau_gradients.inertia, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    matrices = [x.copy() for x in pin.computeABADerivatives(theirs, data, q, v, tau)]
    limit = 100 * allowed(model, q, size)
    gradients = tf.forward_dynamics_vjp(model, q, v, tau, w)
    for own, matrix, columns in zip(gradients, matrices, (size, size, 1 / size), strict=True):
        assert error(own, w @ matrix, columns) < limit


@settings(max_examples=25)
@given(models(max_joints=7), st.integers(0, 2**32 - 1))
def test_gradients_are_adjoint_to_derivatives(model, seed):
    q, v, a, _, fext = random_case(model, seed)
    size = np.maximum(sizes(model, q), 1e-3)
    u, *directions = motions(model, size, 4, seed)
    dfext = np.random.default_rng(seed).normal(size=fext.shape)
    gradient = tf.rnea_vjp(model, q, v, a, u, fext, fext_gradient=True)
    own = u @ tf.rnea_jvp(model, q, v, a, *directions, fext, dfext)
    terms = [x * d for x, d in zip(gradient, [*directions, dfext], strict=True)]
    scale = max(1.0, *(np.abs(x).sum() for x in terms), np.abs(tf.rnea(model, q, v, a, fext) * u).sum())
    assert abs(own - sum(x.sum() for x in terms)) < 1e-12 * scale


@settings(max_examples=25)
@given(models(max_joints=6), st.integers(0, 2**32 - 1))
def test_gradients_of_any_tree_are_those_of_the_reference(model, seed):
    q, v, a, _, fext = random_case(model, seed)
    size = np.maximum(sizes(model, q), 1e-3)
    (w,) = motions(model, size, 1, seed)
    gradients = tf.rnea_vjp(model, q, v, a, w, fext)
    largest = np.abs(w[:, None] * tf.crba(model, q)).max() * (1 + np.square(v).sum() + np.abs(a).max())
    for own, matrix in zip(gradients, oracle.rnea_derivatives(model, q, v, a, fext), strict=True):
        scale = max(np.abs(w[:, None] * matrix / size).max(), largest / size.max())
        assert np.abs((own - w @ matrix) / size).max() < 1e-12 * max(scale, 1.0)


@pytest.mark.parametrize("name", ["all kinds", "followers"])
def test_several_vectors_for_each_state_give_the_same_bits(name):
    model, sides = MODELS[name], 3
    q, v, a, tau, fext = random_case(model, 5, (2, 5))
    rng = np.random.default_rng(6)
    w, dq, dv, da = rng.normal(size=(4, 2, 5, sides, model.nv))
    dfext = rng.normal(size=(2, 5, sides, model.njoints, 6))
    for function, x in ((tf.rnea_vjp, a), (tf.forward_dynamics_vjp, tau)):
        gradients = function(model, q, v, x, w, fext, **EVERYTHING)
        assert gradients.inertia.shape == (2, 5, sides, model.njoints, 10)
        for s in range(sides):
            alone = function(model, q, v, x, w[..., s, :], fext, **EVERYTHING)
            for many, one in zip(gradients[:3], alone[:3], strict=True):
                np.testing.assert_array_equal(many[..., s, :], one)
            np.testing.assert_array_equal(gradients.fext[..., s, :, :], alone.fext)
            np.testing.assert_array_equal(gradients.inertia[..., s, :, :], alone.inertia)
            np.testing.assert_array_equal(gradients.value, alone.value)
    for function, x in ((tf.rnea_jvp, a), (tf.forward_dynamics_jvp, tau)):
        changes = function(model, q, v, x, dq, dv, da, fext, dfext)
        for s in range(sides):
            directions = [d[..., s, :] for d in (dq, dv, da)]
            alone = function(model, q, v, x, *directions, fext, dfext[..., s, :, :])
            np.testing.assert_array_equal(changes[..., s, :], alone)


def test_wrong_shapes_of_several_vectors_name_the_argument():
    model = MODELS["all kinds"]
    q, v, a, _, _ = random_case(model, 0, (4,))
    w = np.ones((4, 2, model.nv))
    with pytest.raises(tf.ShapeError, match="w"):
        tf.rnea_vjp(model, q, v, a, w[:3])
    with pytest.raises(tf.ShapeError, match="dv"):
        tf.rnea_jvp(model, q, v, a, w, w[:, 0], None)
    with pytest.raises(tf.ShapeError, match="w is not a rectangular array"):
        tf.rnea_vjp(model, q, v, a, [[1.0], [1.0, 2.0]])


@pytest.mark.parametrize("shape", [(6, 9), (54,), (10, 6)])
def test_wrong_shapes_of_directions_of_forces_name_what_is_expected(shape):
    model = MODELS["all kinds"]
    q, v, a, _, _ = random_case(model, 0, (4,))
    dfext = np.ones((4, 2, *shape))
    with pytest.raises(tf.ShapeError, match=r"dfext must have shape \(4, 2, 9, 6\), got \(4, 2, "):
        tf.rnea_jvp(model, q, v, a, np.ones((4, 2, model.nv)), None, None, None, dfext)


@pytest.mark.parametrize("lead", [(0,), (4,), (2, 0), (2, 3)])
@pytest.mark.parametrize("sides", [0, 1, 3])
def test_no_states_and_no_vectors_give_empty_results(lead, sides):
    model = MODELS["followers"]
    q, v, a, _, fext = random_case(model, 0, lead)
    w, dfext = np.ones((*lead, sides, model.nv)), np.ones((*lead, sides, model.njoints, 6))
    for function in (tf.rnea_vjp, tf.forward_dynamics_vjp):
        gradients = function(model, q, v, a, w, fext, **EVERYTHING)
        assert [x.shape for x in gradients[:3]] == [w.shape] * 3
        assert gradients.fext.shape == dfext.shape
        assert gradients.value.shape == v.shape
    for function in (tf.rnea_jvp, tf.forward_dynamics_jvp):
        assert function(model, q, v, a, w, w, w, fext, dfext).shape == w.shape


def test_options_are_true_or_false_as_python_has_it():
    model = MODELS["all kinds"]
    q, v, a, _, _ = random_case(model)
    gradients = tf.rnea_vjp(model, q, v, a, a, None, *np.array([[1], [0], [1]]))
    assert gradients._fields == ("q", "v", "a", "fext", "value")
    assert len(tf.rnea_jvp(model, q, v, a, v, None, None, with_value=[1])) == 2


@pytest.mark.parametrize("name", ["freeflyer at the root", "all kinds", "followers"])
def test_a_base_far_away_changes_nothing(name):
    model = MODELS[name]
    q, v, a, tau, fext = random_case(model)
    w = motions(model, sizes(model, q), 1)[0]
    roots = [joint.parent < 0 for joint in model.joints]
    moved = [
        replace(joint, p=joint.p + 1e6 * np.ones(3)) if root else joint
        for joint, root in zip(model.joints, roots, strict=True)
    ]
    far = tf.Model(moved, model.gravity)
    for function, x in ((tf.rnea_vjp, a), (tf.forward_dynamics_vjp, tau)):
        expected = function(model, q, v, x, w, fext, **EVERYTHING)
        for own, near in zip(function(far, q, v, x, w, fext, **EVERYTHING), expected, strict=True):
            np.testing.assert_allclose(own, near, rtol=0, atol=FAR * np.abs(near).max())
    if name == "freeflyer at the root":
        q[:3] += 1e6
        expected = tf.rnea_jvp(model, q - np.r_[1e6 * np.ones(3), np.zeros(model.nq - 3)], v, a, w, w, w)
        own = tf.rnea_jvp(model, q, v, a, w, w, w)
        np.testing.assert_allclose(own, expected, rtol=0, atol=FAR * np.abs(expected).max())


def test_results_can_be_pickled():
    model = MODELS["all kinds"]
    q, v, a, _, _ = random_case(model)
    gradients = tf.rnea_vjp(model, q, v, a, a, inertia_gradient=True)
    copied = pickle.loads(pickle.dumps(gradients))
    assert copied._fields == gradients._fields == ("q", "v", "a", "inertia")
    assert type(copied) is type(gradients)
    np.testing.assert_array_equal(copied.inertia, gradients.inertia)
    by_q, by_v, by_a = tf.rnea_vjp(model, q, v, a, a)
    assert by_q.shape == by_v.shape == by_a.shape == (model.nv,)


def test_gradients_by_inertias_are_weights_of_the_parameters():
    """tau without armature is linear in the parameters: their product with the gradient is w . tau."""
    model = MODELS["forest"]
    q, v, a, _, _ = random_case(model)
    w = motions(model, sizes(model, q), 1)[0]
    gradients = tf.rnea_vjp(model, q, v, a, w, inertia_gradient=True)
    own = (gradients.inertia * oracle.inertial_parameters(model)).sum()
    expected = w @ (tf.rnea(model, q, v, a) - model.armature * a)
    assert abs(own - expected) < 1e-13 * np.abs(gradients.inertia * oracle.inertial_parameters(model)).sum()
