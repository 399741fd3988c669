"""Write the types of the functions of all quantities, `functions.pyi`, for tools that run no Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .declaration import NEEDED, Quantity

HEAD = '''"""Types of the functions of `functions`; written by `make generate` from the table."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._functions._entry import Entry
from ..model.model import Model
from .table import QUANTITIES as QUANTITIES

ENTRIES: dict[str, Entry]

'''


def stubs(quantities: dict[str, Quantity]) -> str:
    """Return the text of the file of types."""
    return HEAD + "\n".join("".join(f"{line}\n" for line in _stub(one)) for one in quantities.values())


def _stub(quantity: Quantity) -> Iterator[str]:
    yield f"# declared in quantities; compiled class {quantity.kernel}"
    yield f"def {quantity.name}("
    for name, default in quantity.arguments.items():
        shown = "" if default is NEEDED else f" = {_text(default)}"
        yield f"    {name}: {_type(quantity, name)}{shown},"
    yield f") -> {_result(quantity)}: ..."


def _text(default) -> str:
    if isinstance(default, tuple):
        return "..."  # text signatures write it as a list
    return repr(default).replace("'", '"')


def _type(quantity: Quantity, name: str) -> str:
    """Return the type of an argument."""
    common = {"model": "Model", "num_threads": "int", "inertias": "Any"}
    if name in common:
        return common[name]
    if name == "out":
        return "tuple[np.ndarray, ...] | None" if quantity.gathered else "np.ndarray | None"
    for array in quantity.inputs:
        if array.name == name:
            return "ArrayLike | None" if array.optional else "ArrayLike"
    option = next(one for one in quantity.options if one.name == name)
    if option.choices and all(isinstance(choice, str) for choice in option.choices):
        return "str" if option.kind == "choice" else "Any"
    return "bool" if option.kind == "flag" else "Any"


def _result(quantity: Quantity) -> str:
    """Return the type of what a function returns; numbers and arrays are not told apart."""
    return "Any" if quantity.gathered or not quantity.results[0].shape else "np.ndarray"


if __name__ == "__main__":
    from .table import QUANTITIES

    Path(__file__).with_name("functions.pyi").write_text(stubs(QUANTITIES), encoding="utf-8")
