"""Types of the compiled module."""

from types import ModuleType
from typing import Any

from ._compiled_function import CompiledFunction

class Entry:
    quantity: Any
    function: Any
    number: int
    names: tuple[str, ...]
    directed: bool
    def __init__(
        self,
        quantity: Any,
        owner: ModuleType,
        docstring: str,
        names: tuple[str, ...],
        defaults: tuple[Any, ...],
    ) -> None: ...
    def kept_function(self, model: Any, values: tuple[Any, ...]) -> CompiledFunction | None: ...
    def keep(self, model: Any, values: tuple[Any, ...], function: CompiledFunction) -> CompiledFunction: ...
