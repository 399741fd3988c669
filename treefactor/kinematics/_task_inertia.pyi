"""Types of J H^-1 J^T and its inverse from q."""

from typing import Any

import numpy as np

from ._request import Request

def fast(
    model: Any,
    kind: int,
    frame: Any,
    reference: Any,
    q: Any,
    out: Any,
    threads: Any,
    invert: bool = False,
    damping: float = 0.0,
) -> np.ndarray | None: ...
def batch(
    bodies: Any,
    request: Request,
    q: np.ndarray,
    out: np.ndarray,
    invert: bool,
    damping: float,
    first: int,
    stop: int,
) -> None: ...
