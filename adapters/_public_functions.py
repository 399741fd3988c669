"""Make the public functions of JAX and PyTorch from the declarations of quantities with derivatives."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from .._functions.general_path import option_value
from .._util.validation import as_count
from ..dynamics.rollouts import count_steps
from ..model.frames import Frame, index_of
from ..model.model import Model, require_model
from ..quantities.declaration import NEEDED, Option, Quantity
from ..quantities.frameworks import DIFFERENTIABLE, Framework, arrays_of, is_extra


class Adapter(NamedTuple):
    """What the functions need of a framework.

    Attributes
    ----------
    framework : Framework
    xp : module
        jax.numpy or torch.
    evaluate : callable
        Of the name of a function, the model, arrays, and pairs of names and values of options, see
        `array_function`; returns a tuple of arrays.
    as_array : callable
        Of an array, its name and its last axes; returns the array, or raises an error.
    as_length : callable
        Of the length of a step; returns it as float, or raises an error.
    """

    framework: Framework
    xp: Any
    evaluate: Callable
    as_array: Callable
    as_length: Callable


def public_functions(adapter: Adapter) -> dict[str, Callable]:
    """Return the functions of a framework by their names."""
    return {name: _function(adapter, adapter.framework.quantity(name)) for name in DIFFERENTIABLE}


def _function(adapter: Adapter, quantity: Quantity) -> Callable:
    evaluate, own_name, alone = adapter.evaluate, quantity.name, not quantity.gathered
    arguments = quantity.arguments
    names, defaults = tuple(arguments), tuple(arguments.values())
    required = defaults.count(NEEDED)
    end = 1 + sum(not is_extra(one) for one in quantity.inputs)  # arrays that are needed follow the model
    extras = [(one.name, names.index(one.name)) for one in arrays_of(quantity) if is_extra(one)]
    options = [(one.name, names.index(one.name), _reader(adapter, one)) for one in quantity.options]
    takes_series = "steps" in arguments

    def function(*given, **named):
        if named or not required <= len(given) <= len(names):
            given = _positional(signature, defaults, given, named)
        values = given + defaults[len(given) :]
        if takes_series:
            values = _with_series(adapter, names, values)
        arrays, chosen = list(values[1:end]), [(name, read(values[k])) for name, k, read in options]
        for name, k in extras:
            if values[k] is not None:
                arrays.append(values[k])
                chosen.append((name, True))
        results = evaluate(own_name, values[0], arrays, tuple(chosen))
        return results[0] if alone else tuple(results)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(name, kind, default=inspect.Parameter.empty if value is NEEDED else value)
        for name, value in arguments.items()
    ]
    signature = inspect.Signature(parameters)
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = quantity.name
    function.__module__, function.__doc__ = quantity.module, adapter.framework.docstring(quantity)
    return function


def _positional(signature: inspect.Signature, defaults: tuple, given: tuple, named: dict) -> tuple:
    """Return all arguments in their order; raise TypeError if one is missing, unknown or given twice."""
    names = tuple(signature.parameters)
    values = {**dict(zip(names, defaults, strict=True)), **dict(zip(names, given, strict=False)), **named}
    ordered, twice = tuple(values.values()), any(name in named for name in names[: len(given)])
    if len(given) > len(names) or len(ordered) > len(names) or twice or any(x is NEEDED for x in ordered):
        signature.bind(*given, **named)  # raises
    return ordered


def _reader(adapter: Adapter, option: Option) -> Callable:
    """Return the function that checks the value of an option and makes it hashable."""
    own = {"steps": int, "frame": hashable_frames, "h": adapter.as_length}
    return own.get(option.name) or partial(option_value, option)


def _with_series(adapter: Adapter, names: tuple[str, ...], given: tuple) -> tuple:
    """Return arguments with the number of steps, and with an axis of steps in forces that have none."""
    values = dict(zip(names, given, strict=True))
    model, tau, fext, steps = (values[name] for name in ("model", "tau", "fext", "steps"))
    sizes = model if isinstance(model, Model) else getattr(model, "program", None)  # of Kernels
    if sizes is None:
        require_model(model)
    if steps is None:
        shape = None if tau is None else tuple(adapter.as_array(tau, "tau", ()).shape)
        return tuple((values | {"steps": count_steps(shape, sizes.nv)}).values())
    values["steps"] = steps = as_count(steps, "steps")
    if tau is None:
        tau = adapter.xp.zeros(sizes.nv, dtype=adapter.as_array(values["q0"], "q0", ()).dtype)
    values["tau"] = _in_every_step(adapter, adapter.as_array(tau, "tau", (sizes.nv,)), 1, steps)
    if fext is not None:
        values["fext"] = _in_every_step(adapter, adapter.as_array(fext, "fext", (6,)), 2, steps)
    return tuple(values.values())


def _in_every_step(adapter: Adapter, x, axes: int, steps: int):
    """Return an array with an axis of steps before its last axes."""
    place = x.ndim - axes
    if place < 0:
        return x  # the error about its shape follows
    lead, last = tuple(x.shape[:place]), tuple(x.shape[place:])
    return adapter.xp.broadcast_to(x.reshape((*lead, 1, *last)), (*lead, steps, *last))


def hashable_frames(frame):
    """Return a frame as a name, an int or a Frame, and several as a tuple of these: options are keys."""
    if isinstance(frame, (list, tuple)):
        return tuple(_hashable_frame(one) for one in frame)
    return _hashable_frame(frame)


def _hashable_frame(frame):
    return frame if isinstance(frame, (str, Frame)) else index_of(frame, "frame")
