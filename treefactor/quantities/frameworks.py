"""Declarations of the functions that JAX and PyTorch have, their docstrings and types, from the table."""

from __future__ import annotations

from typing import NamedTuple

from .declaration import Array, Quantity
from .docstrings import text_of
from .functions import QUANTITIES

DIFFERENTIABLE = {name: one for name, one in QUANTITIES.items() if one.derivative}
INERTIAS = Array(
    "inertias",
    ("njoints", 10),
    axes="In the place of the model's, as ``Model.parameters``: one set, or one for every element.",
    optional=True,
)
ONCE = "With external forces or inertias there are no second derivatives."
NAN = "NaN for states that are not finite, have rotations of another length than 1, or have no solution."


class Framework(NamedTuple):
    """What differs between the functions of the frameworks.

    Attributes
    ----------
    name, module : str
        Module of the functions, relative to the package.
    array, argument, model : str
        Types of results, arguments and models, for docstrings.
    errors : tuple of str
        Exceptions for arguments that do not fit.
    """

    name: str
    module: str
    array: str
    argument: str
    model: str
    errors: tuple[str, ...]

    def quantity(self, name: str) -> Quantity:
        """Return the declaration of a function of the framework."""
        own = DIFFERENTIABLE[name]
        assert own.derivative
        options = tuple(one for one in own.options if one.name in own.derivative.options)
        arrays = tuple(one for one in arrays_of(own) if one is not INERTIAS)
        kept = {one.name for one in (*arrays, *options)}
        absent = [
            one for one in own.arguments if one not in {*kept, "model", "out", "num_threads", "inertias"}
        ]
        limited = own.inertias or "fext" in kept
        return own._replace(
            inputs=tuple(one._replace(type=self.argument) for one in arrays),
            results=tuple(
                one._replace(type=self.array, packed="", lanes="") for one in own.results if not one.when
            ),
            options=options,
            parameters=tuple(one for one in own.parameters if one in kept),
            has_out=False,
            has_threads=False,
            fails="",
            errors=tuple(one for one in own.errors if one[0] == "InvalidModelError"),
            batch_rounds=False,
            spoiled=NAN,
            counterparts=(),
            source="",
            notes=own.derivative.notes or ONCE * limited,
            details=f"As `treefactor.{name}`, inside {self.name}"
            f"{', without its arguments ' * bool(absent)}{', '.join(absent)}.",
            examples="",
            module=f"treefactor.{self.module}",
        )

    def docstring(self, quantity: Quantity) -> str:
        """Return the docstring of a function of the framework."""
        model = f"model : {self.model}", "" if quantity.mimic else "Must not have mimic joints."
        shape = "shape (..., njoints, 10), optional"
        common = {"model": model, "inertias": (f"inertias : {self.argument}, {shape}", INERTIAS.axes)}
        reason = "If an argument does not fit the model or the other arguments; names the argument."
        return text_of(quantity, common, self.errors, reason)


JAX = Framework(
    "JAX",
    "adapters.jax_",
    "jax.Array",
    "array_like",
    "Model or Kernels",
    ("ShapeError", "DtypeError"),
)
TORCH = Framework(
    "PyTorch",
    "adapters.torch_",
    "torch.Tensor",
    "torch.Tensor",
    "Model or Kernels",
    ("TypeError", "DtypeError", "ShapeError", "ValueError"),
)
FRAMEWORKS = (JAX, TORCH)


def arrays_of(quantity: Quantity) -> tuple[Array, ...]:
    """Return the arguments that frameworks differentiate: all but those that only ask for further results."""
    asking = {one.name for one in quantity.options if one.kind == "presence"}
    arrays = tuple(one for one in quantity.inputs if one.name not in asking)
    return (*arrays, INERTIAS) if quantity.inertias else arrays


def is_extra(array: Array) -> bool:
    """Return whether an argument need not be given."""
    return array.optional and not array.needed


def inputs_of(quantity: Quantity, options: dict) -> list[Array]:
    """Return the arguments of a call: those that must be given, and those whose names the options have."""
    return [one for one in arrays_of(quantity) if not is_extra(one) or options.get(one.name)]
