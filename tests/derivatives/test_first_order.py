"""Compare the matrices of derivatives of inverse and forward dynamics with the reference derivatives."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import (
    MODELS,
    ROBOTS,
    assert_accelerations,
    assert_forces,
    class_error,
    is_linear,
    random_case,
    robot,
    scaled_error,
    sizes,
)
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import derivatives as oracle

import treefactor as tf
from treefactor.model.joints import SIZES

ROUNDING = 1e-14  # relative to the largest entry, scaled
FAR = 1e-12
PINOCCHIO = 1e-12  # its derivatives by v differ from the reference by 2e-13 on talos_reduced
RESIDUAL = 1e-13  # of H da_dq + dtau_dq, relative to |H| |da_dq|: sums over all freedoms

pytestmark = pytest.mark.isa


def residual(H, own, forces, size):
    """Return the largest entry of H own + forces over the largest of |H| |own|, both divided by sizes."""
    scale = np.outer(size, size)
    largest = (np.abs(H) @ np.abs(own) / scale).max(initial=1e-300)
    return np.abs((H @ own + forces) / scale).max(initial=0.0) / largest


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_inverse_dynamics_are_the_reference(name):
    model = MODELS[name]
    q, v, a, _, fext = random_case(model)
    size = sizes(model, q)
    expected = oracle.rnea_derivatives(model, q, v, a, fext)
    derivatives = tf.rnea_derivatives(model, q, v, a, fext, with_value=True)
    assert derivatives._fields == ("dtau_dq", "dtau_dv", "dtau_da", "tau")
    assert_forces(derivatives[:3], expected, size, ROUNDING)
    lengths = is_linear(model)
    for own, other in zip(derivatives[:3], expected, strict=True):
        assert class_error(own, other, lengths, lengths) < ROUNDING
    np.testing.assert_allclose(
        derivatives.tau, tf.rnea(model, q, v, a, fext), rtol=0, atol=1e-13 * size.max() ** 2
    )
    outside = ~model.tree.mask()
    assert not any(matrix[outside].any() for matrix in derivatives[:3])


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_forward_dynamics_are_the_reference(name):
    model = MODELS[name]
    q, v, _, tau, fext = random_case(model)
    size, H = sizes(model, q), tf.crba(model, q)
    for derivatives in (
        tf.forward_dynamics_derivatives(model, q, v, tau, fext, with_value=True),
        [x[4] for x in tf.forward_dynamics_derivatives(model, np.tile(q, (9, 1)), v, tau, fext, True)],
    ):
        expected = oracle.forward_dynamics_derivatives(model, q, v, tau, fext)
        assert_accelerations(derivatives[:3], expected, H, size)
        forces = tf.rnea_derivatives(model, q, v, derivatives[3], fext)
        assert residual(H, derivatives[0], forces.dtau_dq, size) < RESIDUAL
        assert residual(H, derivatives[1], forces.dtau_dv, size) < RESIDUAL
        assert residual(H, derivatives[2], -np.eye(model.nv), size) < RESIDUAL


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_robots_are_the_reference_and_pinocchios(name):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    theirs, model = robot(name)
    q, v, a, tau, fext = random_case(model)
    data, size = theirs.createData(), sizes(model, q)
    forces = pin.StdVec_Force([pin.Force.Zero(), *(pin.Force(f) for f in fext)])
    derivatives = tf.rnea_derivatives(model, q, v, a, fext)
    assert_forces(derivatives, oracle.rnea_derivatives(model, q, v, a, fext), size, ROUNDING)
    expected = [np.array(x) for x in pin.computeRNEADerivatives(theirs, data, q, v, a, forces)]
    expected[2] = np.triu(expected[2]) + np.triu(expected[2], 1).T
    assert_forces(derivatives, expected, size, PINOCCHIO)
    expected = [np.array(x) for x in pin.computeABADerivatives(theirs, data, q, v, tau, forces)]
    derivatives = tf.forward_dynamics_derivatives(model, q, v, tau, fext)
    assert_accelerations(derivatives, expected, tf.crba(model, q), size, PINOCCHIO)


@pytest.mark.parametrize("name", MODELS)
def test_eulers_identity_and_the_zero_columns_of_the_base(name):
    model = MODELS[name]
    q, v, a, _, fext = random_case(model)
    derivatives = tf.rnea_derivatives(model, q, v, a, fext)
    size = sizes(model, q)
    expected = 2 * (tf.bias(model, q, v) - tf.bias(model, q, 0 * v))
    scale = (np.abs(derivatives.dtau_dv) @ np.abs(v) / size).max(initial=1e-300)
    assert (np.abs(derivatives.dtau_dv @ v - expected) / size).max(initial=0.0) < ROUNDING * scale
    for joint, at in zip(model.joints, model.idx_v, strict=True):
        if joint.parent < 0 and joint.kind == "freeflyer":
            assert not derivatives.dtau_dq[:, at : at + 3].any()


CALLS = {
    "rnea_derivatives": lambda model, q, v, x, fext, **given: tf.rnea_derivatives(
        model, q, v, x, fext, with_value=True, **given
    ),
    "packed": lambda model, q, v, x, fext, **given: tf.rnea_derivatives(
        model, q, v, x, fext, layout="packed", **given
    ),
    "forward_dynamics_derivatives": lambda model, q, v, x, fext, **given: tf.forward_dynamics_derivatives(
        model, q, v, x, fext, with_value=True, **given
    ),
}


@pytest.mark.parametrize("name", ["all kinds", "followers"])
def test_a_base_far_away_changes_nothing(name):
    model = MODELS[name]
    q, v, x, _, fext = random_case(model)
    joints = [replace(joint, p=joint.p + 1e6) if joint.parent < 0 else joint for joint in model.joints]
    far = tf.Model(joints, model.gravity)
    size = sizes(model, q)
    for call, columns in (
        (tf.rnea_derivatives, (size, size, size)),
        (tf.forward_dynamics_derivatives, (size, size, 1 / size)),
    ):
        rows = size if call is tf.rnea_derivatives else 1 / size
        near = call(model, q, v, x, fext)
        for own, other, column in zip(call(far, q, v, x, fext), near, columns, strict=True):
            assert scaled_error(own, other, rows, column) < FAR


@pytest.mark.parametrize("root", ["revolute", "freeflyer"])
def test_long_arms_have_local_origins(root):
    kinds = [root, "revolute", "spherical", "revolute"]
    links = [
        tf.Joint(
            f"j{i}",
            kind,
            i - 1,
            p=[100.0 * (i > 0), 3.0, 0],
            axis=[0, 1, 0] if kind == "revolute" else None,
            inertia=tf.Inertia(1.0, [0.1, 0.2, 0], np.eye(3)),
            armature=np.full(SIZES[kind][1], 0.3),
        )
        for i, kind in enumerate(kinds)
    ]
    model = tf.Model(links, [1.0, 2.0, -9.0])
    q, v, a, _, fext = random_case(model)
    size = sizes(model, q)
    expected = oracle.rnea_derivatives(model, q, v, a, fext)
    assert_forces(tf.rnea_derivatives(model, q, v, a, fext), expected, size, FAR)
    batch = tf.rnea_derivatives(model, np.tile(q, (8, 1)), v, a, fext)
    assert_forces([x[7] for x in batch], expected, size, FAR)


def test_results_and_functions_are_pickled():
    model = MODELS["revolute at the root"]
    q, v, a, _, _ = random_case(model)
    derivatives = tf.rnea_derivatives(model, q, v, a)
    for own, other in zip(pickle.loads(pickle.dumps(derivatives)), derivatives, strict=True):
        np.testing.assert_array_equal(own, other)
    with pytest.raises(ValueError, match="layout must be"):
        tf.rnea_derivatives(model, q, v, a, layout="sparse")


@settings(max_examples=25, deadline=None)
@given(models(), st.integers(0, 2**31))
def test_random_trees(model, seed):
    q, v, a, tau, fext = random_case(model, seed)
    size, H = sizes(model, q), tf.crba(model, q)
    expected = np.stack(oracle.rnea_derivatives(model, q, v, a, fext))  # some may be zero but for rounding
    batch = np.stack(tf.rnea_derivatives(model, np.tile(q, (2, 1)), v, a, fext))
    assert_forces([np.stack(tf.rnea_derivatives(model, q, v, a, fext))], [expected], size, ROUNDING)
    assert_forces([batch[:, 1]], [expected], size, ROUNDING)
    many = tf.forward_dynamics_derivatives(model, np.tile(q, (2, 1)), v, tau, fext, with_value=True)
    for derivatives in (
        tf.forward_dynamics_derivatives(model, q, v, tau, fext, with_value=True),
        [x[1] for x in many],
    ):
        forces = tf.rnea_derivatives(model, q, v, derivatives[3], fext)
        assert residual(H, derivatives[0], forces.dtau_dq, size) < RESIDUAL
        assert residual(H, derivatives[1], forces.dtau_dv, size) < RESIDUAL
