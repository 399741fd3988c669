"""Compare the matrices of derivatives of inverse and forward dynamics with the reference derivatives."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import (
    FOLLOWERS,
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
    found = tf.rnea_derivatives(model, q, v, a, fext, with_value=True)
    assert found._fields == ("dtau_dq", "dtau_dv", "dtau_da", "tau")
    assert_forces(found[:3], expected, size, ROUNDING)
    lengths = is_linear(model)
    for own, other in zip(found[:3], expected, strict=True):
        assert class_error(own, other, lengths, lengths) < ROUNDING
    np.testing.assert_allclose(found.tau, tf.rnea(model, q, v, a, fext), rtol=0, atol=1e-13 * size.max() ** 2)
    outside = ~model.tree.mask()
    assert not any(matrix[outside].any() for matrix in found[:3])


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_forward_dynamics_are_the_reference(name):
    model = MODELS[name]
    q, v, _, tau, fext = random_case(model)
    size, H = sizes(model, q), tf.crba(model, q)
    for found in (
        tf.forward_dynamics_derivatives(model, q, v, tau, fext, with_value=True),
        [x[4] for x in tf.forward_dynamics_derivatives(model, np.tile(q, (9, 1)), v, tau, fext, True)],
    ):
        expected = oracle.forward_dynamics_derivatives(model, q, v, tau, fext)
        assert_accelerations(found[:3], expected, H, size)
        forces = tf.rnea_derivatives(model, q, v, found[3], fext)
        assert residual(H, found[0], forces.dtau_dq, size) < RESIDUAL
        assert residual(H, found[1], forces.dtau_dv, size) < RESIDUAL
        assert residual(H, found[2], -np.eye(model.nv), size) < RESIDUAL


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_robots_are_the_reference_and_pinocchios(name):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    theirs, model = robot(name)
    q, v, a, tau, fext = random_case(model)
    data, size = theirs.createData(), sizes(model, q)
    forces = pin.StdVec_Force([pin.Force.Zero(), *(pin.Force(f) for f in fext)])
    found = tf.rnea_derivatives(model, q, v, a, fext)
    assert_forces(found, oracle.rnea_derivatives(model, q, v, a, fext), size, ROUNDING)
    expected = [np.array(x) for x in pin.computeRNEADerivatives(theirs, data, q, v, a, forces)]
    expected[2] = np.triu(expected[2]) + np.triu(expected[2], 1).T
    assert_forces(found, expected, size, PINOCCHIO)
    expected = [np.array(x) for x in pin.computeABADerivatives(theirs, data, q, v, tau, forces)]
    found = tf.forward_dynamics_derivatives(model, q, v, tau, fext)
    assert_accelerations(found, expected, tf.crba(model, q), size, PINOCCHIO)


@pytest.mark.parametrize("name", MODELS)
def test_eulers_identity_and_the_zero_columns_of_the_base(name):
    model = MODELS[name]
    q, v, a, _, fext = random_case(model)
    found = tf.rnea_derivatives(model, q, v, a, fext)
    size = sizes(model, q)
    expected = 2 * (tf.bias(model, q, v) - tf.bias(model, q, 0 * v))
    scale = (np.abs(found.dtau_dv) @ np.abs(v) / size).max(initial=1e-300)
    assert (np.abs(found.dtau_dv @ v - expected) / size).max(initial=0.0) < ROUNDING * scale
    for joint, at in zip(model.joints, model.idx_v, strict=True):
        if joint.parent < 0 and joint.kind == "freeflyer":
            assert not found.dtau_dq[:, at : at + 3].any()


@pytest.mark.parametrize("name", ["all kinds", "all kinds reversed", "forest", *FOLLOWERS])
def test_layouts_and_batches_agree_bit_for_bit(name):
    model, tree = MODELS[name], MODELS[name].tree
    q, v, a, _, fext = random_case(model, size=(19,))
    dense = tf.rnea_derivatives(model, q, v, a, fext, with_value=True)
    packed = tf.rnea_derivatives(model, q, v, a, fext, layout="packed", with_value=True)
    lanes = tf.rnea_derivatives(model, q, v, a, fext, layout="lanes")
    for k in range(2):
        np.testing.assert_array_equal(tree.unpack_pair(packed[k]), dense[k])
        np.testing.assert_array_equal(tree.pack_pair(dense[k]), packed[k])
        np.testing.assert_array_equal(tree.unpack_pair(lanes[k], "lanes")[:19], dense[k])
        assert not lanes[k][-1, :, 3:].any()
    np.testing.assert_array_equal(tree.unpack(packed[2]), dense[2])
    np.testing.assert_array_equal(tree.unpack(lanes[2], "lanes")[:19], dense[2])
    np.testing.assert_array_equal(packed.tau, dense.tau)
    out = tuple(np.empty_like(x) for x in lanes)
    assert tf.rnea_derivatives(model, q, v, a, fext, layout="lanes", out=out) is out
    shifted = tuple(np.empty(x.size + 1)[1:].reshape(x.shape) for x in lanes)  # not aligned to 64 bytes
    tf.rnea_derivatives(model, q, v, a, fext, layout="lanes", out=shifted)
    for one, other, expected in zip(out, shifted, lanes, strict=True):
        np.testing.assert_array_equal(one, expected)
        np.testing.assert_array_equal(other, expected)
    one = tf.rnea_derivatives(model, q[3], v[3], a[3], fext[3])
    assert_forces([x[3] for x in dense[:3]], one, sizes(model, q[3]), ROUNDING)


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


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["all kinds", "followers"])
def test_forms_of_arrays_change_no_bit(name, kind):
    model, call = MODELS[kind], CALLS[name]
    q, v, x, _, fext = random_case(model, size=(21,))
    expected = call(model, q, v, x, fext)
    wide = [np.empty((21, 2 * y[0].size)).reshape(21, *y.shape[1:], 2)[..., 0] for y in (q, v, x, fext)]
    for to, y in zip(wide, (q, v, x, fext), strict=True):
        to[...] = y
    out = tuple(np.empty_like(y) for y in expected)
    backwards = tuple(np.empty(y.shape[::-1]).T for y in expected)
    for found in (
        call(model, *wide),
        call(model, q, v, x, fext, num_threads=2),
        call(model, q, v, x, fext, out=out),
        call(model, q, v, x, fext, out=backwards),
        [
            y.reshape(21, *y.shape[2:])
            for y in call(model, *(y.reshape(3, 7, *y.shape[1:]) for y in (q, v, x, fext)))
        ],
    ):
        for own, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(own, other)
    one = [y[2] for y in (q, v, x, fext)]
    alone = call(model, *one)
    buffers = tuple(np.full_like(y, np.nan) for y in alone)
    assert call(model, *one, out=buffers) is buffers
    for own, other in zip(buffers, alone, strict=True):
        np.testing.assert_array_equal(own, other)
    with pytest.raises(tf.ShapeError):
        call(model, *one, out=buffers[0])


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_configuration_changes_no_bit_of_its_neighbours(name):
    model, call = MODELS["all kinds"], CALLS[name]
    arrays = random_case(model, size=(11,))
    q, v, x, _, fext = arrays
    expected = call(model, q, v, x, fext)
    for k, bad in enumerate((np.nan, np.inf, 2.0)):
        spoiled = [y.copy() for y in (q, v, x, fext)]
        if bad == 2.0:
            spoiled[0][5] *= bad
        else:
            spoiled[k + 1][5].flat[-1] = bad
        found = call(model, *spoiled)
        for own, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.delete(own, 5, axis=0), np.delete(other, 5, axis=0))
            assert np.isnan(own[5]).any()
    with pytest.raises(tf.ConfigurationError):
        call(model, 2 * q[0], v[0], x[0], fext[0])
    with pytest.raises(tf.NonFiniteError):
        call(model, q[0], v[0] * np.nan, x[0], fext[0])


def test_a_freedom_without_mass_has_no_acceleration():
    ball = tf.Inertia(1.0, [0.1, 0, 0], np.eye(3))
    joints = [
        tf.Joint("arm", "revolute", axis=[0, 0, 1], inertia=ball),
        tf.Joint(
            "empty", "prismatic", 0, axis=[1, 0, 0], inertia=tf.Inertia(0.0, [0, 0, 0], np.zeros((3, 3)))
        ),
    ]
    model = tf.Model(joints)
    zero = np.zeros(2)
    out = tuple(np.full((2, 2), 7.0) for _ in range(3))
    with pytest.raises(tf.NotPositiveDefiniteError, match="empty"):
        tf.forward_dynamics_derivatives(model, zero, zero, zero, out=out)
    assert all((x == 7.0).all() for x in out)
    for x in tf.forward_dynamics_derivatives(model, np.zeros((3, 2)), zero, zero):
        assert np.isnan(x).all()
    assert np.isfinite(tf.rnea_derivatives(model, zero, zero, zero).dtau_dq).all()


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


def test_models_without_freedoms_and_empty_batches():
    empty = tf.Model([])
    assert [x.shape for x in tf.rnea_derivatives(empty, [], [], [], with_value=True)] == [(0, 0)] * 3 + [(0,)]
    model = MODELS["followers"]
    zero = np.zeros((0, model.nv))
    found = tf.forward_dynamics_derivatives(model, np.zeros((0, model.nq)), zero, zero)
    assert [x.shape for x in found] == [(0, model.nv, model.nv)] * 3


def test_results_and_functions_are_pickled():
    model = MODELS["revolute at the root"]
    q, v, a, _, _ = random_case(model)
    found = tf.rnea_derivatives(model, q, v, a)
    for own, other in zip(pickle.loads(pickle.dumps(found)), found, strict=True):
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
    for found in (
        tf.forward_dynamics_derivatives(model, q, v, tau, fext, with_value=True),
        [x[1] for x in many],
    ):
        forces = tf.rnea_derivatives(model, q, v, found[3], fext)
        assert residual(H, found[0], forces.dtau_dq, size) < RESIDUAL
        assert residual(H, found[1], forces.dtau_dv, size) < RESIDUAL
