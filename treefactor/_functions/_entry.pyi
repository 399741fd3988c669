"""Types of the compiled module."""

from types import ModuleType
from typing import Any

from ._compiled_function import CompiledFunction

class Entry:
    quantity: Any
    function: Any
    number: int
    names: tuple[str, ...]
    def __init__(
        self,
        quantity: Any,
        owner: ModuleType,
        docstring: str,
        names: tuple[str, ...],
        defaults: tuple[Any, ...],
    ) -> None: ...
    def keep(self, model: Any, options: tuple[Any, ...], function: CompiledFunction) -> CompiledFunction: ...
    def kept_function(self, model: Any, options: tuple[Any, ...]) -> CompiledFunction | None: ...
