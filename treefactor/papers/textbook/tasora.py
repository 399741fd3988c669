"""Mirror the simplex method of Tasora, Manconi & Silvestri on S = [M C^T D^T; C 0 0; D 0 P], M first.

Freedoms are eliminated leaf to root, which makes no fill in M. Rows that are off have P_ii = 1e20, the others
0; S = L D L^T, and a pivot computes L anew from the changed row on. Dense arrays, whose entries that are not
zero are counted. `printed` follows the paper's procedure line by line; `repaired` has the changes of
`REPAIRS`, without which it solves no problem that needs a pivot.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

OFF = 1e20  # on the diagonal of a row that is off
ZERO = 1e-12  # a smaller violation counts as zero, relative to the data

SOLVED, NO_STEP, NO_PIVOT = "solved", "stops at a step of 0", "stops at a pivot of 0"
LIMIT = "stops at the limit of steps"
NEGATIVE, WHOLE = "stops at a negative step", "stops at a step of 1"
REPAIRS = (
    "a step of 1 is no error: the last test stops at every step that no row blocks",
    "rows that are violated before and after a step do not block it: their ratio is negative or above 1",
    "amounts below 1e-12 of the data count as 0",
    "a pivot that is 0 but for rounding errors ends the procedure; the one printed divides by it",
    "impulses of rows that are off are set to 0, instead of their residual over 1e20",
)  # of `repaired`


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
    checked : bool
        Whether such a pivot ends the decomposition, or is divided by.
    computed : list of int
        Entries of L, diagonal included, by the first decomposition and by every later one.
    """

    def __init__(self, S: np.ndarray, checked: bool = True):
        self.S, self.L, self.D, self.checked = S, np.eye(len(S)), np.empty(len(S)), checked
        self.singular = False
        self.computed: list[int] = []
        self.decompose(0)

    def decompose(self, first: int) -> None:
        """Compute rows and columns of L from the first changed one on; earlier ones stay."""
        L, D = self.L, self.D
        rest = self.S[first:, first:] - (L[first:, :first] * D[:first]) @ L[first:, :first].T
        for k in range(first, len(D)):
            column = rest[:, 0]
            if self.checked:
                self.singular = bool(abs(column[0]) <= ZERO * (np.square(L[k, :k]) @ np.abs(D[:k])))
                if self.singular:
                    return
            D[k], L[k + 1 :, k] = column[0], column[1:] / column[0]
            rest = rest[1:, 1:]
            rest -= np.outer(L[k + 1 :, k], column[1:])
        self.computed.append(int(np.count_nonzero(np.tril(L[first:, first:]))))

    def set(self, row: int, value: float) -> None:
        """Write a value on the diagonal, and recompute what changes."""
        self.S[row, row] = value
        self.decompose(row)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return S^-1 r."""
        from scipy.linalg import solve_triangular

        options = {"lower": True, "unit_diagonal": True, "check_finite": False}
        y = solve_triangular(self.L, r, **options)
        return solve_triangular(self.L, y / self.D, trans="T", **options)


@dataclass
class SimplexResult:
    """Result of the simplex method.

    Attributes
    ----------
    ended : str
        SOLVED, NO_STEP, NO_PIVOT or LIMIT; as printed also NEGATIVE or WHOLE.
    v, gamma : ndarray
    pivots : int
        Rows that were switched.
    computed : list of int
        Entries of L computed, by the first decomposition and by every later one.
    step : float
        Length s of the last step.
    switched : list of int
        Rows that were switched, in that order.
    """

    ended: str
    v: np.ndarray
    gamma: np.ndarray
    pivots: int
    computed: list[int] = field(repr=False)
    step: float = 0.0
    switched: list[int] = field(default_factory=list, repr=False)


def matrix(problem, off: float = OFF) -> np.ndarray:
    """Return S with all unilateral rows off, the last freedom first."""
    J = np.concatenate((problem.C.toarray(), problem.D.toarray()))[:, ::-1]
    S = np.zeros((problem.n + len(J),) * 2)
    S[: problem.n, : problem.n] = problem.H[::-1, ::-1]
    S[problem.n :, : problem.n], S[: problem.n, problem.n :] = J, J.T
    rows = np.arange(len(S) - problem.m, len(S))
    S[rows, rows] = off
    return S


def printed(problem, off: float = OFF, limit: int = 10_000, whole: bool = False) -> SimplexResult:
    """Run Risolvi_LCP line by line as printed, with S x = (g, c, d) and x = (v, -gamma_C, -gamma_D).

    Impulses of bilateral rows are left out, since nothing reads them.

    Parameters
    ----------
    problem : Problem
    off : float
        On the diagonal of rows that are off.
    limit : int
        "Too many iterations".
    whole : bool
        Whether a step of 1 is allowed, the first of `REPAIRS`.
    """
    factor = Incremental(matrix(problem, off), checked=False)
    r, first = np.concatenate((problem.g[::-1], problem.c, problem.d)), problem.n + len(problem.c)
    on, pivots, s = np.zeros(problem.m, bool), 0, 0.0

    def system() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = factor.solve(r)
        v = x[: problem.n][::-1]
        return v, -x[first:], problem.D @ v - problem.d

    def ended(how: str) -> SimplexResult:
        return SimplexResult(how, v, gamma, pivots, factor.computed, s)

    v, gamma, alpha = system()
    while (violated := np.flatnonzero(~on & (alpha < 0))).size:
        changed = int(violated[0])
        while True:
            on[changed], pivots = not on[changed], pivots + 1
            factor.set(first + changed, 0.0 if on[changed] else off)
            goal = system()
            s, changed = step_max(on, gamma, alpha, *goal[1:])
            if s <= 0 or (s >= 1 and not whole):
                return ended(WHOLE if s >= 1 else NEGATIVE if s < 0 else NO_STEP)
            v, gamma, alpha = ((1 - s) * x + s * y for x, y in zip((v, gamma, alpha), goal, strict=True))
            if s == 1:
                break
            if pivots >= limit:
                return ended(LIMIT)
        if pivots >= limit:
            return ended(LIMIT)
        alpha = problem.D @ v - problem.d
    return ended(SOLVED)


def step_max(on, gamma, alpha, gamma_new, alpha_new) -> tuple[float, int]:
    """Return s and the blocking row, -1 without one, by Calcola_step_max line by line as printed."""
    s, changed = 1.0, -1
    for rows, now, full_step in ((on, gamma, gamma_new), (~on, alpha, alpha_new)):
        for i in np.flatnonzero(rows):
            if full_step[i] < 0:
                test = -now[i] / (full_step[i] - now[i])
                if test < s:
                    s, changed = float(test), int(i)
    return s, changed


def repaired(problem, off: float = OFF, limit: int = 10_000) -> SimplexResult:
    """Solve by Risolvi_LCP with the changes of `REPAIRS`."""
    factor = Incremental(matrix(problem, off))
    r, first = np.concatenate((problem.g[::-1], problem.c, problem.d)), problem.n + len(problem.c)
    zero = ZERO * np.abs(r).max()
    on, s = np.zeros(problem.m, bool), 0.0
    switched: list[int] = []

    def switch(i: int) -> None:
        on[i] = not on[i]
        switched.append(int(i))
        factor.set(first + i, 0.0 if on[i] else off)

    def system() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = factor.solve(r)
        v = x[: problem.n][::-1]
        return v, np.where(on, -x[first:], 0.0), problem.D @ v - problem.d

    def ended(how: str) -> SimplexResult:
        return SimplexResult(how, v, gamma, len(switched), factor.computed, s, switched)

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
            if len(switched) >= limit:
                return ended(LIMIT)
            switch(changed)
    return ended(SOLVED)


def longest_step(on, gamma, alpha, gamma_new, alpha_new, zero) -> tuple[float, int | None]:
    """Return s in [0, 1] and the blocking row, by Calcola_step_max with the changes of `REPAIRS`."""
    now, full_step = np.where(on, gamma, alpha), np.where(on, gamma_new, alpha_new)
    blocking = np.flatnonzero((full_step < -zero) & (now >= -zero))
    if not blocking.size:
        return 1.0, None
    steps = -np.maximum(now[blocking], 0.0) / (full_step[blocking] - now[blocking])
    return float(steps.min()), int(blocking[steps.argmin()])
