"""Types of the terms of the equation of motion."""

from typing import Any

import numpy as np

from .._util._bound_call import BoundCall
from ._request import Request

class Terms:
    request: Request
    def __new__(cls, model: Any, request: Request) -> Terms: ...
    def run(self, q: Any, v: Any, out: Any, threads: Any = 1) -> Any: ...
    def derive_batch(self, moved: np.ndarray, v: np.ndarray, results: tuple[np.ndarray, ...]) -> None: ...

class BoundTerms(BoundCall):
    def __new__(cls, terms: Terms, *arguments: Any) -> BoundTerms: ...
