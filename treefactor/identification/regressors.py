"""Compute regressors: matrices that multiply the inertial parameters of all bodies."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._util.bindable import register
from .._util.validation import check_choice
from ..derivatives._calls import call
from ..derivatives._general_path import bound, general_path
from ..model.model import Model
from ..tree.tree import LAYOUTS
from . import _regressors as compiled
from .columns import INERTIA, chosen

__all__ = [
    "center_of_mass_regressor",
    "gravity_regressor",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "potential_energy_regressor",
    "regressor",
    "regressor_transpose_times",
]


def regressor(
    model: Model, q, v, a, layout: str = "dense", columns=INERTIA, out=None, num_threads: int = 1
) -> np.ndarray:
    """Compute the matrix Y with tau = Y x, where x are the parameters of bodies and joints.

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included. Its inertias and armatures have no effect.
    q, v, a : array_like, shapes (..., nq), (..., nv), (..., nv)
        Leading axes are a batch; an array without them applies to every configuration.
    layout : {"dense", "packed", "lanes"}
        "packed" has only the blocks of ten entries that can differ from zero: row and joint of each are in
        `treefactor.identification.regressor_pattern`. "lanes" has the same entries for 8
        configurations side by side. Both need the columns ``("inertia",)``.
    columns : sequence of str
        One or more of "inertia", "armature", "viscous", "dry", "offset". The order of the columns does not
        depend on that of the names. "inertia": ten for every joint, in the model's order: m, m c, Ixx, Ixy,
        Iyy, Ixz, Iyz, Izz of its body about the origin of the joint, in the joint's axes, Pinocchio's
        ``toDynamicParameters``. "armature": one for every joint with one freedom, kg or kg m^2. "viscous",
        "dry", "offset": one for every freedom each, for the forces v, sign(v), which is 0 at v = 0, and 1.
        `treefactor.identification.column_names` of ``treefactor.identification`` has the names.
    out : ndarray, optional
        Receives the result.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray
        Y of shape (..., nv, p), or (..., pairs, 10) if packed, or (blocks, 10 pairs, 8). Row k in N or N m
        per unit of the parameter. Entries of joints that freedom k does not move are exactly zero. In a
        batch, configurations that are not finite or whose quaternions do not have unit length give NaN.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    ValueError
        If there is no such layout, or there are no such columns.

    Notes
    -----
    Of mimic joints, all columns of the bodies stay and their rows are added to those of their leaders;
    armature acts by the ratio squared. Pinocchio's ``computeJointTorqueRegressor`` has the same ten columns
    of every joint, and returns a vector where nv is 1; its ``rnea`` adds armature, which that matrix lacks.
    Atkeson, An and Hollerbach (1986), Estimation of inertial parameters of manipulator loads and links.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> Y = tf.regressor(model, [0.5], [0.0], [2.0])
    >>> Y.shape
    (1, 10)
    >>> x = [1.0, 0, 0, -0.5, 0.35, 0, 0.35, 0, 0, 0]   # of the rod: m, m c, and the tensor about the hinge
    >>> (Y @ x).round(6), tf.rnea(model, [0.5], [0.0], [2.0]).round(6)
    (array([3.051582]), array([3.051582]))
    """
    if type(layout) is not str or layout not in LAYOUTS:
        check_choice("layout", layout, LAYOUTS)
    options = (layout, _columns_of(layout, columns))
    return call(model, compiled.Regressor, options, (q, v, a), out, num_threads, general_path)


def _columns_of(layout: str, columns) -> tuple[str, ...]:
    """Return the kinds of columns, which must be the inertias unless the layout is dense."""
    columns = chosen(columns)
    if layout != "dense" and columns != INERTIA:
        raise ValueError(f"layout {layout!r} has the columns {INERTIA} only, got {columns}; use 'dense'")
    return columns


def gravity_regressor(model: Model, q, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the matrix that multiplies the parameters of all bodies to give generalized gravity.

    Parameters
    ----------
    model, q, out, num_threads
        As for `regressor`.

    Returns
    -------
    ndarray, shape (..., nv, 10 njoints)
        ``regressor(model, q, 0, 0)``: times the parameters, it is `generalized_gravity`. Columns of moments
        of inertia are exactly zero.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Pinocchio's ``computeStaticRegressor`` is another matrix: see
    `treefactor.identification.center_of_mass_regressor`.

    Examples
    --------
    >>> import treefactor as tf
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])])
    >>> tf.gravity_regressor(model, [0.0])[0, :4]
    array([ 0.  , -9.81,  0.  ,  0.  ])
    """
    return call(model, compiled.GravityRegressor, (), (q,), out, num_threads, general_path)


def momentum_regressor(model: Model, q, v, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the matrix that multiplies the parameters of all bodies to give the generalized momentum H v.

    Parameters
    ----------
    model, q, v, out, num_threads
        As for `regressor`.

    Returns
    -------
    ndarray, shape (..., nv, 10 njoints)
        Times the parameters, H v without the part of armatures.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import treefactor as tf
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])])
    >>> tf.momentum_regressor(model, [0.0], [2.0])[0, 4:]    # of I_yy: 2
    array([0., 0., 2., 0., 0., 0.])
    """
    return call(model, compiled.MomentumRegressor, (), (q, v), out, num_threads, general_path)


def kinetic_energy_regressor(model: Model, q, v, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the row that multiplies the parameters of all bodies to give the kinetic energy.

    Parameters
    ----------
    model, q, v, out, num_threads
        As for `regressor`.

    Returns
    -------
    ndarray, shape (..., 10 njoints)
        Times the parameters, the kinetic energy, J, without that of armatures.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import treefactor as tf
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])])
    >>> tf.kinetic_energy_regressor(model, [0.0], [2.0])[4:]    # of I_yy: 2^2 / 2
    array([0., 0., 2., 0., 0., 0.])
    """
    return call(model, compiled.KineticEnergyRegressor, (), (q, v), out, num_threads, general_path)


def potential_energy_regressor(model: Model, q, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the row that multiplies the parameters of all bodies to give the potential energy.

    Parameters
    ----------
    model, q, out, num_threads
        As for `regressor`.

    Returns
    -------
    ndarray, shape (..., 10 njoints)
        -g . p, -R^T g and six zeros for every joint with origin p and axes R. Times the parameters, the
        potential energy, J, as `potential_energy` counts it.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import treefactor as tf
    >>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1])])
    >>> tf.potential_energy_regressor(model, [2.0])[:4]
    array([19.62,  0.  ,  0.  ,  9.81])
    """
    return call(model, compiled.PotentialEnergyRegressor, (), (q,), out, num_threads, general_path)


def center_of_mass_regressor(model: Model, q, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the matrix that multiplies the parameters of all bodies to give the centre of mass.

    It changes with the masses: it is divided by the mass of the model, and gives the centre of mass of that
    model only. For unknown masses use `treefactor.gravity_regressor` or
    `treefactor.potential_energy_regressor`.

    Parameters
    ----------
    model, q, out, num_threads
        As for `regressor`.

    Returns
    -------
    ndarray, shape (..., 3, 10 njoints)
        p, R and six zeros for every joint with origin p and axes R, over the mass of the model. Times the
        parameters, the centre of mass in the axes of the base, m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Pinocchio calls its first four columns of every joint ``computeStaticRegressor``; in spite of that name it
    is not the regressor of gravity.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.identification import center_of_mass_regressor
    >>> ball = tf.Inertia(2.0, [0.0, 0, 0], np.eye(3))
    >>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=ball)])
    >>> center_of_mass_regressor(model, [3.0])[2, :4]
    array([1.5, 0. , 0. , 0.5])
    """
    return call(model, compiled.CenterOfMassRegressor, (), (q,), out, num_threads, general_path)


def regressor_transpose_times(
    model: Model, q, v, a, lam, columns=INERTIA, out=None, num_threads: int = 1
) -> np.ndarray:
    """Compute Y^T lam for the matrix Y of `regressor`, without that matrix, in O(nv).

    Parameters
    ----------
    model, q, v, a, columns, out, num_threads
        As for `regressor`.
    lam : array_like, shape (..., nv)
        Weights of the generalized forces.

    Returns
    -------
    ndarray, shape (..., p)
        Gradient of lam . tau by the parameters, in the order of the columns of `regressor`.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    ValueError
        If there are no such columns.

    Notes
    -----
    The gradient of a loss by the parameters: through inverse dynamics, with lam the gradient by tau; through
    forward dynamics, with lam = -H^-1 times the gradient by the acceleration. `rnea_vjp` has it together
    with gradients by q, v and a.

    Examples
    --------
    >>> import treefactor as tf
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])])
    >>> tf.regressor_transpose_times(model, [0.0], [0.0], [2.0], [10.0])[4:]
    array([ 0.,  0., 20.,  0.,  0.,  0.])
    """
    options = (chosen(columns),)
    return call(model, compiled.TransposeTimes, options, (q, v, a, lam), out, num_threads, general_path)


def _bound_regressor(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of `regressor`."""
    check_choice("layout", given["layout"], LAYOUTS[:2])
    options = (given["layout"], _columns_of(given["layout"], given["columns"]))
    return bound(model, compiled.Regressor, options, given, out, partial(function, model, **given, out=out))


def _bound_product(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of `regressor_transpose_times`."""
    options = (chosen(given["columns"]),)
    return bound(
        model, compiled.TransposeTimes, options, given, out, partial(function, model, **given, out=out)
    )


KINDS: dict[Any, Any] = {
    center_of_mass_regressor: compiled.CenterOfMassRegressor,
    gravity_regressor: compiled.GravityRegressor,
    kinetic_energy_regressor: compiled.KineticEnergyRegressor,
    momentum_regressor: compiled.MomentumRegressor,
    potential_energy_regressor: compiled.PotentialEnergyRegressor,
}


def _bound_other(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of a regressor without options."""
    return bound(model, KINDS[function], (), given, out, partial(function, model, **given, out=out))


register(_bound_regressor, (regressor,))
register(_bound_product, (regressor_transpose_times,))
register(_bound_other, tuple(KINDS))
