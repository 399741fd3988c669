"""Write the types of the functions of all quantities, here and in JAX and PyTorch, for tools that run no Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .declaration import NEEDED, Quantity
from .frameworks import DIFFERENTIABLE, FRAMEWORKS, JAX, TORCH, Framework

HEAD = '''"""Types of the functions of `functions`; written by `make generate` from the table."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._functions._entry import Entry
from ..model.model import Model
from .declaration import Quantity

QUANTITIES: dict[str, Quantity]
ENTRIES: dict[str, Entry]

'''
HEADS = {
    JAX: '''"""Types of the functions of `jax_`; written by `make generate` from the table."""

from typing import Any

import jax
from numpy.typing import ArrayLike

from ..codegen import Kernels
from ..model.model import Model
from ._jax_parameters import from_log_cholesky as from_log_cholesky

''',
    TORCH: '''"""Types of the functions of `torch_`; written by `make generate` from the table."""

from typing import Any

from torch import Tensor

from ..model.model import Model
from ._torch_parameters import from_log_cholesky as from_log_cholesky

''',
}
ADAPTERS = Path(__file__).parents[2]  # of a checkout


class Types(NamedTuple):
    """Types of models, arrays that are arguments, inertias, and results."""

    model: str
    argument: str
    inertias: str
    array: str


OWN = Types("Model", "ArrayLike", "Any", "np.ndarray")
OF_FRAMEWORKS = {
    JAX: Types("Model | Kernels", "ArrayLike", "ArrayLike | None", "jax.Array"),
    TORCH: Types("Model", "Tensor", "Tensor | None", "Tensor"),
}


def stubs(quantities: dict[str, Quantity]) -> str:
    """Return the text of the file of types."""
    return HEAD + _text_of(_stub(one, OWN, f"compiled class {one.kernel}") for one in quantities.values())


def stubs_of(framework: Framework) -> str:
    """Return the text of the file of types of a framework's functions."""
    names = sorted(["from_log_cholesky", *DIFFERENTIABLE])
    public = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n\n"
    types = OF_FRAMEWORKS[framework]
    functions = (_stub(framework.quantity(name), types, f"see treefactor.{name}") for name in DIFFERENTIABLE)
    return HEADS[framework] + public + _text_of(functions)


def _text_of(functions: Iterable[Iterator[str]]) -> str:
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in functions)


def _stub(quantity: Quantity, types: Types, note: str) -> Iterator[str]:
    yield f"# declared in quantities; {note}"
    yield f"def {quantity.name}("
    for name, default in quantity.arguments.items():
        shown = "" if default is NEEDED else f" = {_text(default)}"
        yield f"    {name}: {_type(quantity, name, types)}{shown},"
    yield f") -> {_result(quantity, types)}: ..."


def _text(default) -> str:
    if isinstance(default, tuple):
        return "..."  # text signatures write it as a list
    return repr(default).replace("'", '"')


def _type(quantity: Quantity, name: str, types: Types) -> str:
    """Return the type of an argument."""
    common = {"model": types.model, "num_threads": "int", "inertias": types.inertias}
    if name in common:
        return common[name]
    if name == "out":
        return "tuple[np.ndarray, ...] | None" if quantity.gathered else "np.ndarray | None"
    for array in quantity.inputs:
        if array.name == name:
            return f"{types.argument} | None" if array.optional else types.argument
    option = next(one for one in quantity.options if one.name == name)
    if option.choices and all(isinstance(choice, str) for choice in option.choices):
        return "str" if option.kind == "choice" else "Any"
    if option.kind == "number":
        return "float" if option.default is NEEDED else "int | None"
    return "bool" if option.kind == "flag" else "Any"


def _result(quantity: Quantity, types: Types) -> str:
    """Return the type of what a function returns; numbers and arrays are not told apart."""
    if types is not OWN:
        return f"tuple[{types.array}, {types.array}]" if quantity.gathered else types.array
    return "Any" if quantity.gathered or not quantity.results[0].shape else "np.ndarray"


if __name__ == "__main__":
    from .functions import QUANTITIES

    Path(__file__).with_name("functions.pyi").write_text(stubs(QUANTITIES), encoding="utf-8")
    for framework in FRAMEWORKS:
        path = ADAPTERS.joinpath(*framework.module.split(".")).with_suffix(".pyi")
        path.write_text(stubs_of(framework), encoding="utf-8")
