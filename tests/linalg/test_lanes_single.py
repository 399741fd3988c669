"""Test batches in float32: accuracy, dtypes, and errors."""

import numpy as np
import pytest
from helpers.batch_results import TREES, assert_same, matrices, results, right_sides
from helpers.strategies import vectors
from oracles.dense import OPERATIONS

import treefactor as tf
from treefactor import DtypeError

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

TREE = TREES["random"]
COUNT = 19
EPS = np.finfo(np.float32).eps
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
operations = pytest.mark.parametrize("operation", OPERATIONS)


def single(kind="LTDL"):
    """Return a factor in float32, its matrices and right-hand sides."""
    H, b = matrices(TREE, COUNT, np.float32), right_sides(TREE, COUNT, None, np.float32)
    return tf.factor(H, TREE, kind, dtype=np.float32), H, b


@kinds
@pytest.mark.parametrize("name", ["chain", "random", "forest", "long chain"])
@pytest.mark.parametrize("spread", [1.0, 1e1, 1e2, 1e3, 1e4])
def test_the_error_of_a_solution_grows_with_the_condition(kind, name, spread):
    tree = TREES[name]
    H, b = matrices(tree, COUNT, np.float32, spread=spread), right_sides(tree, COUNT, None, np.float32)
    exact = np.linalg.solve(H.astype(float), b[..., None].astype(float))[..., 0]
    error = tf.factor(H, tree, kind, dtype=np.float32).solve(b) - exact
    norm = np.linalg.norm
    assert (norm(error, axis=1) <= EPS * tree.n * np.linalg.cond(H.astype(float)) * norm(exact, axis=1)).all()


@kinds
def test_all_results_are_float32(kind):
    f, _, b = single(kind)
    assert f.dtype == np.float32
    for columns in (b, np.ones((COUNT, TREE.n, 2)), np.ones(TREE.n, int), [1.0] * TREE.n):
        for name, result in results(f, columns, np.ones((3, TREE.n))).items():
            assert result.dtype == np.float32, name
    assert f.status.dtype == np.intp


@operations
def test_float64_arguments_are_rounded(operation):
    f, H, b = single()
    apply, wide = getattr(f, operation), vectors(5, COUNT, TREE.n)
    np.testing.assert_array_equal(apply(wide), apply(wide.astype(np.float32)))
    f.refactor(H.astype(float), shift=np.full(TREE.n, 0.25))
    g = tf.factor(H, TREE, shift=np.float32(0.25), dtype=np.float32)
    assert_same(results(f, b, b[:, None]), results(g, b, b[:, None]))


@pytest.mark.parametrize("operation", [*OPERATIONS, "delassus", "inverse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float16, ">f4", int])
def test_an_out_of_another_dtype_is_refused(operation, dtype):
    f, _, b = single()
    arguments = {"inverse": (), "delassus": (b[:, None],)}.get(operation, (b,))
    out = np.ones_like(getattr(f, operation)(*arguments), dtype)
    with pytest.raises(DtypeError, match="float32"):
        getattr(f, operation)(*arguments, out=out)
    assert (out == 1).all()


def test_an_out_of_float32_is_refused_by_float64():
    f, out = tf.factor(matrices(TREE, COUNT), TREE), np.ones((COUNT, TREE.n), np.float32)
    with pytest.raises(DtypeError, match="float64"):
        f.solve(right_sides(TREE, COUNT), out=out)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.factor(np.eye(TREE.n), TREE, dtype=np.float32),
        lambda: tf.Factor(TREE, dtype=np.float32),
        lambda: tf.factor(matrices(TREE, 2), TREE, dtype=np.float16),
        lambda: tf.factor(matrices(TREE, 2), TREE, dtype=complex),
        lambda: TREE.pack(matrices(TREE, 2), dtype=int),
    ],
)
def test_what_is_refused(call):
    with pytest.raises(DtypeError):
        call()


@pytest.mark.parametrize("layout", [np.float64, np.float32])
def test_lanes_of_the_other_dtype_are_refused(layout):
    other = np.float32 if layout == np.float64 else np.float64
    lanes = TREE.pack(matrices(TREE, COUNT), layout="lanes", dtype=layout)
    with pytest.raises(tf.ShapeError, match="lanes"):
        tf.factor(lanes, TREE, layout="lanes", dtype=other)


def test_a_matrix_too_large_for_float32_fails():
    H = matrices(TREE, COUNT)
    H[6, 4, 4] = 1e39
    with np.errstate(over="ignore"):
        f = tf.factor(H, TREE, dtype=np.float32)
    assert f.status[6] == 4
    assert (np.delete(f.status, 6) == -1).all()
