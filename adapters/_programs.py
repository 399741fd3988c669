"""Functions of compiled programs for JAX and PyTorch: values, and derivatives that were generated."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

from .._util.messages import not_a_model
from ..codegen import Kernels
from ..exceptions import CodegenError
from ..model.digests import number_of
from ..model.model import Model
from ..quantities.frameworks import inputs_of
from ..quantities.functions import QUANTITIES
from ._maps import ArrayFunction, array_function
from ._rules import Motion


class ProgramMap:
    """Map of a function that a compiled program computes, in its dtype; see `Map`.

    Attributes
    ----------
    routine : tuple, optional
        The routine of the function, all results in one, and its results one by one; None for motions.

    Notes
    -----
    Thread-safe.
    """

    def __init__(self, kernels: Kernels, function: ArrayFunction, kind: str, generated: str = ""):
        shapes = function.map(kind)
        self.key, self.dtype = (*function.key, kind), kernels.dtype
        self.name = f"{generated or function.name} of a program"
        self.inputs, self.outputs = shapes.inputs, shapes.outputs
        self.routine = None
        if generated:
            self.routine = *kernels._find(generated, "dense"), kernels._separate_results(generated)
        call = partial(kernels.call, generated)
        if not generated:
            call = partial(getattr(kernels, function.name), **function.fixed)
        self.run: Callable = partial(_run, call)


def _run(call: Callable, inputs, outputs) -> None:
    """Compute outputs from inputs, see `Map`."""
    call(*inputs, out=outputs[0] if len(outputs) == 1 else tuple(outputs))


def model_of(given: Model | Kernels) -> Model:
    """Return a model, or that of a program; raise TypeError or CodegenError if there is none."""
    if not isinstance(given, (Model, Kernels)):
        raise TypeError(not_a_model(given, others=" or treefactor.Kernels"))
    model = given if isinstance(given, Model) else given._model
    if model is None:
        raise CodegenError("derivatives need the model: make these kernels by treefactor.compile(model, ...)")
    return model


def find_function(name: str, given: Model | Kernels, **options: Any) -> Any:
    """Return the function of a model, or one with the maps that a program computes; see `array_function`."""
    function = array_function(name, model_of(given), **options)
    if isinstance(given, Model):
        return function
    function = copy(function)
    function.kernels = given
    function.program = "program", given.backend, given.dtype.name, number_of(given.program)
    if isinstance(function, Motion) or QUANTITIES[name].generated:
        for key, words in (("fext", "external forces"), ("inertias", "inertias as inputs")):
            if options.get(key):
                raise CodegenError(
                    f"programs have no {words} inside JAX and PyTorch: pass the model to use {key}"
                )
        function.maps = function.maps | _program_maps(given, function)
    return function


def _program_maps(kernels: Kernels, function: ArrayFunction) -> dict[str, ProgramMap]:
    """Return the value of a function and its derivatives that were generated."""
    if isinstance(function, Motion):
        return {"value": ProgramMap(kernels, function, "value")}
    name, functions = _generated_name(function), kernels.program.functions
    if name not in functions:
        raise CodegenError(f"{name!r} was not generated, only {', '.join(functions)}")
    if "pi" in dict(functions[name].inputs):
        raise CodegenError(
            f"{name!r} was generated with parameters as inputs, which JAX and PyTorch cannot pass: pass "
            "the model, and the parameters as inertias"
        )
    names = {"value": name, **_products(function)}
    return {kind: ProgramMap(kernels, function, kind, own) for kind, own in names.items() if own in functions}


def _products(function: ArrayFunction) -> dict[str, str]:
    """Return the names of products with derivatives that take the arguments of the maps, by kind of map."""
    base = QUANTITIES[function.quantity.derivative.case_of or function.name]
    if function.names != [one.name for one in inputs_of(base, {})]:
        return {}
    return {kind: getattr(base.derivative, kind) for kind in function.maps if kind != "value"}


def _generated_name(function: ArrayFunction) -> str:
    """Return the name of a function in a program."""
    options = function.given
    if "frame" not in options:
        return function.name
    reference = options.get("reference", "LOCAL")
    return ":".join([function.name, str(options["frame"]), *[reference] * (reference != "LOCAL")])
