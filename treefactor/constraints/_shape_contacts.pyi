"""Types of the compiled module."""

from collections.abc import Callable

import numpy as np

from ._contacts import ContactKernel
from ._touching import Collider

CARRIED: np.dtype
NOTHING_CARRIED: np.ndarray
SLOTS: int

class ShapeContactKernel:
    def __init__(
        self,
        rows: ContactKernel,
        colliders: list[tuple[Collider, Collider]],
        finders: list[Callable | None],
        poses: np.ndarray,
        h: float,
        gravity: float,
    ) -> None: ...
    def near(self, frames: np.ndarray, margin: float, before: np.ndarray, carried: np.ndarray) -> tuple: ...
    def overlooked(
        self,
        frames: np.ndarray,
        moving: np.ndarray,
        ahead: Callable[[], np.ndarray],
        margin: float,
        identities: np.ndarray,
    ) -> np.ndarray: ...
