"""Inverses of small matrices of scalars, of which many entries may be zeros."""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import accumulate

import numpy as np

from ...tree.tree import Tree
from .factors import factor, half_solve, solve
from .matrices import transposed, weighted

SMALL = 4  # rows of blocks that are inverted by cofactors


class SingularError(ZeroDivisionError):
    """A matrix is singular whatever its scalars are."""


def is_zero(x) -> bool:
    """Whether a scalar is the number 0."""
    return isinstance(x, float) and x == 0.0


def matching(A) -> list[int]:
    """For every row a column of its own in which it is not zero, -1 where there is none left."""
    from scipy.sparse import csr_array  # takes longer to import than treefactor
    from scipy.sparse.csgraph import maximum_bipartite_matching

    pattern = csr_array([[not is_zero(x) for x in row] for row in A], dtype=np.int8)
    return maximum_bipartite_matching(pattern, perm_type="column").tolist()


def ordered(uses: np.ndarray) -> list[list[int]]:
    """Nodes that use each other in turn together, such sets after all they use."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(csr_array(uses), connection="strong")
    graph = {k: set() for k in range(count)}
    for i, j in np.argwhere(uses):
        if label[i] != label[j]:
            graph[label[i]].add(label[j])
    return [np.flatnonzero(label == k).tolist() for k in TopologicalSorter(graph).static_order()]


def inverse(A) -> list:
    """A^-1, by the blocks on the diagonal of its block triangular form.

    Small ones by cofactors and one reciprocal for all: Golubev & Yaskevich (2020), section 5. Larger ones as
    (A^T A)^-1 A^T, whose factors need no pivoting, with the square of the condition of the block.
    """
    n, column = len(A), matching(A)
    if -1 in column:
        raise SingularError
    uses = np.array([[not is_zero(A[i][column[j]]) for j in range(n)] for i in range(n)])
    blocks = [(rows, [column[i] for i in rows]) for rows in ordered(uses)]
    found = [
        (_cofactors if len(rows) <= SMALL else _squared)([[A[i][j] for j in columns] for i in rows])
        for rows, columns in blocks
    ]
    scales = _reciprocals([determinant for _, determinant in found])
    X: list = [[0.0] * n for _ in range(n)]
    for (rows, columns), (adjugate, _), scale in zip(blocks, found, scales, strict=True):
        others = [j for j in range(n) if j not in columns]
        scaled = [[x * scale for x in row] for row in adjugate]
        for k in range(n):
            known = [X[j][k] for j in others]
            right = [weighted([-A[i][j] for j in others], known, 1.0 if i == k else 0.0) for i in rows]
            for j, row in zip(columns, scaled, strict=True):
                X[j][k] = weighted(row, right)
    return X


def _cofactors(A) -> tuple[list, object]:
    """Transposed cofactors of A, and its determinant."""
    minors: dict = {((), ()): 1.0}

    def minor(rows: tuple, columns: tuple):
        if (rows, columns) not in minors:
            below = [minor(rows[1:], columns[:k] + columns[k + 1 :]) for k in range(len(columns))]
            entries = [-A[rows[0]][j] if k % 2 else A[rows[0]][j] for k, j in enumerate(columns)]
            minors[rows, columns] = weighted(below, entries)
        return minors[rows, columns]

    every = tuple(range(len(A)))
    found = [
        [minor(every[:i] + every[i + 1 :], every[:j] + every[j + 1 :]) * (-1.0) ** (i + j) for i in every]
        for j in every
    ]
    return found, minor(every, every)


def _squared(A) -> tuple[list, float]:
    """Inverse of A by the factors of A^T A, and 1."""
    n, columns = len(A), transposed(A)
    packed = [weighted(columns[i], columns[j]) for i in range(n) for j in range(i + 1)]
    chain = Tree(np.arange(-1, n - 1))
    L, inverse = factor(chain, packed, is_inertia=False)
    return transposed([solve(chain, L, inverse, half_solve(chain, L, row)) for row in A]), 1.0


def _reciprocals(x) -> list:
    """1 / x of all numbers by one division: Montgomery (1987), section 10.3.1."""
    if any(map(is_zero, x)):
        raise SingularError
    products = list(accumulate(x, lambda a, b: a * b))
    rest, found = 1.0 / products[-1], []
    for before, last in zip([*products[-2::-1], 1.0], reversed(x), strict=True):
        found.append(before * rest)
        rest = rest * last
    return found[::-1]
