"""Compute J H^-1 J^T of frames from configurations."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._functions._compiled_function import CompiledFunction
from .._functions.general_path import compiled_function
from .._util.threads import spread
from .._util.validation import as_output, flatten, shape_of, thread_count
from ..linalg.delassus import LANES
from ..linalg.factorization import factor
from ..linalg.factors import Factor
from ..model._states import states
from ..model.model import Model, require_model
from ..quantities.functions import ENTRIES, crba
from ._task_inertia import batch, fast
from ._task_rows import jacobian_of

__all__ = ["delassus"]


def delassus(model: Model, q, frame, reference="LOCAL", out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the Delassus matrix J H^-1 J^T of one or several frames: the inverse of `operational_inertia`.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
    frame : str, Frame, -1 for the base, or list of them
        As for `frame_jacobian`. k frames give one matrix of 6 k rows, linear before angular for each frame.
    reference : {"LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"}
        Axes and point of the velocity J v; or Pinocchio's enumeration.
    out : ndarray, shape (..., 6 k, 6 k), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., 6 k, 6 k)
        1/kg, 1/(kg m), 1/(kg m^2). Positive semidefinite: of lower rank where rows of J depend on others.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError
        If q is not a configuration, or the model has no such frame.
    NotPositiveDefiniteError
        If H of a single q has no factor.

    Notes
    -----
    H, its factor and J stay in one compiled call. `Factor.delassus` takes any J. In Pinocchio,
    ``computeDelassusMatrix``.

    Examples
    --------
    >>> import numpy as np
    >>> import treefactor as tf
    >>> slider = tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(2.0))
    >>> float(tf.delassus(tf.Model([slider]), [0.0], "slide")[0, 0])
    0.5
    """
    matrix = compute(model, q, frame, reference, out, num_threads)
    if matrix is not None:
        return matrix
    f, J = parts(model, q, frame, reference, num_threads)
    return f.delassus(J, out)


def compute(
    model: Model, q, frame, reference, out, num_threads: int, damping: float | None = None
) -> np.ndarray | None:
    """Return J H^-1 J^T, or the inverse of it and a damping; None if one configuration needs a Factor."""
    added = () if damping is None else (True, damping)
    result = fast(model, frame, reference, q, out, num_threads, *added)
    if result is not None:
        return result
    jacobian = compiled_function(ENTRIES["frame_jacobian"], model, (frame, reference, "dense", False))
    inertia = compiled_function(ENTRIES["crba"], model, ("packed",))
    if len(shape_of(q)) > 1 and model.nv:
        return compute_batch(model, inertia, jacobian, q, out, num_threads, damping)
    return fast(model, frame, reference, q, out, num_threads, *added)  # both are compiled now


def parts(model: Model, q, frame, reference, num_threads: int) -> tuple[Factor, np.ndarray]:
    """Return the factor of H and the Jacobian of frames."""
    require_model(model)
    J = jacobian_of(model, q, frame, reference, num_threads)
    one = len(shape_of(q)) == 1
    layout = "dense" if one else "packed"  # the fast path of one, the least memory of many
    H = crba(model, q, layout=layout, num_threads=num_threads)
    return factor(H, model.tree, layout=layout, num_threads=1 if one else num_threads), J


def compute_batch(
    model: Model,
    inertia: CompiledFunction,
    jacobian: CompiledFunction,
    q,
    out,
    num_threads: int,
    damping: float | None = None,
) -> np.ndarray:
    """Return J H^-1 J^T of a batch, or the inverse of it and a damping."""
    threads = thread_count(num_threads)
    arrays, lead = states({"q": q}, {"q": (model.nq,)}, model)
    m = math.prod(jacobian.shapes[0][:-1])
    given = None if out is None else as_output(out, (*lead, m, m))
    fits = given is not None and given.flags.carray and not np.may_share_memory(given, arrays["q"])
    result = given if given is not None and fits else np.empty((*lead, m, m))
    rows = np.ascontiguousarray(flatten(arrays["q"], 1))
    work = partial(batch, inertia, jacobian, rows, flatten(result, 2), damping is not None, damping or 0.0)
    spread(work, -(-len(rows) // LANES), threads, len(rows) * m * model.tree.nnz)
    if given is not None and not fits:
        np.copyto(given, result)
    return result if out is None else out
