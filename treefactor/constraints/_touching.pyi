"""Types of the compiled module."""

import numpy as np

class Collider:
    def __init__(
        self,
        kind: int,
        radius: float,
        half_length: float,
        half: np.ndarray,
        center: np.ndarray,
        extent: np.ndarray,
        size: float,
        hull: tuple,
        trees: tuple,
        surface: tuple,
    ) -> None: ...

POINT: np.dtype

def can_touch(first: int, second: int) -> bool: ...
def touching_points(
    first: Collider, first_pose: np.ndarray, second: Collider, second_pose: np.ndarray, margin: float
) -> np.ndarray: ...
