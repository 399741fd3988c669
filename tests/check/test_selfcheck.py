"""Test the engine-free check, and linear couplings."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor.check import self_check
from treefactor.model.mimic import Coupling

TREE = tf.Tree([-1, 0, 1, 1], names=["base", "hip", "left", "right"])


def good():
    L = np.where(np.tril(TREE.mask()), 0.3, 0.0) + np.eye(4)
    return L.T @ L


def test_a_sound_matrix_has_no_findings():
    H = good()
    result = self_check(H, TREE, rnea=lambda a: H @ a + 3.0)
    assert result.ok
    assert result.columns < 1e-15
    assert result.failing_row is None


@pytest.mark.parametrize(
    ("spoil", "finding"),
    [
        (lambda H: H.__setitem__((2, 0), 9.0), "not symmetric"),
        (lambda H: H.__setitem__((slice(2, 4), slice(2, 4)), 0.5), "outside the tree's pattern"),
        (lambda H: H.__setitem__((3, 3), -1.0), r"row 3 \(right\)"),
        (lambda H: H.__setitem__((0, 0), np.nan), "nan"),
    ],
)
def test_every_fault_is_found_and_named(spoil, finding):
    H = good()
    spoil(H)
    result = self_check(H, TREE)
    assert not result.ok
    assert any(re.search(finding, text) for text in result.findings), result.findings


def test_a_wrong_column_is_found():
    H = good()
    wrong = H.copy()
    wrong[:, 2] *= 1.1
    result = self_check(H, TREE, rnea=lambda a: wrong @ a)
    assert result.columns > 1e-2
    assert "rnea" in result.findings[0]


def test_rounding_of_heavy_forces_at_rest_agrees():
    H = 1e-9 * good()
    assert self_check(H, TREE, rnea=lambda a: H @ a + 1e3 / 3).ok


def test_the_mass_on_the_base():
    H = np.diag([5.0, 5.0, 5.0, 1.0])
    chain = tf.families.chain(4)
    assert self_check(H, chain, mass=5.0).ok
    result = self_check(H, chain, mass=6.0)
    assert "6 kg" in result.findings[0]


def test_shape():
    with pytest.raises(tf.ShapeError):
        self_check(np.eye(3), TREE)


@given(st.data())
def test_reduced_matrices_have_the_reduced_tree(data):
    n = data.draw(st.integers(1, 25))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    tree = tf.families.random_tree(n, rng, 0.6)
    kept = np.flatnonzero(rng.random(n) < 0.7)
    kept = kept if kept.size else np.array([0])
    G = np.zeros((n, kept.size))
    G[kept, np.arange(kept.size)] = 1.0
    for k in np.setdiff1d(np.arange(n), kept):  # the others follow one of them
        G[k, rng.integers(kept.size)] = rng.normal()
    L = np.where(np.tril(tree.mask(), -1), rng.normal(size=(n, n)), 0.0) + np.eye(n)
    H = L.T @ L
    coupling = Coupling(tree, G)
    reduced = coupling.reduce(H)
    assert not reduced[~coupling.tree.mask()].any()
    f = tf.factor(reduced, coupling.tree, check=True)
    np.testing.assert_allclose(f.reconstruct(), reduced, atol=1e-10)
    w, tau = rng.normal(size=(2, kept.size))
    np.testing.assert_allclose(coupling.reduce_force(H @ coupling.expand(w)), reduced @ w, atol=1e-8)
    np.testing.assert_allclose(f.multiply(f.solve(tau)), tau, atol=1e-6)


def test_a_coupling_between_branches_gains_entries():
    tree = tf.Tree([-1, -1, 1, -1])
    G = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0]])
    assert Coupling(tree, G).tree == tf.Tree([-1, -1, 1])
    tied = np.array([[1.0, 0], [0, 1], [2, 0], [0, 0.5]])  # the tip of a branch follows another branch
    assert Coupling(tree, tied).tree == tf.Tree([-1, 0])


def test_a_coupling_may_leave_nothing_free():
    nothing = Coupling(TREE, np.zeros((4, 0)))
    assert nothing.tree.n == 0
    assert nothing.reduce(good()).shape == (0, 0)
    np.testing.assert_array_equal(nothing.expand(np.zeros(0)), np.zeros(4))


NEARLY_ALIKE = np.array([[1.0, 1], [1, 1], [1, 1], [0, 1e-17]])  # the entry alone in its row is rounding


@pytest.mark.parametrize(
    ("G", "error"),
    [
        (np.eye(3), tf.ShapeError),
        (np.zeros((4, 2)), ValueError),
        (np.ones((4, 2)), ValueError),
        (np.ones((4, 6)), ValueError),
        *((scale * NEARLY_ALIKE, ValueError) for scale in (1e-9, 1.0, 1e9)),
    ],
)
def test_couplings_that_cannot_be(G, error):
    with pytest.raises(error):
        Coupling(TREE, G)


def test_joints_that_follow_one_leader_need_no_singular_values(monkeypatch):
    """Check couplings of one leader each without singular values, whose cost is cubic."""
    monkeypatch.setattr("numpy.linalg.matrix_rank", None)
    monkeypatch.setattr(tf.Tree, "mask", None)
    G = np.kron([[1.0], [-2.0], [1e3]], np.eye(50))
    for scale in (1e-9, 1.0, 1e9):
        assert Coupling(tf.families.chain(150), scale * G).G.shape == (150, 50)


@given(st.integers(0, 2**32 - 1))
def test_columns_that_depend_on_each_other_are_found(seed):
    rng = np.random.default_rng(seed)
    G = rng.integers(-1, 2, size=(6, 4)) * 10.0 ** rng.integers(-3, 4, size=4)
    rank = np.linalg.matrix_rank(G / np.where(G.any(axis=0), np.abs(G).max(axis=0), 1.0))
    if rank == 4:
        assert Coupling(tf.families.chain(6), G).tree.n == 4
    else:
        with pytest.raises(ValueError, match="depend on each other"):
            Coupling(tf.families.chain(6), G)
