"""Compute neutral and random configurations, integrate velocities, and subtract configurations.

The configurations of a joint form a manifold: a circle for "continuous", rigid motions of the plane and of
space for "planar" and "freeflyer". `integrate` applies the exponential map and `difference` the logarithm, as
Pinocchio does.
"""

from __future__ import annotations

import math

import numpy as np

from .._util.validation import as_real
from ..exceptions import ConfigurationError, ShapeError
from ._configuration_calls import DIFFERENCE, INTEGRATE, INTERPOLATE, NORMALIZE, general_path, register_steps
from ._configuration_fast_path import call, draw, draw_one, neutral_configuration
from ._configurations import configurations_of
from ._unit_rotations import require_rotations  # noqa: F401 -- its former path
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
        found = draw_one(model, rng, lower, upper)
        if found is not None:
            return found
    limits = _finite_limits(model, lower, upper)
    if lower is None and upper is None:
        configurations_of(model).keep_limits(*limits)
    shape = np.broadcast_shapes(size)
    out = np.empty((*shape, model.nq))
    return draw(model, np.random.default_rng(rng), limits, math.prod(shape), out)


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


def interpolate(model: Model, q0, q1, u, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the configuration at the fraction u between q0 and q1: integrate(q0, u * difference(q0, q1)).

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    u : float or array_like
        0 gives q0, 1 gives q1; one number, or one for each configuration of the batch.
    out : ndarray, shape (..., nq), optional

    Returns
    -------
    ndarray, shape (..., nq)

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    ``pinocchio.interpolate``. A path along the geodesics of every joint.

    Examples
    --------
    >>> import treefactor as tf
    >>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
    >>> tf.interpolate(slide, [1.0], [3.0], 0.25)
    array([1.5])
    """
    return call(model, INTERPOLATE, q0, q1, u, out, num_threads, general_path)


def normalize(model: Model, q, out=None, num_threads: int = 1) -> np.ndarray:
    """Return q with all (cos, sin) and quaternions scaled to unit length; other entries stay.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
        Rotations may have any length but zero.
    out : ndarray, shape (..., nq), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nq)
        NaN for rotations of length zero.

    Raises
    ------
    ShapeError
    NonFiniteError
        For single configurations; in batches NaN stays in its element.

    Notes
    -----
    ``pinocchio.normalize``. After many steps of `integrate` it is not needed: every step corrects the length.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.normalize(tf.Model([tf.Joint("ball", "spherical", inertia=tf.Inertia(1.0))]), [0, 0, 3, 4])
    array([0. , 0. , 0.6, 0.8])
    """
    return call(model, NORMALIZE, q, None, None, out, num_threads, general_path)


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


register_steps({integrate: INTEGRATE, difference: DIFFERENCE, interpolate: INTERPOLATE, normalize: NORMALIZE})
