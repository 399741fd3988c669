"""Types of the compiled module."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Shapes = tuple[tuple[int, ...], ...]

class Plan: ...

class FunctionPlan(Plan):
    def __init__(
        self,
        function: Any,
        arguments: Sequence[int | np.ndarray | None],
        results: Sequence[int | None],
        inputs: Shapes,
        outputs: Shapes,
    ) -> None: ...

class RoutinePlan(Plan):
    def __init__(self, routine: Any, whole: Any, parts: tuple, inputs: Shapes, outputs: Shapes) -> None: ...
