"""Test factors that were interrupted, pickled, made of wrong L and D, or near the limits of float64."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from helpers.strategies import spd_matrix

import treefactor as tf
from treefactor.linalg import _single, factors
from treefactor.tree import _pattern

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

# chains and branches whose padding differs between the instruction sets
TREE = tf.Tree([-1, 0, 1, 2, 3, 0, -1, 6, 7, 8, 9, -1, 11, 12, 13, 14, -1, 16, 17, 18, 19])


@pytest.mark.parametrize("isa", _pattern.INSTRUCTION_SETS)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_a_pickle_is_read_with_any_instruction_set(tmp_path, isa, batch):
    H, b = spd_matrix(TREE, 1, batch), np.arange(1.0, TREE.n + 1)
    f = tf.factor(H, TREE)
    path = tmp_path / "factor"
    path.write_bytes(pickle.dumps(f))
    code = "import pickle, sys, numpy; f = pickle.load(open(sys.argv[1], 'rb')); " \
           "numpy.save(sys.argv[2], f.solve(numpy.arange(1.0, f.tree.n + 1)))"  # fmt: skip
    out = tmp_path / "x.npy"
    environment = {**os.environ, "TREEFACTOR_ISA": isa}
    subprocess.run([sys.executable, "-c", code, path, out], check=True, env=environment, timeout=60)
    np.testing.assert_allclose(np.load(out), f.solve(b), rtol=1e-12)


def test_what_cannot_be_adopted_is_refused():
    f = tf.factor(np.eye(3), tf.families.chain(3))
    with pytest.raises(tf.ShapeError):
        f.adopt(np.eye(1), np.ones(3))
    np.testing.assert_array_equal(f.adopt(np.eye(3, dtype=np.float32), np.full(3, 2)).D(), [2, 2, 2])
    with pytest.raises(tf.TreefactorError, match="LTDL"):
        tf.factor(np.eye(3), tf.families.chain(3), "LTL").adopt(np.eye(3), np.ones(3))


def test_an_interrupted_factorization_leaves_no_factor(monkeypatch):
    tree = tf.families.binary_tree(14)
    H = np.ones(tree.nnz)
    H[tree.row_start[1:] - 1] = 1e6
    f = tf.factor(H, tree, layout="packed")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_single, "spread", interrupt)
    with pytest.raises(KeyboardInterrupt):
        f.refactor(H)
    with pytest.raises(tf.TreefactorError, match=r"was interrupted: call refactor\(H\) first"):
        f.solve(np.ones(tree.n))


def test_an_interrupted_batch_has_no_factor(monkeypatch):
    H = spd_matrix(TREE, 1, (9,))
    f = tf.factor(H, TREE, num_threads=2)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(factors, "spread", interrupt)
    with pytest.raises(KeyboardInterrupt):
        f.refactor(H)
    monkeypatch.undo()
    assert (f.status == -2).all()
    assert np.isnan(f.solve(np.ones(TREE.n))).all()


@pytest.mark.parametrize("batch", [(), (1,)])
@pytest.mark.parametrize(("pivot", "good"), [(1e-310, False), (6e-309, True)])
def test_a_pivot_without_reciprocal_fails(batch, pivot, good):
    H, tree = np.full((*batch, 1, 1), pivot), tf.Tree([-1])
    if batch:
        assert (tf.factor(H, tree).status == -1).all() == good
    elif good:
        assert tf.factor(H, tree).solve([pivot])[0] == pytest.approx(1.0)
    else:
        with pytest.raises(tf.NotPositiveDefiniteError):
            tf.factor(H, tree)


@pytest.mark.parametrize("operation", ["solve", "solve_lt", "half_solve", "multiply", "multiply_lt"])
def test_an_infinity_stays_in_its_tree(operation):
    tree = tf.Tree([-1, 0, 1, 2, 3, 4, 5, 6, -1, 8, 8])
    b = np.ones((1, tree.n, 1))
    b[0, 9] = np.inf
    x = getattr(tf.factor(spd_matrix(tree, 1), tree), operation)(b)
    assert np.isfinite(x[0, :8]).all()
    assert not np.isfinite(x[0, 8:]).all()


def test_a_bound_factor_that_is_not_made_yet_is_an_error():
    with pytest.raises(TypeError, match="bound"):
        _single.SingleKernel(TREE.pattern, True).refresh()


FAULTY = {"NaN": np.nan, "inf": np.inf, "-inf": -np.inf}


@pytest.mark.parametrize("value", FAULTY.values(), ids=FAULTY)
@pytest.mark.parametrize("triangle", ["lower", "upper"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 9)])
def test_factors_that_are_not_finite_are_not_adopted(batch, triangle, value):
    """Spoils each entry of the pattern of L, and of D, in turn; other entries may have any value."""
    tree = tf.families.binary_tree(3)
    factor = tf.factor(np.eye(tree.n) * 3.0 + 0.1 * tree.mask(), tree)
    L, D = (np.broadcast_to(x, (*batch, *x.shape)) for x in (factor.L(), factor.D()))
    unread = ~np.tril(tree.mask()) | np.eye(tree.n, dtype=bool)
    L = np.where(unread, value, L)
    L = L if triangle == "lower" else np.swapaxes(L, -1, -2)
    last = tuple(size - 1 for size in batch)
    adopted = tf.Factor.from_ld(L, D, tree, triangle)
    expected = adopted.solve(np.ones(tree.n))
    assert np.isfinite(expected).all()
    for row, column in [*np.argwhere(~unread), *((k, None) for k in range(tree.n))]:
        faulty_L, faulty_D = L.copy(), D.copy()
        if column is None:
            faulty_D[(*last, row)] = value
        else:
            faulty_L[(*last, *((row, column) if triangle == "lower" else (column, row)))] = value
        if not batch:
            with pytest.raises((tf.NonFiniteError, tf.NotPositiveDefiniteError)) as caught:
                tf.Factor.from_ld(faulty_L, faulty_D, tree, triangle)
            assert caught.value.row == row
            with pytest.raises((tf.NonFiniteError, tf.NotPositiveDefiniteError)):
                adopted.adopt(faulty_L, faulty_D)
            with pytest.raises(tf.NotPositiveDefiniteError):
                adopted.solve(np.ones(tree.n))
            continue
        refused = adopted.adopt(faulty_L, faulty_D)
        assert refused.status[last] == row
        assert (np.delete(refused.status.ravel(), -1) == -1).all()
        assert np.isnan(refused.solve(np.ones(tree.n))[last]).all()
    np.testing.assert_array_equal(adopted.adopt(L, D).solve(np.ones(tree.n)), expected)
