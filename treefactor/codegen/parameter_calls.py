"""Define the `Kernels` of a program whose functions take inertial parameters as their last argument."""

from __future__ import annotations

import numpy as np

from ..exceptions import CodegenError
from .kernels import Kernels
from .rollouts import Motions


class ParameterKernels(Kernels):
    """Generated functions of one robot with inertial parameters as inputs: the last argument ``pi``.

    ``pi`` is what `Program.parameters` returns, shape (p,) for one robot, or (..., p) for a robot in every
    element of a batch. Everything else is as in `Kernels`, which `compile` returns for other programs.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> kernels = tf.compile(model, "rnea", parameters="base")
    >>> one = np.array([[1.0, 0, 0, -0.5, 0.35, 0, 0.35, 0, 0, 0]])
    >>> pi = kernels.program.parameters([one, 2 * one])
    >>> kernels.rnea(np.zeros(1), np.zeros(1), np.ones(1), pi)
    array([[0.35],
           [0.7 ]])
    """

    def crba(self, q, pi, *, out=None, layout: str = "dense", num_threads: int = 1) -> np.ndarray:  # type: ignore[override]
        """Compute the inertia matrix, see `treefactor.crba`."""
        return self._call("crba", (q, pi), out, num_threads, layout)

    def rnea(self, q, v, a, pi, *, out=None, num_threads: int = 1) -> np.ndarray:  # type: ignore[override]
        """Compute inverse dynamics, see `treefactor.rnea`."""
        return self._call("rnea", (q, v, a, pi), out, num_threads)

    def bias(self, q, v, pi, *, out=None, num_threads: int = 1) -> np.ndarray:  # type: ignore[override]
        """Compute forces at zero acceleration, see `treefactor.bias`."""
        return self._call("bias", (q, v, pi), out, num_threads)

    def aba(self, q, v, tau, pi, *, out=None, num_threads: int = 1) -> np.ndarray:  # type: ignore[override]
        """Compute forward dynamics by articulated bodies, see `treefactor.aba`."""
        return self._call("aba", (q, v, tau, pi), out, num_threads)

    def forward_dynamics(self, q, v, tau, pi, *, out=None, num_threads: int = 1) -> np.ndarray:  # type: ignore[override]
        """Compute forward dynamics by the cheaper method, see `treefactor.forward_dynamics`."""
        return self._call("forward_dynamics", (q, v, tau, pi), out, num_threads)

    def minv(self, q, pi, *, out=None, num_threads: int = 1) -> np.ndarray:  # type: ignore[override]
        """Compute the inverse of the inertia matrix, shape (..., nv, nv)."""
        return self._call("minv", (q, pi), out, num_threads)

    def _motions(self) -> Motions:
        """Raise CodegenError: steps and rollouts have constant parameters."""
        raise CodegenError(
            "step and rollout of generated functions do not take inertial parameters: compile the model "
            "without parameters="
        )
