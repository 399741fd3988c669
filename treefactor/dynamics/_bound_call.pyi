"""Types of the fast path, and of the calls that `treefactor.bind` returns."""

from typing import Any

import numpy as np

class Bound:
    @property
    def out(self) -> np.ndarray: ...
    def __new__(cls, *arguments: Any) -> Bound: ...
    def __call__(self) -> np.ndarray: ...

def call(
    model: Any, op: int, q: Any, v: Any, x: Any, fext: Any, out: Any, threads: Any, general_path: Any
) -> Any: ...
