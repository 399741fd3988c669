"""Types of the methods of Factor in C; the kernels are internal."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from typing_extensions import Self

from ..tree.tree import Tree

class Calls:
    tree: Tree
    batch: tuple[int, ...]
    kind: str
    dtype: np.dtype
    _kernel: Any
    _layout: str
    _triangle: str
    _upper: bool
    _threads: int
    def refactor(self, H: ArrayLike, shift: ArrayLike | None = None, layout: str | None = None) -> Self: ...
    def solve(self, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray: ...
    def solve_l(self, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray: ...
    def solve_lt(self, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray: ...
    def multiply(self, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray: ...
    def multiply_l(self, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray: ...
    def multiply_lt(self, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray: ...
    def half_solve(self, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray: ...
    def inverse(self, out: np.ndarray | None = None) -> np.ndarray: ...
    def _prepare(
        self,
        tree: Tree,
        batch: tuple[int, ...],
        kind: str,
        dtype: np.dtype,
        kernel: Any,
        layout: str,
        triangle: str,
        threads: int,
    ) -> None: ...

class BoundCalls(Calls):
    def factor(self, shift: ArrayLike | None = None) -> Self: ...

def __getattr__(name: str) -> Any: ...
