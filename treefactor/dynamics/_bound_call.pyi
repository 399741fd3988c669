"""Types of the fast path, and of its bound calls."""

from typing import Any

from .._util._bound_call import BoundCall

class Bound(BoundCall): ...

def call(
    model: Any, op: int, q: Any, v: Any, x: Any, fext: Any, out: Any, threads: Any, general_path: Any
) -> Any: ...
