"""Import the names of a package when they are first used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(package: str, file: str, functions: Iterable[str]) -> tuple[list[str], Callable[[str], Any]]:
    """Return ``__all__`` and ``__getattr__`` of a package.

    Parameters
    ----------
    package, file : str
        ``__name__`` and ``__file__``. The types beside the file list names, each with its module, in lines
        ``from .module import name as name``.
    functions : iterable of str
        Names of further functions, which the table of quantities has.
    """
    types = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = re.findall(r"^from (\.\w+) import (\w+) as ", types, re.MULTILINE)
    modules = dict.fromkeys(functions, "..quantities.functions") | {name: module for module, name in lines}

    def find(name: str) -> Any:
        """Import a name when it is first used; the error about an unknown name tells what to use instead."""
        if name not in modules:
            from .elsewhere import no_attribute

            raise no_attribute(package, name, modules)
        with sys.modules[package.partition(".")[0]]._lock:  # one for all names: modules import each other
            value = getattr(import_module(modules[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(modules), find
