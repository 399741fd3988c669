"""Compare configurations: distances, and whether two of them are the same."""

from __future__ import annotations

import numpy as np

from ..tolerances import SAME_CONFIGURATION
from ._configuration_calls import DISTANCE, SQUARED_DISTANCE, general_path, register_steps
from ._configuration_fast_path import call, is_same
from .model import Model


def distance(model: Model, q0, q1, out=None, num_threads: int = 1):
    """Return the distance of two configurations: the length of their `difference`.

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    out : ndarray, shape (...), optional

    Returns
    -------
    float, or ndarray of shape (...) for a batch
        Metres and radians count alike.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    ``pinocchio.distance``. Zero for quaternions q and -q, which are the same rotation.

    Examples
    --------
    >>> import treefactor as tf
    >>> gantry = tf.Model([tf.Joint("gantry", "translation", inertia=tf.Inertia(1.0))])
    >>> tf.distance(gantry, [0, 0, 0], [3, 4, 0])
    5.0
    """
    return call(model, DISTANCE, q0, q1, None, out, num_threads, general_path)


def squared_distance(model: Model, q0, q1, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the squared distance of two configurations for every joint.

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    out : ndarray, shape (..., m), optional

    Returns
    -------
    ndarray, shape (..., m)
        m joints in the order of ``model.joints``, without mimic joints, which have no entries in q.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    ``pinocchio.squaredDistance``.
    """
    return call(model, SQUARED_DISTANCE, q0, q1, None, out, num_threads, general_path)


def is_same_configuration(model: Model, q0, q1, tolerance: float = SAME_CONFIGURATION, num_threads: int = 1):
    """Return whether two configurations are the same: no entry differs by more than a tolerance.

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    tolerance : float or array_like
        Entries of q may differ by the tolerance times max(1, size of the entry).

    Returns
    -------
    bool, or ndarray of bool of shape (...) for a batch
        False where a configuration of a batch holds NaN.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    ``pinocchio.isSameConfiguration`` compares small entries relative to themselves: 0 and 1e-300 differ. In
    both, the quaternions q and -q are the same.
    """
    return is_same(model, q0, q1, tolerance, num_threads, general_path)


register_steps({distance: DISTANCE, squared_distance: SQUARED_DISTANCE})
