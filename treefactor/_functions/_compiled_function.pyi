"""Types of the compiled module."""

from collections.abc import Sequence
from typing import Any

import numpy as np

class CompiledFunction:
    inputs: int
    results: int
    names: tuple[str, ...]
    may_fail: bool
    in_lanes: bool
    scalar: bool
    any_length: bool
    def __init__(self, model: Any, *options: Any) -> None: ...
    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def input_shapes(self) -> dict[str, tuple[int, ...]]: ...
    @property
    def has_elements(self) -> bool: ...
    @property
    def optional(self) -> tuple[str, ...]: ...
    @property
    def configurations(self) -> tuple[str, ...]: ...
    def number(self, value: float) -> Any: ...
    def close(self) -> int: ...
    def make(self, results: tuple[np.ndarray, ...]) -> Any: ...
    def allocate(self, batch: int) -> tuple[np.ndarray, ...]: ...
    def run_arrays(self, arrays: tuple[Any, ...], out: Any, threads: Any) -> Any: ...
    def batch(
        self,
        batch: int,
        operands: Sequence[np.ndarray | None],
        out: tuple[np.ndarray, ...],
        failed: np.ndarray,
        first: int,
        stop: int,
    ) -> None: ...
