"""Types of the terms of the equation of motion."""

from typing import Any

from .._functions._compiled_function import CompiledFunction
from ._request import Request

class Terms(CompiledFunction):
    def __init__(self, model: Any, request: Request, gather: type) -> None: ...
