"""Dense NumPy versions of a factor."""

from __future__ import annotations

import numpy as np

OPERATIONS = ("solve", "solve_l", "solve_lt", "multiply", "multiply_l", "multiply_lt", "half_solve")


def transposed(a) -> np.ndarray:
    """Return every matrix of a, transposed."""
    return np.swapaxes(a, -1, -2)


class Dense:
    """Dense NumPy version of a factor, of one matrix or of a batch."""

    def __init__(self, H, kind):
        turn = (..., slice(None, None, -1), slice(None, None, -1))
        L = transposed(np.linalg.cholesky(H[turn])[turn])  # U U^T of H, reversed
        diagonal = np.diagonal(L, axis1=-2, axis2=-1)
        self.H = H
        self.cond = np.max(np.linalg.cond(H)) if H.size else 1.0
        self.L = L if kind == "LTL" else L / diagonal[..., None]
        self.D = np.ones_like(diagonal) if kind == "LTL" else diagonal**2

    def apply(self, operation, b):
        """Return the result of the operation of that name on b of shape (..., n) or (..., n, k)."""
        columns = b if b.ndim == self.H.ndim else b[..., None]
        result = {
            "solve": lambda x: np.linalg.solve(self.H, x),
            "solve_l": lambda x: np.linalg.solve(self.L, x),
            "solve_lt": lambda x: np.linalg.solve(transposed(self.L), x),
            "multiply": lambda x: self.H @ x,
            "multiply_l": lambda x: self.L @ x,
            "multiply_lt": lambda x: transposed(self.L) @ x,
            "half_solve": lambda x: np.linalg.solve(transposed(self.L), x) / np.sqrt(self.D)[..., None],
        }[operation](columns)
        return result.reshape(b.shape)

    def results(self, b, J):
        """Return what `batch_results.results` takes from a factor, of a batch."""
        solved = self.apply("solve", b)
        inverse = np.linalg.inv(self.H)
        return {
            **{name: self.apply(name, b) for name in OPERATIONS},
            "quadratic": np.sum(b * solved, axis=1),
            "delassus": J @ inverse @ transposed(J),
            "inverse": inverse,
            "logdet": np.linalg.slogdet(self.H)[1],
            "L": self.L,
            "D": self.D,
            "reconstruct": self.H,
        }
