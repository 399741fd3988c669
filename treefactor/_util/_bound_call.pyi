"""Types of the calls that `treefactor.bind` returns."""

from typing import Any

import numpy as np

class BoundCall:
    @property
    def out(self) -> np.ndarray: ...
    def __new__(cls, *arguments: Any) -> BoundCall: ...
    def __call__(self) -> np.ndarray: ...
