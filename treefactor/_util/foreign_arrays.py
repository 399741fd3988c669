"""Read arrays of other libraries, and explain what NumPy cannot read; the libraries are not imported.

JAX and PyTorch trace functions with values that are not arrays: `treefactor.adapters.jax_` and
`treefactor.adapters.torch_` have the functions that take them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from ..exceptions import DtypeError

ADAPTERS = "treefactor.adapters"
CPU = 1  # kDLCPU of the DLPack standard


def from_dlpack(values, name: str) -> np.ndarray:
    """Return an object that has only the DLPack protocol as an array that shares its memory."""
    device = values.__dlpack_device__() if hasattr(values, "__dlpack_device__") else (CPU, 0)
    if int(device[0]) != CPU:
        kind = type(values).__name__
        raise DtypeError(
            f"{name} must be in the memory of the CPU, got {kind} on DLPack device {int(device[0])}: copy it"
        )
    try:
        return np.from_dlpack(values)
    except (TypeError, RuntimeError, BufferError, AttributeError) as error:
        raise unreadable(values, name, error) from error


def require_no_tangent(values, name: str) -> None:
    """Raise DtypeError for tensors with a tangent of PyTorch's forward mode: NumPy would drop it."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "autograd"):
        return
    forward = torch.autograd.forward_ad
    if getattr(forward, "_current_level", 0) < 0:
        return  # no forward mode is active
    for one in _of_package(values, "torch"):
        if isinstance(one, torch.Tensor) and forward.unpack_dual(one).tangent is not None:
            raise DtypeError(f"{name} is a tensor of torch with a tangent: {_advice('torch_')}")


def unreadable(values, name: str, error: Exception) -> DtypeError:
    """Return the error about values that NumPy cannot read; ``error`` is NumPy's or the library's."""
    for one in _of_package(values, "jax"):
        if any(kind.__name__ == "Tracer" for kind in type(one).__mro__):
            return DtypeError(
                f"{name} is a JAX tracer, inside jit, grad, vmap or another transformation: {_advice('jax_')}"
            )
    for one in _of_package(values, "torch"):
        if getattr(one, "requires_grad", False):
            return DtypeError(
                f"{name} is a tensor of torch that requires grad: {_advice('torch_')}; {name}.detach() goes "
                "on without a gradient"
            )
        if _is_transformed(one):
            return DtypeError(
                f"{name} is a tensor of torch inside a transformation of torch.func: {_advice('torch_')}"
            )
    return DtypeError(f"{name} cannot be read as a NumPy array: {error}")


def _advice(adapter: str) -> str:
    return f"functions of treefactor take NumPy arrays, those of {ADAPTERS}.{adapter} take it"


def _of_package(values, package: str) -> Iterator[object]:
    """Yield values, or the entries of lists and tuples, whose class comes from a package."""
    if isinstance(values, (list, tuple)):
        for one in values:
            yield from _of_package(one, package)
    elif any(kind.__module__.partition(".")[0] == package for kind in type(values).__mro__):
        yield values


def _is_transformed(tensor) -> bool:
    """Return whether a tensor stands for another one inside a transformation of torch.func."""
    torch = sys.modules.get("torch")
    functorch = getattr(getattr(torch, "_C", None), "_functorch", None)
    return functorch is not None and functorch.is_functorch_wrapped_tensor(tensor)
