"""Test outputs: out= of any form, aliases, guard zones; and calls that allocate nothing."""

import gc
import tracemalloc
from functools import partial

import numpy as np
import pytest
from helpers.array_forms import GUARD, every_other, guarded, reversed_axes, unaligned
from helpers.strategies import TREES, spd_matrix, vectors
from helpers.tolerances import FLAT_BYTES, REFACTOR_BYTES, SOLVE_BYTES, assert_close
from oracles.dense import OPERATIONS

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

TREE = TREES["tree_1"]
N = TREE.n
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
operations = pytest.mark.parametrize("operation", OPERATIONS)
batches = pytest.mark.parametrize("batch", [(), (4,), (2, 2)], ids=str)
shapes = pytest.mark.parametrize("k", [None, 1, 3])


def arguments(batch, k=None, tree=TREE):
    """Return a matrix and right-hand sides."""
    return spd_matrix(tree, 1, batch), vectors(2, *batch, tree.n, *([] if k is None else [k]))


@operations
@batches
@shapes
@pytest.mark.parametrize(("stride", "order"), [(1, "C"), (2, "C"), (1, "F")])
def test_out_is_filled_and_its_surroundings_stay(operation, batch, k, stride, order):
    H, b = arguments(batch, k)
    apply = getattr(tf.factor(H, TREE), operation)
    out, big, guard = guarded(b.shape, stride, order)
    assert apply(b, out=out) is out
    np.testing.assert_array_equal(out, apply(b))
    assert (big[guard] == GUARD).all()


@batches
@shapes
@pytest.mark.parametrize("form", [np.asfortranarray, every_other, reversed_axes, unaligned, np.copy])
def test_any_form_of_out(batch, k, form):
    H, b = arguments(batch, k)
    f, out = tf.factor(H, TREE), form(np.zeros(b.shape))
    assert f.solve(b, out=out) is out
    np.testing.assert_array_equal(out, f.solve(b))
    assert tf.multiply(H, TREE, b, out=out) is out
    np.testing.assert_array_equal(out, tf.multiply(H, TREE, b))


@batches
@shapes
@pytest.mark.parametrize("form", [np.copy, every_other, reversed_axes])
def test_out_may_be_b(batch, k, form):
    H, b = arguments(batch, k)
    f = tf.factor(H, TREE)
    for apply in (*(getattr(f, operation) for operation in OPERATIONS), partial(tf.multiply, H, TREE)):
        x = form(b)
        assert apply(x, out=x) is x
        np.testing.assert_array_equal(x, apply(b))


@pytest.mark.parametrize("ahead", [1, -1])
@pytest.mark.parametrize("tail", [(), (3,)])
def test_out_may_overlap_b(ahead, tail):
    f = tf.factor(spd_matrix(TREE, 1), TREE)
    line = vectors(2, N + 2, *tail)
    b = line[1:-1]
    out, expected = line[1 + ahead : N + 1 + ahead], f.solve(b)
    np.testing.assert_array_equal(f.solve(b, out=out), expected)


def test_out_may_hold_the_b_of_all_matrices():
    f = tf.factor(spd_matrix(TREE, 1, (4,)), TREE)
    out = vectors(2, 4, N)
    b = out[2]
    expected = f.solve(b.copy())
    np.testing.assert_array_equal(f.solve(b, out=out), expected)


@batches
@pytest.mark.parametrize("stride", [1, 2])
def test_out_of_delassus_and_inverse(batch, stride):
    f, J = tf.factor(spd_matrix(TREE, 1, batch), TREE), vectors(2, *batch, N, N)
    for call in (f.inverse, lambda out=None: f.delassus(J, out=out)):
        out, big, guard = guarded((*batch, N, N), stride)
        assert call(out=out) is out
        assert_close(out, call(), N)
        assert (big[guard] == GUARD).all()


def test_out_of_delassus_may_hold_the_J_of_all_matrices():
    f, out = tf.factor(spd_matrix(TREE, 1, (20,)), TREE), vectors(2, 20, N, N)
    for J in (out[3], out[3].T):
        expected = f.delassus(J.copy())
        np.testing.assert_array_equal(f.delassus(J, out=out), expected)


# ------------------------------------------------------------------------------------- memory


def traced(call, repeat=200):
    """Return growth of traced memory over the calls, and its peak above the start."""
    for _ in range(20):
        call()
    gc.collect()
    tracemalloc.start()
    try:
        call()
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(repeat):
            call()
        stop, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return stop - start, peak - start


@operations
@kinds
@pytest.mark.uncovered
def test_operations_into_out_allocate_nothing(operation, kind):
    tree = tf.families.random_tree(60, 1)
    H, b = arguments((), None, tree)
    apply, out = getattr(tf.factor(H, tree, kind), operation), np.empty(60)
    growth, peak = traced(lambda: apply(b, out=out))
    assert growth <= FLAT_BYTES
    assert peak <= SOLVE_BYTES


@kinds
@pytest.mark.parametrize("layout", ["dense", "packed"])
def test_refactor_allocates_nothing_that_grows_with_n(kind, layout):
    peaks = []
    for n in (60, 240):
        tree = tf.families.random_tree(n, 1)
        H = spd_matrix(tree, 1)
        H = H if layout == "dense" else tree.pack(H)
        f = tf.factor(H, tree, kind, layout)
        growth, peak = traced(lambda f=f, H=H: f.refactor(H))
        assert growth <= FLAT_BYTES
        assert peak <= REFACTOR_BYTES
        peaks.append(peak)
    assert abs(peaks[1] - peaks[0]) <= FLAT_BYTES


def test_a_failing_refactor_leaks_nothing():
    H = spd_matrix(TREE, 1, (3,))
    H[1, 4, 4] = -1
    f = tf.factor(H, TREE)
    growth, _ = traced(lambda: f.refactor(H))
    assert growth <= FLAT_BYTES
