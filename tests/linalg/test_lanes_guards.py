"""Test that memory around the arrays of a batch is neither read nor written."""

import math

import numpy as np
import pytest
from helpers.array_forms import GUARD, guarded
from helpers.batch_results import DTYPES, LANES, TREES, matrices, results, right_sides
from helpers.strategies import vectors
from oracles.dense import OPERATIONS

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

COUNTS = (1, 7, 9, 16, 17)
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
dtypes = pytest.mark.parametrize("dtype", DTYPES)
counts = pytest.mark.parametrize("count", COUNTS)
some_trees = pytest.mark.parametrize("name", ["one", "chain", "forest"])


def embedded(shape, dtype, around=GUARD):
    """Return a contiguous array within a longer one, and that one."""
    size = math.prod(shape)
    line = np.full(size + 2 * 67, around, dtype)
    return line[67 : 67 + size].reshape(shape), line


def within(a, around):
    """Return a copy of a within a larger array."""
    inner, _ = embedded(a.shape, a.dtype, around)
    inner[...] = a
    return inner


@dtypes
@counts
@some_trees
@pytest.mark.parametrize("out", [embedded, lambda shape, dtype: guarded(shape, 2, "C", dtype)[:2]])
def test_nothing_around_an_out_is_written(dtype, count, name, out):
    tree = TREES[name]
    f = tf.factor(matrices(tree, count, dtype), tree, dtype=dtype)
    b, J = right_sides(tree, count, 3, dtype), vectors(3, count, 5, tree.n)
    calls = {
        **{operation: lambda out=None, op=operation: getattr(f, op)(b, out=out) for operation in OPERATIONS},
        "delassus": lambda out=None: f.delassus(J, out=out),
        "inverse": lambda out=None: f.inverse(out=out),
    }
    for operation, call in calls.items():
        expected = call()
        inner, outer = out(expected.shape, dtype)
        assert call(out=inner) is inner
        np.testing.assert_array_equal(inner, expected, err_msg=operation)
        inner[...] = GUARD
        assert (outer == GUARD).all(), operation


@counts
@some_trees
def test_nothing_around_a_product_is_written(count, name):
    tree = TREES[name]
    H, x = matrices(tree, count), right_sides(tree, count, 3)
    expected = tf.multiply(H, tree, x)
    inner, outer = embedded(expected.shape, float)
    tf.multiply(H, tree, x, out=inner)
    np.testing.assert_array_equal(inner, expected)
    inner[...] = GUARD
    assert (outer == GUARD).all()


@kinds
@dtypes
@counts
@some_trees
@pytest.mark.parametrize("layout", ["dense", "packed", "lanes"])
def test_what_stands_around_arguments_does_not_matter_and_stays(kind, dtype, count, name, layout):
    tree = TREES[name]
    H = matrices(tree, count, dtype)
    H = H if layout == "dense" else tree.pack(H, layout=layout, dtype=dtype)
    shown = len(H) * LANES[dtype] if layout == "lanes" else count
    b, J = right_sides(tree, shown, 3, dtype), vectors(3, shown, 5, tree.n).astype(dtype)
    shift = np.linspace(0, 1, shown * tree.n, dtype=dtype).reshape(shown, tree.n)

    def run(H, b, J, shift):
        f = tf.factor(H, tree, kind, layout, shift, dtype=dtype)
        return {**results(f, b), "delassus": f.delassus(J)}

    arguments = H, b, J, shift
    expected = run(*arguments)
    for around in (np.nan, 1e30):
        wrapped = [within(a, around) for a in arguments]
        own = run(*wrapped)
        for what in expected:
            np.testing.assert_array_equal(own[what], expected[what], err_msg=what)
        for inner, a in zip(wrapped, arguments, strict=True):
            np.testing.assert_array_equal(inner, a)
            margins = np.delete(inner.base, np.arange(67, 67 + a.size))
            np.testing.assert_array_equal(margins, np.full_like(margins, around))
