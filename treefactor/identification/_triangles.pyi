import numpy as np

from ..derivatives._state_function import StateFunction

def update(
    function: StateFunction | None,
    state: tuple[np.ndarray, ...],
    parts: tuple[np.ndarray, ...],
    samples: int,
    counts: np.ndarray,
    entries: np.ndarray,
    uses: np.ndarray,
    triangles: np.ndarray,
) -> int: ...
