"""Types of the compiled steps between configurations."""

from typing import Any

import numpy as np

from .._util._bound_call import BoundCall

OPERATIONS: tuple[str, ...]

class Configurations:
    count: int
    joints: int
    nq: int
    nv: int
    def __init__(self, joints: Any, idx_q: Any, idx_v: Any) -> None: ...
    def result_size(self, op: int) -> int: ...
    def batch(self, op: int, batch: int, operands: Any, out: np.ndarray, first: int, stop: int) -> bool: ...

class BoundStep(BoundCall): ...

def configurations_of(model: Any) -> Configurations: ...
def call(
    model: Any, op: int, first: Any, second: Any, u: Any, out: Any, threads: Any, general_path: Any
) -> Any: ...
