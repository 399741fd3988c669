"""Select the backend that runs a program: interpreter, compiled C, LLVM, or NumPy as the reference."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import chain

import numpy as np

from ..._util.validation import Sealed
from ...dynamics._recursions import Bodies
from ...exceptions import CodegenError
from ...tolerances import UNIT_SQUARE
from ...tree.lanes import from_lanes
from ...tree.tree import Tree
from ..lower.lowering import lower
from ..program.precision import REGISTER, Precision
from ..program.program import Function, Program
from . import numpy_
from ._interp import DerivativeSolver, Interpreter, Recursion, Solver
from ._native import Native, second_cache
from ._results import Results


class Reference(Sealed):
    """Evaluate a function with NumPy; has the interface of `Routine`."""

    _function: Function
    _rotations: np.ndarray
    _pivots: bool
    _precision: Precision

    def __init__(self, function: Function, rotations: np.ndarray, pivots: bool, precision: Precision):
        self._keep(_function=function, _rotations=rotations, _pivots=pivots, _precision=precision)

    def fast_path(self, operands, out, results, threads) -> None:
        """No fast path: always returns None."""

    fast_parts = fast_path

    def bind(self, operands, out, results, general_path):
        """No fast path: returns the general path."""
        return general_path

    def batch(self, operands, out, results, first: int, stop: int) -> None:
        """Compute the results of configurations first .. stop-1."""
        count = stop - first
        if results.takes_lanes:
            operands = [from_lanes(np.broadcast_to(x, (len(out), *x.shape[1:]))) for x in operands]
        inputs = [x[first:stop] if len(x) > 1 else np.broadcast_to(x, (count, x.shape[1])) for x in operands]
        computed = numpy_.evaluate(self._function, *inputs, dtype=self._precision.dtype.type)
        computed = computed.reshape(count, self._function.output.size)
        values = np.append(computed, np.zeros((count, 1)), axis=1)[:, results.slots] * results.signs
        values[~self._is_valid(inputs)] = np.nan
        if self._pivots:
            values[~np.isfinite(values).all(axis=1)] = np.nan
        lane, lanes = np.arange(first, stop), self._precision.lanes
        out[(lane,) if out.ndim == 2 else (lane // lanes, slice(None), lane % lanes)] = values

    def _is_valid(self, inputs) -> np.ndarray:
        """Return which configurations are finite and have rotations of unit length."""
        valid = np.all([np.isfinite(x).all(axis=1) for x in inputs], axis=0)
        for first, size in self._rotations:
            square = np.square(inputs[0][:, first : first + size]).sum(axis=1)
            valid &= np.abs(square - 1.0) <= UNIT_SQUARE
        return valid


def interpreted(program: Program, precision: Precision, bodies: Bodies | None = None) -> Callable:
    """Return a function that returns the interpreter of a function of the program.

    It returns the routine, the slots and signs of its results, and a slot that holds 0. With the bodies of a
    model, "rnea_derivatives" of one configuration are those of the recursion.
    """

    def routine(function: Function, rotations: np.ndarray, pivots: bool) -> tuple:
        code, names = lower(function), [name for name, _ in function.inputs]
        sizes = [size for _, size in function.inputs]
        constants = code.constants.astype(precision.dtype)
        given = sizes, code.slots, rotations, pivots, precision.dtype, constants, code.words
        results = code.output, function.sign, code.zero
        if bodies is not None and function.name == "rnea_derivatives":
            return Recursion(*given, bodies, *results), *results
        if not function.equations or precision.is_single:
            return Interpreter(*given), *results
        sources = []
        for equation in function.equations:
            own, *places, _ = routine(equation, rotations, False)
            sources.append((own, Results(*places, equation.shape)))
        operands = [names.index(name) for name, _ in function.equations[0].inputs]
        forces = names.index("tau") if "tau" in names else -1
        pattern = Tree(program.parent).pattern
        kind = Solver if len(sources) == 1 else DerivativeSolver
        solver = kind(*given, *sources[0], operands, forces, pattern, *chain.from_iterable(sources[1:]))
        return solver, *results

    return routine


def evaluated(program: Program, precision: Precision) -> Callable:
    """Return the same as `interpreted` for evaluation by NumPy."""

    def routine(function: Function, rotations: np.ndarray, pivots: bool) -> tuple:
        size = function.output.size
        return Reference(function, rotations, pivots, precision), np.arange(size), np.ones(size), size

    return routine


def _cc(program: Program, precision: Precision) -> Callable:
    """Compile with the system's C compiler; returns a function like `interpreted`."""
    from .build import compiled

    return machine_code(compiled(program, precision=precision))


def _llvm(program: Program, precision: Precision) -> Callable:
    """Compile with LLVM; returns a function like `interpreted`."""
    from .emit_llvm import compiled

    return machine_code(compiled(program, precision=precision))


def groups_in_cache(slots: int) -> int:
    """Return how many workspaces of a register's lanes fit into half of the second-level cache, 1 to 8."""
    size = second_cache()
    return min(max((size if size > 0 else CACHE) // 2 // (slots * REGISTER), 1), MOST_GROUPS)


def machine_code(code) -> Callable:
    """Return a function like `interpreted` for compiled code."""

    def routine(function: Function, rotations: np.ndarray, pivots: bool) -> tuple:
        sizes = [size for _, size in function.inputs]
        first, size = sum(sizes), function.output.size
        forms = code.one(function.name), code.lanes(function.name)
        to_u = sum(sizes[: function.after_v])
        slots, (groups, live) = first + size + 1, code.groups(function.name)
        together = groups_in_cache(slots + live) if groups else 1
        several = (groups, live, together) if together > 1 else (0, 0, 1)
        native = Native(sizes, slots, rotations, pivots, code.precision.dtype, *forms, to_u, code, *several)
        return native, first + np.arange(size), np.ones(size), first + size

    return routine


MOST_GROUPS = 8  # more are slower on the robots that were measured
CACHE = 2**19  # bytes assumed where the size of the second-level cache is unknown
BACKENDS = {  # maps each name to a function that makes a function like `interpreted` for a program
    "interp": interpreted,
    "cc": _cc,
    "llvm": _llvm,
    "numpy": evaluated,
}


def made_by(name: str, program: Program, precision: Precision, bodies: Bodies | None) -> tuple[str, Callable]:
    """Return a backend and its routine factory; the interpreter with a warning if the backend fails.

    Bodies: those of the model, for the interpreter.
    """
    if name == "interp":
        return name, interpreted(program, precision, bodies)
    try:
        return name, BACKENDS[name](program, precision)
    except CodegenError as error:
        warnings.warn(f"{error}; the interpreter takes the place of {name}", RuntimeWarning, stacklevel=5)
        return "interp", interpreted(program, precision, bodies)
