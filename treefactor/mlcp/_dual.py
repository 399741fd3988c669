"""Solve a mixed complementarity problem by a dual active-set method in dense arrays: slow, but finite.

With W = L^-1 [C; D]^T, where H^-1 = L^-T L^-1, and columns of unit length, the impulses maximise

    e^T lambda - 1/2 |W lambda|^2,  0 <= lambda <= upper  (free for bilateral rows),

with e the violation of the rows in the free motion. Each row is off (lambda = 0), full (lambda = upper) or
held (its gap W_i^T W lambda - e_i is 0); the held rows are independent.

Why it ends (Goldfarb & Idnani 1983, with bounds): one major step takes the row k with the largest violation
and moves lambda_k up (down from a bound) while the held rows stay held, until the gap of k closes or lambda_k
meets its own bound. A held row that meets a bound on the way is released there, at most once for each row
that was held, and then lambda_k can move, because the slope of the objective along this direction is the
violation of k at each moment. So each major step increases the objective, its end is the maximum for the
row statuses, and none of the at most 3^m combinations of statuses comes twice. If nothing
stops the movement, its direction is a certificate that the problem is infeasible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DEPENDENT = 1e-9  # sine of the angle between a row and the held ones
CLOSED = 1e-13  # violation that counts as zero, relative to the data and the impulses
CONSISTENT = 1e-12  # violation of a dependent row that counts as zero, relative to the data


class DualResult(NamedTuple):
    """Result of the dual method: impulses and held rows, or a certificate; neither at the iteration limit."""

    impulse: np.ndarray | None
    held: np.ndarray | None
    certificate: np.ndarray | None
    systems: int


class Dual:
    """Iterate of the dual method: impulses, and Q R = W of the held rows.

    Parameters
    ----------
    W : ndarray, shape (n, m)
        Columns of unit length, or of zeros.
    e : ndarray, shape (m,)
        Violation of the rows without impulses; -inf for rows that never act.
    upper : ndarray, shape (m,)
        Bounds of impulses.
    equal : int
        Number of bilateral rows, which come first.
    size : float
        Size of the data, to which tolerances are relative.

    Notes
    -----
    Thread-compatible.
    """

    def __init__(self, W: np.ndarray, e: np.ndarray, upper: np.ndarray, equal: int, size: float):
        self.W, self.e, self.upper, self.size = W, e, upper, size
        self.low = np.where(np.arange(len(e)) < equal, -np.inf, 0.0)
        self.impulse, self.held = np.zeros(len(e)), np.empty(0, np.intp)
        self.left_out = np.zeros(len(e), bool)  # dependent rows with a violation that rounding explains
        self._factor()

    def run(self, limit: int) -> DualResult:
        """Correct the row with the largest violation until no row is violated, or for `limit` systems."""
        systems, side = 0, 0.0
        while True:
            if not side:
                row, side = self._worst()
            if not side:
                held = np.zeros(len(self.e), bool)
                held[self.held] = True
                return DualResult(self.impulse, held, None, systems)
            if systems >= limit:
                return DualResult(None, None, None, systems)
            systems += 1
            side, certificate = self._move(row, side)
            if certificate is not None:
                return DualResult(None, None, certificate, systems)

    def _worst(self) -> tuple[int, float]:
        """Find the row with the largest violation; its impulse must grow (1), shrink (-1), or stay (0)."""
        gap = self.W.T @ (self.W @ self.impulse) - self.e
        wrong = np.where(gap < 0.0, self.impulse < self.upper, self.impulse > self.low) & ~self.left_out
        wrong[self.held] = False
        violation = np.where(wrong, np.abs(gap), 0.0)
        row = int(violation.argmax()) if violation.size else 0
        closed = CLOSED * (self.size + np.abs(self.impulse).sum())
        return row, -float(np.sign(gap[row])) if violation.max(initial=0.0) > closed else 0.0

    def _move(self, row: int, side: float) -> tuple[float, np.ndarray | None]:
        """Move a row's impulse to the next event; return 0 if it is done, else its side; a certificate."""
        held, w = self.held, self.W[:, row]
        share, rest = self._split(side * w)
        steep, lack = rest @ rest, max(side * (self.e[row] - w @ (self.W @ self.impulse)), 0.0)
        close = np.inf
        if steep > DEPENDENT**2:
            close = lack / steep
        else:
            share[np.abs(share) <= DEPENDENT] = 0.0  # rounding errors, which would end an endless movement
        end = self.upper[row] if side > 0.0 else self.low[row]
        ends = np.where(share > 0.0, self.low[held], self.upper[held])
        ways = np.full(len(held), np.inf)
        np.divide(self.impulse[held] - ends, share, out=ways, where=share != 0.0)
        own, nearest = abs(end - self.impulse[row]), ways.min(initial=np.inf)
        t = max(min(close, own, nearest), 0.0)
        if t == np.inf:
            return 0.0, self._certificate(row, side, share, lack)
        self.impulse[row] += side * t
        self.impulse[held] -= t * share
        if t == own:
            self.impulse[row] = end
        elif t == close:
            self._hold(row)
        else:
            first = int(ways.argmin())
            self.impulse[held[first]] = ends[first]
            self.held = np.delete(held, first)
            self._factor()
            return side, None
        return 0.0, None

    def _certificate(self, row: int, side: float, share: np.ndarray, lack: float) -> np.ndarray | None:
        """Return the unlimited direction as a certificate; None if rounding explains the violation."""
        if lack <= CONSISTENT * self.size:
            self.left_out[row] = True
            return None
        certificate = np.zeros(len(self.e))
        certificate[row], certificate[self.held] = side, -share
        return certificate

    def _hold(self, row: int) -> None:
        """Append a row to the held rows and update Q R."""
        w = self.W[:, row]
        share, rest = self._split(w)
        length, k = np.linalg.norm(rest), len(self.held)
        R = np.zeros((k + 1, k + 1))
        R[:k, :k], R[:k, k], R[k, k] = self.R, self.R @ share, length
        self.Q, self.R = np.column_stack((self.Q, rest / length)), R
        self.held = np.append(self.held, row)

    def _factor(self) -> None:
        """Compute Q R of the held rows."""
        self.Q, self.R = np.linalg.qr(self.W[:, self.held])

    def _split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Project w on the held rows; return the coefficients and the rest."""
        coordinates = self.Q.T @ w
        rest = w - self.Q @ coordinates
        again = self.Q.T @ rest
        return np.linalg.solve(self.R, coordinates + again), rest - self.Q @ again


def solve(problem, solver, limit: int) -> DualResult:
    """Apply the method to a Problem that an ActiveSetSolver has loaded; results have the problem's units."""
    from scipy.sparse import csr_array

    start, column, _ = problem._rows
    entries, b, upper, scale = solver.scaled()
    J = csr_array((entries, column, start), shape=(len(b), problem.n)).toarray()
    W = problem.factor.half_solve(np.ascontiguousarray(J.T))
    length = np.linalg.norm(W, axis=0)
    length[length == 0.0] = 1.0
    e = (b - J @ problem._free) / length
    size = max(solver.size, e.max(initial=0.0))
    full = (upper < np.inf) & ~W.any(axis=0) & (e > 0.0)  # without leverage, and at the bound
    e[full] = -np.inf
    result = Dual(W / length, e, upper * length, len(problem.c), size).run(limit)
    return result._replace(
        impulse=None if result.impulse is None else np.where(full, upper, result.impulse / length) * scale,
        certificate=None if result.certificate is None else result.certificate / length * scale,
    )
