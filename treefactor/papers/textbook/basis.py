"""Update P B = L U when a column of B is replaced, by Bartels and Golub: what the paper compares with.

The basis of the mixed problem [M C^T X; C 0 X; D 0 X]: of every unilateral row, X has the column of its
impulse if the row is on, or of its residual. Dense arrays, whose entries that are not zero are counted.
"""

from __future__ import annotations

import numpy as np


class Basis:
    """L and U of B; L is a product of exchanges and eliminations of neighbouring rows.

    Parameters
    ----------
    B : ndarray, shape (N, N)

    Attributes
    ----------
    computed : list of int
        Entries of U and multipliers computed, by every replaced column.
    """

    def __init__(self, B: np.ndarray):
        from scipy.linalg import lu

        self.P, self.L, self.U = lu(B)
        self.order = list(range(len(B)))  # columns of B in U
        self.steps: list[tuple[int, bool, float]] = []
        self.computed: list[int] = []

    @property
    def entries(self) -> int:
        """Entries of U, of the first L without its diagonal, and multipliers since."""
        below = np.count_nonzero(self.L) - len(self.L)
        return int(np.count_nonzero(self.U) + below + sum(factor != 0.0 for *_, factor in self.steps))

    def forward(self, r: np.ndarray) -> np.ndarray:
        """Return L^-1 P r."""
        from scipy.linalg import solve_triangular

        y = solve_triangular(self.L, self.P.T @ r, lower=True, unit_diagonal=True)
        for k, exchanged, factor in self.steps:
            if exchanged:
                y[[k, k + 1]] = y[[k + 1, k]]
            y[k + 1] -= factor * y[k]
        return y

    def replace(self, j: int, column: np.ndarray) -> None:
        """Replace column j of B: it becomes the last of U, and what is below the diagonal is eliminated."""
        at, y = self.order.index(j), self.forward(column)
        self.order.append(self.order.pop(at))
        U = self.U = np.column_stack((np.delete(self.U, at, axis=1), y))
        for k in range(at, len(U) - 1):
            exchanged = bool(abs(U[k + 1, k]) > abs(U[k, k]))
            if exchanged:
                U[[k, k + 1]] = U[[k + 1, k]]
            factor = float(U[k + 1, k] / U[k, k]) if U[k + 1, k] else 0.0
            U[k + 1] -= factor * U[k]
            U[k + 1, k] = 0.0
            self.steps.append((k, exchanged, factor))
        done = sum(factor != 0.0 for *_, factor in self.steps[len(self.steps) - (len(U) - 1 - at) :])
        self.computed.append(int(np.count_nonzero(U[at:]) + done))

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return B^-1 r."""
        from scipy.linalg import solve_triangular

        x = np.empty(len(r))
        x[self.order] = solve_triangular(self.U, self.forward(r))
        return x


def columns(problem, on: np.ndarray) -> np.ndarray:
    """Return B of a problem with these unilateral rows on, the last freedom first."""
    J = np.concatenate((problem.C.toarray(), problem.D.toarray()))[:, ::-1]
    n, p, N = problem.n, len(problem.c), problem.n + len(J)
    B = np.zeros((N, N))
    B[:n, :n], B[n:, :n] = problem.H[::-1, ::-1], J
    B[:n, n : n + p] = J[:p].T
    for i in range(problem.m):
        B[:, n + p + i] = column(problem, i, bool(on[i]))
    return B


def column(problem, i: int, on: bool) -> np.ndarray:
    """Return the column of unilateral row i in B: of its impulse, or of its residual."""
    n, p = problem.n, len(problem.c)
    entries = np.zeros(n + p + problem.m)
    if on:
        entries[:n] = problem.D[[i]].toarray()[0, ::-1]
    else:
        entries[n + p + i] = -1.0
    return entries
