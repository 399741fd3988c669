import numpy as np

from .._functions._compiled_function import CompiledFunction

def update(
    function: CompiledFunction | None,
    state: tuple[np.ndarray, ...],
    parts: tuple[np.ndarray, ...],
    samples: int,
    counts: np.ndarray,
    entries: np.ndarray,
    uses: np.ndarray,
    triangles: np.ndarray,
) -> int: ...
