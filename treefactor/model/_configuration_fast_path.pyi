"""Types of the fast path of steps between configurations."""

from typing import Any

import numpy as np

from .._util._bound_call import BoundCall

class BoundStep(BoundCall): ...
class BoundSteps(BoundCall): ...

def neutral_configuration(model: Any) -> np.ndarray: ...
def draw_one(model: Any, generator: Any, lower: Any, upper: Any) -> Any: ...
def draw(
    model: Any, generator: Any, limits: tuple[Any, ...], count: int, out: np.ndarray | None
) -> np.ndarray: ...
def is_same(model: Any, q0: Any, q1: Any, tolerance: Any, threads: Any, general_path: Any) -> Any: ...
def call_both(
    model: Any,
    first_op: int,
    second_op: int,
    first: Any,
    second: Any,
    outs: tuple[Any, ...],
    threads: Any,
    general_path: Any,
) -> tuple[Any, ...]: ...
def call(
    model: Any, op: int, first: Any, second: Any, u: Any, out: Any, threads: Any, general_path: Any
) -> Any: ...
