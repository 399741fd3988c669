"""Types of the compiled module."""

from typing import Any

import numpy as np

from .frames import Frame
from .inertia import Inertia
from .joints import Joint, Mimic

def new_inertia(mass: float, com: np.ndarray, tensor: np.ndarray) -> Inertia: ...
def with_inertia(joint: Joint, inertia: Inertia) -> Joint: ...
def placed(R: np.ndarray, p: np.ndarray) -> np.ndarray: ...
def new_frame(name: str, joint: int, placement: np.ndarray, category: str, parent: str) -> Frame: ...
def new_joint(
    name: str,
    kind: str,
    parent: int,
    placement: np.ndarray,
    axis: np.ndarray | None,
    pitch: float,
    inertia: Inertia,
    armature: np.ndarray | None,
    lower: np.ndarray | None,
    upper: np.ndarray | None,
    mimic: Mimic | None,
    body: str,
    effort: np.ndarray | None = None,
    velocity: np.ndarray | None = None,
) -> Joint: ...
def are_consistent(joints: tuple[Joint, ...], frames: tuple[Frame, ...] | None) -> bool: ...
def entries(joints: tuple[Joint, ...]) -> dict[str, Any]: ...
def parameters_of_joints(joints: tuple[Joint, ...]) -> np.ndarray: ...
