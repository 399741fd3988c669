"""What runs a program: the interpreter, machine code by a compiler, and NumPy as the reference."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from ..._util.validation import Sealed
from ...exceptions import CodegenError
from ...tolerances import UNIT_SQUARE
from ..lower.lowering import lower
from ..program.program import Function, Program
from . import numpy_
from ._interp import Interpreter
from ._native import Native

LANES = 8


class Reference(Sealed):
    """A function evaluated by NumPy, called as a `Routine` is."""

    _function: Function
    _turned: np.ndarray
    _pivots: bool

    def __init__(self, function: Function, turned: np.ndarray, pivots: bool):
        self._keep(_function=function, _turned=turned, _pivots=pivots)

    def quick(self, given, out, results, threads) -> None:
        """Nothing is quick."""

    def bind(self, given, out, results, slowly):
        """The slow call."""
        return slowly

    def batch(self, operands, out, results, first: int, stop: int) -> None:
        """Results of configurations first .. stop-1."""
        count = stop - first
        given = [x[first:stop] if len(x) > 1 else np.broadcast_to(x, (count, x.shape[1])) for x in operands]
        found = numpy_.evaluate(self._function, *given).reshape(count, self._function.output.size)
        values = np.append(found, np.zeros((count, 1)), axis=1)[:, results.slots] * results.signs
        values[~self._usable(given)] = np.nan
        if self._pivots:
            values[~np.isfinite(values).all(axis=1)] = np.nan
        lane = np.arange(first, stop)
        out[(lane,) if out.ndim == 2 else (lane // LANES, slice(None), lane % LANES)] = values

    def _usable(self, given) -> np.ndarray:
        """Which configurations are finite, their rotations of unit length."""
        usable = np.all([np.isfinite(x).all(axis=1) for x in given], axis=0)
        for first, size in self._turned:
            square = np.square(given[0][:, first : first + size]).sum(axis=1)
            usable &= np.abs(square - 1.0) <= UNIT_SQUARE
        return usable


def interpreted(function: Function, turned: np.ndarray, pivots: bool) -> tuple:
    """Routine, and of its results: slots, signs, and a slot that holds 0."""
    code, sizes = lower(function), [size for _, size in function.inputs]
    machine = Interpreter(sizes, code.slots, turned, pivots, code.constants, code.words)
    return machine, code.output, function.sign, code.zero


def evaluated(function: Function, turned: np.ndarray, pivots: bool) -> tuple:
    """As `interpreted`, row by row."""
    size = function.output.size
    return Reference(function, turned, pivots), np.arange(size), np.ones(size), size


def _cc(program: Program) -> Callable:
    """As `interpreted`, by the system's compiler."""
    from .build import compiled

    return machine_code(compiled(program))


def _llvm(program: Program) -> Callable:
    """As `interpreted`, by LLVM."""
    from .emit_llvm import compiled

    return machine_code(compiled(program))


def machine_code(code) -> Callable:
    """As `interpreted`, of what has addresses."""

    def routine(function: Function, turned: np.ndarray, pivots: bool) -> tuple:
        sizes = [size for _, size in function.inputs]
        first, size = sum(sizes), function.output.size
        forms = code.one(function.name), code.lanes(function.name)
        native = Native(sizes, first + size + 1, turned, pivots, *forms, code)
        return native, first + np.arange(size), np.ones(size), first + size

    return routine


BACKENDS = {  # by name: what makes of a program something like `interpreted`
    "interp": lambda program: interpreted,
    "cc": _cc,
    "llvm": _llvm,
    "numpy": lambda program: evaluated,
}


def made_by(name: str, program: Program) -> tuple[str, Callable]:
    """A backend's name and what it makes of a program; those of the interpreter where that fails."""
    try:
        return name, BACKENDS[name](program)
    except CodegenError as error:
        warnings.warn(f"{error}; the interpreter takes the place of {name}", RuntimeWarning, stacklevel=4)
        return "interp", interpreted
