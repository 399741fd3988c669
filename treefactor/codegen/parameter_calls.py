"""Define the methods of `ParameterKernels`, whose last array argument are inertial parameters."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from ..exceptions import CodegenError
from ._function_calls import FunctionCalls


class ParameterCalls(FunctionCalls):
    """Methods of `ParameterKernels`: those of `Kernels` with the argument ``pi``."""

    def crba(self, q, pi, *, out=None, layout: str = "dense", num_threads: int = 1) -> np.ndarray:
        """Compute the inertia matrix, see `treefactor.crba`."""
        return self._call("crba", (q, pi), out, num_threads, layout)

    def rnea(self, q, v, a, pi, *, out=None, num_threads: int = 1, layout: str = "dense") -> np.ndarray:
        """Compute inverse dynamics, see `treefactor.rnea`."""
        return self._call("rnea", (q, v, a, pi), out, num_threads, layout)

    def bias(self, q, v, pi, *, out=None, num_threads: int = 1, layout: str = "dense") -> np.ndarray:
        """Compute forces at zero acceleration, see `treefactor.bias`."""
        return self._call("bias", (q, v, pi), out, num_threads, layout)

    def aba(self, q, v, tau, pi, *, out=None, num_threads: int = 1, layout: str = "dense") -> np.ndarray:
        """Compute forward dynamics by articulated bodies, see `treefactor.aba`."""
        return self._call("aba", (q, v, tau, pi), out, num_threads, layout)

    def forward_dynamics(
        self, q, v, tau, pi, *, out=None, num_threads: int = 1, layout: str = "dense"
    ) -> np.ndarray:
        """Compute forward dynamics by the cheaper method, see `treefactor.forward_dynamics`."""
        return self._call("forward_dynamics", (q, v, tau, pi), out, num_threads, layout)

    def minv(self, q, pi, *, out=None, num_threads: int = 1, layout: str = "dense") -> np.ndarray:
        """Compute the inverse of the inertia matrix, shape (..., nv, nv)."""
        return self._call("minv", (q, pi), out, num_threads, layout)

    def _motions(self) -> NoReturn:
        """Raise CodegenError: steps and rollouts have constant parameters."""
        raise CodegenError(
            "step and rollout of generated functions do not take inertial parameters: compile the model "
            "without parameters="
        )
