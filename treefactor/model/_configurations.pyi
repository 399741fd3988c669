"""Types of the compiled module."""

from collections.abc import Sequence
from typing import Any

import numpy as np

class Configurations:
    count: int
    joints: int
    nq: int
    nv: int
    rest: np.ndarray
    units: tuple[tuple[int, int], ...]
    def __init__(self, joints: Sequence[Any], idx_q: Sequence[int], idx_v: Sequence[int]) -> None: ...
    def keep_limits(self, low: np.ndarray, span: np.ndarray) -> None: ...

def configurations_of(model: Any) -> Configurations: ...
def neutral_configuration(model: Any) -> np.ndarray: ...
def draw_one(model: Any, generator: Any, lower: Any, upper: Any) -> np.ndarray | None: ...
def draw(
    model: Any, generator: Any, limits: tuple[Any, ...], count: int, out: np.ndarray | None
) -> np.ndarray: ...
