"""Test that `solve` returns the bits of `factor(...).solve` without keeping the factor."""

import math

import numpy as np
import pytest
from helpers.array_forms import FORMS, GUARD, every_other, guarded, reversed_axes, unaligned
from helpers.batch_results import BATCHES, COLUMNS, DTYPES, LANES, TREES, matrices, right_sides
from helpers.strategies import poisoned, trees
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import robots

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

dtypes = pytest.mark.parametrize("dtype", DTYPES)
named_trees = pytest.mark.parametrize("name", TREES)
some_trees = pytest.mark.parametrize("name", ["one", "chain", "forest", "random"])
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
layouts = pytest.mark.parametrize("layout", ["dense", "packed", "lanes"])
triangles = pytest.mark.parametrize("triangle", ["lower", "upper"])


def assert_kept(H, tree, b, layout="dense", shift=None, triangle="lower", dtype=np.float64, **options):
    """Assert that the solution is that of a factor to the last bit; return it."""
    own = tf.solve(H, tree, b, layout, shift, triangle, dtype, **options)
    f = tf.factor(H, tree, "LTDL", layout, shift, triangle, dtype=dtype)
    np.testing.assert_array_equal(own, f.solve(b), strict=True)
    return own


# ------------------------------------------------------------------------------------- against others


@dtypes
@named_trees
def test_any_number_of_matrices_and_right_hand_sides(dtype, name):
    """Solutions of factors are compared with those of dense NumPy in test_lanes.py."""
    tree = TREES[name]
    for count in BATCHES:
        H = matrices(tree, count, dtype)
        for columns in COLUMNS:
            assert_kept(H, tree, right_sides(tree, count, columns, dtype), dtype=dtype)


@pytest.mark.parametrize("robot", ["panda", "solo12", "talos_reduced"])
def test_pinocchio_agrees(robot):
    pin = pytest.importorskip("pinocchio", reason="the reference")
    from treefactor.adapters import pinocchio_

    entry = robots.find(robot)
    model = pinocchio_.load(entry.path, entry.floating)
    data, rng = model.createData(), np.random.default_rng(1)
    v, tau = np.zeros(model.nv), rng.normal(size=(19, model.nv))
    q = [pin.integrate(model, pin.neutral(model), move) for move in rng.normal(size=(19, model.nv))]
    expected = np.array([pin.aba(model, data, *state) for state in zip(q, [v] * 19, tau, strict=True)])
    bias = np.array([pin.nle(model, data, one, v).copy() for one in q])
    H = pinocchio_.mass_matrix(model, data, np.array(q))
    own = assert_kept(H, pinocchio_.tree(model), tau - bias)
    np.testing.assert_allclose(own, expected, atol=1e-9 * np.abs(expected).max())


@given(trees(max_n=40), st.integers(0, 20), st.sampled_from(DTYPES), st.integers(0, 99))
def test_any_tree(tree, count, dtype, seed):
    H, b = matrices(tree, count, dtype, seed), right_sides(tree, count, None, dtype, seed)
    assert_kept(poisoned(H, tree).astype(dtype), tree, b, dtype=dtype)


# ------------------------------------------------------------------------------------- arguments


@dtypes
@layouts
@triangles
@some_trees
def test_every_layout_triangle_shift_and_number_of_threads(dtype, layout, triangle, name):
    tree, count = TREES[name], 4 * LANES[dtype] if layout == "lanes" else 50
    H, b = matrices(tree, count, dtype), right_sides(tree, count, 2, dtype)
    H = poisoned(H, tree, triangle).astype(dtype) if layout == "dense" else tree.pack(H, layout, dtype=dtype)
    for shift in (None, 0.5, np.linspace(0, 1, tree.n), np.abs(b[..., 0])):
        for num_threads in (1, 3):
            assert_kept(H, tree, b, layout, shift, triangle, dtype, num_threads=num_threads)


@dtypes
@layouts
@triangles
@forms
def test_any_form_of_the_arguments(dtype, layout, triangle, form):
    tree, count = TREES["random"], 2 * LANES[dtype] if layout == "lanes" else 21
    H, b = matrices(tree, count, dtype), right_sides(tree, count, 2, dtype)
    H = H if layout == "dense" else tree.pack(H, layout, dtype=dtype)
    shift = np.abs(b[..., 0])
    before = H.copy(), b.copy(), shift.copy()
    own = tf.solve(form(H), tree, form(b), layout, form(shift), triangle, dtype)
    np.testing.assert_array_equal(own, tf.solve(H, tree, b, layout, shift, triangle, dtype))
    for a, was in zip((H, b, shift), before, strict=True):
        np.testing.assert_array_equal(a, was)


@dtypes
@triangles
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ["one", "long chain", "level by level", "row by row", "random"])
def test_matrices_within_larger_ones(dtype, triangle, order, name):
    tree, count = TREES[name], LANES[dtype] + 1
    H, b = matrices(tree, count, dtype), right_sides(tree, count, None, dtype)
    inner, big, guard = guarded(H.shape, order=order, dtype=dtype)
    big[guard] = np.nan
    inner[...] = poisoned(H, tree, triangle)
    own = assert_kept(inner, tree, b, triangle=triangle, dtype=dtype)
    np.testing.assert_array_equal(own, tf.solve(tree.pack(H), tree, b, "packed", dtype=dtype))


@pytest.mark.parametrize("batch", [(0,), (1,), (2, 3), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("tail", [(), (0,), (4,)], ids=str)
def test_leading_axes(batch, tail):
    tree = TREES["tree_1"]
    H, b = matrices(tree, math.prod(batch)).reshape(*batch, tree.n, tree.n), right_sides(tree, 1, *tail)[0]
    assert assert_kept(H, tree, b).shape == (*batch, tree.n, *tail)
    assert_kept(H, tree, np.broadcast_to(b, (*batch, *b.shape)))


def test_a_single_matrix():
    tree = TREES["tree_1"]
    H, b = matrices(tree, 1)[0], right_sides(tree, 5, 3)
    assert_kept(H, tree, b[0], shift=2.0)
    assert_kept(tree.pack(H), tree, b, "packed")
    assert_kept(H, tree, b[0, :, 0], num_threads=2)


# ------------------------------------------------------------------------------------- outputs


@dtypes
@pytest.mark.parametrize("columns", [None, 1, 3])
@pytest.mark.parametrize(("stride", "order"), [(1, "C"), (2, "C"), (1, "F")])
def test_out_is_filled_and_its_surroundings_stay(dtype, columns, stride, order):
    tree, count = TREES["forest"], LANES[dtype] + 3
    H, b = matrices(tree, count, dtype), right_sides(tree, count, columns, dtype)
    out, big, guard = guarded(b.shape, stride, order, dtype)
    assert assert_kept(H, tree, b, dtype=dtype, out=out) is out
    assert (big[guard] == GUARD).all()


@pytest.mark.parametrize("form", [np.copy, every_other, reversed_axes, unaligned, np.asfortranarray])
@pytest.mark.parametrize("count", [None, 21])
def test_out_may_be_what_is_read(form, count):
    tree = TREES["forest"]
    H, b = matrices(tree, 21), right_sides(tree, 21, 3)
    H, b = (H, b) if count else (H[0], b[0])
    expected = tf.solve(H, tree, b)
    x = form(b)
    assert tf.solve(H, tree, x, out=x) is x
    np.testing.assert_array_equal(x, expected)
    Y = form(H)
    expected = tf.solve(H, tree, H)
    np.testing.assert_array_equal(tf.solve(Y, tree, H, out=Y), expected)


@pytest.mark.parametrize("ahead", [1, -1])
def test_out_may_overlap_b(ahead):
    tree, count = TREES["forest"], 21
    H, line = matrices(tree, count), right_sides(tree, count + 2)
    b, out = line[1:-1], line[1 + ahead : count + 1 + ahead]
    expected = tf.solve(H, tree, b)
    np.testing.assert_array_equal(tf.solve(H, tree, b, out=out), expected)


def test_out_may_lie_where_matrices_are_read_later():
    tree, count = TREES["forest"], 21
    H, b = matrices(tree, count), right_sides(tree, count)
    expected = tf.solve(H, tree, b)
    np.testing.assert_array_equal(
        tf.solve(H, tree, b, out=H.reshape(-1)[-b.size :].reshape(b.shape)), expected
    )


def test_out_may_hold_the_shift_of_all_matrices():
    tree, count = TREES["forest"], 21
    H, b, out = matrices(tree, count), right_sides(tree, count), np.ones((count, tree.n))
    expected = tf.solve(H, tree, b, shift=np.ones(tree.n))
    np.testing.assert_array_equal(tf.solve(H, tree, b, shift=out[0], out=out), expected)


# ------------------------------------------------------------------------------------- failures


@dtypes
@layouts
@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf])
def test_a_bad_matrix_is_nan_and_its_neighbours_change_no_bit(dtype, layout, value):
    tree, lanes = TREES["random"], LANES[dtype]
    count, bad = 3 * lanes, [1, lanes - 1, lanes, 3 * lanes - 1]
    H, b = matrices(tree, count, dtype), right_sides(tree, count, 2, dtype)
    good = tf.solve(H, tree, b, dtype=dtype)
    H[bad, 7, 7] = value
    H = H if layout == "dense" else tree.pack(H, layout, dtype=dtype)
    own = assert_kept(H, tree, b, layout, dtype=dtype, num_threads=2)
    assert np.isnan(own[bad]).all()
    np.testing.assert_array_equal(np.delete(own, bad, axis=0), np.delete(good, bad, axis=0))


def test_a_single_matrix_that_fails_raises():
    tree = TREES["random"]
    H, b = matrices(tree, 1)[0], right_sides(tree, 1)[0]
    H[7, 7] = -1
    with pytest.raises(tf.NotPositiveDefiniteError) as caught:
        tf.solve(H, tree, b)
    assert caught.value.row == 7
    with pytest.raises(tf.NonFiniteError):
        tf.solve(np.eye(tree.n), tree, np.full(tree.n, np.nan))


@dtypes
def test_a_vector_that_is_not_finite_spoils_its_own_solution_alone(dtype):
    tree, count = TREES["random"], LANES[dtype] + 3
    H, b = matrices(tree, count, dtype), right_sides(tree, count, None, dtype)
    before = tf.solve(H, tree, b, dtype=dtype)
    b[4, 7] = np.nan
    after = assert_kept(H, tree, b, dtype=dtype)
    np.testing.assert_array_equal(np.delete(after, 4, axis=0), np.delete(before, 4, axis=0))
