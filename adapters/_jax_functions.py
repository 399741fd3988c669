"""Evaluate functions of a model or of a compiled program in JAX: finds the function, checks its arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._util.messages import received
from .._util.validation import as_number, require_unmasked
from ..codegen import Kernels
from ..exceptions import DtypeError, ShapeError
from ..model.digests import digest
from ..model.model import Model
from ._jax_motions import tangent_of_formula, tangent_of_motion
from ._jax_rules import Function, bind
from ._manifold import Manifold
from ._maps import LIMITS, SOLVERS
from ._programs import find_function, model_of
from ._rules import Motion

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def function_of(name: str, model: Model | Kernels, options: tuple = ()) -> Function:
    """Return a function for JAX; a model or program keeps those that were used."""
    model_of(model)
    if "_jax_functions" not in model.__dict__:
        model._keep(_jax_functions={})
    kept, key = model.__dict__["_jax_functions"], (name, options)
    function = kept.get(key)
    if function is None:
        function = kept.setdefault(key, _make(name, model, dict(options)))
    return function


def _make(name: str, given: Model | Kernels, options: dict) -> Function:
    arrays, model = find_function(name, given, **options), model_of(given)
    manifold = Manifold(model, jnp)
    _try(arrays.map("value"))
    tangent = None
    if isinstance(arrays, Motion):
        extras = tuple((key, True) for key in LIMITS if options.get(key))
        dynamics = function_of("forward_dynamics", arrays.dynamics, extras)
        tangent = tangent_of_motion(name, dynamics, options["h"], options["method"])
    elif not arrays.order and name not in SOLVERS:
        tangent = tangent_of_formula(getattr(manifold, name))
    return Function(arrays, manifold, digest(model), tangent)


def _try(value) -> None:
    """Evaluate an empty batch: what treefactor refuses raises its own error, before XLA wraps it."""
    inputs, outputs = (
        [np.empty((0, *shape), value.dtype) for shape in shapes] for shapes in (value.inputs, value.outputs)
    )
    value.run(inputs, outputs)


def evaluate(name: str, model: Model | Kernels, given: Sequence, options: tuple) -> list:
    """Return the results of a function for arrays whose leading axes broadcast, see `Adapter`."""
    function = function_of(name, model, options)
    arrays = [as_array(x, one.name, one.shape) for x, one in zip(given, function.arrays.inputs, strict=True)]
    names, kernels = function.arrays.names, function.arrays.kernels
    if kernels is not None:
        kernels._precision.require_arrays(dict(zip(names, arrays, strict=True)))
    if any(array.dtype != arrays[0].dtype for array in arrays):
        types = ", ".join(f"{name} {array.dtype}" for name, array in zip(names, arrays, strict=True))
        raise DtypeError(f"expected arrays of one type, float32 or float64, got {types}: convert with astype")
    leads = [array.shape[: array.ndim - len(shape)] for array, shape in zip(arrays, function.x, strict=True)]
    if any(lead != leads[0] for lead in leads):
        try:
            np.broadcast_shapes(*leads)
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(names, arrays, strict=True))
            raise ShapeError(f"leading axes do not broadcast: {shapes}") from None
    return _evaluate(function, *arrays)


def as_array(x, name: str, shape: tuple[int, ...]) -> jax.Array:
    """Return an argument as an array of floating-point numbers with these last axes, or raise."""
    given = x
    if not isinstance(x, jax.Array):
        require_unmasked(x, name)
        if not hasattr(x, "__jax_array__"):
            traced = isinstance(x, (list, tuple)) and any(isinstance(a, Tracer) for a in jax.tree.leaves(x))
            x = jnp.asarray(x) if traced else np.asarray(x)
        if x.dtype.kind not in "iubfcV":  # V: types of JAX's own, such as bfloat16
            raise DtypeError(f"{name} must hold numbers, got {received(given)}", x.dtype)
        x = jnp.asarray(x, float if x.dtype.kind in "iub" else None)
    if x.dtype not in FLOATS:
        raise DtypeError(f"{name} must be float32 or float64, got {x.dtype}: convert it with astype", x.dtype)
    if x.shape[max(x.ndim - len(shape), 0) :] != shape:
        expected = f"(..., {', '.join(map(str, shape))})"
        raise ShapeError(f"expected {name} of shape {expected}, got {x.shape}", x.shape, expected)
    return x


@partial(jax.jit, static_argnums=0, inline=True)
def _evaluate(function: Function, *arrays) -> list:
    """Bring arrays to equal leading axes and apply the function; compiled once for every shape."""
    tails = [len(shape) for shape in function.x]
    lead = np.broadcast_shapes(*(x.shape[: x.ndim - k] for x, k in zip(arrays, tails, strict=True)))
    spread = [jnp.broadcast_to(x, (*lead, *s)) for x, s in zip(arrays, function.x, strict=True)]
    return bind("value", function, spread)


def as_length(h) -> float:
    """Return the length of a step; it is a constant."""
    if isinstance(h, Tracer):
        raise TypeError(
            "h must be a number of Python, got a tracer of JAX: the length of a step can be neither "
            "differentiated nor mapped; close over it, or name it in static_argnums"
        )
    return as_number(h, "h")
