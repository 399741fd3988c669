"""The paper's simplex method letter by letter: against our solver, and what it does where constraints tie."""

import numpy as np
import pytest

from treefactor import mlcp, mlcp_families
from treefactor.mlcp_families import FAMILIES
from treefactor.papers.kkt import Corner
from treefactor.papers.textbook import tasora
from treefactor.tables import tasora as tables

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("m", [5, 30])
@pytest.mark.parametrize("family", ["robot", "spheres"])
def test_it_finds_what_we_find(family, m):
    for seed in range(5):
        problem = FAMILIES[family](m, seed)
        walked, solution = tasora.solve_lcp(problem), mlcp.solve(problem)
        assert walked.ended == tasora.SOLVED
        np.testing.assert_allclose(walked.v, solution.v, atol=1e-7)
        np.testing.assert_allclose(walked.gamma, solution.gamma, rtol=1e-5, atol=1e-6)
        assert walked.pivots >= np.count_nonzero(walked.gamma) >= 1 or not solution.gamma.any()
        assert len(walked.computed) == walked.pivots + 1


def test_bilateral_rows_are_always_on():
    H, C, D = np.diag([1.0, 2.0, 3.0]), [[1.0, 1.0, 0.0]], [[0.0, 1.0, 1.0]]
    problem = mlcp.Problem(H, mlcp_families.roots(3), [1.0, 2.0, -3.0], C, [0.5], D, [1.0])
    walked, solution = tasora.solve_lcp(problem), mlcp.solve(problem)
    assert walked.ended == tasora.SOLVED
    np.testing.assert_allclose(walked.v, solution.v, atol=1e-9)
    np.testing.assert_allclose(walked.gamma, solution.gamma, atol=1e-9)


def test_what_is_computed_anew_is_the_whole_factor():
    problem = FAMILIES["robot"](20, 0)
    kept = tasora.Incremental(tasora.matrix(problem))
    rng = np.random.default_rng(0)
    on = np.zeros(problem.m, bool)
    for row in rng.integers(problem.m, size=30):
        on[row] = not on[row]
        kept.set(problem.n + row, 0.0 if on[row] else tasora.OFF)
        fresh = tasora.Incremental(kept.S.copy())
        np.testing.assert_allclose(kept.L, fresh.L, atol=1e-9)
        np.testing.assert_allclose(kept.D, fresh.D, rtol=1e-9)
    np.testing.assert_allclose((kept.L * kept.D) @ kept.L.T, kept.S, atol=1e-9)
    assert max(kept.computed[1:]) <= problem.m * (problem.m + 1) // 2 < kept.computed[0]


@pytest.mark.parametrize(
    ("family", "end"),
    [("column", tasora.NO_STEP), ("lattice", tasora.NO_STEP), ("loops", tasora.NO_PIVOT)],
)
def test_ties_and_dependent_rows_stop_it(family, end):
    problem = FAMILIES[family](50, 1)
    assert tasora.solve_lcp(problem).ended == end
    assert mlcp.solve(problem).status is mlcp.Status.SOLVED


def test_a_limit_of_pivots():
    assert tasora.solve_lcp(FAMILIES["robot"](60, 1), limit=3).ended == tasora.LIMIT


@pytest.mark.parametrize("family", ["robot", "spheres", "dup"])
def test_the_predicted_entries_are_those_computed(family):
    problem = FAMILIES[family](40, 1)
    corner = Corner(problem.tree, problem.packed, tables.rows_of(problem))
    assert corner.nnz == tasora.Incremental(tasora.matrix(problem)).computed[0]
