"""Test supernodes: paths and their leaves, rows of all lengths, subtrees of large trees."""

import itertools

import numpy as np
import pytest
from helpers.strategies import spd_matrix
from helpers.sweeps import in_turn
from helpers.tolerances import assert_close
from scipy.sparse import csc_matrix, tril
from scipy.sparse.linalg import spsolve

import treefactor as tf
from treefactor.bench import scaling as growth
from treefactor.papers.textbook import featherstone
from treefactor.tree._pattern import split, subtree_sizes

pytestmark = [pytest.mark.wheel, pytest.mark.isa]


def broom(handle, *bristles):
    """Return a chain of `handle` nodes whose last node carries chains of these lengths."""
    parent = list(range(-1, handle - 1))
    for length in bristles:
        parent += [handle - 1, *range(len(parent), len(parent) + length - 1)]
    return tf.Tree(parent)


def caterpillar(body, legs):
    """Return a chain of `body` nodes with `legs` leaves at each of them."""
    parent = np.arange(-1, body - 1)
    return tf.Tree(np.concatenate([parent, np.repeat(np.arange(body), legs)]))


TREES = {
    **{
        f"broom {depth} {leaves}": broom(depth, *[1] * leaves)
        for depth in range(30)
        for leaves in (1, 2, 3, 5)
    },
    **{f"fork {depth}": broom(depth, 3, 2, 1, 1, 4) for depth in (1, 4, 7, 12, 21, 25)},
    **{f"caterpillar {legs}": caterpillar(9, legs) for legs in (1, 2, 3, 4, 7)},
    "binary tree": tf.families.binary_tree(6),
    "forest": tf.Tree([-1, -1, -1, 0, 0, 1, 1, 1, 3, 3, 3, 3, 3]),
}
LARGE = {
    "binary tree": tf.families.binary_tree(14),
    "chains": tf.Tree(np.where(np.arange(6400) % 200, np.arange(-1, 6399), -1)),
    "caterpillar of bushes": tf.Tree([*range(-1, 39), *np.arange(40, 12040) // 5 - 8]),
    "random": tf.families.random_tree(30000, 1, branching=0.6),
}
trees = in_turn(
    "name",
    [
        pytest.param({name: name for name in names}, id=shape)
        for shape, names in itertools.groupby(TREES, key=lambda name: name.split()[0])
    ],
)
large_trees = pytest.mark.parametrize("name", LARGE)
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])


def case(name):
    tree = TREES[name]
    return tree, spd_matrix(tree, 1)


def within(packed):
    """Return a copy in the middle of an array of NaN."""
    line = np.full(packed.size + 80, np.nan)
    line[40:-40] = packed
    return line[40:-40]


@trees
def test_rebuild_and_inverse(name):
    tree, H = case(name)
    for kind in ("LTDL", "LTL"):
        f = tf.factor(within(tree.pack(H)), tree, kind, layout="packed")
        assert_close(f.reconstruct(), H, tree.n)
        assert_close(f.inverse() @ H, np.eye(tree.n), tree.n, np.linalg.cond(H))
        np.testing.assert_array_equal(f.inverse(out=np.empty((tree.n, 2 * tree.n))[:, ::2]), f.inverse())


@trees
def test_textbook(name):
    tree, H = case(name)
    f = tf.factor(tree.pack(H), tree, layout="packed")
    slow = np.tril(featherstone.ltdl(H, (tree.parent + 1).tolist()).astype(float))
    assert_close(np.tril(f.L(), -1) + np.diag(f.D()), slow, tree.n, np.linalg.cond(H))


@trees
def test_rows_are_the_same_wherever_they_are_read(name):
    tree, H = case(name)
    packed = tree.pack(H)
    f = tf.factor(packed, tree, layout="packed")
    strided = np.repeat(packed, 2)[::2]
    for other in (
        tf.factor(H, tree),
        tf.factor(strided, tree, layout="packed"),
        tf.factor(packed, tree, layout="packed", shift=0.0),
    ):
        np.testing.assert_array_equal(other.L(), f.L())
        np.testing.assert_array_equal(other.D(), f.D())


@trees
def test_nothing_is_left_of_a_failure(name):
    tree, H = case(name)
    f = tf.factor(H, tree)
    before = f.inverse()
    for k, value in itertools.product({0, tree.n // 2, tree.n - 1}, (np.nan, np.inf, -1.0)):
        bad = H.copy()
        bad[k, k] = value
        with pytest.raises(tf.NotPositiveDefiniteError):
            f.refactor(bad)
        np.testing.assert_array_equal(f.refactor(H).inverse(), before)


@large_trees
@kinds
def test_large_trees(name, kind):
    tree, x = LARGE[name], np.random.default_rng(0).normal(size=LARGE[name].n)
    packed = growth.dominant(tree, np.random.default_rng(1))
    f = tf.factor(packed, tree, kind, layout="packed")
    lower = csc_matrix((packed, (tree.rows, tree.columns)), shape=(tree.n, tree.n))
    H = csc_matrix(lower + tril(lower, -1).T)
    assert_close(f.multiply(x), H @ x, tree.n)
    expected = spsolve(H[::-1, ::-1], x[::-1], permc_spec="NATURAL")[::-1]  # leaves first: no fill-in
    assert_close(f.solve(x), expected, tree.n, 10.0)
    threaded = tf.factor(packed, tree, kind, layout="packed", num_threads=3)
    np.testing.assert_array_equal(threaded.solve(x), f.solve(x))
    np.testing.assert_array_equal(f.refactor(packed).solve(x), threaded.solve(x))


@large_trees
def test_failures_in_large_trees(name):
    tree = LARGE[name]
    packed = growth.dominant(tree, np.random.default_rng(1))
    f = tf.factor(packed, tree, layout="packed")
    x = f.solve(np.ones(tree.n))
    for k in (0, tree.n // 3, tree.n - 1):
        bad = packed.copy()
        bad[tree.row_start[k + 1] - 1] = -1.0
        with pytest.raises(tf.NotPositiveDefiniteError) as error:
            f.refactor(bad)
        assert error.value.row == k
        np.testing.assert_array_equal(f.refactor(packed).solve(np.ones(tree.n)), x)


def test_the_large_trees_are_cut():
    assert all(len(split(tree, subtree_sizes(tree))[0]) for tree in LARGE.values())
