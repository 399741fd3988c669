"""Describe functions of arrays for JAX and PyTorch: values, shapes, and products with derivatives.

Both frameworks differentiate a function by the same four maps, all over one leading axis, with tangents of
configurations as `integrate` reads them:

value   x -> y
jvp     x, dx -> dy             the derivative of y along dx
vjp     x, w -> g               the gradient of w . y, by every x as tangents
hvp     x, w, dx -> dg          the symmetric second derivative of w . y along dx
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..model.model import Model

WORDS = {"value": "value", "jvp": "derivatives", "vjp": "derivatives", "hvp": "second derivatives"}
Shapes = tuple[tuple[int, ...], ...]


class Argument(NamedTuple):
    """Name and shapes of an array for one configuration, and of its tangent."""

    name: str
    shape: tuple[int, ...]
    tangent: tuple[int, ...]


class Map:
    """One of the four maps of a function.

    Attributes
    ----------
    function : ArrayFunction
    kind : str
        "value", "jvp", "vjp" or "hvp".
    inputs, outputs : tuple of tuples of int
        Shapes for one configuration.
    run : callable
        ``run(inputs, outputs)`` takes float64 C-contiguous arrays of shape (batch, *shape) and writes into
        outputs, which share no memory with inputs; elements with a bad state become NaN.
    """

    __slots__ = ("function", "inputs", "kind", "outputs", "run")

    def __init__(self, function: ArrayFunction, kind: str, run: Callable):
        x = tuple(argument.shape for argument in function.inputs)
        dx = tuple(argument.tangent for argument in function.inputs)
        y = tuple(argument.shape for argument in function.outputs)
        self.function, self.kind, self.run = function, kind, run
        self.inputs: Shapes = {"value": x, "jvp": x + dx, "vjp": x + y, "hvp": x + y + dx}[kind]
        self.outputs: Shapes = y if kind in ("value", "jvp") else dx

    @property
    def key(self) -> tuple:
        """Return what tells this map from the others of the same model."""
        return (*self.function.key, self.kind)

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.function.name}, {self.function.model.name or 'a model'}>"


class ArrayFunction:
    """Function of arrays, for one model and options.

    Attributes
    ----------
    name : str
        Of the function of `treefactor`.
    model : Model
    options : tuple of (str, value)
        Sorted by name, hashable.
    inputs, outputs : tuple of Argument
    order : int
        Of the derivatives that its maps give: 2, 1 (no "hvp") or 0 (only "value").
    """

    def __init__(self, name: str, model: Model, options: tuple, inputs, outputs, runs: dict[str, Callable]):
        self.name, self.model, self.options = name, model, options
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.maps = {kind: Map(self, kind, run) for kind, run in runs.items()}
        self.order = 2 if "hvp" in runs else 1 if "vjp" in runs else 0

    @property
    def key(self) -> tuple:
        """Return what tells this function from the others of the same model."""
        return (self.name, self.options)

    def map(self, kind: str) -> Map:
        """Return one of the four maps; raise NotImplementedError if the function has none of this kind."""
        if kind not in self.maps:
            raise NotImplementedError(f"treefactor has no {WORDS[kind]} of {self.title}")
        return self.maps[kind]

    @property
    def title(self) -> str:
        """Return the name, with the inputs that limit derivatives."""
        words = {"fext": "external forces", "inertias": "inertias"}
        limits = [words[argument.name] for argument in self.inputs if argument.name in words]
        return f"{self.name} with {' and '.join(limits)}" if limits else self.name


def unit_vectors(n: int, batch: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every row of x n times, one after the other, beside the unit vectors, both (batch n, ...)."""
    return np.repeat(x, n, axis=0), np.tile(np.eye(n), (batch, 1))
