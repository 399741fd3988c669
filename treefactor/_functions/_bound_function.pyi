"""Types of the compiled module."""

from collections.abc import Callable
from typing import Any

from .._util._bound_call import BoundCall
from ._compiled_function import CompiledFunction

class BoundFunction(BoundCall):
    def __init__(
        self,
        function: CompiledFunction,
        arrays: tuple[Any, ...],
        out: Any,
        general_path: Callable[..., Any],
        returned: Any = None,
    ) -> None: ...
