"""Inverses of small matrices of scalars, of which many entries may be zeros."""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import product

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from .matrices import weighted


class SingularError(ZeroDivisionError):
    """A matrix is singular whatever its scalars are."""


def is_zero(x) -> bool:
    """Whether a scalar is the number 0."""
    return isinstance(x, float) and x == 0.0


def matching(A) -> list[int]:
    """For every row a column of its own in which it is not zero, -1 where there is none left."""
    pattern = csr_array([[not is_zero(x) for x in row] for row in A], dtype=np.int8)
    return maximum_bipartite_matching(pattern, perm_type="column").tolist()


def ordered(uses: np.ndarray) -> list[list[int]]:
    """Nodes that use each other in turn together, such sets after all they use."""
    count, label = connected_components(csr_array(uses), connection="strong")
    graph = {k: set() for k in range(count)}
    for i, j in np.argwhere(uses):
        if label[i] != label[j]:
            graph[label[i]].add(label[j])
    return [np.flatnonzero(label == k).tolist() for k in TopologicalSorter(graph).static_order()]


def inverse(A) -> list:
    """A^-1, by the blocks on the diagonal of its block triangular form, each by cofactors."""
    n, column = len(A), matching(A)
    if -1 in column:
        raise SingularError
    uses = np.array([[not is_zero(A[i][column[j]]) for j in range(n)] for i in range(n)])
    X: list = [[0.0] * n for _ in range(n)]
    for rows in ordered(uses):
        columns = [column[i] for i in rows]
        others = [j for j in range(n) if j not in columns]
        block = cofactors([[A[i][j] for j in columns] for i in rows])
        for k in range(n):
            known = [X[j][k] for j in others]
            right = [weighted([-A[i][j] for j in others], known, 1.0 if i == k else 0.0) for i in rows]
            for j, row in zip(columns, block, strict=True):
                X[j][k] = weighted(row, right)
    return X


def cofactors(A) -> list:
    """A^-1 by cofactors and the reciprocal of the determinant; Golubev & Yaskevich (2020), section 5."""
    n, minors = len(A), {((), ()): 1.0}

    def minor(rows: tuple, columns: tuple):
        if (rows, columns) not in minors:
            first, rest = rows[0], rows[1:]
            signs = [-1.0 if k % 2 else 1.0 for k in range(len(columns))]
            below = [minor(rest, columns[:k] + columns[k + 1 :]) for k in range(len(columns))]
            entries = [A[first][j] * sign for j, sign in zip(columns, signs, strict=True)]
            minors[rows, columns] = weighted(below, entries)
        return minors[rows, columns]

    every = tuple(range(n))
    determinant = minor(every, every)
    if is_zero(determinant):
        raise SingularError
    scale = 1.0 / determinant
    found = [[0.0] * n for _ in every]
    for i, j in product(every, every):
        cofactor = minor(every[:i] + every[i + 1 :], every[:j] + every[j + 1 :])
        found[j][i] = 1.0 * scale if n == 1 else cofactor * (-scale if (i + j) % 2 else scale)
    return found
