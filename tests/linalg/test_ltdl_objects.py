"""Test factors as objects: copies, pickles, threads, lanes of any batch, factors of bound memory."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import treefactor as tf
from treefactor import BoundFactor, Tree, families

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

TREE = families.tree_1()


def matrices(count, seed=0):
    rng = np.random.default_rng(seed)
    L = np.where(np.tril(TREE.mask(), -1), rng.normal(size=(count, TREE.n, TREE.n)), 0.0) + np.eye(TREE.n)
    return np.swapaxes(L, -1, -2) @ (rng.uniform(1, 2, size=(count, TREE.n))[..., None] * L)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
@pytest.mark.parametrize("kind", ["LTDL", "LTL"])
@pytest.mark.parametrize("single", [True, False])
def test_copies_are_independent(duplicate, kind, single):
    H = matrices(3)[0] if single else matrices(3)
    f = tf.factor(H, TREE, kind)
    b = np.arange(TREE.n, dtype=float)
    expected = f.solve(b)
    other = duplicate(f)
    np.testing.assert_array_equal(other.solve(b), expected)
    other.refactor(2 * H)
    np.testing.assert_array_equal(f.solve(b), expected)
    np.testing.assert_allclose(other.solve(b), expected / 2)


def test_a_failed_element_stays_failed_in_a_pickle():
    H = matrices(3)
    H[1, 4, 4] = -1.0
    other = pickle.loads(pickle.dumps(tf.factor(H, TREE)))
    assert other.status.tolist() == [-1, 4, -1]
    assert np.isnan(other.solve(np.ones(TREE.n))[1]).all()


def test_a_bound_factor_cannot_be_copied():
    with pytest.raises(TypeError, match="owner"):
        copy.copy(BoundFactor(np.eye(TREE.n), TREE))


def test_a_factor_without_a_matrix_names_the_call_that_fills_it():
    with pytest.raises(tf.TreefactorError, match=r"the factor is empty .* call refactor\(H\) first"):
        tf.Factor(TREE).solve(np.ones(TREE.n))
    with pytest.raises(tf.TreefactorError, match=r"the factor is empty .* call factor\(\) first"):
        BoundFactor(np.eye(TREE.n), TREE).solve(np.ones(TREE.n))


def test_a_bound_factor_reads_its_matrix_anew_and_takes_a_shift():
    H = matrices(1)[0]
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


@pytest.mark.parametrize("count", [1, 5, 8, 9])
def test_lanes_of_any_batch_refactor_it(count):
    H = matrices(count)
    f = tf.factor(np.ones_like(H) * np.eye(TREE.n), TREE)
    f.refactor(TREE.pack(H, layout="lanes"), layout="lanes")
    np.testing.assert_allclose(f.reconstruct(), H, atol=1e-13)
    padded = tf.factor(TREE.pack(H, layout="lanes"), TREE, layout="lanes")
    assert padded.batch == (-(-count // 8) * 8,)
    np.testing.assert_array_equal(padded.L()[:count], f.L())
    with pytest.raises(tf.ShapeError):
        f.refactor(TREE.pack(matrices(count + 8), layout="lanes"), layout="lanes")


def test_refactoring_one_factor_in_many_threads_does_not_crash():
    H = matrices(64)
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
        tf.factor(matrices(1)[0], TREE).solve(np.ones(TREE.n), out=out)


def test_l_and_d_go_out_and_come_back():
    f = tf.factor(matrices(1)[0], TREE, triangle="upper")
    U, D = np.eye(TREE.n), np.empty(TREE.n)
    f.export(U, D)
    np.testing.assert_array_equal(U, f.L().T)
    other = tf.Factor.from_ld(U, D, TREE, triangle="upper")
    np.testing.assert_array_equal(other.solve(D), f.solve(D))
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"D\[3\]"):
        tf.Factor.from_ld(U, np.where(np.arange(9) == 3, -1.0, D), TREE)
    with pytest.raises(tf.TreefactorError):
        tf.factor(matrices(1)[0], TREE, "LTL").export(U, D)
