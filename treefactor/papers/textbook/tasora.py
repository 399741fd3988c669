"""Mirror the simplex method of Tasora, Manconi & Silvestri on S = [M C^T D^T; C 0 0; D 0 P], M first.

Freedoms are eliminated leaf to root, which makes no fill in M. Rows that are off have P_ii = 1e20, the others
0; S = L D L^T, and a pivot computes L anew from the changed row on. Dense arrays, whose entries that are not
zero are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

OFF = 1e20  # on the diagonal of a row that is off
ZERO = 1e-12  # a smaller violation counts as zero, relative to the data

SOLVED, NO_STEP, NO_PIVOT = "solved", "stops at a step of 0", "stops at a pivot of 0"
LIMIT = "stops at the limit of steps"


class Incremental:
    """L and D of S, and the number of entries of L that were computed.

    Parameters
    ----------
    S : ndarray, shape (N, N)
        Symmetric; its diagonal is changed in place by `set`.

    Attributes
    ----------
    singular : bool
        Nothing but rounding errors was left of a pivot; L and D end there.
    computed : list of int
        Entries of L, diagonal included, by the first decomposition and by every later one.
    """

    def __init__(self, S: np.ndarray):
        self.S, self.L, self.D = S, np.eye(len(S)), np.empty(len(S))
        self.computed: list[int] = []
        self.decompose(0)

    def decompose(self, first: int) -> None:
        """Compute rows and columns of L from the first changed one on; earlier ones stay."""
        L, D = self.L, self.D
        rest = self.S[first:, first:] - (L[first:, :first] * D[:first]) @ L[first:, :first].T
        for k in range(first, len(D)):
            column = rest[:, 0]
            self.singular = bool(abs(column[0]) <= ZERO * (np.square(L[k, :k]) @ np.abs(D[:k])))
            if self.singular:
                return
            D[k], L[k + 1 :, k] = column[0], column[1:] / column[0]
            filled = np.flatnonzero(column[1:])
            rest = rest[1:, 1:]
            rest[np.ix_(filled, filled)] -= np.outer(L[k + 1 + filled, k], column[1 + filled])
        self.computed.append(int(np.count_nonzero(np.tril(L[first:, first:]))))

    def set(self, row: int, value: float) -> None:
        """Write a value on the diagonal, and recompute what changes."""
        self.S[row, row] = value
        self.decompose(row)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return S^-1 r."""
        from scipy.linalg import solve_triangular

        options = {"lower": True, "unit_diagonal": True}
        y = solve_triangular(self.L, r, **options)
        return solve_triangular(self.L, y / self.D, trans="T", **options)


@dataclass
class SimplexResult:
    """Result of the simplex method.

    Attributes
    ----------
    ended : str
        SOLVED, NO_STEP, NO_PIVOT or LIMIT.
    v, gamma : ndarray
    pivots : int
        Rows that were switched.
    computed : list of int
        Entries of L computed, by the first decomposition and by every later one.
    """

    ended: str
    v: np.ndarray
    gamma: np.ndarray
    pivots: int
    computed: list[int] = field(repr=False)


Walked = SimplexResult  # the name in release 0.1


def matrix(problem, off: float = OFF) -> np.ndarray:
    """Return S with all unilateral rows off, the last freedom first."""
    J = np.concatenate((problem.C.toarray(), problem.D.toarray()))[:, ::-1]
    S = np.zeros((problem.n + len(J),) * 2)
    S[: problem.n, : problem.n] = problem.H[::-1, ::-1]
    S[problem.n :, : problem.n], S[: problem.n, problem.n :] = J, J.T
    rows = np.arange(len(S) - problem.m, len(S))
    S[rows, rows] = off
    return S


def solve_lcp(problem, off: float = OFF, limit: int = 10_000) -> SimplexResult:
    """Solve by the paper's Risolvi_LCP, with S x = (g, c, d) and x = (v, -gamma_C, -gamma_D).

    Rows that are still violated block no step.
    """
    factor = Incremental(matrix(problem, off))
    r, first = np.concatenate((problem.g[::-1], problem.c, problem.d)), problem.n + len(problem.c)
    zero = ZERO * np.abs(r).max()
    on, pivots = np.zeros(problem.m, bool), 0

    def switch(i: int) -> None:
        nonlocal pivots
        on[i], pivots = not on[i], pivots + 1
        factor.set(first + i, 0.0 if on[i] else off)

    def system() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = factor.solve(r)
        v = x[: problem.n][::-1]
        return v, np.where(on, -x[first:], 0.0), problem.D @ v - problem.d

    def ended(how: str) -> SimplexResult:
        return SimplexResult(how, v, gamma, pivots, factor.computed)

    v, gamma = np.linalg.solve(problem.H, problem.g), np.zeros(problem.m)
    if factor.singular:
        return ended(NO_PIVOT)
    v, gamma, alpha = system()
    while (violated := np.flatnonzero(~on & (alpha < -zero))).size:
        switch(violated[0])
        while True:
            if factor.singular:
                return ended(NO_PIVOT)
            goal = system()
            s, changed = longest_step(on, gamma, alpha, *goal[1:], zero)
            if s <= 0.0:
                return ended(NO_STEP)
            v, gamma, alpha = ((1.0 - s) * x + s * y for x, y in zip((v, gamma, alpha), goal, strict=True))
            if changed is None:
                break
            if pivots >= limit:
                return ended(LIMIT)
            switch(changed)
    return ended(SOLVED)


def longest_step(on, gamma, alpha, gamma_new, alpha_new, zero) -> tuple[float, int | None]:
    """Return s in [0, 1] and the blocking row, by the paper's Calcola_step_max."""
    here, there = np.where(on, gamma, alpha), np.where(on, gamma_new, alpha_new)
    blocking = np.flatnonzero((there < -zero) & (here >= -zero))
    if not blocking.size:
        return 1.0, None
    steps = -np.maximum(here[blocking], 0.0) / (there[blocking] - here[blocking])
    return float(steps.min()), int(blocking[steps.argmin()])
