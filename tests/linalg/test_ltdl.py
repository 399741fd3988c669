"""Compare every operation of `factor` and `Factor` with dense NumPy and with the textbook."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from helpers.strategies import TREES, spd, spd_matrix, vectors
from helpers.tolerances import SYMMETRY, assert_close
from hypothesis import given, settings
from oracles.dense import OPERATIONS, Dense
from scipy.sparse.linalg import LinearOperator

import treefactor as tf
from treefactor.papers.textbook import featherstone, shimanovsky

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

KINDS = ["LTDL", "LTL"]
kinds = pytest.mark.parametrize("kind", KINDS)
named_trees = pytest.mark.parametrize("name", TREES)


operations = pytest.mark.parametrize("operation", OPERATIONS)


@cache
def case(name, kind):
    """Return tree, H, its factor and its dense version, made once for all tests."""
    tree = TREES[name]
    H = spd_matrix(tree, 1, spread=1e4)
    return tree, H, tf.factor(H, tree, kind), Dense(H, kind)


# ------------------------------------------------------------------------------------------ rebuild


@kinds
@given(spd())
def test_factor_rebuilds_h_in_its_pattern_and_solves(kind, pair):
    tree, H = pair
    f, b, dense = tf.factor(H, tree, kind), vectors(0, tree.n), Dense(H, kind)
    L, D = f.L(), f.D()
    assert_close(L.T @ (D[:, None] * L), H, tree.n)
    assert_close(f.reconstruct(), H, tree.n)
    assert not L[~np.tril(tree.mask())].any()
    assert_close(f.solve(b), dense.apply("solve", b), tree.n, dense.cond)


# ------------------------------------------------------------------------------------------ the textbook


@kinds
@settings(max_examples=30)
@given(spd(max_n=25))
def test_factor_agrees_with_the_textbooks(kind, pair):
    tree, H = pair
    lam = (tree.parent + 1).tolist()
    f = tf.factor(H, tree, kind)
    own = np.tril(f.L(), -1) + np.diag(f.D() if kind == "LTDL" else np.diagonal(f.L()))
    slow = (featherstone.ltdl if kind == "LTDL" else featherstone.ltl)(H, lam)
    upper = (shimanovsky.udut if kind == "LTDL" else shimanovsky.uut)(H, lam)
    cond = np.linalg.cond(H) if tree.n else 1.0
    assert_close(own, np.tril(slow.astype(float)), tree.n, cond)
    assert_close(own, np.triu(upper.astype(float)).T, tree.n, cond)


@kinds
@pytest.mark.parametrize("name", sorted(TREES.keys() - {"deep"}))  # the textbook is too slow for that
def test_operations_agree_with_table_6_5(name, kind):
    tree, H, f, dense = case(name, kind)
    lam, unit = (tree.parent + 1).tolist(), kind == "LTDL"
    b, L = vectors(0, tree.n), dense.L
    slow = featherstone.ltdl(H, lam) if unit else featherstone.ltl(H, lam)
    p = shimanovsky.udut(H, lam) if unit else shimanovsky.uut(H, lam)
    swept = shimanovsky.backward(p, lam, shimanovsky.forward(p, lam, b, unit), unit)
    for own, textbook in [
        (f.multiply_l(b), featherstone.l_mul(L, lam, b, unit)),
        (f.multiply_lt(b), featherstone.lt_mul(L, lam, b, unit)),
        (f.solve_l(b), featherstone.l_inv(L, lam, b, unit)),
        (f.solve_lt(b), featherstone.lt_inv(L, lam, b, unit)),
        (f.multiply(b), featherstone.h_mul(H, lam, b)),
        (tf.multiply(H, tree, b), featherstone.h_mul(H, lam, b)),
        (f.solve(b), featherstone.solve(slow, lam, b, unit)),
        (f.solve(b), swept),
    ]:
        assert_close(own, textbook.astype(float), tree.n, dense.cond)


def test_the_textbook_is_exact_on_fractions():
    tree = TREES["lattice"]
    H = np.vectorize(lambda x: Fraction(round(64 * x), 64), otypes=[object])(spd_matrix(tree, 1))
    lam = (tree.parent + 1).tolist()
    X = featherstone.ltdl(H, lam)
    L, D = np.tril(X, -1) + np.diag([Fraction(1)] * tree.n), np.diag(np.diagonal(X))
    assert (L.T.dot(D).dot(L) == H).all()
    assert (np.triu(shimanovsky.udut(H, lam)) == np.tril(X).T).all()


# ------------------------------------------------------------------------------------------ operations


@operations
@kinds
@named_trees
def test_operation_agrees_with_numpy(name, kind, operation):
    tree, _, f, dense = case(name, kind)
    for shape in ((), (0,), (1,), (5,)):
        b = vectors(2, tree.n, *shape)
        assert_close(getattr(f, operation)(b), dense.apply(operation, b), tree.n, dense.cond)


@kinds
@named_trees
def test_results_without_arguments(name, kind):
    tree, H, f, dense = case(name, kind)
    inverse, L = f.inverse(), f.L_csc()
    assert_close(f.L(), dense.L, tree.n, dense.cond)
    assert_close(f.D(), dense.D, tree.n, dense.cond)
    assert_close(inverse, np.linalg.inv(H), tree.n, dense.cond)
    assert abs(inverse - inverse.T).max(initial=0) <= SYMMETRY * abs(inverse).max(initial=0)
    sign, expected = np.linalg.slogdet(H)
    assert sign == 1
    assert np.shape(f.logdet()) == ()
    # absolute: the logarithm of a product of n rounded factors
    assert abs(f.logdet() - expected) <= 1e-14 * max(tree.n, 1) * dense.cond
    assert L.format == "csc"
    assert L.nnz == tree.nnz
    np.testing.assert_array_equal(L.toarray(), f.L())


@kinds
@named_trees
def test_quadratic(name, kind):
    tree, _, f, dense = case(name, kind)
    for shape in ((), (0,), (1,), (4,)):
        x = vectors(3, tree.n, *shape)
        assert_close(f.quadratic(x), np.sum(x * dense.apply("solve", x), axis=0), tree.n, dense.cond)


@kinds
@named_trees
@pytest.mark.parametrize("m", [0, 1, 6])
def test_delassus(name, kind, m):
    tree, _, f, dense = case(name, kind)
    J = vectors(4, m, tree.n)
    G = f.delassus(J)
    assert_close(G, J @ dense.apply("solve", J.T), tree.n, dense.cond)
    assert abs(G - G.T).max(initial=0) <= SYMMETRY * abs(G).max(initial=0)


@pytest.mark.parametrize(("form", "operation"), [("operator", "multiply"), ("inverse_operator", "solve")])
@kinds
def test_operators(form, operation, kind):
    tree, _, f, _ = case("random", kind)
    A = getattr(f, form)()
    apply = getattr(f, operation)
    x, X = vectors(0, tree.n), vectors(1, tree.n, 3)
    assert isinstance(A, LinearOperator)
    assert A.shape == (tree.n, tree.n)
    for own in (A @ x, A.T @ x, A.H @ x, (A @ x[:, None])[:, 0]):
        np.testing.assert_array_equal(own, apply(x))
    for own in (A @ X, A.T @ X):
        np.testing.assert_array_equal(own, apply(X))


@named_trees
@pytest.mark.parametrize("batch", [(), (0,), (1,), (5,), (2, 3)], ids=str)
def test_multiply_agrees_with_numpy(name, batch):
    tree = TREES[name]
    H = spd_matrix(tree, 1, batch)
    for k in (None, 0, 1, 3):
        x = vectors(0, *batch, tree.n, 1 if k is None else k)
        own = tf.multiply(H, tree, x[..., 0] if k is None else x)
        expected = H @ x
        assert_close(own, expected[..., 0] if k is None else expected, tree.n, 10.0)
