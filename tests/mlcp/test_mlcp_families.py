"""Test that the families of complementarity problems have the structure that they document."""

import numpy as np
import pytest

from treefactor.mlcp import families as mlcp_families
from treefactor.mlcp.families import FAMILIES, INFEASIBLE


def rank(problem):
    D = problem.D.toarray()
    A = D @ problem.factor.solve(D.T.copy())
    return np.linalg.matrix_rank(A, 1e-11 * np.linalg.norm(A, 2), hermitian=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_seed_decides(family):
    one, same, other = (FAMILIES[family](30, seed) for seed in (3, 3, 4))
    assert one.m == other.m == 30
    np.testing.assert_array_equal(one.D.toarray(), same.D.toarray())
    np.testing.assert_array_equal(one.g, same.g)
    changed = one.D.shape != other.D.shape or (one.D != other.D).nnz
    assert bool(changed) == (family != "column")


@pytest.mark.parametrize("m", [1, 10, 100])
def test_few_rows_of_spheres_are_dependent(m):
    problem = FAMILIES["spheres"](m, 1)
    assert rank(problem) >= 0.97 * m
    assert np.diff(problem.D.indptr).max() <= 6
    np.testing.assert_array_equal(problem.H, np.diag(np.diag(problem.H)))
    squares = np.square(problem.D.toarray()).sum(axis=1)  # 1 at the floor, 2 between spheres
    np.testing.assert_allclose(squares, squares.round(), atol=1e-12)


def test_rows_of_a_crystal_depend_on_each_other_and_touch():
    problem = FAMILIES["lattice"](200, 1)
    assert rank(problem) < 160
    assert not problem.d.any()


def test_every_row_twice():
    problem = FAMILIES["dup"](21, 1)
    np.testing.assert_array_equal(problem.D[:10].toarray(), problem.D[11:].toarray())
    assert rank(problem) == 11


@pytest.mark.parametrize(("family", "freedoms"), [("robot", 1.25), ("robotred", 0.25)])
def test_a_robots_rows_are_those_of_one_branch(family, freedoms):
    problem = FAMILIES[family](120, 1)
    assert abs(problem.n - 120 * freedoms) <= 4
    branch = problem.tree.mask()
    for row in range(problem.m):
        support = np.flatnonzero(problem.D[[row]].toarray())
        assert branch[support.max(), support].all()
    assert (np.linalg.eigvalsh(problem.H) > 0).all()
    assert (problem.d <= 0).all()  # rest is feasible


def test_ties_of_loops_come_twice():
    problem = FAMILIES["loops"](100, 1)
    half = len(problem.c) // 2
    np.testing.assert_array_equal(problem.C[:half].toarray(), problem.C[half:].toarray())
    assert half % 3 == 0 < half


@pytest.mark.parametrize("family", INFEASIBLE)
def test_two_rows_contradict_each_other(family):
    problem = FAMILIES[family](30, 1)
    last = problem.D[-2:].toarray()
    np.testing.assert_array_equal(last.sum(axis=0), 0.0)
    np.testing.assert_array_equal(problem.d[-2:], 1.0)


def test_contact_rows_are_velocities_of_points():
    robot = mlcp_families.Legged(18, 0)
    x = robot.tips[1]
    J, turn = robot.point(1, x), np.eye(robot.tree.n)
    np.testing.assert_array_equal(J[:, :3], np.eye(3))
    np.testing.assert_allclose(J @ turn[4], np.cross([0.0, 1.0, 0.0], x))
    joint = 6 + mlcp_families.LEG + 2
    np.testing.assert_allclose(J @ turn[joint], np.cross(robot.axes[1, 2], x - robot.joints[1, 2]))
    assert not J[:, 6 : 6 + mlcp_families.LEG].any()
