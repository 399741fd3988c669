"""Types of the compiled simulations."""

from typing import Any

import numpy as np

METHODS: tuple[str, ...]

class Simulation:
    def __new__(cls, model: Any, *arguments: Any) -> Simulation: ...
    def batch(
        self, method: int, h: float, steps: int, whole: bool, arrays: Any, first: int, stop: int
    ) -> None: ...
    def one(self, method: int, h: float, steps: int, whole: bool, arrays: Any) -> bool: ...
    def commutator(self, x: Any, y: Any) -> np.ndarray: ...

class Recursive(Simulation): ...
