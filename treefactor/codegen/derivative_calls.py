"""Define the methods of `Kernels` that compute derivatives by generated functions."""

from __future__ import annotations

import numpy as np

from .._util.validation import Sealed
from ..derivatives.first_order_results import ForwardDynamicsDerivatives, RneaDerivatives
from ..derivatives.product_results import ForwardDynamicsGradients, RneaGradients, gradients_with
from ..derivatives.second_order_results import RneaHvp
from ._function_calls import FunctionCalls

KINDS: dict[str, type] = {  # named tuples of results
    "rnea_derivatives": RneaDerivatives,
    "rnea_vjp": gradients_with(RneaGradients, ("q", "v", "a")),
    "rnea_hvp": RneaHvp,
    "forward_dynamics_derivatives": ForwardDynamicsDerivatives,
    "forward_dynamics_vjp": gradients_with(ForwardDynamicsGradients, ("q", "v", "tau")),
}


class DerivativeCalls(Sealed, FunctionCalls):
    """Methods of `Kernels` for derivatives of the dynamics; those by q are along `integrate`."""

    _fast: dict[tuple, tuple]

    def call(self, name, *arguments, out=None, num_threads: int = 1, layout: str = "dense"):
        """Compute any function of the program by its name."""
        raise NotImplementedError

    def _several(self, name: str, arguments: tuple, out, num_threads: int, layout: str = "dense"):
        """Compute a function of several results; float64 arrays take the fast path."""
        try:
            fast_path, results = self._fast[name, layout]
            computed = fast_path(arguments, out, results, num_threads)
        except (KeyError, TypeError):
            computed = None
        if computed is not None:
            return computed
        return self.call(name, *arguments, out=out, num_threads=num_threads, layout=layout)

    def rnea_derivatives(
        self, q, v, a, *, out=None, layout: str = "dense", num_threads: int = 1
    ) -> RneaDerivatives:
        """Compute derivatives of inverse dynamics by q, v and a, the last one H.

        Each of shape (..., nv, nv); packed as `treefactor.coriolis_matrix` packs, H as ``Tree.pack``.
        Out is a tuple of three arrays.
        """
        return self._several("rnea_derivatives", (q, v, a), out, num_threads, layout)

    def rnea_jvp(self, q, v, a, dq, dv, da, *, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute the derivative of inverse dynamics along dq, dv, da, shape (..., nv)."""
        return self._call("rnea_jvp", (q, v, a, dq, dv, da), out, num_threads)

    def rnea_vjp(self, q, v, a, w, *, out=None, num_threads: int = 1) -> RneaGradients:
        """Compute the gradients of w^T tau of inverse dynamics by q, v and a, each of shape (..., nv)."""
        return self._several("rnea_vjp", (q, v, a, w), out, num_threads)

    def rnea_hvp(self, q, v, a, w, dq, dv, da, *, out=None, num_threads: int = 1) -> RneaHvp:
        """Compute the Hessian of w^T tau of inverse dynamics times (dq, dv, da): by q, v and a.

        The Hessian is the symmetric one, of w^T tau at integrate(q, x) by x at 0.
        """
        return self._several("rnea_hvp", (q, v, a, w, dq, dv, da), out, num_threads)

    def forward_dynamics_derivatives(
        self, q, v, tau, *, out=None, num_threads: int = 1
    ) -> ForwardDynamicsDerivatives:
        """Compute derivatives of forward dynamics by q, v and tau, each (..., nv, nv); the last is H^-1."""
        return self._several("forward_dynamics_derivatives", (q, v, tau), out, num_threads)

    def forward_dynamics_jvp(self, q, v, tau, dq, dv, dtau, *, out=None, num_threads: int = 1) -> np.ndarray:
        """Compute the derivative of forward dynamics along dq, dv, dtau, shape (..., nv)."""
        return self._call("forward_dynamics_jvp", (q, v, tau, dq, dv, dtau), out, num_threads)

    def forward_dynamics_vjp(
        self, q, v, tau, w, *, out=None, num_threads: int = 1
    ) -> ForwardDynamicsGradients:
        """Compute the gradients of w^T a of forward dynamics by q, v and tau, each of shape (..., nv)."""
        return self._several("forward_dynamics_vjp", (q, v, tau, w), out, num_threads)
