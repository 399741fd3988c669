"""Calls of treefactor's handler by programs that XLA compiled, for the tests of `treefactor.xla`."""

import numpy as np

from helpers.jax_cases import jax
from treefactor import xla

jax.ffi.register_ffi_target("treefactor", xla.capsule(), platform="cpu")


def caller(number, inputs, outputs):
    """Return the function of arrays that calls the map of a number; shapes are those of one configuration."""

    def call(*arrays):
        lead = arrays[0].shape[: arrays[0].ndim - len(inputs[0])]
        types = [jax.ShapeDtypeStruct((*lead, *shape), arrays[0].dtype) for shape in outputs]
        run = jax.ffi.ffi_call("treefactor", types, vmap_method="broadcast_all")
        return run(*arrays, function=np.int64(number))

    return call
