"""Types of the compiled functions of kinematics."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._functions._compiled_function import CompiledFunction

TURN: np.dtype
FREEDOM: np.dtype
COLUMN: np.dtype
OUTPUT: np.dtype
KINDS: dict[str, int]
NEEDS: dict[str, tuple[int, int, int]]
REFERENCES: tuple[str, ...]

def turn_of(columns: np.ndarray) -> tuple[int, tuple[int, ...], tuple[float, ...]]: ...
def turns_of(bodies: np.ndarray) -> np.ndarray: ...
def freedoms_of(
    bodies: np.ndarray, axes: list[tuple[tuple[int, int], ...]], columns: list[tuple[int, float]]
) -> np.ndarray: ...
def taken(
    bodies: np.ndarray, turns: np.ndarray, freedoms: np.ndarray, kept: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int], list[int]]: ...

class Request(CompiledFunction):
    def __init__(
        self,
        bodies: np.ndarray,
        turns: np.ndarray,
        freedoms: np.ndarray,
        outputs: np.ndarray,
        columns: np.ndarray,
        order: int,
        sums: int,
        arms: int,
        nq: int,
        nv: int,
        units: np.ndarray,
        results: Sequence[tuple[Any, ...]],
        gather: type | None = None,
    ) -> None: ...
    def moved(self, R: np.ndarray, p: np.ndarray) -> Request: ...
