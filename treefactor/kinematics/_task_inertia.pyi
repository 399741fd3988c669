"""Types of J H^-1 J^T and its inverse from q."""

from typing import Any

import numpy as np

from .._functions._compiled_function import CompiledFunction

def fast(
    model: Any,
    frame: Any,
    reference: Any,
    q: Any,
    out: Any,
    threads: Any,
    invert: bool = False,
    damping: float = 0.0,
) -> np.ndarray | None: ...
def batch(
    crba: CompiledFunction,
    request: CompiledFunction,
    q: np.ndarray,
    out: np.ndarray,
    invert: bool,
    damping: float,
    first: int,
    stop: int,
) -> None: ...
