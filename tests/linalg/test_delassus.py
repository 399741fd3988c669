"""J H^-1 J^T on the support of every row, and its inverse."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import treefactor as tf
from treefactor.linalg.delassus import inertia


def spd(tree, rng, *batch):
    """Return matrices with the pattern of the tree."""
    L = np.tril(np.where(tree.mask(), rng.normal(size=(*batch, tree.n, tree.n)), 0.0), -1) + np.eye(tree.n)
    D = rng.uniform(0.5, 2.0, size=(*batch, tree.n, 1))
    return np.swapaxes(L, -1, -2) @ (D * L)


def rows(tree, rng, m, share):
    """Return rows whose supports are paths, parts of paths, everything or nothing, in any order."""
    J = np.zeros((m, tree.n))
    for r in range(m):
        kind = rng.integers(5)
        k = int(rng.integers(tree.n))
        path = np.append(tree.ancestors(k), k)
        if kind == 0:
            J[r] = rng.normal(size=tree.n)
        elif kind < 4:
            J[r, path] = rng.normal(size=path.size)
            J[r] *= rng.uniform(size=tree.n) < share
    return J


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.integers(1, 20), st.floats(0.3, 1.0), st.integers(0, 10**6))
@pytest.mark.parametrize("kind", ["LTDL", "LTL"])
def test_delassus_agrees_with_numpy_for_every_support(kind, n, m, share, seed):
    rng = np.random.default_rng(seed)
    tree = tf.families.random_tree(n, rng)
    H, J = spd(tree, rng), rows(tree, rng, m, share)
    G = tf.factor(H, tree, kind).delassus(J)
    expected = J @ np.linalg.solve(H, J.T)
    scale = np.linalg.cond(H) * np.abs(expected).max(initial=1e-300)
    assert np.abs(G - expected).max(initial=0.0) <= 1e-14 * n * scale
    np.testing.assert_array_equal(G, G.T)
    assert not G[~J.any(axis=1)].any()
    many = tf.factor(np.stack([H] * 9), tree, kind).delassus(J)
    assert np.abs(many - expected).max(initial=0.0) <= 1e-14 * n * scale


def test_rows_of_limbs_in_any_order_give_the_same_entries():
    tree = tf.Tree([-1, 0, 1, 1, 3, 1, 5])
    rng = np.random.default_rng(0)
    f, J = tf.factor(spd(tree, rng), tree), rows(tree, rng, 12, 1.0)
    G, order = f.delassus(J), rng.permutation(12)
    np.testing.assert_allclose(f.delassus(J[order]), G[np.ix_(order, order)], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("batch", [(), (3,), (2, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 3, 6, 12])
def test_inertia_is_the_inverse(batch, dtype, m):
    if dtype == np.float32 and not batch:
        return
    tree, rng = tf.families.random_tree(14, np.random.default_rng(0)), np.random.default_rng(1)
    H, J = spd(tree, rng, *batch), rng.normal(size=(*batch, m, 14))
    f = tf.factor(H, tree, dtype=dtype)
    for damping in (0.0, 0.1):
        Lambda, status = inertia(f, J, damping)
        G = J @ np.linalg.solve(H, np.swapaxes(J, -1, -2)) + damping * np.eye(m)
        error = np.abs(Lambda @ G - np.eye(m)).max() / np.linalg.cond(G).max()
        assert error < (1e-4 if dtype == np.float32 else 1e-12)
        np.testing.assert_array_equal(Lambda, np.swapaxes(Lambda, -1, -2))
        assert status.shape == batch
        assert (status == -1).all()
        out = np.empty((*batch, m, 2 * m), dtype)[..., ::2]
        np.testing.assert_array_equal(inertia(f, J, damping, out)[0], Lambda)
        np.testing.assert_array_equal(out, Lambda)


@pytest.mark.parametrize("count", [1, 8, 11])
def test_a_singular_element_leaves_its_neighbours_alone(count):
    tree, rng = tf.families.chain(7), np.random.default_rng(2)
    H, J = spd(tree, rng, count), rng.normal(size=(count, 5, 7))
    f, singular = tf.factor(H, tree), count // 2
    expected = inertia(f, J)[0]
    for row, change in ((3, lambda A: A[0] - 2 * A[1]), (0, lambda A: 0.0 * A[0]), (2, lambda A: np.nan)):
        bad = J.copy()
        bad[singular, row] = change(bad[singular])
        Lambda, status = inertia(f, bad)
        others = np.arange(count) != singular
        np.testing.assert_array_equal(Lambda[others], expected[others])
        assert np.isnan(Lambda[singular]).all()
        assert status[singular] == row
        assert (status[others] == -1).all()


def test_a_factor_that_failed_gives_nan():
    tree, rng = tf.families.chain(4), np.random.default_rng(3)
    H, J = spd(tree, rng, 3), rng.normal(size=(2, 4))
    H[1, 2, 2] = -1.0
    Lambda, status = inertia(tf.factor(H, tree), J)
    assert np.isnan(Lambda[1]).all()
    assert np.isfinite(Lambda[[0, 2]]).all()
    np.testing.assert_array_equal(status, [-1, 0, -1])


def test_threads_change_no_bit():
    tree, rng = tf.families.chain(12), np.random.default_rng(4)
    H, J = spd(tree, rng, 3000), rng.normal(size=(3000, 6, 12))
    one, two = (inertia(tf.factor(H, tree, num_threads=count), J)[0] for count in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("damping", [-1.0, np.nan, "1"])
def test_bad_damping(damping):
    with pytest.raises((ValueError, tf.DtypeError, tf.NonFiniteError), match="damping"):
        inertia(tf.factor(np.eye(2), tf.Tree([-1, 0])), np.eye(2), damping)
