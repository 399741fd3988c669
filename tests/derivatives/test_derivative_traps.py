"""Test that known traps of derivatives do not exist here; numbered as in the list of traps T1 to T14."""

import re
from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import (
    FOLLOWERS,
    MODELS,
    SINGLE,
    TREES,
    assert_accelerations,
    assert_forces,
    class_error,
    is_linear,
    random_case,
    robot,
    scaled_error,
    sizes,
)
from helpers.dynamics_cases import error
from helpers.model_cases import in_pinocchio
from oracles import derivatives as oracle

import treefactor as tf
from treefactor.codegen.program.differentiate import directional
from treefactor.model.joints import SIZES

STEP = 1e-6  # of central differences
SMOOTH = 1e-7  # their relative error
WRONG = 0.05  # relative errors of Pinocchio where it is wrong are larger
CLOSE = 1e-13


def along_q(function, model, q):
    """Return central differences of a function of q along `integrate`, on the last axis."""
    ahead, behind = (tf.integrate(model, q, s * STEP * np.eye(model.nv)) for s in (1.0, -1.0))
    pairs = zip(ahead, behind, strict=True)
    return np.stack([(function(x) - function(y)) / (2 * STEP) for x, y in pairs], axis=-1)


@pytest.fixture
def pin():
    return pytest.importorskip("pinocchio", reason="its results show the trap")


# T1: a base that is far away


def test_t1_a_base_far_away_changes_no_bit():
    _, model = robot("solo12")
    q, v, a, tau, _ = random_case(model, 1)
    far = q.copy()
    far[:3] += 2e6
    near = tf.rnea_derivatives(model, q, v, a), tf.forward_dynamics_derivatives(model, q, v, tau)
    moved = tf.rnea_derivatives(model, far, v, a), tf.forward_dynamics_derivatives(model, far, v, tau)
    for at_far, expected in zip(moved, near, strict=True):
        for x, y in zip(at_far, expected, strict=True):
            np.testing.assert_array_equal(x, y)
    for x, y in zip(tf.rnea_vjp(model, far, v, a, tau), tf.rnea_vjp(model, q, v, a, tau), strict=True):
        np.testing.assert_array_equal(x, y)


def test_t1_a_fixed_base_far_away_loses_no_digit():
    model = SINGLE["spherical in mid-tree"]
    joints = [replace(model.joints[0], p=model.joints[0].p + 1e6), *model.joints[1:]]
    far = tf.Model(joints, model.gravity)
    q, v, a, _, fext = random_case(model, 2)
    size = sizes(model, q)
    near, moved = (tf.rnea_derivatives(one, q, v, a, fext) for one in (model, far))
    assert_forces(moved, near, size, 1e-12)


# T2: where Pinocchio is not an oracle


@pytest.mark.parametrize("name", ["universal in mid-tree", "universal at the root"])
def test_t2_joints_whose_axes_depend_on_q(name, pin):
    model = SINGLE[name]
    q, v, a, _, fext = random_case(model, 3)
    size = sizes(model, q)
    expected = oracle.rnea_derivatives(model, q, v, a, fext)
    assert_forces(tf.rnea_derivatives(model, q, v, a, fext), expected, size)
    theirs = in_pinocchio(model)
    wrong = pin.computeRNEADerivatives(theirs, theirs.createData(), q, v, a)
    right = oracle.rnea_derivatives(model, q, v, a)
    assert max(scaled_error(x, y, size, size) for x, y in zip(wrong[:2], right[:2], strict=True)) > WRONG


@pytest.mark.parametrize("name", FOLLOWERS)
def test_t2_mimic_joints(name):
    model = FOLLOWERS[name]
    q, v, a, tau, fext = random_case(model, 4)
    size, H = sizes(model, q), tf.crba(model, q)
    assert_forces(
        tf.rnea_derivatives(model, q, v, a, fext), oracle.rnea_derivatives(model, q, v, a, fext), size
    )
    own = tf.forward_dynamics_derivatives(model, q, v, tau, fext)
    assert_accelerations(own, oracle.forward_dynamics_derivatives(model, q, v, tau, fext), H, size)


def test_t2_pinocchio_refuses_mimic_joints(pin):
    from treefactor.adapters import pinocchio_

    theirs = pinocchio_.load(tf.robots.find("panda").path, mimic=True)
    model = pinocchio_.model(theirs)
    q, v, a, _, _ = random_case(model, 4)
    with pytest.raises(RuntimeError, match="Mimic"):
        pin.computeRNEADerivatives(theirs, theirs.createData(), q, v, a)
    expected = oracle.rnea_derivatives(model, q, v, a)
    assert_forces(tf.rnea_derivatives(model, q, v, a), expected, sizes(model, q))


@pytest.mark.parametrize("kind", ["spherical", "planar", "freeflyer"])
def test_t2_accelerations_of_frames_behind_joints_in_mid_tree(kind, pin):
    model = SINGLE[f"{kind} in mid-tree"]
    theirs = in_pinocchio(model)
    q, v, a, _, _ = random_case(model, 5)
    data, last = theirs.createData(), model.joints[-1].name
    pin.computeForwardKinematicsDerivatives(theirs, data, q, v, a)
    wrong = {}
    for reference in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"):
        expected = along_q(lambda x, r=reference: tf.frame_acceleration(model, x, v, a, last, r), model, q)
        own = tf.frame_derivatives(model, q, v, a, last, reference).acceleration_q
        assert error(own, expected) < SMOOTH
        at = getattr(pin, reference)
        by_q = pin.getJointAccelerationDerivatives(theirs, data, model.njoints, at)[1]
        wrong[reference] = error(by_q, expected)
    assert wrong["LOCAL"] < SMOOTH
    assert min(wrong["WORLD"], wrong["LOCAL_WORLD_ALIGNED"]) > WRONG


# T3: results that later calls overwrite


def test_t3_later_calls_leave_results_unchanged():
    model = MODELS["all kinds"]
    q, v, a, tau, _ = random_case(model, 6)
    first = tf.rnea_derivatives(model, q, v, a)
    kept = [x.copy() for x in first]
    tf.forward_dynamics_derivatives(model, q, v, tau)
    tf.rnea_derivatives(model, q, 2 * v, -a)
    for x, y in zip(first, kept, strict=True):
        np.testing.assert_array_equal(x, y)
        x[...] = 7.0
    for x, y in zip(tf.rnea_derivatives(model, q, v, a), kept, strict=True):
        np.testing.assert_array_equal(x, y)


def test_t3_pinocchios_results_are_overwritten(pin):
    theirs, model = robot("ur5")
    q, v, a, tau, _ = random_case(model, 6)
    data = theirs.createData()
    first = pin.computeRNEADerivatives(theirs, data, q, v, a)[0]
    kept = first.copy()
    pin.computeABADerivatives(theirs, data, q, v, tau)
    assert error(first, kept) > WRONG


# T4: armature


def test_t4_armature_is_in_h_and_both_triangles():
    model = MODELS["all kinds reversed"]
    heavy = tf.Model([replace(j, armature=np.asarray(j.armature) + 3.0) for j in model.joints], model.gravity)
    q, v, a, tau, _ = random_case(model, 7)
    light, geared = (tf.rnea_derivatives(one, q, v, a) for one in (model, heavy))
    np.testing.assert_array_equal(geared.dtau_dq, light.dtau_dq)
    np.testing.assert_allclose(geared.dtau_da - light.dtau_da, 3.0 * np.eye(model.nv), atol=1e-12)
    np.testing.assert_array_equal(geared.dtau_da, geared.dtau_da.T)
    inverse = tf.forward_dynamics_derivatives(heavy, q, v, tau).da_dtau
    np.testing.assert_allclose(inverse @ tf.crba(heavy, q), np.eye(model.nv), atol=1e-10)


# T5: external forces


def test_t5_external_forces_turn_with_the_bodies():
    model = MODELS["all kinds"]
    q, v, a, _, fext = random_case(model, 8)
    own = tf.rnea_derivatives(model, q, v, a, fext).dtau_dq
    assert error(own, along_q(lambda x: tf.rnea(model, x, v, a, fext), model, q)) < SMOOTH


def test_t5_forces_that_keep_their_direction_need_another_term():
    model = MODELS["all kinds"]
    q, v, a, _, fext = random_case(model, 8)
    frame, aligned, force = model.joints[-1].name, "LOCAL_WORLD_ALIGNED", fext[0]

    def pushed(q):
        return tf.rnea(model, q, v, a) - tf.joint_jacobian(model, q, frame, aligned).T @ force

    turning = tf.frame_derivatives(model, q, np.eye(model.nv), None, frame, aligned).velocity_q
    own = tf.rnea_derivatives(model, q, v, a).dtau_dq
    expected = along_q(pushed, model, q)
    assert error(own, expected) > 1e-3
    assert error(own - np.einsum("jik,i->jk", turning, force), expected) < SMOOTH


# T6: tangents, not entries of q


@pytest.mark.parametrize("kind", ["spherical", "freeflyer", "planar", "continuous"])
def test_t6_columns_are_freedoms(kind):
    model = SINGLE[f"{kind} in mid-tree"]
    q, v, a, tau, _ = random_case(model, 9)
    assert model.nq > model.nv
    dtau_dq = tf.rnea_derivatives(model, q, v, a).dtau_dq
    assert dtau_dq.shape == (model.nv, model.nv)
    assert error(dtau_dq, along_q(lambda x: tf.rnea(model, x, v, a), model, q)) < SMOOTH
    assert tf.rnea_vjp(model, q, v, a, tau).q.shape == (model.nv,)


def test_t6_quaternions_that_are_not_of_unit_length_are_refused_or_normalized():
    model = SINGLE["spherical at the root"]
    q, v, a, _, _ = random_case(model, 9)
    expected = tf.rnea_derivatives(model, q, v, a)
    scaled = q.copy()
    scaled[:4] *= 1 + 1e-10
    assert_forces(tf.rnea_derivatives(model, scaled, v, a), expected, sizes(model, q), CLOSE)
    scaled[:4] *= 1.1
    with pytest.raises(tf.ConfigurationError):
        tf.rnea_derivatives(model, scaled, v, a)


# T7: mixed units


@pytest.mark.parametrize("name", ["forest", "all kinds"])
def test_t7_small_classes_are_as_exact_as_large_ones(name):
    """An error of one class alone is found, which one tolerance for the whole matrix may hide."""
    model = MODELS[name]
    q, v, a, _, fext = random_case(model, 10)
    linear = is_linear(model)
    expected = oracle.rnea_derivatives(model, q, v, a, fext)
    derivatives = tf.rnea_derivatives(model, q, v, a, fext)
    for own, other in zip(derivatives, expected, strict=True):
        assert class_error(own, other, linear, linear) < CLOSE
        hidden = own.copy()
        hidden[np.ix_(linear, linear)] *= 1.5
        assert class_error(hidden, other, linear, linear) > 0.1


# T8: the asymmetry of second order


def test_t8_the_derivative_of_the_gradient_is_not_the_hessian():
    model = SINGLE["freeflyer in mid-tree"]
    q, v, a, w, _ = random_case(model, 11)
    symmetric = tf.rnea_hessian(model, q, v, a, w).qq
    D = tf.rnea_hessian(model, q, v, a, w, symmetric=False).qq
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-12 * np.abs(D).max())
    assert error(D, D.T) > 1e-3
    assert error(D, along_q(lambda x: tf.rnea_vjp(model, x, v, a, w).q, model, q)) < SMOOTH
    x = np.random.default_rng(0).normal(size=model.nv)
    direction = np.stack([x, 0 * x, 0 * x])
    expected = float(oracle.hessian_differences(model, q, v, a, w, direction, direction))
    assert abs(x @ symmetric @ x - expected) < CLOSE * np.abs(D).max() * (x @ x)
    bracket = D - D.T
    free = slice(1, 7)
    assert np.abs(bracket[free, free]).max() > 1e-3 * np.abs(D).max()
    bracket[free, free] = 0.0
    assert np.abs(bracket).max() < CLOSE * np.abs(D).max()


# T9: freedoms of one joint among them


@pytest.mark.parametrize("kind", ["spherical", "planar", "freeflyer"])
def test_t9_entries_within_a_joint_in_mid_tree(kind):
    model = SINGLE[f"{kind} in mid-tree"]
    q, v, a, _, _ = random_case(model, 12)
    own = slice(1, 1 + SIZES[kind][1])
    expected = oracle.rnea_derivatives(model, q, v, a)
    for block, other in zip(tf.rnea_derivatives(model, q, v, a), expected, strict=True):
        assert error(block[own, own], other[own, own]) < CLOSE
    for joint in (one.name for one in model.joints):
        by_v = tf.frame_derivatives(model, q, v, a, joint).acceleration_v
        steps = STEP * np.eye(model.nv)
        ahead, behind = (tf.frame_acceleration(model, q, v + s * steps, a, joint) for s in (1.0, -1.0))
        assert error(by_v, ((ahead - behind) / (2 * STEP)).T, 1 + np.abs(v).max()) < SMOOTH


# T10: matrices that are not symmetric


@pytest.mark.parametrize("name", [*TREES, "followers"])
def test_t10_both_triangles_are_kept(name):
    model = MODELS[name]
    q, v, a, _, fext = random_case(model, 13)
    dense = tf.rnea_derivatives(model, q, v, a, fext)
    packed = tf.rnea_derivatives(model, q, v, a, fext, layout="packed")
    expected = oracle.rnea_derivatives(model, q, v, a, fext)
    size, tree = sizes(model, q), model.tree
    for own, entries, other in zip(dense[:2], packed[:2], expected[:2], strict=True):
        assert error(own, own.T) > 1e-3
        assert entries.shape == (2 * tree.nnz - tree.n,)
        np.testing.assert_array_equal(tree.unpack_pair(entries), own)
        assert scaled_error(own, other, size, size) < CLOSE


# T11: the condition of H


def test_t11_derivatives_of_accelerations_in_residual_form():
    _, model = robot("panda")
    q, v, _, tau, _ = random_case(model, 14)
    derivatives = tf.forward_dynamics_derivatives(model, q, v, tau, with_value=True)
    by_q, by_v, H = tf.rnea_derivatives(model, q, v, derivatives.a)
    for own, forces in ((derivatives.da_dq, by_q), (derivatives.da_dv, by_v)):
        scale = np.abs(H) @ np.abs(own) + np.abs(forces)
        assert (np.abs(H @ own + forces) <= 1e-13 * scale.max(axis=1, keepdims=True)).all()


# T12: pivots in programs


@pytest.mark.parametrize("backend", ["interp", "numpy"])
def test_t12_a_bad_pivot_stays_in_its_configuration(backend):
    tip = tf.Inertia(1.0, [1.0, 0, 0], np.zeros((3, 3)))
    shoulder = tf.Joint("shoulder", "revolute", axis=[0, 0, 1.0])
    model = tf.Model(
        [shoulder, tf.Joint("elbow", "revolute", 0, p=[1.0, 0, 0], axis=[0, 0, 1.0], inertia=tip)]
    )
    kernels = tf.compile(model, ["forward_dynamics_vjp", "forward_dynamics_derivatives"], backend=backend)
    q = np.array([[0.3, 0.5], [0.3, 0.0], [0.3, 0.7]])  # stretched, the shoulder moves no mass of its own
    v, tau, w = np.random.default_rng(0).normal(size=(3, 3, 2))
    for function, extra in ((kernels.forward_dynamics_vjp, [w]), (kernels.forward_dynamics_derivatives, [])):
        for result in function(q, v, tau, *extra):
            assert np.isnan(result[1]).any()
            assert np.isfinite(result[[0, 2]]).all()
    loops = tf.forward_dynamics_derivatives(model, q, v, tau)
    assert all(np.isnan(x[1]).all() and np.isfinite(x[[0, 2]]).all() for x in loops)
    with pytest.raises(tf.NotPositiveDefiniteError, match="shoulder"):
        tf.forward_dynamics_derivatives(model, q[1], v[1], tau[1])


# T13: AD on program rows


def test_t13_any_finished_function_can_be_differentiated():
    model = SINGLE["revolute in mid-tree"]
    q, v, _, _, _ = random_case(model, 15)
    function = tf.generate(model, ["bias"]).functions["bias"]
    derived = directional(function)
    assert [name for name, _ in derived.inputs] == ["q", "v", "dq", "dv"]
    program = tf.generate(model, ["rnea_derivatives", "rnea_jvp", "rnea_vjp", "rnea_hvp", "rnea"])
    kernels = tf.compile(program)
    dq, dv, da = np.random.default_rng(1).normal(size=(3, model.nv))
    own = kernels.rnea_jvp(q, v, 0 * v, dq, dv, da)
    assert error(own, tf.rnea_jvp(model, q, v, 0 * v, dq, dv, da)) < CLOSE


# T14: checks that need no reference


@pytest.mark.parametrize("name", MODELS)
def test_t14_eulers_identity(name):
    model = MODELS[name]
    q, v, a, _, _ = random_case(model, 16)
    by_v = tf.rnea_derivatives(model, q, v, a).dtau_dv
    expected = 2 * (tf.bias(model, q, v) - tf.bias(model, q, 0 * v))
    assert error(by_v @ v, expected, np.abs(by_v).max()) < CLOSE


def test_t14_translations_of_a_free_base_change_no_force():
    _, model = robot("solo12")
    q, v, a, _, _ = random_case(model, 16)
    assert (tf.rnea_derivatives(model, q, v, a).dtau_dq[:, :3] == 0).all()


def test_every_trap_has_a_test():
    names = (re.match(r"test_t(\d+)_", name) for name in globals())
    assert sorted({int(match[1]) for match in names if match}) == list(range(1, 15))
