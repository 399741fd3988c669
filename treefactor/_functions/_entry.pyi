"""Types of the compiled module."""

from typing import Any

from ._compiled_function import CompiledFunction

class Entry:
    quantity: Any
    function: Any
    number: int
    names: tuple[str, ...]
    counted: bool
    has_model: bool
    def __init__(
        self,
        quantity: Any,
        docstring: str,
        names: tuple[str, ...],
        defaults: tuple[Any, ...],
    ) -> None: ...
    def kept_function(self, model: Any, values: tuple[Any, ...]) -> CompiledFunction | None: ...
    def count_by_name(self, model: Any, given: dict[str, Any]) -> int: ...
    def keep(self, model: Any, values: tuple[Any, ...], function: CompiledFunction) -> CompiledFunction: ...

def kept_function(model: Any, kind: type[CompiledFunction], options: tuple[Any, ...]) -> CompiledFunction: ...
def run_kept(
    model: Any,
    kind: type[CompiledFunction],
    options: tuple[Any, ...],
    arrays: tuple[Any, ...],
    out: Any,
    num_threads: Any,
) -> Any: ...
