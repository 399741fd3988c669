"""Compute neutral and random configurations, integrate velocities, and subtract configurations.

The configurations of a joint form a manifold: a circle for "continuous", rigid motions of the plane and of
space for "planar" and "freeflyer". `integrate` applies the exponential map and `difference` the logarithm, as
Pinocchio does.
"""

from __future__ import annotations

import numpy as np

from .._util.validation import as_real
from ..exceptions import ConfigurationError, ShapeError
from ._configuration_calls import DIFFERENCE, INTEGRATE, general_path
from ._configurations import call
from .joints import ROTATIONS
from .model import Model, require_model

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
    require_model(model)
    q = np.zeros(model.nq)
    for kind, turned in ROTATIONS.items():
        if kind in model.entries:
            at = model.entries[kind][0][:, turned]
            q[at[:, 0 if at.shape[1] == 2 else 3]] = 1.0
    return q


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
    require_model(model)
    rng = np.random.default_rng(rng)
    shape = (*np.broadcast_shapes(size), model.nq)
    low, high = _finite_limits(model, lower, upper)
    q = rng.uniform(low, high, shape)
    for kind, turned in ROTATIONS.items():
        if kind in model.entries:
            at = model.entries[kind][0][:, turned]
            direction = rng.standard_normal((*shape[:-1], *at.shape))
            q[..., at] = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    return q


def integrate(model: Model, q, v, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the configuration reached from q at the constant velocity v after one second.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
    v : array_like, shape (..., nv)
        Leading axes equal those of q; either array may lack them.
    out : ndarray, shape (..., nq), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nq)

    Raises
    ------
    ShapeError
    NonFiniteError
        For single configurations; in batches NaN stays in its element.
    ConfigurationError
        If a (cos, sin) or a quaternion does not have unit length; names the joint.

    Notes
    -----
    For a free joint, q ∘ exp v with v in body axes (Lie group SE(3)), as ``pinocchio.integrate``.
    """
    return call(model, INTEGRATE, q, v, None, out, num_threads, general_path)


def difference(model: Model, q0, q1, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the shortest constant velocity from q0 to q1 within one second: the inverse of `integrate`.

    Parameters
    ----------
    model : Model
    q0, q1 : array_like, shape (..., nq)
        Either may lack the leading axes of the other.
    out : ndarray, shape (..., nv), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nv)

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.
    """
    return call(model, DIFFERENCE, q0, q1, None, out, num_threads, general_path)


def _finite_limits(model: Model, lower, upper) -> tuple[np.ndarray, np.ndarray]:
    """Return finite limits of every entry of q."""
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
    return low, high


def _limits(model: Model, values, default: np.ndarray, name: str) -> np.ndarray:
    """Return validated limits, or the default."""
    limits = default if values is None else as_real(values, name)
    if limits.shape != (model.nq,) or np.isnan(limits).any():
        raise ShapeError(f"{name} must be {model.nq} numbers, got {limits}", limits.shape, (model.nq,))
    return limits
