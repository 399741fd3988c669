"""Compute dynamics of dask arrays, spread over many processes or machines, chunk by chunk."""

from __future__ import annotations

from . import requires

with requires("Dask", "dask"):
    import dask.array as da

from itertools import chain

import numpy as np

from ..codegen import Program, compile
from ..exceptions import DtypeError, ShapeError
from ..model.model import Model
from ..streams import call, ship

__all__ = ["map_dynamics"]


def map_dynamics(model_or_program: Model | Program, q, v, tau, backend: str = "interp") -> da.Array:
    """Compute accelerations as `treefactor.Kernels.forward_dynamics`, every chunk where it is.

    Parameters
    ----------
    model_or_program : Model or Program
        A program must hold "forward_dynamics".
    q, v, tau : dask or NumPy array, shapes (..., nq), (..., nv), (..., nv)
        With at least one leading axis, the same for all, by which chunks are computed.
    backend : str
        Of `treefactor.compile`. Every worker makes the program ready once: compiled there, or taken from its
        machine's cache.

    Returns
    -------
    dask.array.Array, shape (..., nv)
        m/s^2, rad/s^2; not computed yet. Equal to what ``compile(model, ["forward_dynamics"])`` computes
        here, bit by bit, if the processors share their instruction sets. NaN where there is no solution.

    Raises
    ------
    ShapeError
        If arrays do not fit the model or each other.
    DtypeError
        If they hold no real numbers.
    CodegenError
        If the program has no such function.

    Notes
    -----
    Chunks depend on nothing but their own part of q, v and tau: what a lost worker had, others compute again.

    Examples
    --------
    >>> import dask.array as da, numpy as np, treefactor as tf
    >>> from treefactor.adapters.dask_ import map_dynamics
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> q = da.zeros((6, 1), chunks=(2, 1))
    >>> map_dynamics(model, q, q, q + 1).compute().ravel()
    array([2.85714286, 2.85714286, 2.85714286, 2.85714286, 2.85714286,
           2.85714286])
    """
    kernels = compile(model_or_program, ["forward_dynamics"], backend)
    nq, nv = kernels.program.nq, kernels.program.nv
    for name, x in (("q", q), ("v", v), ("tau", tau)):
        dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
        if dtype.kind not in "fiub":
            raise DtypeError(f"{name} must hold real numbers, got dtype {dtype}", dtype)
    arrays = [da.asarray(x) for x in (q, v, tau)]
    lead = arrays[0].shape[:-1]
    for name, array, size in zip(("q", "v", "tau"), arrays, (nq, nv, nv), strict=True):
        if not lead or array.shape != (*lead, size):
            expected = (*(lead or ("...",)), size)
            raise ShapeError(f"{name} must have shape {expected}, got {array.shape}", array.shape, expected)
    axes = tuple(range(len(lead)))
    result, position, rate = ((*axes, len(lead) + k) for k in range(3))
    given = zip(arrays, (position, rate, rate), strict=True)
    return da.blockwise(
        call,
        result,
        ship(kernels.forward_dynamics),
        None,
        *chain.from_iterable(given),
        new_axes={result[-1]: nv},
        concatenate=True,
        dtype=np.float64,
        meta=np.empty((0,) * len(result)),
    )
