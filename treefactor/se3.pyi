"""Types of the functions of `se3`; written by `make generate` from the table."""

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "act",
    "act_inverse",
    "action",
    "between",
    "compose",
    "exp",
    "from_rpy",
    "from_xyzquat",
    "interpolate",
    "inverse",
    "jexp",
    "jlog",
    "log",
    "to_xyzquat",
]

# declared in quantities; compiled class kinematics._poses:PoseFunction
def exp(
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def log(
    M: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def jexp(
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def jlog(
    M: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def compose(
    M0: ArrayLike,
    M1: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def inverse(
    M: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def between(
    M0: ArrayLike,
    M1: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def act(
    M: ArrayLike,
    x: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def act_inverse(
    M: ArrayLike,
    x: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def action(
    M: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def interpolate(
    M0: ArrayLike,
    M1: ArrayLike,
    u: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def from_rpy(
    xyz: ArrayLike,
    rpy: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:FromQuaternion
def from_xyzquat(
    x: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._poses:PoseFunction
def to_xyzquat(
    M: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...
