"""Check tensors and bring them to one leading axis, and results back to the leading axes of the arguments."""

from __future__ import annotations

import math
from itertools import repeat
from numbers import Real

import numpy as np
import torch

from ..exceptions import DtypeError, ShapeError
from ._torch_ops import Signature, call, run, signature
from ._torch_transforms import is_recorded

DTYPES = (torch.float64, torch.float32)


def apply(name: str, model, tensors, options: tuple) -> tuple[torch.Tensor, ...]:
    """Return the results of a function for tensors whose leading axes broadcast, see `Adapter`."""
    function = signature(name, model, options)
    lead = _equal_leading_axes(function, tensors)
    if lead is None:
        lead = _broadcast_leading_axes(function, tensors)
    count = math.prod(lead)
    compiling = torch.compiler.is_dynamo_compiling()
    if compiling or is_recorded(tensors):
        if not compiling and len(lead) == 1 and all(map(_has_shape, tensors, function.inputs, repeat(count))):
            return tuple(call("value", *tensors, number=function.number))
        arrays = [
            x.expand(*lead, *shape).reshape(count, *shape)
            for x, shape in zip(tensors, function.inputs, strict=True)
        ]
        outputs = call("value", *arrays, number=function.number)
        return tuple(y.reshape(*lead, *shape) for y, shape in zip(outputs, function.outputs, strict=True))
    inputs = [_as_batch(x, lead, count, shape) for x, shape in zip(tensors, function.inputs, strict=True)]
    values = run("value", function.number, inputs, count, inputs[0].dtype)
    return tuple(
        torch.from_numpy(y.reshape(*lead, *shape)) for y, shape in zip(values, function.outputs, strict=True)
    )


def _has_shape(x: torch.Tensor, shape: tuple[int, ...], count: int) -> bool:
    """Return whether a tensor has the shape (count, *shape)."""
    return x.shape == (count, *shape)


def _as_batch(x: torch.Tensor, lead: tuple[int, ...], count: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return a tensor as an array of shape (count, *shape), in its own memory where that is possible."""
    array = x.detach().numpy() if x.requires_grad else x.numpy()
    if array.shape != lead + shape:
        array = np.broadcast_to(array, lead + shape)
    return array if len(lead) == 1 else array.reshape((count, *shape))


def _equal_leading_axes(function: Signature, tensors) -> tuple[int, ...] | None:
    """Return the leading axes of all tensors; None if they differ, or if an argument is wrong."""
    first, shapes = tensors[0], function.inputs
    if not isinstance(first, torch.Tensor) or first.dtype not in function.dtypes:
        return None
    dtype, lead = first.dtype, tuple(first.shape[: max(first.dim() - len(shapes[0]), 0)])
    for x, shape in zip(tensors, shapes, strict=True):
        if not isinstance(x, torch.Tensor) or x.dtype is not dtype or x.shape != lead + shape:
            return None
        if not x.is_cpu or x.layout is not torch.strided:
            return None
    return lead


def _broadcast_leading_axes(function: Signature, tensors) -> tuple[int, ...]:
    """Return the leading axes that all tensors broadcast to; raise an error that names a wrong argument."""
    leads, first = [], tensors[0]
    for name, shape, x in zip(function.names, function.inputs, tensors, strict=True):
        as_tensor(x, name, shape)
        if x.dtype not in function.dtypes:
            raise DtypeError(
                f"{name} must have dtype torch.float32, got {x.dtype}: convert it with {name}.float(), or "
                "compile with dtype=np.float64",
                x.dtype,
            )
        if x.dtype != first.dtype:
            raise DtypeError(
                f"{name} has dtype {x.dtype}, but {function.names[0]} has {first.dtype}: convert one of them",
                x.dtype,
            )
        leads.append(tuple(x.shape[: x.dim() - len(shape)]))
    try:
        return tuple(torch.broadcast_shapes(*leads))
    except RuntimeError:
        shown = ", ".join(f"{name} {lead}" for name, lead in zip(function.names, leads, strict=True))
        raise ShapeError(f"the leading axes do not broadcast: {shown}", leads[-1], leads[0]) from None


def as_tensor(x, name: str, shape: tuple[int, ...] = ()) -> torch.Tensor:
    """Return a tensor of float64 or float32 on the CPU with these last axes, or raise."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(
            f"{name} must be a torch.Tensor, got {type(x).__name__}: treefactor's own functions take arrays"
        )
    if x.dtype not in DTYPES:
        raise DtypeError(f"{name} must hold float64 or float32, got {x.dtype}: convert it", x.dtype)
    if x.device.type != "cpu":
        raise ValueError(
            f"{name} is on device {x.device}, but treefactor computes on the CPU: call {name}.cpu()"
        )
    if x.layout != torch.strided:
        raise TypeError(f"{name} must be a strided tensor, got layout {x.layout}: call {name}.to_dense()")
    received = tuple(x.shape)
    if received[max(len(received) - len(shape), 0) :] != shape:
        wanted = f"(..., {', '.join(map(str, shape))})"
        raise ShapeError(f"{name} must have shape {wanted}, got {received}", received, ("...", *shape))
    return x


def as_length(h) -> float:
    """Return the length of a time step; it is a constant, so a tensor could lose its gradient."""
    if isinstance(h, torch.Tensor) or not isinstance(h, Real):
        raise TypeError(
            f"h must be a number, got {type(h).__name__}: the length of a step has no gradient; call h.item()"
        )
    return float(h)
