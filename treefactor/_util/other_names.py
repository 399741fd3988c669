"""Say in errors what to use here for an argument that other packages have."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def explain_other_names(**uses: str) -> Callable[[Function], Function]:
    """Decorate a function: a call with one of these arguments raises TypeError that says what to use here."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def call(*arguments, **options):
            for name in options:
                if name in uses:
                    own = function.__qualname__.removesuffix(".__init__")
                    raise TypeError(f"{own} has no argument {name!r}: {uses[name]}")
            return function(*arguments, **options)

        return cast(Function, call)

    return decorate
