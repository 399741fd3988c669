"""Declare what adapters to engines offer to the cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

UNEXPLAINED = "unexplained"  # deviation of an engine's simulation with all its settings off


class Body(Protocol):
    """Robot in an engine."""

    @property
    def nv(self) -> int:
        """Number of freedoms."""

    def close(self) -> None:
        """Release what the robot holds in the engine."""


class Engine(Protocol):
    """Functions of an adapter's module; q, v, tau and H are in the engine's own conventions.

    Some engines also have ``model_changes``, ``without_tendon_armature``, ``qld`` or ``quiet``. An engine
    that is only checked against itself needs none of the functions that concern Pinocchio.
    """

    WAYS: tuple[str, ...]  # of loading a file as scripts do
    TENSOR_CAUSE: Mapping[str, str]  # by way, the cause of a tensor that alone differs from the file's

    def load(self, path, floating: bool = False, gravity=(0.0, 0.0, -9.81)) -> Any:
        """Load the dynamics of a robot around the engine's traps; return a `Body`."""

    def load_plain(self, path, floating: bool = False, gravity=(0.0, 0.0, -9.81), way: str = "") -> Any:
        """Load a URDF as scripts do, in one of WAYS; return a `Body`."""

    def tree(self, body) -> Any:
        """Return the tree of the freedoms in the order of v."""

    def random_state(self, body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return random q, v and tau."""

    def mass_matrix(self, body, q) -> np.ndarray:
        """Return H, shape (nv, nv)."""

    def bias(self, body, q, v) -> np.ndarray:
        """Return Coriolis, centrifugal and gravity forces, shape (nv,)."""

    def inverse_dynamics(self, body, q, v, a) -> np.ndarray:
        """Return H a + bias by the engine's recursion, shape (nv,)."""

    def forward_dynamics(self, body, q, v, tau) -> np.ndarray:
        """Return H^-1 (tau - bias) through our factor, shape (nv,)."""

    def own_acceleration(self, body, q, v, tau) -> np.ndarray:
        """Return q̈ by the engine alone, shape (nv,)."""

    def inertials(self, body) -> dict:
        """Return the inertias of the links by name."""

    def file_inertials(self, path, floating: bool) -> dict:
        """Return the inertias of the links of a URDF that the engine should have, by name."""

    def settings(
        self, path: Path, floating: bool, gravity, rng: np.random.Generator
    ) -> list[tuple[str, float, tuple[str, ...]]]:
        """Find what acts by default when a script simulates the file: name, effect on q̈, where."""

    def transform(self, body, model, q) -> np.ndarray:
        """Return T with v_pinocchio = T v."""

    def acceleration_offset(self, body, model, q, v) -> np.ndarray:
        """Return c with a_pinocchio = T a + c."""

    def from_pinocchio(self, body, model, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Convert Pinocchio's q and v to the engine's."""
