"""Compute the reactions of a motion: forces and moments in the joints and on the base."""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ._bound_call import call
from ._general_path import BASE_FORCE, JOINT_FORCES, general_path
from .inertias import with_inertias


def joint_forces(
    model: Model,
    q,
    v,
    a,
    fext=None,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> np.ndarray:
    """Compute forces and moments in the joints: what the parents exert on the bodies at the acceleration a.

    Parameters
    ----------
    model, q, v, a, fext, num_threads, inertias
        As for `rnea`.
    out : ndarray, shape (..., njoints, 6), optional

    Returns
    -------
    ndarray, shape (..., njoints, 6)
        For every joint, in the order of ``model.joints``, the force in N and then the moment in N m that its
        parent exerts on its body, at the origin of the joint and in the axes of the body. Actuator
        forces are included, those that accelerate the armature are not. Pinocchio's ``data.f`` after
        ``pin.rnea``, without its first entry.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1. Along its free axes a joint transmits the actuator force: for a revolute
    joint about z, the last entry is tau of `rnea` without armature.

    Examples
    --------
    A rod of 1 kg and 1 m that hangs from a hinge: the hinge carries its weight.

    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.joint_forces(model, [0.0], [0.0], [0.0]).round(3)
    array([[0.  , 0.  , 9.81, 0.  , 0.  , 0.  ]])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, JOINT_FORCES, q, v, a, fext, out, num_threads, general_path)


def base_force(model: Model, q, v, a, fext=None, out=None, num_threads: int = 1, inertias=None) -> np.ndarray:
    """Compute the force and moment that the model exerts on its base, for accelerations a.

    Parameters
    ----------
    model, q, v, a, fext, num_threads, inertias
        As for `rnea`.
    out : ndarray, shape (..., 6), optional

    Returns
    -------
    ndarray, shape (..., 6)
        The force in N and then the moment in N m, at the origin and in the axes of the base: the opposite of
        the sum of `joint_forces` of all joints on the base. With a free-flyer root it is zero if a solves
        H a + bias = tau with no tau on the free-flyer.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1. Equal to the external forces and gravity less the rate of the momentum.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.base_force(model, [0.0], [0.0], [0.0])[2].round(3)
    np.float64(-9.81)
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, BASE_FORCE, q, v, a, fext, out, num_threads, general_path)
