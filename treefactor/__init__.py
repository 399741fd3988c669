"""Branch-sparse linear algebra and dynamics of kinematic trees.

Names and subpackages are imported when they are first used. `__init__.pyi` lists them, each with its module.
"""

import os
import re
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any


def _modules_of_names(stub: str) -> dict[str, str]:
    """Map names to their modules, from lines `from .module import name as name`."""
    lines = re.findall(r"^from \.(\S*) import (\w+) as ", stub, re.MULTILINE)
    return {name: module for module, name in lines}


_stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_MODULES = _modules_of_names(_stub)
__all__ = list(_modules_of_names(_stub.partition("\ndef __dir__")[0]))
del _stub
# Modules import each other, and Python hands out unfinished ones when threads import such modules at once.
_lock = RLock()


def __getattr__(name: str) -> Any:
    """Import a name when it is first used; the error about an unknown name tells what to use instead."""
    module = _MODULES.get(name)
    if module is None:
        raise _no_attribute(name)
    with _lock:
        if module == "":
            found = import_module(f"{__name__}.{name}")
        else:  # an attribute of the module, or a module within it
            found = getattr(__import__(f"{__name__}.{module}", fromlist=[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return the names for completion and `help`: those of `__all__`."""
    return __all__.copy()


def _no_attribute(name: str) -> AttributeError:
    """Return the error about an unknown name; it looks for the name in subpackages with public names."""
    if name.startswith("_"):  # asked for by the interpreter and by tools, not by people
        return AttributeError(f"{__name__} has no attribute {name!r}")
    from ._util.elsewhere import no_attribute

    for subpackage in ("codegen", "constraints", "identification", "mlcp"):
        __getattr__(subpackage)
    return no_attribute(__name__, name, _MODULES)


def _renew_lock() -> None:
    """Make a new lock in a forked child, where no thread is left to release the old one."""
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
