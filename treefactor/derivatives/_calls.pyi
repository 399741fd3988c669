"""Types of the compiled module."""

from collections.abc import Callable
from typing import Any

from .._functions._compiled_function import CompiledFunction

def call(
    model: Any,
    kind: type[CompiledFunction],
    options: tuple[Any, ...],
    arrays: tuple[Any, ...],
    out: Any,
    threads: Any,
    general_path: Callable[..., Any],
) -> Any: ...
