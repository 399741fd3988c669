"""Test factors as objects: copies, pickles, threads, factors of bound memory."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.batch_results import assert_same, results
from helpers.strategies import spd_matrix, vectors

import treefactor as tf
from treefactor import BoundFactor, Tree, families

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

TREE = families.tree_1()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
@pytest.mark.parametrize("kind", ["LTDL", "LTL"])
@pytest.mark.parametrize(("batch", "dtype"), [((), np.float64), ((19,), np.float64), ((19,), np.float32)])
def test_copies_are_independent(duplicate, kind, batch, dtype):
    H, b = spd_matrix(TREE, 1, batch).astype(dtype), vectors(2, *batch, TREE.n).astype(dtype)
    if batch:
        H[3, 5, 5] = -1.0  # this one fails
    f = tf.factor(H, TREE, kind, dtype=dtype)
    expected, other = results(f, b, b[..., None, :]), duplicate(f)
    assert_same(results(other, b, b[..., None, :]), expected)
    assert other.dtype == dtype
    np.testing.assert_array_equal(other.status, f.status)
    twice = results(other.refactor(2 * H), b, b[..., None, :])
    assert_same(twice, results(tf.factor(2 * H, TREE, kind, dtype=dtype), b, b[..., None, :]))
    assert_same(results(f, b, b[..., None, :]), expected)


def test_a_bound_factor_cannot_be_copied():
    with pytest.raises(TypeError, match="owner"):
        copy.copy(BoundFactor(np.eye(TREE.n), TREE))


def test_a_factor_without_a_matrix_names_the_call_that_fills_it():
    for f in (tf.Factor(TREE), pickle.loads(pickle.dumps(tf.Factor(TREE)))):
        with pytest.raises(tf.TreefactorError, match=r"the factor is empty .* call refactor\(H\) first"):
            f.solve(np.ones(TREE.n))
    with pytest.raises(tf.TreefactorError, match=r"the factor is empty .* call factor\(\) first"):
        BoundFactor(np.eye(TREE.n), TREE).solve(np.ones(TREE.n))


def test_a_bound_factor_reads_its_matrix_anew_and_takes_a_shift():
    H = spd_matrix(TREE, 1)
    f = BoundFactor(H, TREE)
    b = np.ones(TREE.n)
    np.testing.assert_allclose(f.factor().solve(b), np.linalg.solve(H, b))
    H *= 3.0
    np.testing.assert_allclose(f.factor(shift=0.5).solve(b), np.linalg.solve(H + 0.5 * np.eye(TREE.n), b))


@pytest.mark.parametrize(
    ("H", "error"),
    [
        (np.eye(9, dtype=np.float32), tf.DtypeError),
        (np.eye(9).tolist(), tf.DtypeError),
        (np.eye(8), tf.ShapeError),
        (np.zeros((2, 9, 9)), tf.ShapeError),
    ],
)
def test_arrays_that_cannot_be_bound_raise(H, error):
    with pytest.raises(error):
        BoundFactor(H, TREE)


def test_refactoring_one_factor_in_many_threads_does_not_crash():
    H = spd_matrix(TREE, 1, (64,))
    f = tf.factor(H, TREE, num_threads=2)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: f.refactor(H), range(200)))
    f.refactor(H)
    np.testing.assert_allclose(f.reconstruct(), H, atol=1e-12)


def test_arrays_of_a_tree_cannot_be_made_writeable():
    for array in (TREE.parent, TREE.depth, TREE.row_start, TREE.columns, TREE.rows, TREE.order):
        with pytest.raises(ValueError, match=r"WRITEABLE|writeable|read-only"):
            array.flags.writeable = True


@pytest.mark.parametrize("nv", [[2**63 - 1, 2**63 - 1, 4], [1, 2**62, 1], [10**7, 1, 1]])
def test_absurd_freedom_counts_are_refused(nv):
    with pytest.raises(tf.InvalidTreeError, match="freedoms"):
        Tree.from_joints([-1, 0, 1], nv)


def test_out_that_overlaps_itself():
    out = np.lib.stride_tricks.as_strided(np.zeros(1), (TREE.n,), (0,), writeable=True)
    with pytest.raises(tf.ShapeError, match="overlaps"):
        tf.factor(spd_matrix(TREE, 1), TREE).solve(np.ones(TREE.n), out=out)


def test_l_and_d_go_out_and_come_back():
    f = tf.factor(spd_matrix(TREE, 1), TREE, triangle="upper")
    U, D = np.eye(TREE.n), np.empty(TREE.n)
    f.export(U, D)
    np.testing.assert_array_equal(U, f.L().T)
    other = tf.Factor.from_ld(U, D, TREE, triangle="upper")
    np.testing.assert_array_equal(other.solve(D), f.solve(D))
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"D\[3\]"):
        tf.Factor.from_ld(U, np.where(np.arange(9) == 3, -1.0, D), TREE)
    with pytest.raises(tf.TreefactorError):
        tf.factor(spd_matrix(TREE, 1), TREE, "LTL").export(U, D)
