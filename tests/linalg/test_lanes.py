"""Compare all results of batches with dense NumPy, for every shape, dtype and form of argument."""

import itertools
import math
import os

import numpy as np
import pytest
from helpers.array_forms import FORMS
from helpers.batch_results import (
    BATCHES,
    COLUMNS,
    DTYPES,
    LANES,
    TREES,
    assert_results,
    assert_same,
    matrices,
    results,
    right_sides,
)
from helpers.strategies import parents, poisoned, spd_matrix, vectors
from helpers.sweeps import examples, sweep
from helpers.tolerances import assert_batch_close
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.dense import Dense

import treefactor as tf
from treefactor._util.validation import flatten
from treefactor.linalg import _batch
from treefactor.tree import _pattern

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def trees_with(values, usual):
    """Return pairs of a tree and a value; the fast ones have the usual value, or the random tree."""
    return sweep(itertools.product(TREES, values), lambda pair: pair[0] == "random" or pair[1] == usual)


def test_the_chosen_kernels_are_used():
    assert os.environ.get(_pattern.VARIABLE, _pattern.INSTRUCTION_SETS[-1]) == _pattern.USED


# ------------------------------------------------------------------------------------- shapes


@kinds
@dtypes
@pytest.mark.parametrize(("name", "count"), trees_with(BATCHES, 17))
def test_results_of_vectors(kind, dtype, name, count):
    tree = TREES[name]
    H, b = matrices(tree, count, dtype), right_sides(tree, count, None, dtype)
    J = vectors(3, count, 6, tree.n).astype(dtype)
    f = tf.factor(H, tree, kind, dtype=dtype)
    assert (f.status == -1).all()
    assert_results(results(f, b, J), H, kind, b, J, dtype)


@kinds
@dtypes
@pytest.mark.parametrize(("name", "columns"), trees_with(COLUMNS[1:], 5))
def test_results_of_many_right_hand_sides(kind, dtype, name, columns):
    tree, count = TREES[name], 9
    H, b = matrices(tree, count, dtype), right_sides(tree, count, columns, dtype)
    assert_results(results(tf.factor(H, tree, kind, dtype=dtype), b), H, kind, b, dtype=dtype)


@kinds
@dtypes
@pytest.mark.parametrize("m", [0, 1, 2, 3, 4, 5, 7, 13])
def test_any_number_of_contacts(kind, dtype, m):
    tree, count = TREES["forest"], 17
    H, J = matrices(tree, count, dtype), vectors(3, count, m, tree.n).astype(dtype)
    G = tf.factor(H, tree, kind, dtype=dtype).delassus(J)
    dense = Dense(H.astype(float), kind)
    expected = dense.results(np.zeros((count, tree.n)), J.astype(float))["delassus"]
    assert_batch_close(G, expected, tree.n, dense.cond, dtype)
    np.testing.assert_array_equal(G, np.swapaxes(G, 1, 2))


@pytest.mark.parametrize(("name", "count"), trees_with(BATCHES, 9))
@pytest.mark.parametrize("columns", [None, 0, 1, 4, 7])
def test_products_with_h(name, count, columns):
    tree = TREES[name]
    H, x = matrices(tree, count), right_sides(tree, count, columns)
    dense = Dense(H, "LTDL")
    assert_batch_close(tf.multiply(H, tree, x), dense.apply("multiply", x), tree.n, dense.cond)
    np.testing.assert_array_equal(
        tf.multiply(tree.pack(H), tree, x, layout="packed"), tf.multiply(H, tree, x)
    )


@pytest.mark.parametrize("count", BATCHES)
@pytest.mark.parametrize("columns", [0, 1, 4, 7])
def test_products_of_float32(count, columns):
    tree = TREES["random"]
    H, x = matrices(tree, count, np.float32), right_sides(tree, count, columns, np.float32)
    y = np.empty_like(x)
    _batch.multiply(tree.pattern, H, "dense", False, x, y)
    assert_batch_close(y, H.astype(float) @ x, tree.n, 10.0, np.float32)


@kinds
@dtypes
def test_a_matrix_has_the_same_result_in_every_lane(kind, dtype):
    tree, count = TREES["random"], 33
    H, b, J = matrices(tree, 1, dtype), right_sides(tree, 1, None, dtype), vectors(3, 1, 5, tree.n)
    H, b, J = (np.repeat(a, count, axis=0) for a in (H, b, J))
    for result in results(tf.factor(H, tree, kind, dtype=dtype), b, J).values():
        np.testing.assert_array_equal(result, np.broadcast_to(result[:1], result.shape))


# ------------------------------------------------------------------------------------- lanes


@dtypes
@pytest.mark.parametrize("name", ["empty", "roots", "tree_1", "random"])
@pytest.mark.parametrize("count", [*BATCHES, 33])
def test_pack_and_unpack(dtype, name, count):
    tree, lanes = TREES[name], LANES[dtype]
    H = matrices(tree, count, dtype)
    packed = tree.pack(H, layout="lanes", dtype=dtype)
    blocks = -(-count // lanes)
    assert packed.shape == (blocks, tree.nnz, lanes)
    assert packed.dtype == dtype
    back = tree.unpack(packed, "lanes")
    assert back.dtype == dtype
    np.testing.assert_array_equal(back[:count], H)
    np.testing.assert_array_equal(back[count:], np.broadcast_to(np.eye(tree.n), back[count:].shape))


@kinds
@dtypes
@pytest.mark.parametrize("count", [1, 17, 333])  # 333: more than is read in place
def test_all_layouts_give_the_same_factor(kind, dtype, count):
    tree = TREES["long chain"]
    H, b = matrices(tree, count, dtype), right_sides(tree, count, None, dtype)
    f = tf.factor(H, tree, kind, dtype=dtype)
    dense = results(f, b)
    for layout in ("packed", "lanes"):
        f.refactor(tree.pack(H, layout=layout, dtype=dtype), layout=layout)
        assert_same(results(f, b), dense)


# ------------------------------------------------------------------------------------- forms

SOURCES = {
    **{name: form for name, form in FORMS.items() if name != "list"},
    "contiguous": np.ascontiguousarray,
    "batch reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
}


@st.composite
def cases(draw):
    """Draw trees, shapes, dtypes, layouts and options of a batch."""
    dtype = draw(st.sampled_from(DTYPES))
    return {
        "parent": draw(parents(max_n=40)),
        "batch": draw(
            st.sampled_from([(0,), (1,), (7,), (8,), (9,), (16,), (19,), (2, 3), (3, 0), (1, 2, 5)])
        ),
        "dtype": dtype,
        "spread": 10.0 ** draw(st.integers(0, 6 if dtype == np.float64 else 2)),
        "kind": draw(st.sampled_from(["LTDL", "LTL"])),
        "layout": draw(st.sampled_from(["dense", "packed", "lanes"])),
        "triangle": draw(st.sampled_from(["lower", "upper"])),
        "shift": draw(st.sampled_from([None, (), "row", "batch"])),
        "source": draw(st.sampled_from(sorted(SOURCES))),
        "seed": draw(st.integers(0, 2**32 - 1)),
    }


def shift_of(how, batch, n, seed, dtype):
    """Return a shift of that shape, exact in dtype."""
    if how is None:
        return None
    shape = {"row": (n,), "batch": (*batch, n)}.get(how, ())
    return np.random.default_rng(seed).integers(0, 9, shape).astype(dtype) / 4


@settings(max_examples=examples(250))
@given(cases())
def test_any_batch_agrees_with_numpy(case):
    tree, dtype, layout, triangle = tf.Tree(case["parent"]), case["dtype"], case["layout"], case["triangle"]
    n, form = tree.n, SOURCES[case["source"]]
    H = spd_matrix(tree, case["seed"], case["batch"], case["spread"]).astype(dtype)
    source = form(
        poisoned(H, tree, triangle) if layout == "dense" else tree.pack(H, layout=layout, dtype=dtype)
    )
    meant = tree.pack(source, triangle=triangle, dtype=dtype) if layout == "dense" else source
    H = tree.unpack(meant.astype(dtype), layout if layout == "lanes" else "packed")
    shift = shift_of(case["shift"], H.shape[:-2], n, case["seed"], dtype)
    f = tf.factor(source, tree, case["kind"], layout, shift, triangle, dtype=dtype)
    if shift is not None:
        H += np.broadcast_to(shift, H.shape[:-1])[..., None] * np.eye(n, dtype=dtype)
    b = form(right_sides(tree, math.prod(f.batch), None, dtype, case["seed"]).reshape(*f.batch, n))
    own = {
        "solve": f.solve(b),
        "multiply": f.multiply(b),
        "inverse": f.inverse(),
        "reconstruct": f.reconstruct(),
    }
    own = {name: flatten(result, result.ndim - len(f.batch)) for name, result in own.items()}
    assert_results(own, flatten(H, 2), case["kind"], flatten(b, 1).astype(dtype), dtype=dtype)
