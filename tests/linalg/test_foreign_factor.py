"""Factors in arrays of another library, and the fast path of one plain matrix."""

import numpy as np
import pytest
from oracles.dense import OPERATIONS, Dense

import treefactor as tf
from treefactor._util._by_identity import ByIdentity
from treefactor.linalg.foreign_factor import ForeignFactor

TREE = tf.families.random_tree(12, np.random.default_rng(0))
H = np.where(TREE.mask(), np.random.default_rng(1).normal(size=(12, 12)), 0.0)
H = np.tril(H) + np.tril(H, -1).T + 20.0 * np.eye(12)
B = np.random.default_rng(2).normal(size=(12, 3))


def foreign(order, triangle):
    """Return L and D whose entries outside the pattern are NaN."""
    f = tf.factor(H, TREE)
    L = np.where(TREE.mask() & np.tri(12, dtype=bool), f.L(), np.nan)
    np.fill_diagonal(L, np.nan)
    return np.array(L.T if triangle == "upper" else L, order=order), f.D()


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("triangle", ["lower", "upper"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_agree_with_numpy(order, triangle, operation):
    f = ForeignFactor(*foreign(order, triangle), TREE, triangle)
    for b in (B[:, 0].copy(), B, B[:, 1], B[:, 0].tolist()):
        expected = Dense(H, "LTDL").apply(operation, np.array(b))
        np.testing.assert_allclose(getattr(f, operation)(b), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("b", [B[:, 0].copy(), B])
def test_every_call_reads_the_arrays_again(b):
    L, D = foreign("F", "lower")
    f = ForeignFactor(L, D, TREE)
    first = f.solve(b)
    D *= 2.0
    np.testing.assert_allclose(f.solve(b), first / 2.0, rtol=1e-14)
    np.testing.assert_allclose(f.inverse(), np.linalg.inv(H) / 2.0, rtol=1e-12, atol=1e-14)
    D[3] = 0.0
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"D\[3\] = 0.0 is not positive"):
        f.solve(b)
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"D\[3\]"):
        f.inverse()
    D[3], row = 1.0, int(np.argmax(TREE.depth))
    L[row, TREE.parent[row]] = np.nan
    with pytest.raises(tf.NonFiniteError, match="L is not finite"):
        f.solve_l(b)


def test_not_finite_right_hand_sides_are_refused():
    f = ForeignFactor(*foreign("C", "lower"), TREE)
    with pytest.raises(tf.NonFiniteError, match=r"b\[4\]"):
        f.solve(np.where(np.arange(12) == 4, np.inf, 1.0))


@pytest.mark.parametrize("order", "CF")
def test_the_inverse_is_kept_in_a_matrix_of_any_layout(order):
    f, kept = ForeignFactor(*foreign("C", "lower"), TREE), np.empty((12, 12), order=order)
    inverse = f.inverse_kept(kept)
    np.testing.assert_array_equal(inverse, kept)
    np.testing.assert_array_equal(inverse, tf.factor(H, TREE).inverse())


@pytest.mark.parametrize("kind", ["LTDL", "LTL"])
@pytest.mark.parametrize("layout", ["dense", "packed"])
def test_the_fast_path_gives_the_bits_of_the_general_path(kind, layout):
    own = H if layout == "dense" else TREE.pack(H)
    fast = tf.factor(own, TREE, kind, layout)
    general = tf.factor(own.tolist(), TREE, kind, layout)
    for name in OPERATIONS:
        np.testing.assert_array_equal(getattr(fast, name)(B), getattr(general, name)(B))
    for name in ("L", "D", "inverse", "logdet"):
        np.testing.assert_array_equal(getattr(fast, name)(), getattr(general, name)())
    for name in ("tree", "batch", "kind", "dtype", "_layout", "_triangle", "_upper", "_threads"):
        assert getattr(fast, name) == getattr(general, name)
    for b in (B, B[:, 0].copy()):
        np.testing.assert_array_equal(
            tf.solve(own, TREE, b, layout), tf.solve(own.tolist(), TREE, b.tolist(), layout)
        )
        np.testing.assert_array_equal(
            tf.multiply(own, TREE, b, layout=layout),
            tf.multiply(own.tolist(), TREE, b.tolist(), layout=layout),
        )


class Thing:
    """Object with a weak reference."""


def test_values_by_identity_live_as_long_as_their_first_object():
    kept, one, two = ByIdentity(), Thing(), Thing()
    assert kept.find(one, two) is None
    value = Thing()
    assert kept.keep(one, two, value) is value
    assert kept.find(one, two) is value
    assert kept.find(one, Thing()) is None
    assert kept.find(two, two) is None
    seen = set()
    for _ in range(100):
        thing = Thing()
        assert kept.find(thing, two) is None
        kept.keep(thing, two, value)
        seen.add(id(thing))
    assert len(seen) < 100  # some were where others had been
