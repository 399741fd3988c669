"""Types of the functions of steps between configurations."""

from typing import Any

import numpy as np

from .model import Model

def integrate(
    model: Model, q: Any, v: Any, out: np.ndarray | None = None, num_threads: int = 1
) -> np.ndarray: ...
def difference(
    model: Model, q0: Any, q1: Any, out: np.ndarray | None = None, num_threads: int = 1
) -> np.ndarray: ...
def interpolate(
    model: Model, q0: Any, q1: Any, u: Any, out: np.ndarray | None = None, num_threads: int = 1
) -> np.ndarray: ...
def normalize(model: Model, q: Any, out: np.ndarray | None = None, num_threads: int = 1) -> np.ndarray: ...
