"""Compute dynamics and motions of dask arrays, spread over many processes or machines, chunk by chunk."""

from __future__ import annotations

from . import requires

with requires("Dask", "dask"):
    import dask.array as da

from functools import partial
from itertools import chain, count

import numpy as np

from .._util.validation import as_number, check_choice
from ..codegen import Program, compile
from ..codegen.backends import BACKENDS
from ..dynamics import forward_dynamics
from ..dynamics.inertias import Inertias, inertias_of
from ..exceptions import DtypeError, ShapeError
from ..model.configuration import neutral
from ..model.model import Model, require_model
from ..quantities.functions import rollout, step
from ..quantities.motions import METHOD
from ..streams import call, ship

__all__ = ["map_dynamics", "map_function", "map_rollout", "map_step"]


def map_dynamics(
    model_or_program: Model | Program, q, v, tau, backend: str = "interp", inertias=None
) -> da.Array:
    """Compute accelerations as `treefactor.Kernels.forward_dynamics`, every chunk where it is.

    Parameters
    ----------
    model_or_program : Model or Program
        A program must hold "forward_dynamics".
    q, v, tau : dask or NumPy array, shapes (..., nq), (..., nv), (..., nv)
        With at least one leading axis, the same for all, by which chunks are computed.
    backend : str
        Of `treefactor.compile`, but not "cuda". Every worker makes the program ready once: compiled there, or
        taken from its machine's cache.
    inertias : Inertias, NumPy or dask array, optional
        In the place of the model's: one set, which every chunk takes whole, or a set for every element, which
        is chunked as the other arrays are. `treefactor.forward_dynamics` computes then, not a program.

    Returns
    -------
    dask.array.Array, shape (..., nv)
        m/s^2, rad/s^2; not computed yet. Equal to what ``compile(model, ["forward_dynamics"])`` computes
        here, or `treefactor.forward_dynamics` with the inertias, bit by bit, if the processors share their
        instruction sets. NaN where there is no solution.

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
    if inertias is not None:
        return map_function(forward_dynamics, model_or_program, q, v, tau, inertias=inertias)
    kernels = _compiled(model_or_program, backend)
    nq, nv = kernels.program.nq, kernels.program.nv
    return _mapped(kernels.forward_dynamics, {"q": (q, nq), "v": (v, nv), "tau": (tau, nv)}, (nv,))


def map_function(function, model: Model, *arrays, inertias=None, **options) -> da.Array:
    """Compute a function of a model and of configurations, every chunk where it is.

    Parameters
    ----------
    function : callable
        Of a model and of q, or q and v, or q, v and a, that returns one array: `treefactor.frame_jacobian`,
        `treefactor.center_of_mass`, `treefactor.crba`, `treefactor.rnea` ... It must pickle.
    model : Model
    *arrays : dask or NumPy arrays, shapes (..., nq), (..., nv), (..., nv)
        With at least one leading axis, the same for all, by which chunks are computed.
    inertias : Inertias, NumPy or dask array, optional
        As for `map_dynamics`. For functions that take them.
    **options
        Other arguments of the function by name, such as ``frame="tool"``.

    Returns
    -------
    dask.array.Array
        Not computed yet. NaN for configurations that are not finite.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    ValueError
        If the function does not take one to three arrays, or returns several.

    Examples
    --------
    >>> import dask.array as da, numpy as np, treefactor as tf
    >>> from treefactor.adapters.dask_ import map_function
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> q = da.zeros((6, 1), chunks=(2, 1))
    >>> map_function(tf.frame_placement, arm, q, frame="tip")[5, :, 3].compute()
    array([1., 0., 0.])
    """
    require_model(model)
    if not 1 <= len(arrays) <= 3:
        raise ValueError(f"expected one to three arrays, q, v and a, got {len(arrays)}")
    sizes = (model.nq, model.nv, model.nv)[: len(arrays)]
    mapped = partial(function, model, **options)
    sample = mapped(neutral(model), *map(np.zeros, sizes[1:]))
    if isinstance(sample, tuple):
        raise ValueError(f"the function returns {len(sample)} arrays: map a function that returns one")
    given = dict(zip("qva", zip(arrays, sizes, strict=True), strict=False))
    return _mapped(*_with_inertias(mapped, model, given, inertias), np.shape(sample))


def map_step(
    model: Model,
    q,
    v,
    tau,
    h: float,
    method: str = METHOD.choices[0],
    backend: str = "interp",
    inertias=None,
) -> tuple[da.Array, da.Array]:
    """Compute states after a time step as `treefactor.Kernels.step`, every chunk where it is.

    Parameters
    ----------
    model : Model
    q, v, tau, backend, inertias
        As for `map_dynamics`. With inertias `treefactor.step` computes, not a program.
    h : float
        Length of the step, s.
    method : {"semi_implicit_euler", "rk4"}
        See `treefactor.rollout`.

    Returns
    -------
    q, v : dask.array.Array, shapes (..., nq), (..., nv)
        Not computed yet; compute both with ``dask.compute(q, v)``.

    Raises
    ------
    ShapeError, DtypeError, CodegenError, ValueError
    """
    nq, nv = model.nq, model.nv
    arrays = {"q": (q, nq), "v": (v, nv), "tau": (tau, nv)}
    return _motions(model, "step", arrays, (), h, method, backend, inertias)


def map_rollout(
    model: Model,
    q0,
    v0,
    tau,
    h: float,
    method: str = METHOD.choices[0],
    backend: str = "interp",
    inertias=None,
) -> tuple[da.Array, da.Array]:
    """Compute trajectories as `treefactor.Kernels.rollout`, every chunk of motions where it is.

    Parameters
    ----------
    model : Model
    backend, inertias
        As for `map_dynamics`. With inertias `treefactor.rollout` computes, not a program.
    q0, v0, tau : dask or NumPy array, shapes (..., nq), (..., nv), (..., T, nv)
        With at least one leading axis, the same for all, by which chunks are computed: never by steps.
    h, method
        As for `map_step`.

    Returns
    -------
    q, v : dask.array.Array, shapes (..., T + 1, nq), (..., T + 1, nv)
        Not computed yet; compute both with ``dask.compute(q, v)``.

    Raises
    ------
    ShapeError, DtypeError, CodegenError, ValueError
    """
    nq, nv = model.nq, model.nv
    steps = np.shape(tau)[-2] if np.ndim(tau) > 1 else 0
    arrays = {"q0": (q0, nq), "v0": (v0, nv), "tau": (tau, steps, nv)}
    return _motions(model, "rollout", arrays, (steps + 1,), h, method, backend, inertias)


def _compiled(model_or_program: Model | Program, backend: str):
    """Compile the forward dynamics for the processors of workers."""
    check_choice("backend", backend, BACKENDS)
    return compile(model_or_program, ["forward_dynamics"], backend)


def _motions(model: Model, name: str, arrays, axis: tuple[int, ...], h, method: str, backend: str, inertias):
    """Return q and v of a step or a rollout, computed side by side in one array."""
    check_choice("method", method, METHOD.choices)
    options = {"h": as_number(h, "h"), "method": method}
    if inertias is None:
        function = getattr(_compiled(model, backend), name)
    else:
        function = partial({"step": step, "rollout": rollout}[name], model)
    function = partial(_side_by_side, function, **options)
    both = _mapped(*_with_inertias(function, model, arrays, inertias), (*axis, model.nq + model.nv))
    return both[..., : model.nq], both[..., model.nq :]


def _with_inertias(function, model: Model, arrays: dict, inertias) -> tuple:
    """Return a function of arrays with inertias, and the arrays: those of each element are added."""
    require_model(model)
    if inertias is None:
        return function, arrays
    if isinstance(inertias, Inertias):
        pi, armature, which = inertias.arguments()
    else:
        pi, armature, which = inertias, None, None
    if which is None and np.ndim(pi) == 2:
        shared = inertias if isinstance(inertias, Inertias) else inertias_of(model, inertias)
        return partial(function, inertias=shared), arrays
    sets = {"pi": (pi, model.njoints, 10), "armature": (armature, model.nv), "which": (which,)}
    names = ["pi"] if which is None else ["which"]
    if which is None and np.ndim(armature) > 1:
        names.append("armature")
    make = partial(Inertias, model, **{name: x for name, (x, *_) in sets.items() if name not in names})
    chunked = {"inertias" if name == "pi" else f"{name} of the inertias": sets[name] for name in names}
    return partial(_call_with_inertias, function, make, names), arrays | chunked


def _call_with_inertias(function, make, names: list[str], *arrays):
    """Call a function with the inertias that are made of the last arrays."""
    first = len(arrays) - len(names)
    return function(*arrays[:first], inertias=make(**dict(zip(names, arrays[first:], strict=True))))


def _side_by_side(function, *arguments, **options) -> np.ndarray:
    """Return both results of a function in one array."""
    return np.concatenate(function(*arguments, **options), axis=-1)


def _mapped(function, given, result: tuple[int, ...]) -> da.Array:
    """Return a function of arrays, chunk by chunk.

    ``given`` holds, by name, arrays and their sizes after the leading axes; ``result`` those sizes.
    """
    arrays, tails = {}, {}
    for name, (x, *tail) in given.items():
        dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
        if dtype.kind not in "fiub":
            raise DtypeError(f"{name} must hold real numbers, got dtype {dtype}", dtype)
        arrays[name], tails[name] = da.asarray(x), tuple(tail)
    first = next(iter(arrays.values()))
    lead = first.shape[: max(first.ndim - 1, 0)]
    for name, array in arrays.items():
        if not lead or array.shape != (*lead, *tails[name]):
            expected = (*(lead or ("...",)), *tails[name])
            raise ShapeError(f"{name} must have shape {expected}, got {array.shape}", array.shape, expected)
        arrays[name] = array.rechunk(dict.fromkeys(range(len(lead), array.ndim), -1))
    axes, labels = tuple(range(len(lead))), count(len(lead))
    made = {next(labels): size for size in result}
    pairs = ((array, (*axes, *(next(labels) for _ in tails[name]))) for name, array in arrays.items())
    return da.blockwise(
        call,
        (*axes, *made),
        ship(function),
        None,
        *chain.from_iterable(pairs),
        new_axes=made,
        concatenate=True,
        dtype=np.float64,
        meta=np.empty((0,) * (len(axes) + len(made))),
    )
