"""Test the paper's simplex method, as printed and repaired, against our solver and other decompositions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treefactor import mlcp
from treefactor.mlcp import families as mlcp_families
from treefactor.mlcp.families import FAMILIES
from treefactor.papers.kkt import Corner
from treefactor.papers.tables import tasora as tables
from treefactor.papers.tables import tasora_theory as theory
from treefactor.papers.tables.table import AtLeast
from treefactor.papers.textbook import basis, reduction, tasora

WHAT = "entries of a dense factor over those of a pivot"


@pytest.mark.parametrize("m", [5, 30])
@pytest.mark.parametrize("family", ["robot", "spheres"])
def test_it_finds_what_we_find(family, m):
    for seed in range(5):
        problem = FAMILIES[family](m, seed)
        repaired, solution = tasora.repaired(problem), mlcp.solve(problem)
        assert repaired.ended == tasora.SOLVED
        np.testing.assert_allclose(repaired.v, solution.v, atol=1e-7)
        np.testing.assert_allclose(repaired.gamma, solution.gamma, rtol=1e-5, atol=1e-6)
        assert repaired.pivots >= np.count_nonzero(repaired.gamma) >= 1 or not solution.gamma.any()
        assert len(repaired.computed) == repaired.pivots + 1


def test_bilateral_rows_are_always_on():
    H, C, D = np.diag([1.0, 2.0, 3.0]), [[1.0, 1.0, 0.0]], [[0.0, 1.0, 1.0]]
    problem = mlcp.Problem(H, mlcp_families.roots(3), [1.0, 2.0, -3.0], C, [0.5], D, [1.0])
    repaired, solution = tasora.repaired(problem), mlcp.solve(problem)
    assert repaired.ended == tasora.SOLVED
    np.testing.assert_allclose(repaired.v, solution.v, atol=1e-9)
    np.testing.assert_allclose(repaired.gamma, solution.gamma, atol=1e-9)


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
    assert tasora.repaired(problem).ended == end
    assert mlcp.solve(problem).status is mlcp.Status.SOLVED


def test_a_limit_of_pivots():
    assert tasora.repaired(FAMILIES["robot"](60, 1), limit=3).ended == tasora.LIMIT


def test_a_limit_of_pivots_as_printed():
    assert tasora.printed(FAMILIES["robot"](6, 1), limit=1, whole=True).ended == tasora.LIMIT


@pytest.mark.parametrize("seed", range(10))
def test_as_printed_a_full_step_is_an_error(seed):
    """A single violated row: the only step is a whole one, which solves the problem if it is allowed."""
    problem = FAMILIES["robot"](1, seed)
    printed, whole = (tasora.printed(problem, whole=allowed) for allowed in (False, True))
    assert whole.ended == tasora.SOLVED
    assert printed.ended == (tasora.WHOLE if whole.pivots else tasora.SOLVED)
    np.testing.assert_allclose(whole.v, mlcp.solve(problem).v, atol=1e-9)


def test_as_printed_a_row_that_stays_violated_makes_the_step_negative():
    """Two rows start violated; switching one on worsens the other: -a / (b - a) < 0 with b < a < 0."""
    on, here, there = np.array([True, False]), np.array([0.0, -1.0]), np.array([0.0, -2.0])
    s, changed = tasora.step_max(on, np.zeros(2), here, np.ones(2), there)
    assert (s, changed) == (-1.0, 1)
    assert tasora.longest_step(on, np.zeros(2), here, np.ones(2), there, 1e-12) == (1.0, None)


def test_replaced_columns_of_a_basis_solve_the_whole_matrix():
    problem, rng = FAMILIES["robot"](15, 3), np.random.default_rng(0)
    on = np.zeros(problem.m, bool)
    kept = basis.Basis(basis.columns(problem, on))
    for row in rng.integers(problem.m, size=30):
        on[row] = not on[row]
        kept.replace(problem.n + row, basis.column(problem, row, bool(on[row])))
        B, r = basis.columns(problem, on), rng.normal(size=problem.n + problem.m)
        np.testing.assert_allclose(B @ kept.solve(r), r, atol=1e-8)


@given(seed=st.integers(0, 1000), p=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_the_theorem_needs_the_inverse_of_m_in_b(seed, p):
    problem, rng = theory.bilateral(6, p), np.random.default_rng(seed)
    gamma = rng.uniform(size=problem.m)
    A, B = reduction.printed(problem)
    alpha = reduction.residuals(problem, gamma)
    scale = np.abs(alpha).max()
    assert np.abs(A @ gamma + reduction.corrected(problem) - alpha).max() < 1e-9 * scale
    assert np.abs(A @ gamma + B - alpha).max() > 1e-3 * scale
    assert np.linalg.eigvalsh((A + A.T) / 2).min() > -1e-9 * np.abs(A).max()


@pytest.mark.usefixtures("impatient")
def test_both_dense_decompositions_are_compared_with_an_order_of_magnitude():
    rows = {row.what: row for row in tables.magnitude().rows if row.case == "robot, m = 40"}
    for peer in ("dense LU", "dense Bunch-Kaufman"):
        row = rows[f"time of {peer} over that of a pivot"]
        assert row.paper == AtLeast(10.0)
        assert row.ours == {one.peer: one.ratio for one in rows[WHAT].timed}[peer]


@pytest.mark.parametrize("family", ["robot", "spheres", "dup"])
def test_the_predicted_entries_are_those_computed(family):
    problem = FAMILIES[family](40, 1)
    corner = Corner(problem.tree, problem.packed, tables.rows_of(problem))
    assert corner.nnz == tasora.Incremental(tasora.matrix(problem)).computed[0]
