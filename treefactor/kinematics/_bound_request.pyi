"""Types of the fast path, and of the calls that `treefactor.bind` returns."""

from collections.abc import Callable
from typing import Any

from ._request import Request

def key_of(frame: Any) -> Any: ...
def code_of(kind: int, reference: Any, option: int) -> int: ...
def key_of_placed(kind: int, reference: Any, body: Any, R: Any, p: Any) -> Any: ...
def call_placed(model: Any, kind: int, reference: Any, body: Any, R: Any, p: Any, q: Any, v: Any) -> Any: ...
def call(
    model: Any,
    kind: int,
    frame: Any,
    reference: Any,
    option: int,
    q: Any,
    v: Any,
    a: Any,
    out: Any,
    threads: Any,
    general_path: Callable[..., Any],
) -> Any: ...

class BoundRequest:
    @property
    def out(self) -> Any: ...
    def __new__(cls, request: Request, *arguments: Any) -> BoundRequest: ...
    def __call__(self) -> Any: ...
