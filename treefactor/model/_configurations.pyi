"""Types of the compiled steps between configurations."""

from collections.abc import Sequence
from typing import Any

import numpy as np

OPERATIONS: tuple[str, ...]

class Configurations:
    count: int
    joints: int
    nq: int
    nv: int
    rest: np.ndarray
    def __init__(self, joints: Any, idx_q: Any, idx_v: Any) -> None: ...
    def keep_limits(self, low: np.ndarray, span: np.ndarray) -> None: ...
    def result_shape(self, op: int) -> tuple[int, ...]: ...
    def rows(self, name: str, arrays: Sequence[np.ndarray], out: np.ndarray) -> None: ...
    def batch(self, op: int, batch: int, operands: Any, out: np.ndarray, first: int, stop: int) -> bool: ...

def configurations_of(model: Any) -> Configurations: ...
