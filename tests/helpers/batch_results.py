"""All results of the factor of a batch, by name, and arguments for them."""

import numpy as np
from oracles.dense import OPERATIONS, Dense

import treefactor as tf
from helpers.strategies import spd_matrix, vectors
from helpers.tolerances import assert_batch_close

TREES = {
    "empty": tf.Tree([]),
    "one": tf.Tree([-1]),
    "roots": tf.Tree([-1] * 6),
    "chain": tf.families.chain(11),
    "long chain": tf.families.chain(70),
    "level by level": tf.families.binary_tree(5),
    "row by row": tf.families.lattice(5),
    "tree_1": tf.families.tree_1(),
    "star": tf.Tree([-1, *[0] * 9]),
    "random": tf.families.random_tree(40, 7),
    "bush": tf.families.random_tree(23, 3, branching=1.0),
    "forest": tf.Tree([-1, -1, 0, 1, 2, 3, -1, 0, 6, 7, 4, 5, 8, 1]),
}
BATCHES = (0, 1, 7, 8, 9, 16, 17)
COLUMNS = (None, 0, 1, 2, 3, 4, 5, 9)
DTYPES = (np.float64, np.float32)
LANES = {np.float64: 8, np.float32: 16}


def matrices(tree, count, dtype=np.float64, seed=1, spread=10.0):
    """Return positive definite matrices, exact in that dtype."""
    return spd_matrix(tree, seed, (count,), spread).astype(dtype)


def right_sides(tree, count, columns=None, dtype=np.float64, seed=2):
    """Return vectors, or so many of them for every matrix."""
    return vectors(seed, count, tree.n, *([] if columns is None else [columns])).astype(dtype)


def results(f, b, J=None) -> dict:
    """Return every result of a factor of a batch; for vectors b also results without b, and with J."""
    some = {name: getattr(f, name)(b) for name in OPERATIONS}
    some["quadratic"] = f.quadratic(b)
    if J is None:
        return some
    some["delassus"] = f.delassus(J)
    return some | {name: getattr(f, name)() for name in ("inverse", "logdet", "L", "D", "reconstruct")}


def assert_results(own: dict, H, kind, b, J=None, dtype=np.float64) -> None:
    """Assert that results agree with dense NumPy in float64."""
    n = H.shape[-1]
    dense = Dense(H.astype(float), kind)
    J = np.zeros((len(H), 0, n)) if J is None else J.astype(float)
    expected = dense.results(b.astype(float), J)
    for name, result in own.items():
        scale = 1.0 if name == "logdet" else None  # relative errors of the determinant
        assert_batch_close(result, expected[name], n, dense.cond, dtype, scale)


def assert_same(one: dict, other: dict) -> None:
    """Assert that results are the same to the last bit."""
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name, strict=True)
