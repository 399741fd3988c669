"""Write what follows from the table and from stored times: types, public names, API pages, ratios.

Types are those of all quantities, here and in JAX and PyTorch. Ratios are those to Pinocchio's times, which
`treefactor advise` prints. `make generate` writes them, and a test compares them with the table and the times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .declaration import NEEDED, Quantity
from .frameworks import DIFFERENTIABLE, FRAMEWORKS, JAX, TORCH, Framework
from .table import QUANTITIES, section

PACKAGE = Path(__file__).parents[1]
FUNCTIONS = ".quantities.functions"
NAME = r"^   ([\w.]+)$"  # line of a table of an API page
HEAD = '''"""Types of the functions of `functions`; written by `make generate` from the table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._functions._entry import Entry
from ..model.model import Model
from .table import QUANTITIES as QUANTITIES

ENTRIES: Mapping[str, Entry]

def functions_of(module: str) -> dict[str, Any]: ...

'''
GROUPS = {"se3": "Poses", "so3": "Rotations"}  # modules of functions without a model: their sections
GROUP_HEAD = '''"""Types of the functions of `{}`; written by `make generate` from the table."""

import numpy as np
from numpy.typing import ArrayLike

'''
HEADS = {
    JAX: '''"""Types of the functions of `jax_`; written by `make generate` from the table."""

from typing import Any

import jax
from numpy.typing import ArrayLike

from ..codegen import Kernels
from ..model.model import Model
from ._jax_parameters import from_log_cholesky as from_log_cholesky
from ._public_solvers import Motions, Solutions

''',
    TORCH: '''"""Types of the functions of `torch_`; written by `make generate` from the table."""

from typing import Any

from torch import Tensor

from ..codegen import Kernels
from ..model.model import Model
from ._public_solvers import Motions, Solutions
from ._torch_parameters import from_log_cholesky as from_log_cholesky

''',
}
SOLVERS = """
# made in _public_solvers; see treefactor.control.inverse_kinematics
def inverse_kinematics(
    model: Model,
    targets: {argument},
    frame: Any,
    q0: {argument} | None = None,
    *,
    limits: Any = True,
    joints: Any = None,
    restarts: int | None = None,
    starts: int = 1,
    stall: int = 6,
    iterations: int = 1000,
    tolerance: Any = 1e-4,
    seed: int = 0,
) -> Solutions: ...

# made in _public_solvers; see treefactor.control.ilqr
def ilqr(
    model: Model,
    q0: {argument},
    v0: {argument},
    u: {argument},
    cost: Any,
    dt: float,
    *,
    method: str = "single",
    control_limits: Any = None,
    actuated: Any = None,
    second_order: bool = False,
    iterations: int = 100,
    tolerance: float = 1e-9,
    regularization: float = 1e-9,
) -> Motions: ...
"""
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
    TORCH: Types("Model | Kernels", "Tensor", "Tensor | None", "Tensor"),
}


def stubs() -> str:
    """Return the text of the file of types of all functions of a model."""
    return HEAD + _own(one for one in QUANTITIES.values() if one.has_model)


def stubs_of_group(name: str) -> str:
    """Return the text of the file of types of a module of functions without a model."""
    group = section(GROUPS[name])
    return GROUP_HEAD.format(name) + _public(one.name for one in group) + _own(group)


def _own(quantities: Iterable[Quantity]) -> str:
    return _text_of(_stub(one, OWN, f"compiled class {one.kernel}") for one in quantities)


def stubs_of(framework: Framework) -> str:
    """Return the text of the file of types of a framework's functions."""
    public = _public(["from_log_cholesky", "ilqr", "inverse_kinematics", *DIFFERENTIABLE])
    types = OF_FRAMEWORKS[framework]
    functions = (_stub(framework.quantity(name), types, f"see treefactor.{name}") for name in DIFFERENTIABLE)
    return HEADS[framework] + public + _text_of(functions) + SOLVERS.format(argument=types.argument)


def _public(names: Iterable[str]) -> str:
    """Return the list of public names of a file of types."""
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n\n"


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
    if option.kind in ("number", "count"):
        return {"number": "float", "count": "int | None"}[option.kind]
    return "bool" if option.kind == "flag" else "Any"


def _result(quantity: Quantity, types: Types) -> str:
    """Return the type of what a function returns; numbers and arrays are not told apart."""
    if types is not OWN:
        return f"tuple[{types.array}, {types.array}]" if quantity.gathered else types.array
    return "Any" if quantity.gathered or not quantity.results[0].shape else "np.ndarray"


def public_names(text: str) -> str:
    """Return the list of public names of the package with those of all quantities, in the order of modules."""
    public, dunder, others = text.partition("\ndef __dir__")
    lines = [line for line in public.splitlines() if not line.startswith(f"from {FUNCTIONS} ")]
    listed = set(re.findall(r" as (\w+)$", others, re.MULTILINE))  # reachable, but not public
    own = [
        f"from {FUNCTIONS} import {one.name} as {one.name}"
        for one in QUANTITIES.values()
        if one.module == "treefactor" and one.name not in listed
    ]
    first = next(k for k, line in enumerate(lines) if line.startswith("from ") and line > f"from {FUNCTIONS}")
    return "\n".join([*lines[:first], *sorted(own), *lines[first:]]) + f"\n{dunder}{others}"


def api_page(text: str) -> str:
    """Return an API page with the quantities of every section before the other names of its table."""
    return re.sub(r"^#+ ([\w ]+)\n.*?(?=^#|\Z)", _section, text, flags=re.MULTILINE | re.DOTALL)


def _section(match: re.Match) -> str:
    """Return a section of an API page."""
    declared = [one.key for one in section(match[1])]
    if not declared:
        return match[0]
    others = [name for name in re.findall(NAME, match[0], re.MULTILINE) if name not in QUANTITIES]
    names = "".join(f"   {name}\n" for name in [*declared, *others])
    return re.sub(rf"({NAME}\n)+", names, match[0], count=1, flags=re.MULTILINE)


def ratios(measured: dict) -> str:
    """Return the text of the file with the smallest and the largest ratio over robots of every measurement."""
    of_robots: dict[str, dict[str, list[float]]] = {}
    for results in measured["robots"].values():
        for one in results:
            of_robots.setdefault(one["what"], {}).setdefault(one["target"], []).append(one["ratio"])
    ranges = {
        what: {
            way: [float(f"{end:.3g}") for end in (min(values), max(values))] for way, values in ways.items()
        }
        for what, ways in of_robots.items()
    }
    lines = ",\n".join(f"    {json.dumps(what)}: {json.dumps(ways)}" for what, ways in ranges.items())
    robots, used = json.dumps(list(measured["robots"])), json.dumps(measured["config"]["used"])
    return f'{{\n  "robots": {robots},\n  "used": {used},\n  "ratios": {{\n{lines}\n  }}\n}}\n'


def of_framework(framework: Framework) -> Path:
    """Return the file with the types of a framework's functions."""
    return ADAPTERS.joinpath(*framework.module.split(".")).with_suffix(".pyi")


def files() -> dict[Path, str]:
    """Return the texts that follow from the table, by their files."""
    names, docs = PACKAGE / "__init__.pyi", PACKAGE.parent / "docs"
    times = docs / "measured" / "from_pinocchio.json"
    return {
        PACKAGE / "quantities" / "functions.pyi": stubs(),
        **{PACKAGE / f"{name}.pyi": stubs_of_group(name) for name in GROUPS},
        PACKAGE / "quantities" / "ratios.json": ratios(json.loads(times.read_text(encoding="utf-8"))),
        **{of_framework(one): stubs_of(one) for one in FRAMEWORKS},
        names: public_names(names.read_text(encoding="utf-8")),
        **{page: api_page(page.read_text(encoding="utf-8")) for page in sorted((docs / "api").glob("*.md"))},
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
