"""Test the factor of K: fill, the fronts that a switched row recomputes, no accumulated rounding error."""

import numpy as np
import pytest
from scipy.sparse import block_array, csc_array, csr_array, eye_array, vstack

import treefactor as tf
from treefactor.mlcp import families as mlcp_families
from treefactor.mlcp._ordering import minimum_degree
from treefactor.papers.kkt import KKT, Corner

NAMES = ("spheres", "robot", "robotred", "dup", "loops", "lattice", "column")


def kkt_of(family, m, seed=1, delta=1e-3):
    problem = mlcp_families.FAMILIES[family](m, seed)
    return problem, KKT(problem.tree, problem.packed, rows_of(problem), delta)


def rows_of(problem):
    return csr_array(vstack([problem.C, problem.D]))


def schur_of(problem, kkt):
    on = rows_of(problem)[kkt.on].toarray()
    return problem.H + on.T @ on / kkt.delta


@pytest.mark.parametrize("family", NAMES)
def test_l_and_d_multiply_out(family):
    problem, kkt = kkt_of(family, 40)
    kkt.switch(np.flatnonzero(np.random.default_rng(0).random(len(kkt.on)) < 0.5))
    expected = schur_of(problem, kkt)
    np.testing.assert_allclose(kkt.schur(), expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("family", NAMES)
def test_solution_fulfils_both_rows_of_k(family):
    problem, kkt = kkt_of(family, 40)
    kkt.switch(np.arange(0, len(kkt.on), 2))
    rng, J = np.random.default_rng(0), rows_of(problem)
    f, b = rng.normal(size=problem.n), rng.normal(size=len(kkt.on))
    v, gamma = kkt.solve(f, b)
    size = np.abs(J.T @ gamma).max() + np.abs(f).max()
    np.testing.assert_allclose(problem.H @ v + J.T @ gamma, f, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose((J @ v - kkt.delta * gamma)[kkt.on], b[kkt.on], rtol=0, atol=1e-9 * size)
    assert not gamma[~kkt.on].any()


@pytest.mark.parametrize("family", NAMES)
def test_fill_is_what_was_predicted(family):
    problem, kkt = kkt_of(family, 30)
    J = rows_of(problem)
    L, _, _ = kkt.kernel.dense()
    kkt.switch(np.arange(len(kkt.on)))
    L = np.abs(L) + np.abs(
        kkt.kernel.dense()[0]
    )  # none and all rows on: what is 0 in one is not in the other
    assert np.count_nonzero(L > 1e-13) <= kkt.nnz - J.nnz - J.shape[0]  # fronts store a few zeros, too
    assert np.count_nonzero(symbolic(problem, J, kkt)) == kkt.nnz - J.nnz - J.shape[0]


def symbolic(problem, J, kkt):
    """Return the pattern of L by eliminating the pattern of S as a dense boolean matrix."""
    position = kkt.kernel.dense()[2]
    couple = (np.abs(J).T @ np.abs(J)).toarray() != 0
    S = np.empty((problem.n, problem.n), dtype=bool)
    S[np.ix_(position, position)] = problem.tree.mask() | (couple | np.eye(problem.n, dtype=bool))
    for k in range(problem.n):
        below = np.flatnonzero(S[k + 1 :, k]) + k + 1
        S[np.ix_(below, below)] = True
    return np.tril(S)


@pytest.mark.parametrize(
    ("family", "m", "nnz"), [("robot", 500, 9092), ("robotred", 200, 1700), ("loops", 200, 5918)]
)
def test_fill_of_robots(family, m, nnz):
    assert kkt_of(family, m)[1].nnz == nnz


@pytest.mark.parametrize("family", ["robot", "robotred", "loops", "lattice", "dup"])
def test_fill_is_at_most_1_4_times_that_of_approximate_minimum_degree(family):
    qdldl = pytest.importorskip("qdldl")
    problem, kkt = kkt_of(family, 200)
    J, tree = rows_of(problem), problem.tree
    entries = np.where(problem.H[tree.mask()] == 0, 1e-300, problem.H[tree.mask()])
    H = csr_array((entries, np.nonzero(tree.mask())), shape=(tree.n, tree.n))
    K = csc_array(block_array([[H, J.T], [J, -1e-3 * eye_array(J.shape[0])]]))
    assert kkt.nnz <= 1.4 * (qdldl.Solver(K).factors()[0].nnz + K.shape[0])


def test_switched_row_touches_its_path_only():
    problem, kkt = kkt_of("robot", 200)
    whole, sizes = kkt.touched, kkt.fronts.sizes()[:, 1]
    before = kkt.kernel.dense()[0]
    for row in range(0, problem.m, 7):
        kkt.switch(row)
        path = sizes[kkt.fronts.path(row)]
        assert kkt.touched == (path * (path + 1) // 2).sum() < whole / 10
        after = kkt.kernel.dense()[0]
        changed = np.flatnonzero((after != before).any(axis=0))
        assert set(changed) <= positions_of(kkt, row)
        before = after


def positions_of(kkt, row):
    """Return the pivots of the fronts from that of a row to the root."""
    width = kkt.fronts.sizes()[:, 0]
    first = np.cumsum(width) - width
    return {int(first[s]) + k for s in kkt.fronts.path(row) for k in range(width[s])}


@pytest.mark.parametrize("family", ["robot", "spheres", "dup"])
def test_ten_thousand_switches_leave_the_bits_of_a_new_factor(family):
    problem, kkt = kkt_of(family, 60, delta=1e-6)
    for row in np.random.default_rng(0).integers(problem.m, size=10_000):
        kkt.switch(row)
    anew = KKT(problem.tree, problem.packed, rows_of(problem), 1e-6)
    anew.switch(np.flatnonzero(kkt.on))
    for a, b in zip(kkt.kernel.dense(), anew.kernel.dense(), strict=True):
        np.testing.assert_array_equal(a, b)
    S = schur_of(problem, kkt)
    np.testing.assert_allclose(kkt.schur(), S, rtol=0, atol=1e-11 * np.abs(S).max())


def test_corner_of_the_paper_fills():
    problem, kkt = kkt_of("robot", 100)
    corner = Corner(problem.tree, problem.packed, problem.D)
    assert corner.nnz > 1.7 * kkt.nnz
    for row in (90, 10):
        corner.switch(row)
        kkt.switch(row)
        assert corner.touched == (100 - row) * (101 - row) // 2
    S = corner.A + np.diag(np.where(corner.on, corner.delta, Corner.OFF))
    np.testing.assert_allclose(corner.L @ corner.L.T, S, rtol=1e-12, atol=1e-12)


def test_minimum_degree_takes_a_star_from_outside():
    start, member = np.arange(0, 11, 2), np.array([0, 1, 0, 2, 0, 3, 0, 4, 0, 5])
    order = minimum_degree(6, start, member).tolist()
    assert sorted(order) == list(range(6))
    assert 0 in order[-2:]


def test_no_tree_and_no_rows():
    empty = KKT(tf.Tree([]), np.empty(0), csr_array((0, 0)))
    assert (empty.nnz, empty.touched) == (0, 0)
    assert KKT(tf.Tree([-1, 0]), np.array([2.0, 1.0, 2.0]), csr_array((0, 2))).nnz == 3


def test_a_matrix_that_is_not_positive_definite_is_named():
    tree = tf.Tree([-1, 0], names=["hip", "knee"])
    with pytest.raises(tf.NotPositiveDefiniteError, match="row 0") as caught:
        KKT(tree, np.array([1.0, 2.0, 1.0]), csr_array((0, 2)))
    assert (caught.value.row, caught.value.name) == (0, "hip")
