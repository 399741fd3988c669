"""Raise an error that names the freedom or loop that makes a result not finite."""

from __future__ import annotations

import math

import numpy as np

from ..exceptions import ConfigurationError, NotPositiveDefiniteError
from ..model.model import Model
from .backends import numpy_
from .backends._results import Results
from .backends._routine import Routine
from .program.names import CLOSURES, LOOP_FUNCTIONS, PI
from .program.program import Program


def require_pivots(
    program: Program, name: str, routine: Routine, results: Results, operands, model: Model | None
) -> None:
    """Raise if the result is not finite even at rest: then a pivot is the reason, not v or tau.

    Parameters
    ----------
    program : Program
    name : str
        Of a function of the program.
    routine : Routine
    results : Results
        Locations of its dense result.
    operands : list of ndarray, shapes (1, size)
    model : Model or None
        Its joints are named.

    Raises
    ------
    NotPositiveDefiniteError, ConfigurationError
    """
    kept = ("q", PI)
    names = [argument for argument, _ in program.functions[name].inputs]
    resting = [
        x if argument in kept else np.zeros_like(x) for argument, x in zip(names, operands, strict=True)
    ]
    result = np.empty((1, math.prod(results.shape)), results.dtype)
    routine.batch(resting, result, results, 0, 1)
    if np.isfinite(result).all():
        return
    if name in CLOSURES:
        _raise_open(program, name, resting)
    row = numpy_.failing_pivot(program.functions[name], *(x[0] for x in resting))
    if row is None and name in LOOP_FUNCTIONS:
        raise NotPositiveDefiniteError(f"{name} is not finite: q is a singular configuration of a loop")
    if row is not None:
        from ..model._massless import massless  # few calls fail

        message, freedom = massless(model, row)
        raise NotPositiveDefiniteError(message, row=row, name=freedom)


def _raise_open(program: Program, name: str, operands) -> None:
    """Raise ConfigurationError that names the loop that cannot be closed."""
    loop = numpy_.open_loop(program.functions[name], *(x[0] for x in operands))
    if loop is None:
        raise ConfigurationError(f"{name} is not finite: q is a singular configuration of a loop")
    loop_name, _ = program.loops[loop]
    free = ", ".join(program.independent)
    raise ConfigurationError(f"loop {loop_name!r} cannot be closed at these positions of {free}", loop_name)
