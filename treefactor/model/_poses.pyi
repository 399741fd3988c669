"""Types of the compiled kernels of rotations and poses."""

from typing import Any

import numpy as np

NUMBERS: dict[str, int]

def shapes_of(op: int) -> tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...]]: ...
def run_batch(op: int, batch: int, operands: Any, out: np.ndarray, first: int, stop: int) -> None: ...
def call(op: int, a: Any, b: Any, u: Any, out: Any, threads: Any, general_path: Any) -> Any: ...
