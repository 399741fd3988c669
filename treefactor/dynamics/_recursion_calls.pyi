"""Types of the functions of inverse and forward dynamics."""

from typing import Any

import numpy as np

from ..model.model import Model

def crba(
    model: Model,
    q: Any,
    out: np.ndarray | None = None,
    layout: str = "dense",
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...
def rnea(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    fext: Any = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...
def bias(
    model: Model,
    q: Any,
    v: Any,
    fext: Any = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...
def h_times(
    model: Model, q: Any, x: Any, out: np.ndarray | None = None, num_threads: int = 1, inertias: Any = None
) -> np.ndarray: ...
def aba(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    fext: Any = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...
def forward_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    fext: Any = None,
    method: str = "factor",
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...
