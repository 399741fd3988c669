"""Types of the functions of frames and joints."""

from typing import Any

import numpy as np

from ..model.model import Model

def frame_placement(
    model: Model, q: Any, frame: Any, out: np.ndarray | None = None, num_threads: int = 1
) -> np.ndarray: ...
def joint_placements(
    model: Model, q: Any, out: np.ndarray | None = None, num_threads: int = 1
) -> np.ndarray: ...
def frame_velocity(
    model: Model,
    q: Any,
    v: Any,
    frame: Any,
    reference: str = "LOCAL",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...
def frame_acceleration(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    frame: Any,
    reference: str = "LOCAL",
    classical: bool = False,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...
def frame_jacobian(
    model: Model,
    q: Any,
    frame: Any,
    reference: str = "LOCAL",
    layout: str = "dense",
    placement: bool = False,
    out: Any = None,
    num_threads: int = 1,
) -> Any: ...
def joint_jacobian(
    model: Model,
    q: Any,
    joint: Any,
    reference: str = "LOCAL",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...
def frame_jacobian_dot(
    model: Model,
    q: Any,
    v: Any,
    frame: Any,
    reference: str = "LOCAL",
    layout: str = "dense",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...
