"""Types of the base class of `Kernels`."""

from typing import Any

import numpy as np

class FunctionCalls:
    _routines: dict[tuple[str, str], tuple[Any, Any]]
    def _prepare(self, routines: dict[tuple[str, str], tuple[Any, Any]]) -> None: ...
    def _call(
        self, name: str, arguments: tuple[Any, ...], out: Any, num_threads: int, layout: str = "dense"
    ) -> np.ndarray: ...
    def crba(
        self, q: Any, out: np.ndarray | None = None, layout: str = "dense", num_threads: int = 1
    ) -> np.ndarray: ...
    def rnea(
        self,
        q: Any,
        v: Any,
        a: Any,
        out: np.ndarray | None = None,
        num_threads: int = 1,
        layout: str = "dense",
    ) -> np.ndarray: ...
    def joint_forces(
        self,
        q: Any,
        v: Any,
        a: Any,
        *,
        out: np.ndarray | None = None,
        num_threads: int = 1,
        layout: str = "dense",
    ) -> np.ndarray: ...
    def base_force(
        self,
        q: Any,
        v: Any,
        a: Any,
        *,
        out: np.ndarray | None = None,
        num_threads: int = 1,
        layout: str = "dense",
    ) -> np.ndarray: ...
    def bias(
        self, q: Any, v: Any, out: np.ndarray | None = None, num_threads: int = 1, layout: str = "dense"
    ) -> np.ndarray: ...
    def aba(
        self,
        q: Any,
        v: Any,
        tau: Any,
        out: np.ndarray | None = None,
        num_threads: int = 1,
        layout: str = "dense",
    ) -> np.ndarray: ...
    def forward_dynamics(
        self,
        q: Any,
        v: Any,
        tau: Any,
        out: np.ndarray | None = None,
        num_threads: int = 1,
        layout: str = "dense",
    ) -> np.ndarray: ...
    def minv(
        self, q: Any, out: np.ndarray | None = None, num_threads: int = 1, layout: str = "dense"
    ) -> np.ndarray: ...
    def jacobian(
        self, q: Any, out: np.ndarray | None = None, num_threads: int = 1, layout: str = "dense"
    ) -> np.ndarray: ...
    def delassus(
        self, q: Any, out: np.ndarray | None = None, num_threads: int = 1, layout: str = "dense"
    ) -> np.ndarray: ...
