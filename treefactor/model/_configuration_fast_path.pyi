"""Types of the fast path of steps between configurations."""

from typing import Any

import numpy as np

from .._util._bound_call import BoundCall

class BoundStep(BoundCall): ...

def neutral_configuration(model: Any) -> np.ndarray: ...
def draw(model: Any, generator: Any, limits: Any, count: int, out: np.ndarray | None) -> Any: ...
def call(
    model: Any, op: int, first: Any, second: Any, u: Any, out: Any, threads: Any, general_path: Any
) -> Any: ...
