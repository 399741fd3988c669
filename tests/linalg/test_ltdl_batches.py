"""Test batches of matrices, refactorization and threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.batch_results import results
from helpers.strategies import TREES, spd_matrix, vectors
from helpers.tolerances import assert_close
from oracles.dense import OPERATIONS

import treefactor as tf
from treefactor._util.validation import flatten

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

BATCHES = [(), (0,), (1,), (5,), (2, 3)]
COND = 100.0  # bounds the condition of spd_matrix on Tree-1
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
batches = pytest.mark.parametrize("batch", BATCHES, ids=str)
operations = pytest.mark.parametrize("operation", OPERATIONS)


# ------------------------------------------------------------------------------------------ batches


@kinds
@pytest.mark.parametrize("batch", [(0,), (1,), (9,), (2, 3), (3, 0), (9, 9)], ids=str)  # 9: as many as nodes
@pytest.mark.parametrize("k", [None, 0, 1, 3])
def test_results_have_the_leading_axes_of_the_matrices(kind, batch, k):
    """Results of one axis are compared with those of dense NumPy in test_lanes.py."""
    tree = TREES["tree_1"]
    H, b = spd_matrix(tree, 5, batch), vectors(6, *batch, tree.n, *([] if k is None else [k]))
    J = vectors(7, *batch, 4, tree.n)
    f, g = tf.factor(H, tree, kind), tf.factor(flatten(H, 2), tree, kind)
    expected = results(g, flatten(b, 1 if k is None else 2), flatten(J, 2))
    for name, own in results(f, b, J).items():
        assert own.shape == (*batch, *expected[name].shape[1:]), name
        np.testing.assert_array_equal(own.reshape(expected[name].shape), expected[name], err_msg=name)
    assert f.batch == batch
    assert f.status.shape == batch
    assert (f.status == -1).all()


@operations
@pytest.mark.parametrize("tail", [(), (0,), (4,)])
@batches
def test_b_without_batch_axes_serves_every_matrix(operation, tail, batch):
    tree = TREES["tree_1"]
    f = tf.factor(spd_matrix(tree, 5, batch), tree)
    b = vectors(6, tree.n, *tail)
    whole = np.ascontiguousarray(np.broadcast_to(b, (*batch, *b.shape)))
    np.testing.assert_array_equal(getattr(f, operation)(b), getattr(f, operation)(whole))


@operations
def test_a_single_matrix_serves_any_leading_axes(operation):
    tree = TREES["tree_1"]
    f = tf.factor(spd_matrix(tree, 5), tree)
    b = vectors(6, 2, 3, tree.n, 4)
    own = getattr(f, operation)(b)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(own[index], getattr(f, operation)(b[index]))


def test_where_both_readings_of_b_fit_the_leading_axes_are_the_batch():
    tree = TREES["tree_1"]
    H, b = spd_matrix(tree, 5, (tree.n,)), vectors(6, tree.n, tree.n)
    own = tf.factor(H, tree).solve(b)
    assert_close(own, np.linalg.solve(H, b[..., None])[..., 0], tree.n, np.linalg.cond(H).max())


@pytest.mark.parametrize("m", [0, 1, 4, 9])
@pytest.mark.parametrize("batch", [(), (5,), (9,), (2, 3), (9, 9)], ids=str)
def test_one_jacobian_serves_every_matrix(m, batch):
    tree = TREES["tree_1"]
    H, J = spd_matrix(tree, 5, batch), vectors(7, m, tree.n)
    expected = J @ np.linalg.inv(H) @ J.T
    assert_close(tf.factor(H, tree).delassus(J), expected, tree.n, COND)


# ------------------------------------------------------------------------------------------ refactor


@kinds
@batches
def test_refactor_equals_a_fresh_factor(kind, batch):
    tree = TREES["random"]
    H, H2 = spd_matrix(tree, 1, batch), spd_matrix(tree, 2, batch)
    f = tf.factor(H, tree, kind, shift=3.0)
    assert f.refactor(H2) is f
    np.testing.assert_array_equal(f.L(), tf.factor(H2, tree, kind).L())
    np.testing.assert_array_equal(f.D(), tf.factor(H2, tree, kind).D())


def test_refactor_leaves_earlier_results_alone():
    tree = TREES["random"]
    f = tf.factor(spd_matrix(tree, 1, (3,)), tree)
    earlier = [f.L(), f.D(), f.status, f.inverse()]
    kept = [a.copy() for a in earlier]
    other = spd_matrix(tree, 2, (3,))
    other[1, 0, 0] = -1.0
    assert f.refactor(other).status.tolist() == [-1, 0, -1]
    for now, before in zip(earlier, kept, strict=True):
        np.testing.assert_array_equal(now, before)


def test_the_factor_keeps_no_view_of_h():
    tree = TREES["tree_1"]
    H = spd_matrix(tree, 1)
    f = tf.factor(H, tree)
    L = f.L()
    H[:] = np.nan
    np.testing.assert_array_equal(f.L(), L)
    assert np.isfinite(f.solve(np.ones(9))).all()


def test_attributes_of_a_factor():
    tree = TREES["tree_1"]
    f = tf.factor(spd_matrix(tree, 1), tree, "LTL")
    assert (f.tree, f.kind, f.batch) == (tree, "LTL", ())
    assert f.status == -1
    assert f.status.shape == ()


# ------------------------------------------------------------------------------------------ threads


def test_threads_change_no_bit_in_refactor():
    tree = TREES["random"]
    H, H2, shift = (spd_matrix(tree, s, (3, 7)) for s in (1, 2, 3))
    shift = np.einsum("...ii->...i", shift)
    alone, shared = (tf.factor(H, tree, num_threads=t).refactor(H2, shift) for t in (1, 2))
    np.testing.assert_array_equal(alone.L(), shared.L())
    np.testing.assert_array_equal(alone.D(), shared.D())


def test_threads_serve_many_right_hand_sides_of_a_single_matrix():
    tree = TREES["random"]
    H, b = spd_matrix(tree, 1), vectors(2, 21, tree.n, 3)
    np.testing.assert_array_equal(tf.factor(H, tree, num_threads=2).solve(b), tf.factor(H, tree).solve(b))


@pytest.mark.parametrize("name", ["random", "deep"])
@pytest.mark.parametrize("k", [None, 3])
@kinds
def test_one_factor_serves_several_threads_at_once(name, k, kind):
    tree = TREES[name]
    f = tf.factor(spd_matrix(tree, 1), tree, kind)
    bs = vectors(2, 64, tree.n) if k is None else vectors(2, 64, tree.n, k)
    alone = [(f.solve(b), f.half_solve(b), f.multiply(b)) for b in bs]
    with ThreadPoolExecutor(8) as pool:
        shared = list(pool.map(lambda b: (f.solve(b), f.half_solve(b), f.multiply(b)), bs))
    np.testing.assert_array_equal(np.array(alone), np.array(shared))
