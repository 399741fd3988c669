"""Test panels of every number of rows and depth: the rows of a chain that are factorized in registers."""

import numpy as np
import pytest
from helpers.batch_results import DTYPES, LANES, assert_results, matrices
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

DEPTHS = range(19)  # more than two tiles of the widest
dtypes = pytest.mark.parametrize("dtype", DTYPES)
lengths = pytest.mark.parametrize("length", range(1, 9))


def hang(parent, node, length):
    """Append a chain of that length to a node, and return its last node."""
    for _ in range(length):
        parent.append(node)
        node = len(parent) - 1
    return node


def tree_with(depth, length, below):
    """Return a tree with a chain of `length` nodes at a depth that carries chains of the lengths `below`."""
    parent = []
    top = hang(parent, -1, depth)
    hang(parent, top, 1)  # ends the chain above
    last = hang(parent, top, length)
    for more in below:
        hang(parent, last, more)
    return tf.Tree(parent)


def assert_factor(tree, count, dtype):
    """Assert that a batch has the factors that dense NumPy computes."""
    H = matrices(tree, count, dtype)
    f = tf.factor(H, tree, dtype=dtype)
    own = {name: getattr(f, name)() for name in ("L", "D", "reconstruct", "inverse")}
    assert (f.status == -1).all()
    assert_results(own, H, "LTDL", np.zeros((count, tree.n)), dtype=dtype)


@dtypes
@lengths
@pytest.mark.parametrize("below", [(), (1, 2), (5, 3, 1)], ids=["leaves", "few", "many"])
def test_every_depth(dtype, length, below):
    for depth in DEPTHS:
        assert_factor(tree_with(depth, length, below), LANES[dtype] + 1, dtype)


@st.composite
def forests(draw):
    """Draw a forest of chains, each of which hangs on any node before it or is a root."""
    parent = []
    for length in draw(st.lists(st.integers(1, 14), min_size=1, max_size=8)):
        hang(parent, draw(st.integers(-1, len(parent) - 1)), length)
    return tf.Tree(parent)


@dtypes
@given(tree=forests())
def test_any_forest_of_chains(dtype, tree):
    assert_factor(tree, 3, dtype)


@dtypes
@lengths
@pytest.mark.parametrize("pivot", [0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, "tiny"])
def test_a_failure_in_every_row(dtype, length, pivot):
    """A reciprocal pivot that is not in (0, inf) fails its matrix only, wherever its row is in a panel."""
    tree, lanes = tree_with(3, length, (1, 2)), LANES[dtype]
    H = matrices(tree, lanes, dtype)
    right = tf.factor(H, tree, dtype=dtype)
    value = np.finfo(dtype).smallest_subnormal if pivot == "tiny" else pivot
    for k in range(tree.n):
        bad, lane = H.copy(), k % lanes
        bad[lane, k] = bad[lane, :, k] = 0
        bad[lane, k, k] = value
        f = tf.factor(bad, tree, dtype=dtype, check=False)
        expected = right.status.copy()
        expected[lane] = k
        np.testing.assert_array_equal(f.status, expected)
        others = np.arange(lanes) != lane
        np.testing.assert_array_equal(f.L()[others], right.L()[others])
        assert np.isnan(f.L()[lane][np.tril_indices(tree.n)]).any()
