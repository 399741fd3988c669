"""Invert small matrices of scalars that may have many zeros."""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import accumulate

import numpy as np

from ...tree.tree import Tree
from .factors import factor, half_solve, solve
from .matrices import transposed, weighted

SMALL = 4  # largest blocks that are inverted by cofactors


class SingularError(ZeroDivisionError):
    """Raised if a matrix is singular for all values of its scalars."""


def is_zero(x) -> bool:
    """Return whether a scalar is the constant 0."""
    return isinstance(x, float) and x == 0.0


def matching(A) -> list[int]:
    """Match every row to a distinct column with a non-zero entry, -1 if none is left."""
    from scipy.sparse import csr_array  # takes longer to import than treefactor
    from scipy.sparse.csgraph import maximum_bipartite_matching

    nonzero = csr_array([[not is_zero(x) for x in row] for row in A], dtype=np.int8)
    return maximum_bipartite_matching(nonzero, perm_type="column").tolist()


def ordered(uses: np.ndarray) -> list[list[int]]:
    """Return the strongly connected components of a dependency graph, each after those it depends on."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(csr_array(uses), connection="strong")
    graph = {k: set() for k in range(count)}
    for i, j in np.argwhere(uses):
        if label[i] != label[j]:
            graph[label[i]].add(label[j])
    return [np.flatnonzero(label == k).tolist() for k in TopologicalSorter(graph).static_order()]


def inverse(A) -> list:
    """Return A^-1 from the diagonal blocks of its block triangular form.

    Small blocks are inverted by cofactors with one reciprocal for all: Golubev & Yaskevich (2020), sec. 5.
    Larger ones by (A^T A)^-1 A^T, which needs no pivoting but squares the condition number of the block.
    """
    n, column = len(A), matching(A)
    if -1 in column:
        raise SingularError
    uses = np.array([[not is_zero(A[i][column[j]]) for j in range(n)] for i in range(n)])
    blocks = [(rows, [column[i] for i in rows]) for rows in ordered(uses)]
    cofactors = [
        (_cofactors if len(rows) <= SMALL else _squared)([[A[i][j] for j in columns] for i in rows])
        for rows, columns in blocks
    ]
    scales = _reciprocals([determinant for _, determinant in cofactors])
    X: list = [[0.0] * n for _ in range(n)]
    for (rows, columns), (adjugate, _), scale in zip(blocks, cofactors, scales, strict=True):
        others = [j for j in range(n) if j not in columns]
        scaled = [[x * scale for x in row] for row in adjugate]
        for k in range(n):
            known = [X[j][k] for j in others]
            right = [weighted([-A[i][j] for j in others], known, 1.0 if i == k else 0.0) for i in rows]
            for j, row in zip(columns, scaled, strict=True):
                X[j][k] = weighted(row, right)
    return X


def _cofactors(A) -> tuple[list, object]:
    """Return the transposed cofactors of A, and its determinant."""
    minors: dict = {((), ()): 1.0}

    def minor(rows: tuple, columns: tuple):
        """Return a minor of A, computed once."""
        if (rows, columns) not in minors:
            below = [minor(rows[1:], columns[:k] + columns[k + 1 :]) for k in range(len(columns))]
            entries = [-A[rows[0]][j] if k % 2 else A[rows[0]][j] for k, j in enumerate(columns)]
            minors[rows, columns] = weighted(below, entries)
        return minors[rows, columns]

    every = tuple(range(len(A)))
    adjugate = [
        [minor(every[:i] + every[i + 1 :], every[:j] + every[j + 1 :]) * (-1.0) ** (i + j) for i in every]
        for j in every
    ]
    return adjugate, minor(every, every)


def _squared(A) -> tuple[list, float]:
    """Return the inverse of A by factors of A^T A, and 1."""
    n, columns = len(A), transposed(A)
    packed = [weighted(columns[i], columns[j]) for i in range(n) for j in range(i + 1)]
    chain = Tree(np.arange(-1, n - 1))
    L, inverse = factor(chain, packed, is_inertia=False)
    return transposed([solve(chain, L, inverse, half_solve(chain, L, row)) for row in A]), 1.0


def _reciprocals(x) -> list:
    """Return 1 / x of all numbers with one division: Montgomery (1987), section 10.3.1."""
    if any(map(is_zero, x)):
        raise SingularError
    products = list(accumulate(x, lambda a, b: a * b))
    rest, reciprocals = 1.0 / products[-1], []
    for before, last in zip([*products[-2::-1], 1.0], reversed(x), strict=True):
        reciprocals.append(before * rest)
        rest = rest * last
    return reciprocals[::-1]
