"""Types of the compiled module."""

from collections.abc import Callable
from typing import Any

from .._util._bound_call import BoundCall
from ._state_function import StateFunction

class BoundStateFunction(BoundCall):
    def __init__(
        self, function: StateFunction, arrays: tuple[Any, ...], out: Any, general_path: Callable[..., Any]
    ) -> None: ...

def call(
    model: Any,
    kind: type[StateFunction],
    options: tuple[Any, ...],
    arrays: tuple[Any, ...],
    out: Any,
    threads: Any,
    general_path: Callable[..., Any],
) -> Any: ...
