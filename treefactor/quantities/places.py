"""Find where a quantity is declared, compiled, differentiated, generated and checked: files and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from .declaration import Quantity
from .table import QUANTITIES, TABLE

ROOT = Path(__file__).parents[1]
CALLED = re.compile(r"(?:recursions|kernels)(?:\(lanes\))?\.(\w+)\(")  # kernels in the text of a class


def places(quantity: Quantity) -> Iterator[tuple[str, str]]:
    """Yield what a quantity consists of, and file and line of each that this installation has."""
    module = next(one for one in TABLE if quantity in vars(one).values())
    yield from _line("declaration", Path(str(module.__file__)), rf"^{quantity.name} = Quantity")
    path, _, name = quantity.kernel.partition(":")
    source = next(one for one in _sources(path) if one.is_file())
    yield from _line("compiled class", source, rf"^(cdef class|class|def) {name}\b")
    for kernel in _kernels(source, name) if quantity.has_model else [quantity.key.replace(".", "_")]:
        yield from _kernel(kernel)
    if quantity.derivative:
        for product in filter(None, quantity.derivative[:4]):
            yield "derivative", f"treefactor.{product}"
        rule, _, of_rule = quantity.derivative.rule.partition(":")
        spec = find_spec(f"{ROOT.name}.{rule}")  # adapters of a checkout are beside the package
        assert spec
        yield from _line("JAX, PyTorch", Path(str(spec.origin)), rf"^class {of_rule}\b")
    for one in quantity.generated:
        name = f"{quantity.name}:FRAME" if one.group == "frames" else one.name or quantity.name
        yield "generated", f"treefactor.generate(model, [{name!r}])"
    for counterpart in quantity.counterparts:
        yield "Pinocchio", f"pinocchio.{counterpart.name}"
    if quantity.oracle:
        module_of_oracle, _, function = quantity.oracle.partition(":")
        tests = ROOT.parent / "tests" / Path(*module_of_oracle.split("."))
        yield from _line("oracle", tests.with_suffix(".py"), rf"^def {function}\b")


def _sources(module: str) -> Iterator[Path]:
    """Yield the files that may hold a module; installations lack those in Cython, but have their types."""
    for suffix in (".pyx", ".py", ".pyi"):
        yield ROOT.joinpath(*module.split(".")).with_suffix(suffix)


def _line(what: str, path: Path, pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the file and the line at which a pattern begins, if the file is there."""
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        match = re.search(pattern, text, re.MULTILINE)
        if match:
            yield what, f"{path}:{text.count(chr(10), 0, match.start()) + 1}"


def _kernels(source: Path, name: str) -> list[str]:
    """Return the kernels that a class calls itself, or by its base."""
    if not source.is_file():
        return []
    text = source.read_text(encoding="utf-8")
    match = re.search(rf"^cdef class {name}\((\w+)\):.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        return []
    return list(dict.fromkeys(CALLED.findall(match.group()))) or _kernels(source, match.group(1))


def _kernel(name: str) -> Iterator[tuple[str, str]]:
    """Yield the places that define a kernel."""
    for path in sorted((ROOT / "kernels").rglob("*.h")):
        yield from _line("kernel", path, rf"^(((static )?(INLINE )?void NAME)|KERNEL)\({name}\)")


def quantity_of(name: str) -> Quantity | None:
    """Return the declared quantity of that name, or None; poses and rotations as "se3.exp"."""
    return QUANTITIES.get(name.removeprefix("treefactor.").removeprefix("tf."))
