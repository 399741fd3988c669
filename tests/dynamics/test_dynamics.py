"""Compare the dynamics of models with textbook recursions, and check their identities."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.dynamics_cases import EXACT, arguments, assert_accelerations, assert_forces, error, free
from helpers.model_cases import models, random_model
from hypothesis import given
from hypothesis import strategies as st
from oracles import dynamics as textbook

import treefactor as tf
from treefactor.model.joints import SIZES

pytestmark = pytest.mark.isa_all

seeds = st.integers(0, 2**32 - 1)
each_kind = pytest.mark.parametrize("kind", SIZES)


def assert_textbook(model, seed=0):
    """Assert that all functions agree with the textbook's recursions."""
    q, v, x, fext = arguments(model, seed)
    H = textbook.crba(model, q)
    assert error(tf.crba(model, q), H) < EXACT
    assert_forces(tf.h_times(model, q, x), H @ x, H, x)
    for forces in (None, fext):
        assert_forces(tf.bias(model, q, v, forces), textbook.rnea(model, q, v, 0 * v, forces), H, v)
        tau = textbook.rnea(model, q, v, x, forces)
        assert_forces(tf.rnea(model, q, v, x, forces), tau, H, v, x)
        for method in ["factor"] if model.coupling else ["factor", "aba"]:
            own = tf.forward_dynamics(model, q, v, tau, forces, method)
            assert_forces(tf.rnea(model, q, v, own, forces), tau, H, v, x, own)
            assert_accelerations(own, x, H)


@each_kind
def test_a_joint_alone_is_the_textbooks(kind):
    assert_textbook(random_model([-1], [kind], 1))


@each_kind
def test_a_joint_below_and_above_others_is_the_textbooks(kind):
    assert_textbook(random_model([-1, 0, 1, 1], ["revolute", "spherical", kind, "prismatic"], 2))
    assert_textbook(random_model([-1, 0, 0, 1], [kind, kind, "spherical", "helical"], 3))


@given(models(), seeds)
def test_a_tree_is_the_textbooks(model, seed):
    assert_textbook(model, seed)


@given(models(), seeds)
def test_columns_of_h_are_inverse_dynamics(model, seed):
    q, v, _, fext = arguments(model, seed)
    H, bias = tf.crba(model, q), tf.bias(model, q, v, fext)
    for k, unit in enumerate(np.eye(model.nv)):
        assert_forces(tf.rnea(model, q, v, unit, fext) - bias, H[:, k], H, v)
        assert_forces(tf.h_times(model, q, unit), H[:, k], H)


@given(models(), seeds)
def test_h_is_symmetric_and_positive_definite_within_the_pattern(model, seed):
    H = tf.crba(model, arguments(model, seed)[0])
    np.testing.assert_array_equal(H, H.T)
    assert not H[~model.tree.mask()].any()
    assert np.linalg.eigvalsh(H).min() > 0


@given(models(), seeds)
def test_freedoms_that_follow_others_reduce_h(model, seed):
    """H and tau equal G^T H G and G^T tau of the model whose joints are all free."""
    loose = free(model)
    G = textbook.coupling(model)
    q, v, x, fext = arguments(model, seed)
    q_free = np.concatenate(textbook.positions(model, q))
    H = tf.crba(model, q)
    assert error(H, G.T @ tf.crba(loose, q_free) @ G) < EXACT
    tau = G.T @ tf.rnea(loose, q_free, G @ v, G @ x, fext)
    assert_forces(tf.rnea(model, q, v, x, fext), tau, H, v, x)


def test_roots_move_apart():
    parts = [random_model([-1, 0, 0], ["revolute", "spherical", "planar"], seed) for seed in (1, 2)]
    first, second = (part.joints for part in parts)
    moved = [
        replace(joint, name=joint.name + "'", parent=joint.parent + 3 if joint.parent >= 0 else -1)
        for joint in second
    ]
    both = tf.Model([*first, *moved], parts[0].gravity)
    parts[1] = tf.Model(second, parts[0].gravity)
    q, v, x, _ = zip(*(arguments(part) for part in parts), strict=True)
    own = tf.rnea(both, *map(np.concatenate, (q, v, x)))
    alone = [tf.rnea(*each) for each in zip(parts, q, v, x, strict=True)]
    np.testing.assert_allclose(own, np.concatenate(alone), rtol=EXACT)
    H = tf.crba(both, np.concatenate(q))
    assert not H[: parts[0].nv, parts[0].nv :].any()


@each_kind
def test_how_far_away_the_base_stands_changes_no_bit(kind):
    model = free(random_model([-1, 0, 1, 0], [kind, "revolute", "spherical", "prismatic"], 4))
    root, *others = model.joints
    far = tf.Model([replace(root, p=root.p + 1e6), *others], model.gravity)
    q, v, x, fext = arguments(model)
    np.testing.assert_array_equal(tf.crba(far, q), tf.crba(model, q))
    for function in (tf.rnea, tf.aba, tf.forward_dynamics):
        np.testing.assert_array_equal(function(far, q, v, x, fext), function(model, q, v, x, fext))


def test_where_a_free_base_is_changes_no_bit():
    model = random_model([-1, 0, 1], ["freeflyer", "revolute", "spherical"], 4)
    q, v, x, _ = arguments(model)
    away = q + np.eye(model.nq)[:3].sum(axis=0) * 1e6
    for function in (tf.rnea, tf.aba, tf.forward_dynamics):
        np.testing.assert_array_equal(function(model, away, v, x), function(model, q, v, x))


def test_a_quaternion_of_almost_unit_length_counts_as_its_direction():
    model = random_model([-1, 0], ["freeflyer", "spherical"], 4)
    q, v, x, _ = arguments(model)
    scaled = q * np.where(np.arange(model.nq) < 3, 1, 1 + 1e-7)
    H = tf.crba(model, q)
    assert_forces(tf.rnea(model, scaled, v, x), tf.rnea(model, q, v, x), H, v, x)


def test_the_inputs_stay_as_they_are():
    model = random_model([-1, 0, 1], ["freeflyer", "revolute", "spherical"], 4)
    given_ = arguments(model)
    copies = [a.copy() for a in given_]
    for function in (tf.rnea, tf.aba, tf.forward_dynamics):
        function(model, *given_)
    for a, copy in zip(given_, copies, strict=True):
        np.testing.assert_array_equal(a, copy)


def test_results_stay_when_others_are_made():
    model = random_model([-1, 0], ["revolute", "spherical"], 4)
    q, v, x, _ = arguments(model)
    first = tf.crba(model, q), tf.rnea(model, q, v, x)
    copies = [a.copy() for a in first]
    other = arguments(model, 1)
    tf.crba(model, other[0])
    tf.rnea(model, *other[:3])
    for a, copy in zip(first, copies, strict=True):
        np.testing.assert_array_equal(a, copy)


@pytest.mark.parametrize("joints", [100, 400])
def test_large_models_need_no_other_way(joints):
    """Covers models whose workspace exceeds the stack, and trees whose factor is split into tasks."""
    parent = tf.families.random_tree(joints, 1).parent
    model = random_model(parent, ["revolute"] * joints, 1)
    model = free(tf.Model([replace(joint, p=joint.p / 10) for joint in model.joints]))
    q, v, x, _ = arguments(model)
    H = textbook.crba(model, q)
    assert error(tf.crba(model, q), H) < EXACT
    tau = tf.rnea(model, q, v, x)
    assert_forces(tau, textbook.rnea(model, q, v, x), H, v, x)
    for method in ("factor", "aba"):
        assert_accelerations(tf.forward_dynamics(model, q, v, tau, method=method), x, H)
