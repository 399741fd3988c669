"""Test that arguments of wrong shapes, dtypes, outputs and options are refused."""

from functools import partial

import numpy as np
import pytest
from helpers.strategies import TREES, spd_matrix
from oracles.dense import OPERATIONS

import treefactor as tf
from treefactor import DtypeError, ShapeError, Tree

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

TREE = TREES["tree_1"]
N = TREE.n


def good(*batch):
    return spd_matrix(TREE, 1, batch)


# ------------------------------------------------------------------------------------- shapes, dtypes

CALLS = {
    "H": lambda a: tf.factor(a, TREE),
    "packed": lambda a: tf.factor(a, TREE, layout="packed"),
    "lanes": lambda a: tf.factor(a, TREE, layout="lanes"),
    "refactor": lambda a: tf.factor(good(), TREE).refactor(a),
    "refactor batch": lambda a: tf.factor(good(5), TREE).refactor(a),
    "shift": lambda a: tf.factor(good(5), TREE, shift=a),
    "b": lambda a: tf.factor(good(), TREE).solve(a),
    "b of batch": lambda a: tf.factor(good(5), TREE).solve(a),
    "x": lambda a: tf.factor(good(5), TREE).quadratic(a),
    "J": lambda a: tf.factor(good(), TREE).delassus(a),
    "J of batch": lambda a: tf.factor(good(5), TREE).delassus(a),
    "multiply H": lambda a: tf.multiply(a, TREE, np.ones(N)),
    "multiply packed": lambda a: tf.multiply(a, TREE, np.ones(N), layout="packed"),
    "multiply x": lambda a: tf.multiply(good(5), TREE, a),
    "solve H": lambda a: tf.solve(a, TREE, np.ones(N)),
    "solve packed": lambda a: tf.solve(a, TREE, np.ones(N), "packed"),
    "solve b": lambda a: tf.solve(good(5), TREE, a),
    "solve shift": lambda a: tf.solve(good(5), TREE, np.ones(N), shift=a),
}
WRONG_SHAPES = {
    "H": [(), (N,), (8, 8), (N, 8), (N, N, 1)],
    "packed": [(), (N, N), (TREE.nnz, 1)],
    "lanes": [(TREE.nnz, 8), (2, TREE.nnz, 4), (1, 2, TREE.nnz, 8), (2, 8, TREE.nnz)],
    "refactor": [(8, 8), (1, N, N), (TREE.nnz,)],
    "refactor batch": [(N, N), (4, N, N), (5, 1, N, N), (1, N, N), (6, N, N)],
    "shift": [(5,), (1, N), (4, N), (5, N, 1), (5, 5, N)],
    "b": [(), (8,), (N + 1,), (3, N), (2, 8, 3)],
    "b of batch": [(), (8,), (5,), (4, N), (1, N), (4, N, 2), (1, N, 2), (5, 8), (5, 5, N, 2)],
    "x": [(), (8,), (4, N)],
    "J": [(), (N,), (3, 8), (N, 3)],
    "J of batch": [(N,), (3, 8), (4, 3, N), (1, 3, N), (5, 5, 3, N)],
    "multiply H": [(), (N,), (N, 8)],
    "multiply packed": [(), (N, N)],
    "multiply x": [(), (8,), (4, N), (1, N), (4, N, 2), (5, 8)],
    "solve H": [(), (N,), (N, 8)],
    "solve packed": [(), (N, N)],
    "solve b": [(), (8,), (4, N), (1, N), (4, N, 2), (5, 8)],
    "solve shift": [(5,), (1, N), (4, N), (5, N, 1)],
}


@pytest.mark.parametrize(("call", "shape"), [(c, s) for c, some in WRONG_SHAPES.items() for s in some])
def test_a_wrong_shape_raises(call, shape):
    with pytest.raises(ShapeError) as caught:
        CALLS[call](np.ones(shape))
    received = caught.value.received
    assert shape[: len(received)] == received or received == shape  # the message may name only the batch
    assert caught.value.expected is not None
    assert str(received) in str(caught.value)


def test_ragged_lists_are_refused():
    with pytest.raises(ShapeError):
        tf.factor([[1.0], [1.0, 2.0]], Tree([-1, 0]))


@pytest.mark.parametrize("dtype", [complex, object, str, "M8[s]", [("x", float)]], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_real_number_is_refused(call, dtype):
    shape = (1, TREE.nnz, 8) if call == "lanes" else (TREE.nnz,) if "packed" in call else None
    shape = shape or ((N, N) if call in ("H", "refactor", "multiply H", "J") else (5, N, N))
    with pytest.raises(DtypeError) as caught:
        CALLS[call](np.zeros(shape, dtype=dtype))
    assert caught.value.received == np.zeros(shape, dtype=dtype).dtype


FACTOR = tf.factor(good(), TREE)
OUT_CALLS = {
    **{
        name: lambda out, name=name: getattr(tf.factor(good(), TREE), name)(np.ones(N), out=out)
        for name in OPERATIONS
    },
    "multiply function": lambda out: tf.multiply(good(), TREE, np.ones(N), out=out),
    "solve function": lambda out: tf.solve(good(), TREE, np.ones(N), out=out),
    "solve batch": lambda out: tf.solve(good(N), TREE, np.ones(N), out=out),
    "delassus": lambda out: FACTOR.delassus(np.ones((9, N)), out=out),
    "inverse": lambda out: FACTOR.inverse(out=out),
}


def bad_outs(shape):
    locked = np.ones(shape)
    locked.flags.writeable = False
    return {
        "shape": (np.ones((*shape, 1)), ShapeError),
        "broadcast": (np.ones((2, *shape)), ShapeError),
        "short": (np.ones((8, *shape[1:])), ShapeError),
        "float32": (np.ones(shape, dtype=np.float32), DtypeError),
        "int": (np.ones(shape, dtype=int), DtypeError),
        "complex": (np.ones(shape, dtype=complex), DtypeError),
        "big-endian": (np.ones(shape, dtype=">f8"), DtypeError),
        "read-only": (locked, DtypeError),
        "list": (np.ones(shape).tolist(), DtypeError),
    }


@pytest.mark.parametrize("which", bad_outs((N,)))
@pytest.mark.parametrize("call", OUT_CALLS)
def test_an_out_that_does_not_fit_is_refused_and_left_alone(call, which):
    out, error = bad_outs((N, N) if call in ("delassus", "inverse", "solve batch") else (N,))[which]
    with pytest.raises(error):
        OUT_CALLS[call](out)
    assert (np.asarray(out) == 1).all()


# ------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("kind", v) for v in ("ldl", "", None, "ltdl")],
        *[("layout", v) for v in ("sparse", None, "Dense")],
        *[("triangle", v) for v in ("both", None, "L")],
        *[("num_threads", v) for v in (0, -2)],
    ],
)
def test_unknown_options_are_refused(option, value):
    solve = partial(tf.solve, b=np.ones(N))
    for call in (tf.factor, solve)[: 1 + (option != "kind")]:
        with pytest.raises(ValueError, match=option):
            call(good(3), TREE, **{option: value})


@pytest.mark.parametrize("option", [{"layout": "lanes"}, {"layout": "x"}, {"triangle": "both"}])
def test_unknown_options_of_multiply_are_refused(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        tf.multiply(good(), TREE, np.ones(N), **option)


CALLS_OF_TREES = [
    tf.factor,
    lambda H, tree: tf.multiply(H, tree, np.ones(2)),
    lambda H, tree: tf.solve(H, tree, np.ones(2)),
]


@pytest.mark.parametrize("tree", [None, [-1, 0], np.array([-1, 0]), "tree"], ids=repr)
@pytest.mark.parametrize("call", CALLS_OF_TREES)
def test_a_tree_must_be_a_tree(call, tree):
    with pytest.raises(TypeError):
        call(np.eye(2), tree)


@pytest.mark.parametrize("form", ["L_csc", "operator", "inverse_operator"])
def test_scipys_forms_are_for_single_matrices(form):
    with pytest.raises(ShapeError, match="single"):
        getattr(tf.factor(good(5), TREE), form)()
