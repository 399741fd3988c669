"""Import the names of a package when they are first used."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any

# Modules import each other, and Python hands out unfinished ones when threads import such modules at once.
lock = RLock()


def lazy_names(
    package: str, file: str, functions: Iterable[str] = (), searched: Iterable[str] = ()
) -> tuple[list[str], dict[str, str], Callable[[str], Any]]:
    """Return the public names of a package, the modules of all names, and its ``__getattr__``.

    Parameters
    ----------
    package, file : str
        ``__name__`` and ``__file__``. The types beside the file list names, each with its module, in lines
        ``from .module import name as name``; those below a ``def __dir__`` are not public.
    functions : iterable of str
        Names of further functions, which the table of quantities has.
    searched : iterable of str
        Subpackages in which the error about an unknown name looks for it.
    """
    types = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = re.findall(r"^from (\.\S*) import (\w+) as |^(def __dir__)", types, re.MULTILINE)
    modules = dict.fromkeys(functions, "..quantities.functions")
    public = None
    for module, name, end in lines:
        if end:
            public = list(modules)
        else:
            modules[name] = module

    def find(name: str) -> Any:
        """Import a name when it is first used; the error about an unknown name tells what to use instead."""
        if name not in modules:
            raise _no_attribute(package, name, modules, searched)
        with lock:
            value = _imported(package, modules[name], name)
        setattr(sys.modules[package], name, value)
        return value

    return public or sorted(modules), modules, find


def _imported(package: str, module: str, name: str) -> Any:
    """Return a module of a package, or the attribute of one; that may be a module, too."""
    if module == ".":
        return import_module(f".{name}", package)
    path = import_module(module, package).__name__
    return getattr(__import__(path, fromlist=[name]), name)


def _no_attribute(
    package: str, name: str, modules: dict[str, str], searched: Iterable[str]
) -> AttributeError:
    """Return the error about an unknown name."""
    if name.startswith("_"):  # asked for by the interpreter and by tools, not by people
        return AttributeError(f"{package} has no attribute {name!r}")
    from .elsewhere import no_attribute

    for subpackage in searched:
        import_module(f".{subpackage}", package)
    return no_attribute(package, name, modules)


def _renew_lock() -> None:
    """Make a new lock in a forked child, where no thread is left to release the old one."""
    global lock
    lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
