"""Types of the compiled module."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Shapes = tuple[tuple[int, ...], ...]

class Plan:
    def __init__(
        self,
        function: Any,
        arguments: Sequence[int | np.ndarray | None],
        results: Sequence[int | None],
        inputs: Shapes,
        outputs: Shapes,
    ) -> None: ...
