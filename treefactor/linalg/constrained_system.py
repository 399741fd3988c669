"""Solve the equations of motion with constraints for many right-hand sides and rows of any rank."""

from __future__ import annotations

import numpy as np

from .._util.validation import Sealed
from ..tolerances import DEPENDENT_ROWS
from .factorization import Factor


class ConstrainedSystem(Sealed):
    """Solve H x - Jᵀ y = top, J x = bottom, with y of least norm, for many right-hand sides.

    With W = D^-1/2 L^-T Jᵀ = U S Vᵀ: Wᵀ W is J H^-1 Jᵀ, and small singular values belong to rows that depend
    on others (Golub and Van Loan 2013, section 5.5). States that are not finite give NaN.
    """

    inertia: Factor
    J: np.ndarray
    bad: np.ndarray
    U: np.ndarray
    V: np.ndarray
    kept: np.ndarray
    inverse: np.ndarray

    def __init__(self, inertia: Factor, J: np.ndarray):
        W = inertia.half_solve(np.ascontiguousarray(np.swapaxes(J, -1, -2)))
        bad = ~np.isfinite(W).all((-1, -2), keepdims=True)
        U, size, V = np.linalg.svd(np.where(bad, 0.0, W), full_matrices=False)
        size = np.where(bad[..., 0], 1.0, size)
        kept = size > DEPENDENT_ROWS * size[..., :1]
        self._keep(inertia=inertia, J=J, bad=np.where(bad, np.nan, 0.0), U=U, V=np.swapaxes(V, -1, -2))
        self._keep(kept=kept, inverse=kept / np.where(kept, size, 1.0))

    @property
    def dependent(self) -> np.ndarray:
        """Return whether rows depend on each other, for every state."""
        return ~self.kept.all(-1) | (self.J.shape[-2] > self.J.shape[-1])

    def solve(self, top: np.ndarray, bottom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return x (..., nv, k) and y (..., rows, k) for right-hand sides of these shapes."""
        U, inverse = np.swapaxes(self.U, -1, -2), self.inverse[..., None]
        free = U @ self.inertia.half_solve(top)
        y = self.V @ (inverse * (inverse * (np.swapaxes(self.V, -1, -2) @ bottom) - free)) + self.bad
        return self.inertia.solve(top + np.swapaxes(self.J, -1, -2) @ y), y

    def outside_range(self, x: np.ndarray) -> np.ndarray:
        """Return x (..., rows, k) without its components in the range of J."""
        V = self.V * self.kept[..., None, :]
        return x - V @ (np.swapaxes(V, -1, -2) @ x)

    def rates_of(self, forces: np.ndarray) -> np.ndarray:
        """Return velocities z with J z = forces (..., rows), which must be in the range of J."""
        share = (
            self.V @ (self.inverse**2 * (np.swapaxes(self.V, -1, -2) @ forces[..., None])[..., 0])[..., None]
        )
        return self.inertia.solve(np.swapaxes(self.J, -1, -2) @ share)[..., 0]

    def forces_of(self, push: np.ndarray) -> np.ndarray:
        """Return least forces y with Jᵀ y = push (..., nv, columns), which must be in the range of Jᵀ."""
        U = np.swapaxes(self.U, -1, -2)
        return self.V @ (self.inverse[..., None] * (U @ self.inertia.half_solve(push)))
