"""Factorize H = L^T D L in packed rows, solve and invert with it, on scalars of any type."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from ..program.expressions import reciprocal
from .matrices import weighted


def factor(tree, H, is_inertia: bool = True) -> tuple[list, list]:
    """Factorize H = L^T D L: packed rows of L with D on the diagonal, and 1 / D.

    Featherstone (2008), table 6.3.

    With `is_inertia` the reciprocals are marked as pivots, so that errors can name the freedom.
    """
    H, inverse = list(H), [None] * tree.n
    start = tree.row_start.tolist()
    for k in reversed(range(tree.n)):
        row = range(start[k], start[k + 1] - 1)
        pivot = H[start[k + 1] - 1]
        inverse[k] = reciprocal(pivot, k) if is_inertia else 1.0 / pivot
        for e in row:
            scaled = H[e] * inverse[k]
            into = start[tree.columns[e]]
            for c in range(e - start[k] + 1):
                H[into + c] = H[into + c] - scaled * H[start[k] + c]
        for e in row:
            H[e] = H[e] * inverse[k]
    return H, inverse


def half_solve(tree, L, b) -> list:
    """Solve L^T x = b."""
    x = list(b)
    for k in reversed(range(tree.n)):
        for e, j in enumerate(tree.ancestors(k).tolist(), int(tree.row_start[k])):
            x[j] = x[j] - L[e] * x[k]
    return x


def solve(tree, L, inverse, y) -> list:
    """Solve D L x = y, for y from `half_solve`."""
    x = [d * entry for d, entry in zip(inverse, y, strict=True)]
    for k in range(tree.n):
        for e, j in enumerate(tree.ancestors(k).tolist(), int(tree.row_start[k])):
            x[k] = x[k] - L[e] * x[j]
    return x


def delassus(inverse, Y) -> list:
    """Return J H^-1 J^T = Y^T D^-1 Y for the columns of Y = L^-T J^T."""
    scaled = [[d * y for d, y in zip(inverse, row, strict=True)] for row in Y]
    matrix = [[0.0] * len(Y) for _ in Y]
    for i, j in combinations_with_replacement(range(len(Y)), 2):
        matrix[i][j] = matrix[j][i] = weighted(Y[i], scaled[j])
    return [entry for row in matrix for entry in row]


def following(tree, L) -> list[dict[int, list]]:
    """Return rows k of ``P = -L^-1 L_C`` by the length of C: the response of k to motion of C.

    All freedoms between C and k are free. C holds a node at which the tree branches and its ancestors.
    """
    branching = np.bincount(tree.parent + 1, minlength=tree.n + 1)[1:] > 1
    P: list = []
    for k in range(tree.n):
        row = [-x for x in L[tree.row_start[k] : tree.row_start[k + 1] - 1]]
        P.append(_follow(tree.ancestors(k).tolist(), branching, P, row))
    return P


def inverse_of(tree, P, inverse) -> list:
    """Return all entries of X = H^-1 from L X = D^-1 L^-T: row k from the rows of its ancestors.

    ``X_ki = sum over j in C of P_kj X_ji``, with P of `following`, for every i in C or in another subtree of
    C: shorter sums than over all ancestors of k.
    """
    X = [[0.0] * tree.n for _ in range(tree.n)]
    below = np.tril(tree.mask())  # ancestors of every node, and itself
    shared = (np.tril(below, -1).astype(int) @ below.T).tolist()  # common ancestors, i included
    for k in range(tree.n):
        path = tree.ancestors(k).tolist()
        for i in range(k + 1):
            length = next((length for length in P[k] if length >= shared[k][i]), 0) if shared[k][i] else 0
            start = inverse[k] if i == k else 0.0
            X[k][i] = X[i][k] = weighted(P[k][length], [X[j][i] for j in path[:length]], start)
    return [entry for row in X for entry in row]


def column_of(tree, L, P, inverse, b) -> list:
    """Return H^-1 b for a column b with zeros, which the half solve keeps outside of paths to the base.

    Freedoms on paths of zeros follow the last one before them, by P of `following`: shorter sums.
    """
    x: list = []
    known: list[
        int
    ] = []  # number of ancestors up to the last freedom whose entry is not zero, itself included
    for k, y in enumerate(half_solve(tree, L, b)):
        path = tree.ancestors(k).tolist()
        start = known[path[-1]] if path else 0
        if isinstance(y, float) and y == 0.0:
            known.append(start)
            length = next(length for length in P[k] if length >= start) if start else 0
            x.append(weighted(P[k][length], [x[j] for j in path[:length]]))
        else:
            known.append(len(path) + 1)
            x.append(
                -weighted(
                    L[tree.row_start[k] : tree.row_start[k + 1] - 1], [x[j] for j in path], -(inverse[k] * y)
                )
            )
    return x


def _follow(path, branching, P, row) -> dict[int, list]:
    """Return the row of P for every branching node of a path, and for its last node."""
    rows = {len(path): row}
    for length in range(len(path) - 1, 0, -1):
        if branching[path[length - 1]]:
            between = [P[b][length] for b in path[length : len(row)]]
            row = [
                weighted(row[length:], column, x)
                for x, column in zip(row, zip(*between, strict=True), strict=False)
            ]
            rows[length] = row
    return {0: [], **dict(sorted(rows.items()))}
