"""Call the maps of `_maps` from JAX programs: by XLA's foreign functions, else by callbacks."""

from __future__ import annotations

import math
import threading
import warnings
from functools import cache, partial

import jax
import numpy as np

from ..model.digests import number_of

TARGET = "treefactor"
LOCK = threading.Lock()
KEPT: set[int] = set()  # numbers of maps that the handler knows


def run_map(compiled, digest: int, arrays, lead: tuple[int, ...]) -> list:
    """Return the results of a map for traced arrays.

    Parameters
    ----------
    compiled : Map
    digest : int
        Of its model.
    arrays : sequence of tracers, shapes (*lead, *shape)
        All of one floating-point type, which is also that of the results.
    lead : tuple of int
        Axes of the batch, the same for all arrays.
    """
    types = [jax.ShapeDtypeStruct((*lead, *shape), arrays[0].dtype) for shape in compiled.outputs]
    if (handler := _handler()) is None:
        call = partial(_run, compiled, math.prod(lead))
        return list(jax.pure_callback(call, types, *arrays, vmap_method="broadcast_all"))
    call = jax.ffi.ffi_call(TARGET, types, vmap_method="broadcast_all")
    return list(call(*arrays, function=np.int64(_remember(handler, compiled, digest))))


@cache
def _handler():
    """Return the module of the registered handler; None, with a warning, if JAX does not accept it."""
    try:
        from .. import xla

        jax.ffi.register_ffi_target(TARGET, xla.capsule(), platform="cpu")
    except Exception as error:  # of any kind: a module that is missing, or a version that JAX refuses
        warnings.warn(
            f"JAX {jax.__version__} does not accept treefactor's handler ({type(error).__name__}: {error}): "
            "functions of treefactor.adapters.jax_ are called through jax.pure_callback, which takes longer",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return xla


def _remember(handler, compiled, digest) -> int:
    """Return the number by which the handler finds a map, the same in every process."""
    number = number_of(digest, compiled.key)
    with LOCK:
        if number not in KEPT:
            handler.remember(number, compiled)
            KEPT.add(number)
    return number


def _run(compiled, count: int, *arrays) -> tuple[np.ndarray, ...]:
    """Evaluate a map in a callback: compute in its dtype, return that of the arguments."""
    dtype, first = arrays[0].dtype, compiled.inputs[0]
    lead = arrays[0].shape[: arrays[0].ndim - len(first)]
    inputs = [
        np.ascontiguousarray(array, compiled.dtype).reshape((count, *shape))
        for array, shape in zip(arrays, compiled.inputs, strict=True)
    ]
    outputs = [np.empty((count, *shape), compiled.dtype) for shape in compiled.outputs]
    compiled.run(inputs, outputs)
    return tuple(output.reshape(lead + output.shape[1:]).astype(dtype, copy=False) for output in outputs)
