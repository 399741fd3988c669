"""Test matrices of a batch that cannot be factorized: their status, their results, and their neighbours."""

import numpy as np
import pytest
from helpers.batch_results import DTYPES, LANES, TREES, assert_same, matrices, results, right_sides
from helpers.strategies import vectors
from oracles.dense import OPERATIONS

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

NAMES = ["roots", "chain", "level by level", "tree_1", "bush", "forest", "random"]
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
dtypes = pytest.mark.parametrize("dtype", DTYPES)
some_trees = pytest.mark.parametrize("name", NAMES)


def on_diagonal(value):
    """Spoil a diagonal entry."""

    def spoil(H, k, parent):
        H[k, k] = value

    return spoil


def beside_diagonal(value):
    """Spoil the entry that couples a node with its parent."""

    def spoil(H, k, parent):
        H[k, parent] = H[parent, k] = value

    return spoil


def zero_pivot(H, k, parent):
    """Make the pivot of row k exactly zero."""
    H[k] = H[:, k] = 0


def overflow(H, k, parent):
    """Make L(k, parent) infinite."""
    H[k, parent] = H[parent, k] = np.sqrt(np.finfo(H.dtype).max)
    H[k, k] = np.finfo(H.dtype).tiny * 8


def zero_and_nan(H, k, parent):
    """Make two failures; the status names the row that is eliminated first."""
    zero_pivot(H, k, parent)
    H[0, 0] = np.nan


SPOILERS = {
    **{f"diagonal {value}": on_diagonal(value) for value in (-1.0, np.nan, np.inf, -np.inf)},
    **{f"coupling {value}": beside_diagonal(value) for value in (np.nan, np.inf, 1e6)},
    "zero": zero_pivot,
    "overflow": overflow,
    "zero and nan": zero_and_nan,
}
spoilers = pytest.mark.parametrize("spoil", SPOILERS.values(), ids=SPOILERS)


def row_of_single(H, tree, kind):
    """Return the status of a single matrix."""
    f = tf.Factor(tree, (), kind)
    try:
        f.refactor(H)
    except tf.NotPositiveDefiniteError:
        return int(f.status)
    return -1


def spoiled(H, tree, spoil, bad):
    """Return H with the given matrices spoiled, each in another row; a root has no coupling to spoil."""
    H = H.copy()
    for i in bad:
        k = (3 * i + 1) % tree.n
        (spoil if tree.parent[k] >= 0 else on_diagonal(-1.0))(H[i], k, tree.parent[k])
    return H


@kinds
@dtypes
@some_trees
def test_status_is_that_of_the_single_matrix(kind, dtype, name):
    tree = TREES[name]
    for spoil in SPOILERS.values():
        H = spoiled(matrices(tree, tree.n, dtype), tree, spoil, range(tree.n))
        status = tf.factor(H, tree, kind, dtype=dtype).status
        assert status.tolist() == [row_of_single(h.astype(float), tree, kind) for h in H]


@kinds
@dtypes
@some_trees
def test_a_bad_matrix_is_nan_and_its_neighbours_change_no_bit(kind, dtype, name):
    tree, lanes = TREES[name], LANES[dtype]
    count = 2 * lanes + 1
    H, b = matrices(tree, count, dtype), right_sides(tree, count, None, dtype)
    J = vectors(3, count, 5, tree.n)
    bad = [1, lanes - 1, lanes, lanes + 3, 2 * lanes]
    good = np.delete(np.arange(count), bad)
    without = results(tf.factor(H, tree, kind, dtype=dtype), b, J)
    expected = {what: a[good] for what, a in without.items()}
    for spoil in SPOILERS.values():
        own = results(tf.factor(spoiled(H, tree, spoil, bad), tree, kind, dtype=dtype), b, J)
        assert_same({what: a[good] for what, a in own.items()}, expected)
        for what, result in own.items():
            assert np.isnan(result[bad]).all(), what
    own = results(tf.factor(H[good], tree, kind, dtype=dtype), b[good], J[good])
    assert_same(own, expected)


@kinds
@dtypes
@spoilers
def test_a_batch_recovers(kind, dtype, spoil):
    tree, count = TREES["forest"], LANES[dtype] + 3
    H, b = matrices(tree, count, dtype), right_sides(tree, count, None, dtype)
    J = vectors(3, count, 5, tree.n)
    f = tf.factor(spoiled(H, tree, spoil, range(count)), tree, kind, dtype=dtype)
    assert (f.status >= 0).all()
    assert_same(results(f.refactor(H), b, J), results(tf.factor(H, tree, kind, dtype=dtype), b, J))


@kinds
@dtypes
def test_nothing_is_answered_before_the_first_matrix(kind, dtype):
    tree, count = TREES["forest"], 5
    f = tf.Factor(tree, (count,), kind, dtype=dtype)
    assert (f.status == -2).all()
    for name, result in results(f, right_sides(tree, count), np.ones((count, 2, tree.n))).items():
        assert np.isnan(result).all(), name


@kinds
@dtypes
def test_a_pivot_too_small_to_divide_by_fails_itself(kind, dtype):
    H = np.repeat(np.eye(3, dtype=dtype)[None], 5, axis=0)
    H[2, 1, 1] = np.finfo(dtype).smallest_subnormal
    f = tf.factor(H, tf.Tree([-1, 0, 1]), kind, dtype=dtype)
    assert f.status.tolist() == [-1, -1, 1, -1, -1]


@kinds
@dtypes
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_shift_that_is_not_finite_spoils_its_matrix_alone(kind, dtype, value):
    tree, count = TREES["random"], LANES[dtype] + 3
    H, b = matrices(tree, count, dtype), right_sides(tree, count)
    shift = np.ones((count, tree.n))
    before = tf.factor(H, tree, kind, shift=shift, dtype=dtype).solve(b)
    shift[4, 7] = value
    f = tf.factor(H, tree, kind, shift=shift, dtype=dtype)
    assert f.status[4] == 7
    np.testing.assert_array_equal(np.delete(f.solve(b), 4, axis=0), np.delete(before, 4, axis=0))


@kinds
@dtypes
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_spoils_its_own_results_alone(kind, dtype, value):
    tree, count = TREES["random"], LANES[dtype] + 3
    b, J = right_sides(tree, count), vectors(3, count, 5, tree.n)
    f = tf.factor(matrices(tree, count, dtype), tree, kind, dtype=dtype)
    before = results(f, b, J)
    b[4, 7] = J[4, 2, 7] = value
    after = results(f, b, J)
    assert_same(*({name: np.delete(a, 4, axis=0) for name, a in r.items()} for r in (after, before)))
    assert not any(np.isfinite(after[name][4]).all() for name in ("quadratic", "delassus", *OPERATIONS))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_spoils_its_own_product_alone(value):
    tree, count = TREES["random"], 11
    H, x = matrices(tree, count), right_sides(tree, count, 3)
    before = tf.multiply(H, tree, x)
    H[4, 7, 7] = value
    after = tf.multiply(H, tree, x)
    np.testing.assert_array_equal(np.delete(after, 4, axis=0), np.delete(before, 4, axis=0))
    assert not np.isfinite(after[4]).all()
