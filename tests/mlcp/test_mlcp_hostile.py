"""Test that the data confirm the status of every solve, for all bounds, sizes and warm starts."""

import numpy as np
import pytest
from helpers.mlcp_hostile import confirm, garbage, hostile, neighbour
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor.exceptions import ShapeError
from treefactor.mlcp import Problem, Status, _dual, solve

POINT = tf.Tree([-1])


def confirmed(problem, warm=None, **options):
    """Confirm a solution by its conditions, or that no solution exists by a certificate."""
    solution = solve(problem, warm, **options)
    confirm(problem, solution)
    return solution


def try_starts(seed):
    """Solve a hostile problem and a neighbour, cold and from warm starts that fit or are garbage."""
    problem, other = hostile(seed), neighbour(hostile(seed), seed)
    cold, expected = confirmed(problem), confirmed(other)
    for warm in (cold, garbage(expected, seed), garbage(expected, seed + 1)):
        solution = confirmed(other, warm)
        assert solution.status is expected.status
        if solution.status is Status.SOLVED:
            size = np.abs(expected.v).max(initial=1.0)
            np.testing.assert_allclose(solution.v, expected.v, rtol=0.0, atol=1e-6 * size)
    if other.upper is None:
        assert confirmed(other, method="simplex").status is expected.status


@given(st.integers(0, 2**32 - 1))
def test_any_start_solves_a_hostile_problem(seed):
    try_starts(seed)


def test_impulses_of_the_simplex_method_that_cancel_hide_no_residual():
    confirmed(neighbour(hostile(7291), 7291), method="simplex")


@pytest.mark.slow
def test_any_start_solves_ten_thousand_hostile_problems():
    for seed in range(10_000):
        try_starts(seed)


def test_a_row_out_of_reach_stays_off_though_the_warm_start_has_it_active():
    D, tree = [[1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]], tf.Tree([-1, -1])
    before = confirmed(Problem(np.eye(2), tree, [1.0, 3.0], D=D, d=np.zeros(3)))
    assert before.active[0]
    for far in (-np.inf, -1e300, -1e30):
        other = Problem(np.eye(2), tree, [1.0, 3.0], D=D, d=[far, 0.0, 0.0])
        solution = confirmed(other, before)
        np.testing.assert_allclose(solution.v, solve(other).v, atol=1e-10)
        assert not solution.active[0]


@pytest.mark.parametrize("d", [1e-3, 1e-9, 1e-12])
@pytest.mark.parametrize("upper", [1.0, 1e6, 1e12])
def test_bounds_larger_than_the_data_are_reached(d, upper):
    solution = confirmed(Problem([[1.0]], POINT, [0.0], [[3.0]], [0.0], [[0.7]], [d], [upper]))
    np.testing.assert_allclose((solution.v[0], solution.gamma[0] / upper), (0.0, 1.0), atol=1e-9)


@pytest.mark.parametrize("d", [-1.0, 0.0, 1e-13, 1.0])
def test_a_row_of_rounding_noise_is_fulfilled_or_infeasible(d):
    D = [[1.0, 0.0], [3e-17, -1e-17]]
    for warm in (False, True):
        problem = Problem(np.diag([1.0, 1e-3]), tf.Tree([-1, -1]), [-1.0, 1e-3], D=D, d=[0.0, d])
        solution = solve(problem, solve(problem) if warm else None)
        if d > 0.5:
            assert solution.status is Status.INFEASIBLE
            y = solution.certificate[0]
            assert y[1] > 0.0
            np.testing.assert_allclose(y @ D, 0.0, rtol=0.0, atol=1e-8 * np.linalg.norm(y))
        else:
            assert solution.status is Status.SOLVED
            np.testing.assert_allclose(solution.v, [0.0, 1.0], atol=1e-10)
            np.testing.assert_allclose(solution.gamma, [1.0, 0.0], atol=1e-10)


def test_residual_of_an_overflow_is_infinite():
    problem = Problem([[1e-300]], POINT, [1e300], D=[[-1e300]], d=[1e300])
    solution = solve(problem)
    assert solution.status is Status.INVALID
    assert solution.residual() == np.inf


@given(st.integers(0, 2**32 - 1))
def test_the_dual_method_ends_with_the_same_status(seed):
    """Calls the dual method alone, on problems that the proximal method solves too."""
    problem = hostile(seed)
    expected, (_, solver) = confirmed(problem), problem._workspace()
    upper = None if problem.upper is None else np.append(np.full(len(problem.c), np.inf), problem.upper)
    solver.load(
        problem.packed, problem.g, problem._free, problem._rows[2], problem._right, upper, len(problem.c)
    )
    solution = _dual.solve(problem, solver, 1000)
    assert (solution.certificate is not None) == (expected.status is Status.INFEASIBLE)
    assert (solution.impulse is None) == (expected.status is Status.INFEASIBLE)
    if solution.impulse is not None:
        force = (
            problem.C.T @ solution.impulse[: len(problem.c)]
            + problem.D.T @ solution.impulse[len(problem.c) :]
        )
        v = np.linalg.solve(problem.H, problem.g + force)
        size = max(1.0, np.abs(v).max(), np.abs(force).max())
        np.testing.assert_allclose(v, expected.v, rtol=0.0, atol=1e-6 * size)


@pytest.mark.parametrize("terms", [[1.0], [[1.0, 1e-3]]])
def test_a_row_within_the_rounding_of_its_terms_is_fulfilled_or_infeasible(terms):
    """Alone, a row of rounding noise is data; the terms that it subtracts show what it is."""
    H, tree, g = np.diag([1.0, 1e-3]), tf.Tree([-1, -1]), [-1.0, 1e-3]
    for d in (-1.0, 0.0, 1e-13, 1.0):
        alone = {"D": [[3e-17, -1e-17]], "d": [d]}
        solution = confirmed(Problem(H, tree, g, **alone, terms=terms))
        assert solution.status is (Status.INFEASIBLE if d > 0.5 else Status.SOLVED)
        if d <= 0.5:
            np.testing.assert_allclose(solution.v, [-1.0, 1.0], atol=1e-12)
            assert not solution.gamma.any()
    bilateral = solve(Problem(H, tree, g, C=[[3e-17, -1e-17]], c=[0.0], terms=terms))
    np.testing.assert_allclose(bilateral.v, [-1.0, 1.0], atol=1e-12)


def test_terms_belong_to_rows_of_both_kinds_or_to_entries():
    both = {"C": [[1.0, 1e-15]], "c": [0.0], "D": [[1e-15, 1e-16], [2.0, 0.0]], "d": [0.0, 1.0]}
    problem = Problem(np.eye(2), tf.Tree([-1, -1]), [0.0, 0.0], **both, terms=[1e-3, 1.0, 1.0])
    np.testing.assert_array_equal(problem.C.toarray(), both["C"])
    np.testing.assert_array_equal(problem.D.toarray(), [[0.0, 0.0], [2.0, 0.0]])
    terms = [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    problem = Problem(np.eye(2), tf.Tree([-1, -1]), [0.0, 0.0], **both, terms=terms)
    np.testing.assert_array_equal(problem.C.toarray(), [[1.0, 0.0]])
    np.testing.assert_array_equal(problem.D.toarray(), [[1e-15, 0.0], [2.0, 0.0]])
    with pytest.raises(
        ShapeError, match=r"terms must have shape \(3,\) or \(3, 2\): rows of C, then of D; got"
    ):
        Problem(np.eye(2), tf.Tree([-1, -1]), [0.0, 0.0], **both, terms=[1.0, 1.0])
    with pytest.raises(ValueError, match="terms must not be negative, got -1"):
        Problem(np.eye(2), tf.Tree([-1, -1]), [0.0, 0.0], **both, terms=[1.0, -1.0, 1.0])


@pytest.mark.parametrize("d", [-1.0, 0.0, 1e-13])
def test_rows_of_rounding_noise_leave_residual_and_sensitivity_alone(d):
    """Multiplied to the size of the other rows they would count as data."""
    D, C = [[1.0, 0.0], [3e-17, -1e-17]], [[0.0, 1e-16]]
    problem = Problem(np.diag([1.0, 1e-3]), tf.Tree([-1, -1]), [-1.0, 1e-3], C, [0.0], D, [0.0, d])
    solution = solve(problem)
    assert solution.residual() <= 1e-10
    sensitivity = tf.mlcp.sensitivity(solution)
    np.testing.assert_allclose(sensitivity.dv_dg, [[0.0, 0.0], [0.0, 1e3]], atol=1e-9)
