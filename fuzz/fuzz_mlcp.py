"""Fuzz mixed complementarity problems of any numbers: refused, or ended with a true status."""

import sys
from dataclasses import replace
from pathlib import Path

import atheris
import harness
import numpy as np
from harness import Numbers

import treefactor as tf
from treefactor.mlcp import METHODS, Problem, Solution, Status, solve

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from helpers.mlcp_verify import verify

TAME = 1e6  # of numbers, and of the condition of H, up to which a status can be checked
ENOUGH = 1000  # linear systems


def rows(given, numbers: Numbers, n: int, most: int) -> np.ndarray:
    """Return rows of which some are multiples of others."""
    J = numbers.array(given.ConsumeIntInRange(0, most), n)
    for k in range(1, len(J)):
        if given.ConsumeProbability() > 0.8:
            J[k] = numbers.array(1) * J[given.ConsumeIntInRange(0, k - 1)]
    return J


def matrix(given, numbers: Numbers, tree: tf.Tree) -> np.ndarray:
    """Return L^T D L, or any matrix."""
    L = np.tril(tree.mask(), -1) * numbers.array(tree.n, tree.n) + np.eye(tree.n)
    D = np.abs(numbers.array(tree.n)) + given.PickValueInList([1.0, 0.1, 0.0])
    return L.T @ (D[:, None] * L)


def problem_of(given, numbers: Numbers, tree: tf.Tree) -> Problem:
    """Return a problem along the tree; now and then with shapes that do not fit."""
    n, g = tree.n, numbers.array(tree.n)
    H, C, D = matrix(given, numbers, tree), rows(given, numbers, n, 3), rows(given, numbers, n, 8)
    c, d = numbers.array(len(C)), numbers.array(len(D))
    upper = np.abs(numbers.array(len(D))) if given.ConsumeBool() else None
    if given.ConsumeProbability() > 0.95:
        parts = [H, g, C, c, D, d]
        at = given.ConsumeIntInRange(0, 5)
        parts[at] = given.PickValueInList(
            [parts[at][:-1], parts[at].T.copy(), None, 1.0, "x", parts[at] + 1j]
        )
        H, g, C, c, D, d = parts
    return Problem(H, tree, g, C, c, D, d, upper)


def changed(given, numbers: Numbers, problem: Problem) -> Problem:
    """Return another problem with as many rows: other right sides, some rows negated."""
    flip = np.where(numbers.array(problem.m) > 0.0, 1.0, -1.0)
    g, c, d = (numbers.array(size) for size in (problem.n, len(problem.c), problem.m))
    D = problem.D.toarray() * flip[:, None]
    return Problem(problem.packed, problem.tree, g, problem.C, c, D, d, problem.upper, layout="packed")


def checked(problem: Problem, solution: Solution) -> Solution:
    """Solve, check the status, and return the solution."""
    assert isinstance(solution.status, Status)
    assert solution.factorizations <= ENOUGH
    numbers = np.concatenate(
        [problem.packed, problem.C.data, problem.D.data, problem.g, problem.c, problem.d]
    )
    sizes = np.abs(numbers[(numbers != 0.0) & (numbers != -np.inf)])
    tame = not len(sizes) or TAME >= sizes.max() >= sizes.min() >= 1.0 / TAME
    tame = tame and (not problem.n or np.linalg.cond(problem.H) <= TAME)
    if tame and solution.status in (Status.SOLVED, Status.INFEASIBLE):
        verify(problem, solution)
    return solution


def run(data: bytes) -> None:
    """Solve a problem, then others from its solution."""
    given = atheris.FuzzedDataProvider(data)
    tree = tf.Tree([given.ConsumeIntInRange(-1, k - 1) for k in range(given.ConsumeIntInRange(0, 6))])
    numbers = Numbers(given)
    with np.errstate(all="ignore"):
        problem = problem_of(given, numbers, tree)
        method = given.PickValueInList(list(METHODS)) if problem.upper is None else "auto"
        warm = checked(problem, solve(problem, method=method, polish=given.ConsumeBool(), max_iter=ENOUGH))
        if given.ConsumeProbability() > 0.7:
            warm = replace(
                warm, status=Status.SOLVED, gamma=numbers.array(problem.m), active=warm.active[::-1]
            )
        other = changed(given, numbers, problem)
        checked(other, solve(other, warm, max_iter=ENOUGH))
        solve(other, max_iter=given.ConsumeIntInRange(0, 3))


if __name__ == "__main__":
    harness.run(run, [bytes(range(256))], harness.numbers)
