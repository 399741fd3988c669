"""Dense NumPy versions of a factor."""

from __future__ import annotations

import numpy as np

OPERATIONS = ("solve", "solve_l", "solve_lt", "multiply", "multiply_l", "multiply_lt", "half_solve")


class Dense:
    """Dense NumPy version of a factor, of one matrix."""

    def __init__(self, H, kind):
        flipped = np.linalg.cholesky(H[::-1, ::-1]) if len(H) else H  # U U^T of H, reversed
        L = flipped[::-1, ::-1].T
        diagonal = np.diagonal(L)
        self.H = H
        self.cond = np.linalg.cond(H) if len(H) else 1.0
        self.L, self.D = (L, np.ones(len(H))) if kind == "LTL" else (L / diagonal[:, None], diagonal**2)

    def apply(self, operation, b):
        """Result of the operation of that name on b of shape (n,) or (n, k)."""
        columns = b if b.ndim == 2 else b[:, None]
        result = {
            "solve": lambda x: np.linalg.solve(self.H, x),
            "solve_l": lambda x: np.linalg.solve(self.L, x),
            "solve_lt": lambda x: np.linalg.solve(self.L.T, x),
            "multiply": lambda x: self.H @ x,
            "multiply_l": lambda x: self.L @ x,
            "multiply_lt": lambda x: self.L.T @ x,
            "half_solve": lambda x: np.linalg.solve(self.L.T, x) / np.sqrt(self.D)[:, None],
        }[operation](columns)
        return result.reshape(b.shape)
