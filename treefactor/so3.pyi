"""Types of the functions of `so3`; written by `make generate` from the table."""

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "act",
    "act_inverse",
    "between",
    "compose",
    "exp",
    "from_quaternion",
    "from_rpy",
    "interpolate",
    "inverse",
    "jexp",
    "jlog",
    "log",
    "to_quaternion",
    "to_rpy",
]

# declared in quantities; compiled class kinematics._poses:PoseFunction
def exp(
    w: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def log(
    R: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def jexp(
    w: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def jlog(
    R: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def compose(
    R0: ArrayLike,
    R1: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def inverse(
    R: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def between(
    R0: ArrayLike,
    R1: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def act(
    R: ArrayLike,
    x: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def act_inverse(
    R: ArrayLike,
    x: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def from_rpy(
    rpy: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def to_rpy(
    R: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:FromQuaternion
def from_quaternion(
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def to_quaternion(
    R: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def interpolate(
    R0: ArrayLike,
    R1: ArrayLike,
    u: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...
