"""Functions of arrays for JAX and PyTorch: values, shapes, and products with derivatives.

Both frameworks differentiate a function by the same four maps, all over one leading axis, with tangents of
configurations as `integrate` reads them:

value   x -> y
jvp     x, dx -> dy             the derivative of y along dx
vjp     x, w -> g               the gradient of w . y, by every x as tangents
hvp     x, w, dx -> dg          the symmetric second derivative of w . y along dx
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._functions.general_path import imported
from .._util.messages import not_a_model
from ..dynamics.inertias import Inertias
from ..model.model import Model
from ..quantities.declaration import Array, Quantity
from ..quantities.frameworks import DIFFERENTIABLE, INERTIAS, inputs_of
from ..quantities.functions import ENTRIES

WORDS = {"value": "value", "jvp": "derivatives", "vjp": "derivatives", "hvp": "second derivatives"}
LIMITS = {"fext": "external forces", "inertias": "inertias"}  # without second derivatives
SOLVERS = {  # of `treefactor.control`, which no quantity declares
    "inverse_kinematics": "adapters._solvers:Search",
    "change of inverse_kinematics": "adapters._solvers:Change",
    "ilqr": "adapters._solvers:Regulation",
}
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
    function : MappedFunction
    kind : str
        "value", "jvp", "vjp" or "hvp".
    inputs, outputs : tuple of tuples of int
        Shapes for one configuration.
    dtype : numpy.dtype
        float64.
    run : callable
        ``run(inputs, outputs)`` takes C-contiguous arrays of dtype and shape (batch, *shape) and writes into
        outputs, which share no memory with inputs; elements with a bad state become NaN.
    """

    __slots__ = ("function", "inputs", "kind", "outputs", "run")
    dtype = np.dtype(np.float64)

    def __init__(self, function: MappedFunction, kind: str, run: Callable):
        self.function, self.kind, self.run = function, kind, run
        self.inputs: Shapes = tuple(shape for group in function.groups(kind) for shape in group)
        self.outputs: Shapes = tuple(function.results(kind))

    @property
    def key(self) -> tuple:
        """Return what tells this map from the others of the same model."""
        return (*self.function.key, self.kind)

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.function.name}, {self.function.model.name or 'a model'}>"


class MappedFunction:
    """Function of arrays for one model and options, with those of the four maps that a subclass defines.

    Parameters
    ----------
    name : str
    model : Model
    options : tuple of (str, value)
        Sorted by name, hashable.
    inputs, outputs : tuple of Argument

    Attributes
    ----------
    names : list of str
        Of the inputs.
    x, dx, w : list of tuples of int
        Shapes of the inputs, of their directions, and of weights of the results.
    order : int
        Of the derivatives that its maps give: 2, 1 (no "hvp") or 0 (only "value").
    kernels : Kernels, optional
        Compute some of the maps, see `_programs.find_function`.
    program : tuple
        Part of the key that tells these kernels from others.
    """

    kernels: Any = None
    program: tuple = ()

    def __init__(self, name: str, model: Model, options: tuple, inputs: tuple, outputs: tuple):
        self.name, self.model, self.options, self.given = name, model, options, dict(options)
        self.inputs: tuple[Argument, ...] = inputs
        self.outputs: tuple[Argument, ...] = outputs
        self.names, self.x, self.dx = (list(each) for each in zip(*inputs, strict=True))
        self.w = [one.tangent for one in outputs]
        kinds = [kind for kind in WORDS if hasattr(self, kind)]
        if set(self.names) & set(LIMITS):
            kinds = [kind for kind in kinds if kind != "hvp"]
        self.maps: dict[str, Any] = {kind: Map(self, kind, getattr(self, kind)) for kind in kinds}
        self.order = 2 if "hvp" in kinds else 1 if "vjp" in kinds else 0

    def groups(self, kind: str) -> list[list[tuple[int, ...]]]:
        """Return the shapes of the inputs of a map: the function's own, then weights, then directions.

        The kind "second" is the second derivative along two directions, which JAX has beside the maps.
        """
        x, dx, w = self.x, self.dx, self.w
        return {"value": [x], "jvp": [x, dx], "vjp": [x, w], "hvp": [x, w, dx], "second": [x, dx, dx]}[kind]

    def results(self, kind: str) -> list[tuple[int, ...]]:
        """Return the shapes of the results of a map."""
        if kind == "value":
            return [argument.shape for argument in self.outputs]
        return self.w if kind in ("jvp", "second") else self.dx

    @property
    def key(self) -> tuple:
        """Return what tells this function from the others of the same model."""
        return (*self.program, self.name, self.options)

    def map(self, kind: str) -> Map:
        """Return one of the four maps; raise NotImplementedError if the function has none of this kind."""
        if kind not in self.maps:
            raise NotImplementedError(f"treefactor has no {WORDS[kind]} of {self.title}")
        return self.maps[kind]

    @property
    def title(self) -> str:
        """Return the name, with the inputs that limit derivatives."""
        limits = [LIMITS[name] for name in self.names if name in LIMITS]
        return f"{self.name} with {' and '.join(limits)}" if limits else self.name


class ArrayFunction(MappedFunction):
    """Quantity as a function of arrays; this class has only values, subclasses also products.

    Parameters
    ----------
    quantity : Quantity
        With a derivative.
    model : Model
    options : tuple of (str, value)
        Sorted by name, hashable; those of the quantity, and True for extra inputs: fext, inertias.
    """

    def __init__(self, quantity: Quantity, model: Model, options: tuple):
        self.model, self.quantity, self.given = model, quantity, dict(options)
        self.frame = self.given.get("frame")
        arrays = inputs_of(quantity, self.given)
        results = tuple(self._argument(one) for one in quantity.results if not one.when)
        super().__init__(quantity.name, model, options, tuple(map(self._argument, arrays)), results)
        self.needed = len(inputs_of(quantity, {}))
        self.fixed = self._fixed()
        self.function = ENTRIES[self.name].function
        further = list(quantity.arguments)[1 + self.needed :]  # up to the last option by place: in less time
        last = max((further.index(name) + 1 for name in self.fixed), default=0)
        self.further = tuple(self.fixed.get(name, quantity.arguments[name]) for name in further[:last])
        self._last: tuple = np.empty((0, model.njoints, 10)), None  # inertias of the last call

    def _fixed(self) -> dict[str, Any]:
        """Return the options of the function that computes the values."""
        fixed = {name: value for name, value in self.given.items() if name not in LIMITS}
        return fixed | ({"frame": list(self.frame)} if isinstance(self.frame, tuple) else {})

    def _argument(self, array: Array) -> Argument:
        """Return name and shapes of an argument or a result."""
        sizes = {"frames": len(self.frame)} if isinstance(self.frame, tuple) else {}
        if "steps" in self.given:
            sizes |= {"T": self.given["steps"], "T + 1": self.given["steps"] + 1}
        shape = tuple(
            axis if isinstance(axis, int) else sizes[axis] if axis in sizes else getattr(self.model, axis)
            for axis in array.shape
            if axis != "frames" or sizes
        )
        turning = array.shape[-1:] == ("nq",)
        return Argument(array.name, shape, (*shape[:-1], self.model.nv) if turning else shape)

    def value(self, inputs, outputs) -> None:
        """Compute outputs from inputs, see `Map`."""
        out = outputs[0] if len(outputs) == 1 else tuple(outputs)
        if len(inputs) == self.needed:
            self.function(self.model, *inputs, *self.further, out=out)
        else:
            self.function(self.model, *inputs[: self.needed], **self.extras(inputs), **self.fixed, out=out)

    def extras(self, inputs) -> dict[str, Any]:
        """Return inputs that need not be given by name: external forces, and inertias as `Inertias`."""
        extras = dict(zip(self.names[self.needed :], inputs[self.needed :], strict=True))
        if INERTIAS.name in extras:
            extras[INERTIAS.name] = self._inertias(extras[INERTIAS.name])
        return extras

    def _inertias(self, pi: np.ndarray) -> Inertias:
        """Return the inertias of all elements, or one set that they share."""
        if len(pi) and (pi[1:] == pi[0]).all():
            pi = pi[0]
        last, inertias = self._last
        if inertias is None or not np.array_equal(pi, last):
            inertias = Unchecked(self.model, pi)
            self._last = pi.copy(), inertias
        return inertias


class Unchecked(Inertias):
    """Inertias whose numbers need not be finite: elements with others become NaN.

    Notes
    -----
    Thread-compatible.
    """

    def _require_finite(self, *arguments) -> None:
        """Accept all numbers."""


def array_function(name: str, model: Model, **options: Any) -> Any:
    """Return a `MappedFunction` of a model; equal options of one model give the same object."""
    if not isinstance(model, Model):
        raise TypeError(not_a_model(model))
    if "_array_functions" not in model.__dict__:
        model._keep(_array_functions={})
    kept, key = model.__dict__["_array_functions"], (name, tuple(sorted(options.items())))
    function = kept.get(key)
    if function is None:
        if name in SOLVERS:
            made = imported(SOLVERS[name])(model, key[1])
        else:
            quantity = DIFFERENTIABLE[name]
            made = imported(quantity.derivative.rule)(quantity, model, key[1])
        function = kept.setdefault(key, made)
    return function
