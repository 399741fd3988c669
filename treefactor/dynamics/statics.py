"""Compute the generalized forces that hold a robot at rest, against gravity and external forces."""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ._bound_call import call
from ._general_path import GRAVITY, STATIC_TORQUE, general_path
from .inertias import with_inertias


def generalized_gravity(model: Model, q, out=None, num_threads: int = 1, inertias=None) -> np.ndarray:
    """Compute the generalized forces that hold the model at rest against gravity, ``rnea(model, q, 0, 0)``.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
    out : ndarray, shape (..., nv), optional
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    ndarray, shape (..., nv)
        N, N m: the derivative of `potential_energy` along `integrate`. Pinocchio's
        ``computeGeneralizedGravity``.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1, without velocities and accelerations.

    Examples
    --------
    A rod of 1 kg and 1 m, held horizontally:

    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.generalized_gravity(model, [np.pi / 2])
    array([4.905])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, GRAVITY, q, None, None, None, out, num_threads, general_path)


def static_torque(model: Model, q, fext, out=None, num_threads: int = 1, inertias=None) -> np.ndarray:
    """Compute the generalized forces that hold the model at rest against gravity and external forces.

    Parameters
    ----------
    model, q, out, num_threads, inertias
        As for `generalized_gravity`.
    fext : array_like, shape (..., njoints, 6)
        External force and moment on the body of every joint, at the origin and in the axes of the joint, in
        N and N m: Pinocchio's ``fext`` without its first entry, the universe.

    Returns
    -------
    ndarray, shape (..., nv)
        N, N m: ``generalized_gravity - sum(J_i^T f_i)`` with the Jacobians of the joints in their own axes.
        Pinocchio's ``computeStaticTorque``.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1, without velocities and accelerations.

    Examples
    --------
    A push of 9.81 N upwards on the hinge's origin does not load the hinge; a moment of 1 N m does:

    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.static_torque(model, [0.0], [[0, 0, 9.81, 0, 1.0, 0]])
    array([-1.])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, STATIC_TORQUE, q, None, None, fext, out, num_threads, general_path)
