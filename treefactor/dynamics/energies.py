"""Compute kinetic, potential and mechanical energy of a model."""

from __future__ import annotations

from ..model.model import Model
from ._bound_call import call
from ._general_path import KINETIC_ENERGY, MECHANICAL_ENERGY, POTENTIAL_ENERGY, general_path
from .inertias import with_inertias


def kinetic_energy(model: Model, q, v, out=None, num_threads: int = 1, inertias=None):
    """Compute the kinetic energy, half of v^T H v, armature included.

    Parameters
    ----------
    model : Model
    q, v : array_like, shapes (..., nq), (..., nv)
    out : ndarray, shape (...), optional
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    float64 or ndarray, shape (...)
        J. Pinocchio's ``computeKineticEnergy``.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), section 2.14: the sum over all bodies, in their own axes.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.kinetic_energy(model, [0.0], [2.0])
    np.float64(0.7)
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, KINETIC_ENERGY, q, v, None, None, out, num_threads, general_path)


def potential_energy(model: Model, q, out=None, num_threads: int = 1, inertias=None):
    """Compute the potential energy in gravity, -m g . c with the centre of mass c; zero at the base's origin.

    Parameters
    ----------
    model, q, out, num_threads, inertias
        As for `kinetic_energy`.

    Returns
    -------
    float64 or ndarray, shape (...)
        J. Pinocchio's ``computePotentialEnergy``.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.potential_energy(model, [0.0])
    np.float64(-4.905)
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, POTENTIAL_ENERGY, q, None, None, None, out, num_threads, general_path)


def mechanical_energy(model: Model, q, v, out=None, num_threads: int = 1, inertias=None):
    """Compute the sum of `kinetic_energy` and `potential_energy`, which changes by the power of tau alone.

    Parameters
    ----------
    model, q, v, out, num_threads, inertias
        As for `kinetic_energy`.

    Returns
    -------
    float64 or ndarray, shape (...)
        J. Pinocchio's ``computeMechanicalEnergy``.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.mechanical_energy(model, [0.0], [2.0]).round(3)
    np.float64(-4.205)
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, MECHANICAL_ENERGY, q, v, None, None, out, num_threads, general_path)
