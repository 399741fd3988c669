"""Make the public functions of JAX and PyTorch from the declarations of quantities with derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .._functions.general_path import count_steps, option_value
from .._util.validation import as_count
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
    constant, as_int8 : callable
        Of an array; return it without derivatives, and its numbers as int8.
    """

    framework: Framework
    xp: Any
    evaluate: Callable
    as_array: Callable
    as_length: Callable
    constant: Callable
    as_int8: Callable


def public_functions(adapter: Adapter) -> dict[str, Callable]:
    """Return the functions of a framework by their names."""
    return {name: _function(adapter, adapter.framework.quantity(name)) for name in DIFFERENTIABLE}


def _function(adapter: Adapter, quantity: Quantity) -> Callable:
    evaluate, own_name, alone = adapter.evaluate, quantity.name, not quantity.gathered
    arguments = quantity.arguments
    needed = [one.name for one in quantity.inputs if not is_extra(one)]
    extras = {one.name for one in arrays_of(quantity) if is_extra(one)}
    readers = [(one.name, _reader(adapter, one)) for one in quantity.options]
    takes_series = "steps" in arguments

    def run(model, arrays, values, fext, inertias):
        if takes_series:
            arrays, values, fext = _with_series(adapter, model, arrays, values, fext)
        options: tuple = ()
        if values:
            options = tuple([(name, read(x)) for (name, read), x in zip(readers, values, strict=True)])
        if fext is not None:
            arrays, options = (*arrays, fext), (*options, ("fext", True))
        if inertias is not None:
            arrays, options = (*arrays, inertias), (*options, ("inertias", True))
        results = evaluate(own_name, model, arrays, options)
        return results[0] if alone else tuple(results)

    heads = ", ".join(name if value is NEEDED else f"{name}=None" for name, value in arguments.items())
    arrays, values = (
        "".join(f"{name}, " for name in group) for group in (needed, [one.name for one in quantity.options])
    )
    fext, inertias = (name if name in extras else None for name in ("fext", "inertias"))
    text = f"lambda {heads}: run(model, ({arrays}), ({values}), {fext}, {inertias})"
    function = eval(text, {"run": run})  # it binds arguments as any function of Python
    function.__defaults__ = tuple(value for value in arguments.values() if value is not NEEDED)
    function.__name__ = function.__qualname__ = quantity.name
    function.__module__, function.__doc__ = quantity.module, adapter.framework.docstring(quantity)
    return function


def _reader(adapter: Adapter, option: Option) -> Callable:
    """Return the function that checks the value of an option and makes it hashable."""
    own = {"steps": int, "frame": hashable_frames, "h": adapter.as_length}
    if option.name in own:
        return own[option.name]
    return lambda x: x if type(x) is str and x in option.choices else option_value(option, x)


def _with_series(adapter: Adapter, model, arrays: tuple, options: tuple, fext) -> tuple:
    """Return the arguments of a rollout with the number of steps, and with an axis of steps in all forces."""
    (q0, v0, tau), (h, steps, method) = arrays, options
    sizes = model if isinstance(model, Model) else getattr(model, "program", None)  # of Kernels
    if sizes is None:
        require_model(model)
    if steps is None:
        shape = None if tau is None else tuple(adapter.as_array(tau, "tau", ()).shape)
        return arrays, (h, count_steps("tau", shape, (sizes.nv,)), method), fext
    steps = as_count(steps, "steps")
    if tau is None:
        tau = adapter.xp.zeros(sizes.nv, dtype=adapter.as_array(q0, "q0", ()).dtype)
    tau = _in_every_step(adapter, adapter.as_array(tau, "tau", (sizes.nv,)), 1, steps)
    if fext is not None:
        fext = _in_every_step(adapter, adapter.as_array(fext, "fext", (6,)), 2, steps)
    return (q0, v0, tau), (h, steps, method), fext


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
