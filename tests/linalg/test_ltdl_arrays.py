"""Test forms of arguments: layouts, triangles, shifts, strides, dtypes, NaN in entries that are not read."""

import numpy as np
import pytest
from helpers.array_forms import FORMS
from helpers.strategies import TREES, poisoned, spd, spd_matrix, vectors
from helpers.tolerances import assert_close
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

TREE = TREES["tree_1"]
N = TREE.n
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
batches = pytest.mark.parametrize("batch", [(), (4,), (2, 2)], ids=str)
shapes = pytest.mark.parametrize("k", [None, 1, 3])


def arguments(batch, k=None, tree=TREE):
    """Return a matrix and right-hand sides."""
    return spd_matrix(tree, 1, batch), vectors(2, *batch, tree.n, *([] if k is None else [k]))


def assert_same_factor(f, g):
    np.testing.assert_array_equal(f.L(), g.L())
    np.testing.assert_array_equal(f.D(), g.D())


# ------------------------------------------------------------------------------------- layout, triangle


@kinds
@pytest.mark.parametrize("count", [0, 1, 8, 11])
def test_lanes(kind, count):
    H, b = arguments((count,))
    f = tf.factor(TREE.pack(H, layout="lanes"), TREE, kind, layout="lanes")
    padded = -(-count // 8) * 8
    assert f.batch == (padded,)
    assert (f.status == -1).all()
    whole = np.concatenate([b, vectors(3, padded - count, N)])
    assert_close(f.solve(whole)[:count], np.linalg.solve(H, b[..., None])[..., 0], N, 100.0)
    np.testing.assert_array_equal(f.solve(whole)[count:], whole[count:])
    with pytest.raises(tf.ShapeError, match="batch axes"):
        f.refactor(TREE.pack(spd_matrix(TREE, 1, (count + 8,)), layout="lanes"), layout="lanes")


@pytest.mark.parametrize("layout", ["dense", "packed", "lanes"])
@pytest.mark.parametrize("other", ["dense", "packed", "lanes"])
def test_refactor_may_change_the_layout(layout, other):
    def arranged(H, layout):
        return H if layout == "dense" else TREE.pack(H, layout=layout)

    H, H2 = spd_matrix(TREE, 1, (8,)), spd_matrix(TREE, 2, (8,))
    f = tf.factor(arranged(H, layout), TREE, layout=layout).refactor(arranged(H2, other), layout=other)
    assert_close(f.reconstruct(), H2, N)
    assert_close(f.refactor(arranged(H, layout)).reconstruct(), H, N)


@kinds
@settings(max_examples=30)
@given(spd(max_n=60), st.sampled_from(["lower", "upper"]))
def test_poison_outside_the_triangles_pattern_changes_no_bit(kind, pair, triangle):
    tree, H = pair
    f = tf.factor(poisoned(H, tree, triangle), tree, kind, triangle=triangle)
    assert_same_factor(f, tf.factor(H, tree, kind))
    f.refactor(poisoned(2 * H, tree, triangle))
    assert_same_factor(f, tf.factor(2 * H, tree, kind))


@pytest.mark.parametrize("triangle", ["lower", "upper"])
@pytest.mark.parametrize("name", ["random", "deep"])
@shapes
def test_poison_does_not_reach_a_product(triangle, name, k):
    tree = TREES[name]
    H, x = arguments((2,), k, tree)
    own = tf.multiply(poisoned(H, tree, triangle), tree, x, triangle=triangle)
    np.testing.assert_array_equal(own, tf.multiply(H, tree, x))


def test_multiply_serves_any_leading_axes_with_a_single_matrix():
    H, x = spd_matrix(TREE, 1), vectors(2, 2, 3, N, 4)
    assert_close(tf.multiply(H, TREE, x), H @ x, N, 10.0)


def test_multiply_serves_a_batch_with_one_vector():
    H, x = spd_matrix(TREE, 1, (2, 3)), vectors(2, N)
    assert_close(tf.multiply(H, TREE, x), H @ x, N, 10.0)


# ------------------------------------------------------------------------------------- shift


@kinds
@pytest.mark.parametrize("layout", ["dense", "packed", "lanes"])
@pytest.mark.parametrize(
    "shift", [2, 2.5, np.array(2.5), list(range(N)), np.arange(8 * N).reshape(8, N)], ids=np.shape
)
def test_shift_is_added_to_the_diagonal(kind, layout, shift):
    H, _ = arguments((8,))
    shifted = H + np.broadcast_to(shift, (8, N))[..., None] * np.eye(N)
    before = H.copy()
    f = tf.factor(H if layout == "dense" else TREE.pack(H, layout=layout), TREE, kind, layout, shift)
    assert_close(f.reconstruct(), shifted, N)
    np.testing.assert_array_equal(H, before)


def test_shift_of_a_single_matrix():
    H, _ = arguments(())
    f = tf.factor(-H, TREE, shift=1e3)
    assert_close(f.reconstruct(), 1e3 * np.eye(N) - H, N)
    assert_close(f.refactor(H, shift=np.arange(N)).reconstruct(), H + np.diag(np.arange(N)), N)


# ------------------------------------------------------------------------------------- strides, dtypes


forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@forms
@batches
@pytest.mark.parametrize("layout", ["dense", "packed"])
def test_any_form_of_h(form, batch, layout):
    H, _ = arguments(batch)
    H = H if layout == "dense" else TREE.pack(H)
    f = tf.factor(form(H), TREE, layout=layout)
    assert_same_factor(f, tf.factor(H, TREE, layout=layout))
    assert_same_factor(f.refactor(form(2 * H)), tf.factor(2 * H, TREE, layout=layout))


@forms
@batches
@shapes
def test_any_form_of_b(form, batch, k):
    H, b = arguments(batch, k)
    f, before = tf.factor(H, TREE), b.copy()
    np.testing.assert_array_equal(f.solve(form(b)), f.solve(b))
    np.testing.assert_array_equal(tf.multiply(H, TREE, form(b)), tf.multiply(H, TREE, b))
    np.testing.assert_array_equal(b, before)


@forms
@batches
def test_any_form_of_shift_and_jacobian(form, batch):
    H, shift = arguments(batch)
    shift, J = np.abs(shift), vectors(3, *batch, 4, N)
    f, g = tf.factor(H, TREE, shift=form(shift)), tf.factor(H, TREE, shift=shift)
    assert_same_factor(f, g)
    assert_close(f.delassus(form(J)), g.delassus(J), N)


@batches
def test_matrices_of_a_batch_may_be_strided(batch):
    H, b = arguments((8, *batch))
    np.testing.assert_array_equal(tf.factor(H[::-2], TREE).solve(b[::-2]), tf.factor(H, TREE).solve(b)[::-2])


def test_one_matrix_may_be_broadcast():
    H, b = spd_matrix(TREE, 1), vectors(2, 5, N)
    f = tf.factor(np.broadcast_to(H, (5, N, N)), TREE)
    np.testing.assert_allclose(f.L(), np.broadcast_to(tf.factor(H, TREE).L(), (5, N, N)), atol=1e-14)
    assert f.solve(b).shape == (5, N)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.int8, np.int64, np.uint16])
@batches
def test_other_numbers_are_taken_as_float64(dtype, batch):
    H, b = arguments(batch)
    H, b = (np.abs(9 * H) + 500 * np.eye(N)).astype(dtype if dtype != np.int8 else np.int16), b.astype(dtype)
    f, g = tf.factor(H, TREE), tf.factor(H.astype(float), TREE)
    assert_same_factor(f, g)
    assert f.solve(b).dtype == np.float64
    np.testing.assert_array_equal(f.solve(b), g.solve(b.astype(float)))
