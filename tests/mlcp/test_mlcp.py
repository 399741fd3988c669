"""Test problems, solutions and validation; the simplex and proximal Newton methods agree."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from helpers.mlcp_verify import verify
from scipy.sparse import coo_array, csc_matrix

import treefactor as tf
from treefactor import mlcp
from treefactor.mlcp import Problem, Status, solve
from treefactor.mlcp import families as mlcp_families

TREE = tf.Tree([-1, 0])
H = np.array([[3.0, 1.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("family", "m", "switched", "factorizations"),
    [("robot", 100, 35, 4), ("robotred", 100, 28, 7), ("spheres", 50, 20, 2), ("column", 50, 50, 3)],
)
def test_simplex_and_proximal_newton_agree_after_so_many_steps(family, m, switched, factorizations):
    problem = mlcp_families.FAMILIES[family](m, 1)
    simplex, newton = solve(problem, method="simplex"), solve(problem)
    for solution in (simplex, newton):
        verify(problem, solution)
    np.testing.assert_allclose(simplex.v, newton.v, rtol=0, atol=1e-8)
    assert (simplex.pivots, newton.factorizations) == (switched, factorizations)


@pytest.mark.parametrize("family", mlcp_families.INFEASIBLE)
def test_simplex_finds_infeasibility(family):
    problem = mlcp_families.FAMILIES[family](60, 1)
    solution = solve(problem, method="simplex")
    assert solution.status is Status.INFEASIBLE
    verify(problem, solution)


def test_simplex_handles_tied_rows():
    problem = mlcp_families.repeated(mlcp_families.box_on_four_feet(), 10)
    solution = solve(problem, method="simplex")
    verify(problem, solution)
    np.testing.assert_allclose(solution.gamma, 1.0 / 40.0, atol=1e-8)


@pytest.mark.parametrize("spread", [1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("limit", [None, 0.5, 1e3])
def test_inertia_nearly_singular(spread, limit):
    """Residuals are rounding errors of terms of H v that cancel; limits far away change nothing about it."""
    rng, n = np.random.default_rng(0), 6
    H = 1.0 + np.diag(spread * rng.uniform(1.0, 2.0, n))
    g = rng.normal(size=n)
    free = np.linalg.solve(H, g)
    rows = {} if limit is None else {"D": np.eye(n), "d": np.full(n, -limit * np.abs(free).max())}
    solution = mlcp.solve(mlcp.Problem(H, tf.families.chain(n), g, **rows))
    assert solution.status is mlcp.Status.SOLVED
    assert solution.residual() <= 2e-14 * np.abs(free).max() + 2e-10
    if limit != 0.5:
        np.testing.assert_allclose(solution.v, free, rtol=1e-13 / spread)


def test_iteration_limit_is_a_status():
    problem = mlcp_families.spheres(100, 0)
    for method in mlcp.METHODS:
        solution = solve(problem, method=method, max_iter=1)
        assert solution.status is Status.ITERATION_LIMIT
        assert np.isfinite(solution.v).all()
        assert solution.residual() > 1e-6
        assert solution.certificate is None


def test_overflow_is_invalid():
    problem = Problem([[1e-300]], tf.Tree([-1]), [1e300], D=[[-1e300]], d=[1e300])
    for method in mlcp.METHODS:
        assert solve(problem, method=method).status is Status.INVALID


def test_same_solution_from_dense_sparse_and_factor():
    g, D, d = [1.0, -2.0], np.array([[1.0, 0.0], [1.0, 1.0]]), [0.5, -0.5]
    C, c = [[1.0, -1.0]], [0.25]
    expected = solve(Problem(H, TREE, g, C, c, D, d)).v
    repeated = coo_array(([0.5, 0.5, 1.0, 1.0], ([0, 0, 1, 1], [0, 0, 1, 0])), shape=(2, 2))
    for matrix in (csc_matrix(D), repeated):
        np.testing.assert_array_equal(solve(Problem(H, TREE, g, csc_matrix(C), c, matrix, d)).v, expected)
    factor = solve(Problem(tf.factor(H, TREE), TREE, g, C, c, D, d)).v
    np.testing.assert_allclose(factor, expected, atol=1e-12)


def test_problem_keeps_its_own_copies():
    g, d, D = np.array([1.0, -2.0]), np.array([0.5]), np.array([[1.0, 0.0]])
    problem = Problem(H, TREE, g, D=D, d=d)
    expected = solve(problem).v
    g[:], d[:], D[:] = np.nan, np.nan, np.nan
    np.testing.assert_array_equal(solve(problem).v, expected)


def test_results_are_not_views():
    problem = mlcp_families.robot(20, 0)
    first = solve(problem)
    kept = first.v.copy(), first.gamma.copy(), first.active.copy()
    solve(problem, method="simplex", max_iter=1)
    for a, b in zip((first.v, first.gamma, first.active), kept, strict=True):
        np.testing.assert_array_equal(a, b)


def test_two_problems_of_one_pattern_do_not_share_numbers():
    first = Problem(H, TREE, [1.0, 0.0], D=[[1.0, 1.0]], d=[1.0])
    second = Problem(2 * H, TREE, [0.0, 0.0], D=[[1.0, 2.0]], d=[3.0])
    alone = solve(first).v
    solve(second)
    np.testing.assert_array_equal(solve(first).v, alone)


@pytest.mark.parametrize(
    ("D", "d", "status"),
    [
        ([[0.0, 0.0]], [-1.0], Status.SOLVED),
        ([[0.0, 0.0]], [1.0], Status.INFEASIBLE),
        ([[1.0, 0.0]], [-np.inf], Status.SOLVED),
        (np.empty((0, 2)), [], Status.SOLVED),
    ],
)
@pytest.mark.parametrize("method", mlcp.METHODS)
def test_odd_rows(D, d, status, method):
    problem = Problem(H, TREE, [1.0, 1.0], D=D, d=d)
    solution = solve(problem, method=method)
    assert solution.status is status
    if status is Status.SOLVED:
        np.testing.assert_allclose(solution.v, np.linalg.solve(H, [1.0, 1.0]), rtol=1e-14)
        assert not solution.gamma.any()


@pytest.mark.parametrize("method", mlcp.METHODS)
def test_no_freedoms(method):
    tree = tf.Tree([])
    assert solve(Problem(np.empty((0, 0)), tree, []), method=method).status is Status.SOLVED
    for d, status in ((-1.0, Status.SOLVED), (1.0, Status.INFEASIBLE)):
        problem = Problem(np.empty((0, 0)), tree, [], D=np.empty((1, 0)), d=[d])
        assert solve(problem, method=method).status is status


def test_contradictory_bilateral_rows_have_a_certificate():
    solution = solve(Problem(H, TREE, [0.0, 0.0], C=[[1.0, 1.0], [2.0, 2.0]], c=[1.0, 1.0]))
    assert solution.status is Status.INFEASIBLE
    z = solution.certificate[1]
    assert np.dot(z, [1.0, 1.0]) > 0
    np.testing.assert_allclose(z @ [[1.0, 1.0], [2.0, 2.0]], 0.0, atol=1e-8 * np.linalg.norm(z))


def test_units_change_nothing():
    problem = mlcp_families.robot(40, 3)
    v = solve(problem).v
    for mass, time in ((1e12, 1.0), (1.0, 1e-9), (1e-15, 1e6)):
        # in other units of mass and time: H scales with the mass, velocities with 1 / time
        other = Problem(
            mass * problem.H, problem.tree, mass / time * problem.g, D=problem.D, d=problem.d / time
        )
        solution = solve(other)
        assert solution.status is Status.SOLVED
        np.testing.assert_allclose(solution.v * time, v, rtol=0, atol=1e-9)


def test_warm_start_of_the_same_problem_switches_nothing():
    for family in ("robot", "spheres", "lattice", "dup"):
        problem = mlcp_families.FAMILIES[family](50, 2)
        cold = solve(problem)
        warm = solve(problem, warm_start=cold)
        verify(problem, warm)
        assert (warm.pivots, warm.factorizations) == (0, 1), family


def test_warm_start_has_as_many_rows():
    short, long = (mlcp_families.column(m) for m in (3, 4))
    with pytest.raises(tf.ShapeError, match="warm_start has"):
        solve(long, warm_start=solve(short))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"g": [1.0]}, tf.ShapeError),
        ({"H": np.eye(3)}, tf.ShapeError),
        ({"D": [[1.0]], "d": [0.0]}, tf.ShapeError),
        ({"D": [[1.0, 0.0]], "d": [0.0, 1.0]}, tf.ShapeError),
        ({"D": [[1.0, 0.0]]}, tf.ShapeError),
        ({"c": [0.0]}, tf.ShapeError),
        ({"H": tf.factor(np.eye(3), tf.Tree([-1, 0, 1]))}, tf.ShapeError),
        ({"g": [np.nan, 0.0]}, tf.NonFiniteError),
        ({"H": np.array([[np.inf, 0.0], [0.0, 1.0]])}, tf.NonFiniteError),
        ({"C": [[np.nan, 0.0]], "c": [0.0]}, tf.NonFiniteError),
        ({"C": [[1.0, 0.0]], "c": [-np.inf]}, tf.NonFiniteError),
        ({"D": [[1.0, 0.0]], "d": [np.nan]}, tf.NonFiniteError),
        ({"D": [[1.0, 0.0]], "d": [np.inf]}, tf.NonFiniteError),
        ({"D": [[1j, 0.0]], "d": [0.0]}, tf.DtypeError),
        ({"D": csc_matrix([[1j, 0.0]]), "d": [0.0]}, tf.DtypeError),
        ({"H": -np.eye(2)}, tf.NotPositiveDefiniteError),
    ],
)
def test_arguments_are_validated(given, error):
    with pytest.raises(error):
        Problem(**({"H": H, "tree": TREE, "g": [0.0, 0.0]} | given))


def test_rows_that_fail_are_named():
    with pytest.raises(tf.NonFiniteError) as caught:
        Problem(H, TREE, [0.0, 0.0], D=[[1.0, 0.0], [0.0, np.inf]], d=[0.0, 0.0])
    assert caught.value.row == 1
    with pytest.raises(tf.NotPositiveDefiniteError) as caught:
        Problem([[1.0, 2.0], [2.0, 1.0]], TREE, [0.0, 0.0])
    assert caught.value.row == 0


def test_solve_takes_a_problem_and_a_method():
    with pytest.raises(TypeError, match=r"must be a treefactor\.mlcp\.Problem"):
        solve(H)
    with pytest.raises(ValueError, match="method must be one of"):
        solve(Problem(H, TREE, [0.0, 0.0]), method="lemke")


def test_threads_take_turns():
    problem = mlcp_families.robot(100, 0)
    expected = solve(problem).v
    with ThreadPoolExecutor(4) as pool:
        for solution in pool.map(solve, [problem] * 40):
            np.testing.assert_array_equal(solution.v, expected)


def test_problem_and_solution_are_pickled():
    problem = mlcp_families.loops(20, 0)
    solution = pickle.loads(pickle.dumps(solve(problem)))
    np.testing.assert_allclose(solve(solution.problem).v, solution.v, atol=1e-12)
    assert solution.residual() < 1e-9


def test_problem_is_immutable():
    problem = mlcp_families.loops(20, 0)
    for array in (problem.g, problem.c, problem.d, problem.C.data, problem.D.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_guess_that_solved_nothing_is_left_aside():
    problem = mlcp_families.infeas(20, 0)
    infeasible, cold = solve(problem), solve(problem, max_iter=1)
    assert solve(problem, infeasible).factorizations == infeasible.factorizations
    assert solve(problem, cold).status is Status.INFEASIBLE
    with pytest.raises(TypeError, match="warm_start must be"):
        solve(problem, warm_start=problem)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("method", mlcp.METHODS)
def test_rows_of_any_size_hold(scale, method):
    problem = Problem(H, TREE, [-1.0, 0.0], D=[[scale, 0.0]], d=[0.0])
    solution = solve(problem, method=method)
    assert solution.status is Status.SOLVED
    assert abs(solution.v[0]) < 1e-11
    assert abs(solution.residual()) < 1e-11


def test_rows_too_small_to_scale_are_invalid():
    assert solve(Problem(H, TREE, [-1.0, 0.0], D=[[5e-324, 0.0]], d=[0.0])).status is Status.INVALID


def test_warm_starts_of_other_shapes_and_types():
    problem = Problem(H, TREE, [-1.0, -2.0], D=np.eye(2), d=np.zeros(2))
    cold = solve(problem)
    for changed in (
        {"gamma": np.full(2, np.nan)},
        {"gamma": cold.gamma.astype(np.float32), "gamma_c": np.empty(0, np.float32)},
        {"active": cold.active.astype(int)},
    ):
        np.testing.assert_allclose(solve(problem, replace(cold, **changed)).v, cold.v, rtol=0, atol=1e-11)
    with pytest.raises(tf.ShapeError, match="active"):
        solve(problem, replace(cold, active=np.ones(1, bool)))


def test_a_warm_start_may_hold_any_arrays():
    problem = mlcp_families.FAMILIES["loops"](30, 0)
    cold = solve(problem)
    plain = solve(problem, cold)
    other = replace(
        cold, gamma=np.repeat(cold.gamma, 2)[::2], gamma_c=list(cold.gamma_c), active=list(cold.active)
    )
    solution = solve(problem, other)
    for name in ("v", "gamma", "gamma_c", "active"):
        np.testing.assert_array_equal(getattr(solution, name), getattr(plain, name))
    assert solve(problem, replace(cold, gamma=np.full(30, np.nan))).pivots == cold.pivots


@pytest.mark.parametrize("angle", [1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("method", mlcp.METHODS)
def test_rows_that_almost_say_the_same(angle, method):
    tree = tf.Tree([-1, -1])
    closed = Problem(np.eye(2), tree, np.zeros(2), C=[[1, 0], [1, angle]], c=[1, 1 + 5 * angle])
    wedge = Problem(np.eye(2), tree, np.zeros(2), D=[[1, 0], [-1, angle]], d=[1, 0])
    for problem, expected in ((closed, [1, 5]), (wedge, [1, 1 / angle])):
        solution = solve(problem, method=method, polish=True)
        assert solution.status is Status.SOLVED
        np.testing.assert_allclose(solution.v, expected, rtol=1e-10)


def test_any_number_of_iterations_can_be_allowed():
    problem = mlcp.Problem([[2.0]], tf.Tree([-1]), [-6.0], D=[[1.0]], d=[-1.0])
    assert mlcp.solve(problem, max_iter=10**30).status is mlcp.Status.SOLVED
    assert mlcp.solve(problem, max_iter=0).status is mlcp.Status.ITERATION_LIMIT


@pytest.mark.parametrize("method", mlcp.METHODS)
def test_distant_rows_change_no_tolerance(method):
    tree = tf.Tree([-1, -1])
    C, D = [[0.3, -0.7]], [[1.0, 0.0], [0.0, 1.0]]
    problem = Problem([[2.0, 0.0], [0.0, 3.0]], tree, [1e-3, 2e-3], C, [1e-3], D, [-1e9, 1e-3])
    solution = solve(problem, method=method)
    verify(problem, solution)
    assert solution.residual() < 1e-12
