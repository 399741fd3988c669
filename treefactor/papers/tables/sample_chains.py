"""Make revolute chains at random, and count what a method takes for their inertia matrix."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import numpy as np

from ..._util.counting import counting
from ...tree.tree import OperationCount


def counted(module: ModuleType, arrays: tuple[np.ndarray, ...]) -> OperationCount:
    """Count the operations of one run."""
    tally: Counter[str] = Counter()
    module.inertia(*(counting(array, tally) for array in arrays))
    return OperationCount(**tally)


def chain(n: int) -> tuple[np.ndarray, ...]:
    """Return a random revolute chain: axis, r, mass, c and inertia of n bodies."""
    rng = np.random.default_rng(n)
    axis, r, d = rng.normal(size=(3, n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    mass = rng.uniform(1, 2, n)
    spread = (1 + (d**2).sum(1))[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :]
    return axis, r, mass, mass[:, None] * d, mass[:, None, None] * spread
