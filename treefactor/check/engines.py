"""Name the engines that can be compared; import their modules, or a user's own file, when one is wanted."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Literal

from .._util.messages import similar
from .._util.protocol import Engine
from ..exceptions import AdapterError


@dataclass(frozen=True)
class ChosenEngine:
    """Engine of a comparison.

    Attributes
    ----------
    name : str
        Among ``ENGINES``, or the path of a user's own file.
    python : str
        Interpreter that has the engine and treefactor, "" for this one.
    timeout : float or None
        Seconds for one robot, None for those of the engine's class (``LIMITS``).
    options : tuple of str
        Options of the engine that are always set.
    label : str
        Name in results, "" for that of the engine, or of the file without its folder and ending.

    Notes
    -----
    Immutable.
    """

    name: str
    python: str = ""
    timeout: float | None = None
    options: tuple[str, ...] = ()
    label: str = ""

    @property
    def title(self) -> str:
        """Name by which the engine is reported."""
        return self.label or title(self.name)

    @property
    def weight(self) -> str:
        """Class of the engine; a user's own counts as medium."""
        return ENGINES[self.name].weight if self.name in ENGINES else "medium"

    @property
    def seconds(self) -> float:
        """Seconds for one robot."""
        return self.timeout or LIMITS[self.weight]


OBLIGATORY = (*("NAME", "READS", "DTYPE"), "load", "joints", "base", "mass_matrix", "bias")


@dataclass(frozen=True)
class KnownEngine:
    """Engine that treefactor has a module for.

    Attributes
    ----------
    module : str
        Of treefactor.
    weight : {"light", "medium", "heavy"}
        Time to import and to load: below a second, some seconds, a minute and more (JAX compiles).
    pip : str
        Argument of ``pip install``.
    distribution : str
        Whose version is reported.
    newest_python : tuple of int
        Newest version of Python that the distribution has wheels for, empty if that is not limited.
    """

    module: str
    weight: Literal["light", "medium", "heavy"]
    pip: str
    distribution: str
    newest_python: tuple[int, ...] = ()

    @property
    def remedy(self) -> str:
        """How to get the engine where it is not installed."""
        if self.newest_python and sys.version_info[:2] > self.newest_python:
            wanted = ".".join(map(str, self.newest_python))
            running = ".".join(map(str, sys.version_info[:2]))
            own = f"use Python {wanted}, pip install {self.pip}"
            checkout = f"make demo PYTHON=python{wanted}, or make {self.distribution}, which builds it"
            return f"it has no wheels for Python {running}: {own}; in a checkout {checkout}"
        return f"pip install {self.pip}"


def _known(
    name: str, weight: str, distribution: str, module: str = "", newest_python: tuple[int, ...] = ()
) -> KnownEngine:
    module = module or f"treefactor.adapters.{name}_"
    return KnownEngine(module, weight, f"'treefactor[{name}]'", distribution, newest_python)


ENGINES = {
    "pinocchio": _known("pinocchio", "light", "pin", "treefactor.adapters._pinocchio_engine"),
    "pybullet": _known("pybullet", "medium", "pybullet", newest_python=(3, 11)),
    "mujoco": _known("mujoco", "light", "mujoco"),
    "drake": _known("drake", "light", "drake"),
    "idyntree": _known("idyntree", "light", "idyntree"),
    "dart": _known("dart", "light", "dartpy"),
    "adam": _known("adam", "light", "adam-robotics"),
    "rtb": _known("rtb", "medium", "roboticstoolbox-python"),
    "newton": _known("newton", "medium", "newton"),
    "mjx": _known("mjx", "heavy", "mujoco-mjx"),
    "jaxsim": _known("jaxsim", "heavy", "jaxsim"),
    "frax": _known("frax", "heavy", "frax"),
    "treefactor": KnownEngine("treefactor.check.own", "light", "treefactor", "treefactor"),
}
LIMITS = {"light": 60.0, "medium": 120.0, "heavy": 600.0}  # seconds for one robot


def engine_module(name: str) -> Engine:
    """Import the module of an engine, or the file of a user's own.

    Parameters
    ----------
    name : str
        Among ``ENGINES``, or the path of a Python file with the functions of the engine protocol.

    Raises
    ------
    AdapterError
        If the engine is not installed, there is no such engine, or a file lacks a part of the protocol.
    """
    if name in ENGINES:
        with _uncollected():
            return import_module(ENGINES[name].module)
    path = Path(name)
    if path.suffix != ".py" or not path.is_file():
        hint = similar(name, ENGINES) or f"; known are {', '.join(ENGINES)}"
        raise AdapterError(f"{name}: no engine of that name, and no file of Python{hint}", engine=name)
    return _own_file(path)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector off: it would look through what an import creates again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class IncompleteEngineError(AdapterError):
    """Raised when a user's file lacks functions of the engine protocol."""


def has_pinocchio() -> bool:
    """Return whether Pinocchio, the reference of most comparisons, can be imported."""
    try:
        import_module("treefactor.adapters.pinocchio_")
    except AdapterError:
        return False
    return True


def title(name: str) -> str:
    """Return the name by which an engine is reported: a file's without its folder."""
    return Path(name).stem if name not in ENGINES else name


def pip_of(name: str) -> str:
    """Return the argument of ``pip install`` for an engine, "" for a user's own file."""
    return ENGINES[name].pip if name in ENGINES else ""


def engine_version(name: str) -> str:
    """Return the version of an engine's distribution, "" if it is not installed or a user's own file."""
    if name not in ENGINES:
        return ""
    try:
        return version(ENGINES[name].distribution)
    except PackageNotFoundError:
        return ""


def _own_file(path: Path) -> Engine:
    """Import a user's file, once for every path."""
    key = f"treefactor_engine_{path.resolve()}"
    if key in sys.modules:
        return sys.modules[key]
    spec = spec_from_file_location(key, path)
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise AdapterError(f"{path}: {error}", engine=path.stem, file=path) from error
    missing = [part for part in OBLIGATORY if not hasattr(module, part)]
    if missing:
        reason = f"{path}: the engine lacks {', '.join(missing)}"
        raise IncompleteEngineError(reason, engine=path.stem, file=path)
    sys.modules[key] = module
    return module
