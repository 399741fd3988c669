"""Define the methods of `Kernels` that compute dynamics, inertia matrices and Jacobians of tips."""

from __future__ import annotations

import numpy as np

from .loop_calls import FunctionCalls


class DynamicsCalls(FunctionCalls):
    """Methods of `Kernels` for all models."""

    def crba(self, q, out=None, layout: str = "dense", num_threads: int = 1) -> np.ndarray:
        """Compute the inertia matrix, see `treefactor.crba`."""
        return self._call("crba", (q,), out, num_threads, layout)

    def rnea(self, q, v, a, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute inverse dynamics, see `treefactor.rnea`."""
        return self._call("rnea", (q, v, a), out, num_threads)

    def joint_forces(self, q, v, a, *, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute forces and moments in the joints without external forces, see `treefactor.joint_forces`."""
        return self._call("joint_forces", (q, v, a), out, num_threads)

    def base_force(self, q, v, a, *, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute the force and moment on the base without external forces, see `treefactor.base_force`."""
        return self._call("base_force", (q, v, a), out, num_threads)

    def bias(self, q, v, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute forces at zero acceleration, see `treefactor.bias`."""
        return self._call("bias", (q, v), out, num_threads)

    def aba(self, q, v, tau, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute forward dynamics by articulated bodies, see `treefactor.aba`."""
        return self._call("aba", (q, v, tau), out, num_threads)

    def forward_dynamics(self, q, v, tau, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute forward dynamics by the cheaper method, see `treefactor.forward_dynamics`."""
        return self._call("forward_dynamics", (q, v, tau), out, num_threads)

    def minv(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute the inverse of the inertia matrix, shape (..., nv, nv)."""
        return self._call("minv", (q,), out, num_threads)

    def jacobian(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute the Jacobian of the tips given to `treefactor.generate`, shape (..., 6 tips, nv)."""
        return self._call("jacobian", (q,), out, num_threads)

    def delassus(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute J H^-1 J^T of the tips, shape (..., 6 tips, 6 tips)."""
        return self._call("delassus", (q,), out, num_threads)
