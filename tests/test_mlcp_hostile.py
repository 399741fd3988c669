"""A solve ends with a status that the data confirm, whatever the bounds, the sizes and the first guess."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlcp_hostile import garbage, hostile, neighbour
from mlcp_verify import verify
from oracles import mlcp as oracles

import treefactor as tf
from treefactor.mlcp import METHODS, Problem, Status, solve

pytestmark = pytest.mark.usefixtures("one_thread")
POINT = tf.Tree([-1])


def confirmed(problem, warm=None, **options):
    """A solution that fulfils the conditions, or a certificate that proves that there is none."""
    solution = solve(problem, warm, **options)
    verify(problem, solution)
    assert not solution.active[problem.d == -np.inf].any()
    return solution


def try_starts(seed):
    """Solve a hostile problem and a neighbour, cold and from warm starts that fit, do not fit, or are garbage."""
    problem, other = hostile(seed), neighbour(hostile(seed), seed)
    cold, expected = confirmed(problem), confirmed(other)
    for warm in (cold, garbage(expected, seed), garbage(expected, seed + 1)):
        found = confirmed(other, warm)
        assert found.status is expected.status
        if found.status is Status.SOLVED:
            size = np.abs(expected.v).max(initial=1.0)
            np.testing.assert_allclose(found.v, expected.v, rtol=0.0, atol=1e-6 * size)
    if other.upper is None:
        assert confirmed(other, method="simplex").status is expected.status


@given(st.integers(0, 2**32 - 1))
def test_any_start_solves_a_hostile_problem(seed):
    try_starts(seed)


@pytest.mark.slow
def test_any_start_solves_ten_thousand_hostile_problems():
    for seed in range(10_000):
        try_starts(seed)
