"""Compare impulses with bounds to an enumeration of all row statuses, and to quadprog."""

import numpy as np
import pytest
from helpers.mlcp_small import small
from helpers.mlcp_verify import verify
from oracles import mlcp as oracles

import treefactor as tf
from treefactor import mlcp
from treefactor.mlcp import Problem, Status, solve
from treefactor.mlcp import families as mlcp_families

POINT = tf.Tree([-1])


def solved(problem, **options):
    """Return a solution after verifying it."""
    solution = solve(problem, **options)
    verify(problem, solution)
    return solution


def bounded(problem, upper):
    """Return the problem without bilateral rows and with bounds."""
    return Problem(
        problem.packed, problem.tree, problem.g, D=problem.D, d=problem.d, upper=upper, layout="packed"
    )


def agree(seed):
    """Assert that the solution is that of trying all row statuses; return whether it is infeasible.

    Its bounds are whole numbers, 0 among them, some of them infinite.
    """
    problem = small(seed, m=6, p=0)
    upper = np.random.default_rng([1, seed]).choice([0.0, 1.0, 2.0, 5.0, np.inf], problem.m)
    problem = bounded(problem, upper)
    solution, expected = solved(problem), oracles.every_state(problem)
    assert (solution.status is Status.INFEASIBLE) == (expected is None), f"seed {seed}"
    if expected is not None:
        np.testing.assert_allclose(solution.v, expected, rtol=0.0, atol=1e-7, err_msg=f"seed {seed}")
    return expected is None


@pytest.mark.parametrize(
    ("push", "v", "gamma", "active"),
    [(-1.0, 0.0, 1.0, True), (-5.0, -3.0, 2.0, False), (1.0, 1.0, 0.0, False)],
)
def test_a_row_holds_gives_way_or_is_free(push, v, gamma, active):
    solution = solved(Problem([[1.0]], POINT, [push], D=[[1.0]], d=[0.0], upper=[2.0]))
    np.testing.assert_allclose((solution.v[0], solution.gamma[0]), (v, gamma), atol=1e-9)
    assert solution.active[0] == active


def test_every_state_agrees():
    infeasible = sum(agree(seed) for seed in range(400))
    assert 0 < infeasible < 200


@pytest.mark.slow
def test_every_state_agrees_five_thousand_times():
    for seed in range(1000, 6000):
        agree(seed)


@pytest.mark.parametrize("m", [10, 50])
@pytest.mark.parametrize("family", ["spheres", "robot", "robotred", "lattice", "dup", "infeas"])
def test_families_agree_with_quadprog(family, m):
    problem = mlcp_families.FAMILIES[family](m, 1)
    gamma = np.abs(solve(problem).gamma)
    for share in (0.0, 0.3, 0.9):
        free = bounded(problem, np.full(m, share * gamma[gamma > 0].mean()))
        np.testing.assert_allclose(solved(free).v, oracles.boxed(free), rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("limit", [0.5, 5.0])
def test_bilateral_rows_have_no_bounds(limit):
    """A rail (C) holds a cart that is pushed against a stop (D), which yields at the limit."""
    rail, stop = [[1.0, 1.0]], [[0.0, 1.0]]
    problem = Problem(np.eye(2), tf.Tree([-1, -1]), [9.0, 3.0], rail, [0.0], stop, [-1.0], upper=[limit])
    solution = solve(problem)
    gamma = min(limit, 4.0)  # v = (3, -3) without the stop, (1, -1) at it
    np.testing.assert_allclose(solution.gamma, [gamma], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(solution.v, [3.0 - gamma / 2, gamma / 2 - 3.0], rtol=0.0, atol=1e-8)


def test_wide_bounds_change_nothing():
    problem = mlcp_families.robot(50, 2)
    free = solve(problem)
    for width in (np.inf, 10.0 * free.gamma.max()):
        wide = solved(bounded(problem, np.full(problem.m, width)))
        np.testing.assert_allclose(wide.v, free.v, rtol=0.0, atol=1e-9)


def test_no_impulse_at_all_leaves_the_free_motion():
    problem = mlcp_families.robot(50, 2)
    solution = solved(bounded(problem, np.zeros(problem.m)))
    np.testing.assert_allclose(solution.v, problem.factor.solve(problem.g), rtol=1e-9, atol=1e-12)
    assert not solution.gamma.any()


def test_contradictions_of_soft_rows_are_solved_of_hard_ones_not():
    D, d = [[1.0], [-1.0]], [1.0, 1.0]
    soft = solved(Problem([[1.0]], POINT, [0.0], D=D, d=d, upper=[np.inf, 3.0]))
    np.testing.assert_allclose((soft.v[0], *soft.gamma), (1.0, 4.0, 3.0), atol=1e-8)
    hard = solved(Problem([[1.0]], POINT, [0.0], D=D, d=d, upper=[np.inf, np.inf]))
    assert hard.status is Status.INFEASIBLE


@pytest.mark.parametrize("family", ["robot", "spheres", "lattice"])
def test_warm_start_of_the_same_problem_switches_nothing(family):
    problem = mlcp_families.FAMILIES[family](50, 2)
    gamma = solve(problem).gamma
    free = bounded(problem, np.full(problem.m, 0.3 * gamma[gamma > 0].mean()))
    cold = solved(free)
    warm = solved(free, warm_start=cold)
    assert (cold.gamma == free.upper).any()
    assert (warm.pivots, warm.factorizations) == (0, 1)


@pytest.mark.parametrize(
    ("upper", "error"), [([-1.0], ValueError), ([np.nan], tf.NonFiniteError), ([1.0, 1.0], tf.ShapeError)]
)
def test_arguments_are_validated(upper, error):
    with pytest.raises(error, match="upper"):
        Problem([[1.0]], POINT, [0.0], D=[[1.0]], d=[0.0], upper=upper)


def test_simplex_refuses_bounds():
    problem = Problem([[1.0]], POINT, [0.0], D=[[1.0]], d=[0.0], upper=[1.0])
    with pytest.raises(ValueError, match="simplex"):
        mlcp.solve(problem, method="simplex")
