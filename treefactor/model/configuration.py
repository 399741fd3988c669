"""Compute neutral and random configurations.

The configurations of a joint form a manifold: a circle for "continuous", rigid motions of the plane and of
space for "planar" and "freeflyer".
"""

from __future__ import annotations

import math

import numpy as np

from .._util.validation import as_real
from ..exceptions import ConfigurationError, ShapeError
from ._configurations import configurations_of, draw, draw_one, neutral_configuration
from .model import Model

LENGTHS = {"prismatic": 1, "translation": 3, "planar": 2, "freeflyer": 3}  # leading entries of q in m


def neutral(model: Model) -> np.ndarray:
    """Return the configuration of zeros and identity rotations.

    Parameters
    ----------
    model : Model

    Returns
    -------
    ndarray, shape (nq,)
    """
    return neutral_configuration(model)


def random_configuration(model: Model, rng, lower=None, upper=None, size=()) -> np.ndarray:
    """Return random configurations: uniform between limits; rotations without limits uniform over all.

    Parameters
    ----------
    model : Model
    rng : numpy.random.Generator or int
    lower, upper : array_like, shape (nq,), optional
        Limits, by default those of the model. An infinite limit is replaced by one at least pi, or 1 m, from
        zero and from the other limit. Limits do not apply to (cos, sin) and quaternions.
    size : int or tuple of int
        Shape of the batch.

    Returns
    -------
    ndarray, shape ``(*size, nq)``

    Raises
    ------
    ConfigurationError
        If a lower limit exceeds the upper one; names the joint.
    """
    if size == ():
        configuration = draw_one(model, rng, lower, upper)
        if configuration is not None:
            return configuration
    limits = _finite_limits(model, lower, upper)
    if lower is None and upper is None:
        configurations_of(model).keep_limits(*limits)
    shape = np.broadcast_shapes(size)
    out = np.empty((*shape, model.nq))
    return draw(model, np.random.default_rng(rng), limits, math.prod(shape), out)


def _finite_limits(model: Model, lower, upper) -> tuple[np.ndarray, np.ndarray]:
    """Return finite lower limits of the entries of q, and the distances to the upper ones."""
    low = _limits(model, lower, model.lower, "lower")
    high = _limits(model, upper, model.upper, "upper")
    reach = np.full(model.nq, np.pi)
    for kind, count in LENGTHS.items():
        if kind in model.entries:
            reach[model.entries[kind][0][:, :count]] = 1.0
    low, high = (
        np.where(np.isinf(low), np.minimum(-reach, high - reach), low),
        np.where(np.isinf(high), np.maximum(reach, low + reach), high),
    )
    for k in np.flatnonzero(low > high):
        joint = next(j.name for j, at in zip(model.joints, model.idx_q, strict=True) if 0 <= k - at < j.nq)
        raise ConfigurationError(f"joint {joint!r} has limits {low[k]:.9g} > {high[k]:.9g}", joint)
    return low, high - low


def _limits(model: Model, values, default: np.ndarray, name: str) -> np.ndarray:
    """Return validated limits, or the default."""
    limits = default if values is None else as_real(values, name)
    if limits.shape != (model.nq,) or np.isnan(limits).any():
        raise ShapeError(f"{name} must be {model.nq} numbers, got {limits}", limits.shape, (model.nq,))
    return limits
