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
    effort: int
    configurations: tuple[str, ...]
    input_shapes: dict[str, tuple[int, ...]]
    shapes: tuple[tuple[int, ...], ...]
    def __init__(self, model: Any, *options: Any) -> None: ...
    @property
    def has_elements(self) -> bool: ...
    @property
    def optional(self) -> tuple[str, ...]: ...
    def require_valid(self, arrays: dict[str, np.ndarray]) -> None: ...
    def require_regular(self, failed: int) -> None: ...
    def number(self, value: float) -> Any: ...
    def close(self) -> int: ...
    def make(self, results: tuple[np.ndarray, ...]) -> Any: ...
    def allocate(self, count: int) -> tuple[np.ndarray, ...]: ...
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
