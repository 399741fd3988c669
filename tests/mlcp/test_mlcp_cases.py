"""Compare the complementarity solver to oracles on named cases, families, and thousands of small problems."""

import numpy as np
import pytest
from helpers.mlcp_small import small
from helpers.mlcp_verify import POLISHED, RESIDUAL, verify
from hypothesis import given
from hypothesis import strategies as st
from oracles import mlcp as oracles
from scipy.sparse import block_diag, csr_array, hstack

from treefactor import Tree, mlcp
from treefactor.mlcp import Status
from treefactor.mlcp import families as mlcp_families
from treefactor.mlcp.families import FAMILIES, INFEASIBLE

REDUNDANT = ("robotred", "lattice", "dup", "loops")
FEASIBLE = tuple(family for family in FAMILIES if family not in INFEASIBLE)


def solved(problem, **options):
    """Return a solution after verifying it."""
    solution = mlcp.solve(problem, **options)
    verify(problem, solution, POLISHED if options.get("polish") else RESIDUAL)
    return solution


# -------------------------------------------------------------------------------- named cases


@pytest.mark.parametrize("m", [1, 2, 10, 30])
def test_fathi(m):
    solution = solved(mlcp_families.fathi(m))
    np.testing.assert_allclose(solution.gamma, np.eye(m)[0], atol=1e-8)


def test_fathi_takes_few_systems_in_any_order():
    problem, first = mlcp_families.fathi(50), np.eye(50)[0]
    rng = np.random.default_rng(0)
    for order in (np.arange(50), *(rng.permutation(50) for _ in range(20))):
        solution = solved(mlcp_families.rows_of(problem, order), max_iter=300)
        np.testing.assert_allclose(solution.gamma, first[order], atol=1e-7)


def test_one_freedom_stopped_twice():
    solution = solved(mlcp_families.cps_4_1_14())
    np.testing.assert_allclose(solution.v, 1.0, atol=1e-9)
    np.testing.assert_allclose(solution.gamma, 0.5, atol=1e-8)  # of all with sum 1 the least


def test_four_feet_carry_a_quarter_each():
    solution = solved(mlcp_families.box_on_four_feet())
    np.testing.assert_allclose(solution.gamma, 0.25, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(solution.v, 0.0, atol=1e-9)


@pytest.mark.parametrize("m", [1, 10, 100, 500])
def test_a_column_stands(m):
    solution = solved(mlcp_families.column(m))
    weight = mlcp_families.GRAVITY * mlcp_families.STEP
    np.testing.assert_allclose(solution.gamma, weight * np.arange(m, 0, -1), rtol=1e-6)
    np.testing.assert_allclose(solution.v, 0.0, atol=1e-8)
    assert solution.factorizations <= 10


def test_switching_all_wrong_rows_at_once_would_cycle():
    problem = mlcp_families.newton_min_cycle()
    A, d = problem.D.toarray() @ problem.D.toarray().T, problem.d
    active, met = np.zeros(3, bool), []
    while active.tolist() not in met:
        met.append(active.tolist())
        gamma = np.zeros(3)
        gamma[active] = np.linalg.solve(A[np.ix_(active, active)], d[active])
        active = np.where(active, gamma > 0, A @ gamma < d)
    assert len(met) - met.index(active.tolist()) == 3
    np.testing.assert_allclose(solved(problem).gamma, [0.5, 0.0, 0.0], atol=1e-9)


def test_a_degenerate_vertex_is_left():
    problem = mlcp_families.beale()
    np.testing.assert_allclose(solved(problem).v, oracles.every_active_set(problem), atol=1e-9)


@pytest.mark.parametrize("make", [mlcp_families.box_on_four_feet, lambda: FAMILIES["spheres"](20, 3)])
def test_rows_ten_times_each(make):
    once, ten = make(), mlcp_families.repeated(make())
    one, all_ten = solved(once), solved(ten)
    np.testing.assert_allclose(all_ten.v, one.v, atol=1e-8)
    np.testing.assert_allclose(all_ten.gamma.reshape(10, -1).sum(axis=0), one.gamma, atol=1e-7)


# ------------------------------------------------------------------------------------ families


@pytest.mark.parametrize("m", [10, 50])
@pytest.mark.parametrize("family", FAMILIES)
def test_families(family, m):
    for seed in range(5):
        problem = FAMILIES[family](m, seed)
        solution = solved(problem)
        assert (solution.status is Status.INFEASIBLE) == (family in INFEASIBLE)
        if solution.status is Status.SOLVED:
            np.testing.assert_allclose(solution.v, oracles.goldfarb_idnani(problem), atol=1e-6)


@pytest.mark.parametrize("m", [10, 50])
@pytest.mark.parametrize("family", FAMILIES)
def test_one_row_at_a_time(family, m):
    problem = FAMILIES[family](m, 1)
    solution, exchanged = solved(problem, method="simplex"), solved(problem)
    assert solution.status is exchanged.status
    if solution.status is Status.SOLVED:
        np.testing.assert_allclose(solution.v, exchanged.v, atol=1e-7)


def test_simplex_does_not_cycle():
    for seed in range(3):
        solved(FAMILIES["lattice"](200, seed), method="simplex")


@pytest.mark.slow
@pytest.mark.parametrize("m", [200, 500])
@pytest.mark.parametrize("family", FAMILIES)
def test_large_families(family, m):
    for seed in range(5):
        problem = FAMILIES[family](m, seed)
        solution = solved(problem)
        assert (solution.status is Status.INFEASIBLE) == (family in INFEASIBLE)


@pytest.mark.slow
@pytest.mark.parametrize("m", [10, 50, 200])
@pytest.mark.parametrize("family", REDUNDANT)
def test_redundant_rows_200_times(family, m):
    for seed in range(200):
        assert solved(FAMILIES[family](m, seed)).status is Status.SOLVED


@pytest.mark.parametrize("m", [10, 50])
@pytest.mark.parametrize("family", FEASIBLE)
def test_polish_goes_on_to_rounding_errors(family, m):
    solved(FAMILIES[family](m, 1), polish=True)


@pytest.mark.slow
@pytest.mark.parametrize("family", FEASIBLE)
def test_polish_of_large_families(family):
    solved(FAMILIES[family](500, 1), polish=True)


@pytest.mark.parametrize("family", INFEASIBLE)
def test_infeasibility_is_found_in_few_steps(family):
    for m in (10, 50):
        for seed in range(20):
            solution = solved(FAMILIES[family](m, seed))
            assert solution.status is Status.INFEASIBLE
            assert solution.factorizations <= 15


@pytest.mark.parametrize("family", INFEASIBLE)
def test_an_unrelated_force_does_not_delay_a_certificate(family):
    for m in (10, 50):
        for seed in range(10):
            problem = FAMILIES[family](m, seed)
            solution = solved(beside_a_force(problem, 1e4))
            assert solution.status is Status.INFEASIBLE
            assert solution.factorizations == solved(beside_a_force(problem, 0.0)).factorizations


def beside_a_force(problem, force):
    """Return the problem with another body of unit mass, without constraints and under a force."""
    H = block_diag((csr_array(problem.H), csr_array([[1.0]])), format="csr")
    tree, g = Tree([*problem.tree.parent, -1]), np.append(problem.g, force)
    return mlcp.Problem(H, tree, g, D=hstack((problem.D, csr_array((problem.m, 1)))), d=problem.d)


@pytest.mark.slow
@pytest.mark.parametrize("m", [50, 100, 200, 350, 500])
@pytest.mark.parametrize("family", INFEASIBLE)
def test_infeasibility_is_found_in_few_steps_200_times(family, m):
    for seed in range(200):
        solution = solved(FAMILIES[family](m, seed))
        assert solution.status is Status.INFEASIBLE
        assert solution.factorizations <= 15


@pytest.mark.parametrize("family", ["spheres", "robot"])
def test_a_little_change_takes_few_factorizations(family):
    problem = FAMILIES[family](200, 1)
    before, noise = solved(problem), np.random.default_rng(0).normal(size=problem.n)
    g = problem.g + 0.02 * problem.H @ noise
    later = mlcp.Problem(problem.H, problem.tree, g, D=problem.D, d=problem.d)
    warm = solved(later, warm_start=before)
    assert warm.factorizations <= 5
    np.testing.assert_allclose(warm.v, solved(later).v, atol=1e-7)


@pytest.mark.parametrize("family", FEASIBLE)
def test_any_order_of_rows_gives_the_same_velocity(family):
    problem = FAMILIES[family](40, 2)
    v = solved(problem).v
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(problem.m)
        np.testing.assert_allclose(solved(mlcp_families.rows_of(problem, order)).v, v, atol=1e-7)


# ------------------------------------------------------------------------------ small problems


def agree(problem):
    """Assert that the solver agrees with trying every active set."""
    expected, solution = oracles.every_active_set(problem), solved(problem)
    assert (solution.status is Status.INFEASIBLE) == (expected is None)
    if expected is not None:
        np.testing.assert_allclose(solution.v, expected, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("block", range(10))
def test_every_active_set_agrees(block):
    for seed in range(100 * block, 100 * (block + 1)):
        agree(small(seed))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(0, 10), st.integers(0, 3))
def test_any_small_problem(seed, n, m, p):
    agree(small(seed, n, m, p))


@pytest.mark.slow
def test_ten_thousand_small_problems():
    for seed in range(1000, 11000):
        agree(small(seed))


def test_infeasible_means_infeasible():
    feasible = []
    for seed in range(1200):
        problem = between(seed)
        solution = solved(problem)
        feasible.append(oracles.feasible(problem))
        assert (solution.status is Status.SOLVED) == feasible[-1], f"seed {seed}"
    assert 300 < sum(feasible) < 900


def between(seed):
    """Return random half-spaces, about as many as make a problem infeasible half of the time."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    m = int(rng.integers(n, 5 * n))
    D, d = rng.normal(size=(m, n)), rng.normal(size=m) - rng.uniform(-0.5, 2.0)
    return mlcp.Problem(np.eye(n), mlcp_families.roots(n), rng.normal(size=n), D=D, d=d)


@pytest.mark.parametrize("problem", [small(3), small(77)])
def test_the_oracles_agree_with_each_other(problem):
    v, u = oracles.every_active_set(problem), oracles.goldfarb_idnani(problem)
    assert (v is None) == (u is None) == (not oracles.feasible(problem))
    if v is not None:
        np.testing.assert_allclose(v, u, atol=1e-9)
