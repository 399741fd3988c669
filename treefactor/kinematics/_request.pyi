"""Types of the compiled module."""

from collections.abc import Sequence
from typing import Any

import numpy as np

TURN: np.dtype
FREEDOM: np.dtype
COLUMN: np.dtype
OUTPUT: np.dtype
RUN: np.dtype
OUTPUTS: tuple[str, ...]
REFERENCES: tuple[str, ...]

class Request:
    items: int
    order: int
    shapes: tuple[tuple[int, ...], ...]
    def __init__(
        self,
        bodies: np.ndarray,
        turns: np.ndarray,
        freedoms: np.ndarray,
        outputs: np.ndarray,
        columns: np.ndarray,
        order: int,
        sums: int,
        arms: int,
        nq: int,
        nv: int,
        units: np.ndarray,
        items: Sequence[tuple[Any, ...]],
    ) -> None: ...
    @property
    def outputs(self) -> np.ndarray: ...
    def with_outputs(self, outputs: np.ndarray) -> Request: ...
    def run(self, q: Any, v: Any, a: Any, out: Any, threads: Any) -> Any: ...
    def batch(
        self, batch: int, operands: Sequence[np.ndarray | None], out: tuple[Any, ...], first: int, stop: int
    ) -> None: ...
