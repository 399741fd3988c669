"""Types of what explains calls whose arguments do not fit."""

from collections.abc import Iterable

def explain(objects: Iterable[object]) -> None: ...
