"""Multiply vectors by derivatives of inverse and forward dynamics, without forming these matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._util.bindable import register
from ..dynamics.inertias import with_inertias
from ..model.model import Model
from . import _products as compiled
from ._calls import call
from ._general_path import bound, general_path
from .product_results import ForwardDynamicsGradients, RneaGradients

__all__ = ["forward_dynamics_jvp", "forward_dynamics_vjp", "rnea_jvp", "rnea_vjp"]


def rnea_jvp(
    model: Model,
    q,
    v,
    a,
    dq,
    dv,
    da,
    fext=None,
    dfext=None,
    with_value: bool = False,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> Any:
    """Compute the derivative of inverse dynamics along directions, in O(nv).

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included.
    q, v, a, fext
        As for `rnea`.
    dq, dv, da : array_like, shape (..., nv) or (..., m, nv), or None
        Direction, in the units of v times s, of v and of a; None is zero. q changes along `integrate`. Shape
        (..., m, nv), with one axis more than a batch of states, holds m directions for every state, which
        share what depends on the state alone; all of dq, dv, da and dfext have this axis then. For one state,
        directions of shape (m, nv) are a batch.
    dfext : array_like, shape (..., njoints, 6) or (..., m, njoints, 6), optional
        Direction in fext, N, N m.
    with_value : bool
        Whether to return the generalized forces, too.
    out : ndarray of shape (..., nv) or (..., m, nv), optional
        Receives the result; with ``with_value`` a tuple of two arrays.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    ndarray, shape (..., nv) or (..., m, nv)
        Derivative of tau, N or N m. With ``with_value`` a named tuple (dtau, tau).

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    The derivative recursions of Carpentier and Mansard (2018), Analytical derivatives of rigid body dynamics
    algorithms, summed over the directions from the start: no matrix is formed.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.rnea_jvp(model, [0.0], [0.0], [0.0], [1.0], None, [2.0])
    array([5.605])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    options = (compiled.vectors_per_state((q, v, a), fext, (dq, dv, da), dfext), bool(with_value))
    return call(
        model, compiled.RneaJvp, options, (q, v, a, dq, dv, da, fext, dfext), out, num_threads, general_path
    )


def rnea_vjp(
    model: Model,
    q,
    v,
    a,
    w,
    fext=None,
    fext_gradient: bool = False,
    inertia_gradient: bool = False,
    with_value: bool = False,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> RneaGradients:
    """Compute the gradient of w . tau for the inverse dynamics tau, in O(nv).

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included.
    q, v, a, fext
        As for `rnea`.
    w : array_like, shape (..., nv) or (..., m, nv)
        Weights of tau. Shape (..., m, nv), with one axis more than a batch of states, holds m vectors of
        weights for every state, which share what depends on the state alone. For one state, w of shape
        (m, nv) is a batch.
    fext_gradient, inertia_gradient : bool
        Whether to compute the gradients by external forces, and by the inertias of all bodies.
    with_value : bool
        Whether to return the generalized forces, too.
    out : tuple of ndarray, optional
        Receives the results, one array for each.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    RneaGradients
        Named tuple of the gradients ``q``, ``v``, ``a``, shape (..., nv) or (..., m, nv), by q along
        `integrate`, in the unit of w . tau per m or rad, per m/s or rad/s, per m/s^2 or rad/s^2; on request
        ``fext``, shape (..., njoints, 6), ``inertia``, shape (..., njoints, 10), each with m before njoints
        where w has it, and ``value``, shape (..., nv), as `rnea` returns it. Inertias are m, m c, Ixx, Ixy,
        Iyy, Ixz, Iyz, Izz of every body about the origin of its joint, in the joint's axes: Pinocchio's
        ``toDynamicParameters``.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    The derivative recursions of Carpentier and Mansard (2018), summed over the weights from the start: every
    body carries one force and moment that serve all its freedoms. The gradient by inertias is w^T times
    ``computeJointTorqueRegressor`` of Pinocchio, without that matrix.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> gradient = tf.rnea_vjp(model, [0.0], [0.0], [0.0], [1.0])
    >>> gradient.q, gradient.a
    (array([4.905]), array([0.35]))
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    wanted = bool(fext_gradient), bool(inertia_gradient), bool(with_value)
    options = (compiled.vectors_per_state((q, v, a), fext, (w,)), *wanted)
    return call(model, compiled.RneaVjp, options, (q, v, a, w, fext), out, num_threads, general_path)


def forward_dynamics_jvp(
    model: Model,
    q,
    v,
    tau,
    dq,
    dv,
    dtau,
    fext=None,
    dfext=None,
    with_value: bool = False,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> Any:
    """Compute the derivative of forward dynamics along directions.

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included.
    q, v, tau, fext
        As for `forward_dynamics`.
    dq, dv, dtau : array_like, shape (..., nv) or (..., m, nv), or None
        Direction, as dq, dv and da of `rnea_jvp`; dtau in N, N m.
    dfext, out, num_threads, inertias
        As for `rnea_jvp`.
    with_value : bool
        Whether to return the acceleration, too.

    Returns
    -------
    ndarray, shape (..., nv) or (..., m, nv)
        Derivative of a, m/s^2 or rad/s^2; in a batch, NaN where there is no solution. With ``with_value`` a
        named tuple (da, a).

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    H^-1 (dtau - rnea_jvp(dq, dv, 0)) at the acceleration found; one factorization of H serves both solves.
    Carpentier and Mansard (2018).

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.forward_dynamics_jvp(model, [0.0], [0.0], [0.0], [1.0], None, [0.7])
    array([-12.01428571])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    options = (compiled.vectors_per_state((q, v, tau), fext, (dq, dv, dtau), dfext), bool(with_value))
    arrays = (q, v, tau, dq, dv, dtau, fext, dfext)
    return call(model, compiled.ForwardDynamicsJvp, options, arrays, out, num_threads, general_path)


def forward_dynamics_vjp(
    model: Model,
    q,
    v,
    tau,
    w,
    fext=None,
    fext_gradient: bool = False,
    inertia_gradient: bool = False,
    with_value: bool = False,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> ForwardDynamicsGradients:
    """Compute the gradient of w . a for the forward dynamics a.

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included.
    q, v, tau, fext
        As for `forward_dynamics`.
    w, fext_gradient, inertia_gradient, out, num_threads, inertias
        As for `rnea_vjp`.
    with_value : bool
        Whether to return the acceleration, too.

    Returns
    -------
    ForwardDynamicsGradients
        Named tuple of the gradients ``q``, ``v``, ``tau``, shape (..., nv) or (..., m, nv), by q along
        `integrate`; on request ``fext``, ``inertia`` as for `rnea_vjp`, and ``value``, as `forward_dynamics`
        returns it. In a batch, NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    The gradient by tau is H^-1 w, the others are those of `rnea_vjp` for -H^-1 w at the acceleration found;
    one factorization of H serves both solves. Carpentier and Mansard (2018). The gradient by armature is
    ``-gradient.tau * gradient.value`` with ``with_value``; `treefactor.identification.log_cholesky_gradient`
    changes that by inertias to coordinates that reach only bodies that can exist.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> gradient = tf.forward_dynamics_vjp(model, [0.0], [0.0], [0.0], [0.7])
    >>> gradient.q, gradient.tau
    (array([-9.81]), array([2.]))
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    wanted = bool(fext_gradient), bool(inertia_gradient), bool(with_value)
    options = (compiled.vectors_per_state((q, v, tau), fext, (w,)), *wanted)
    return call(
        model, compiled.ForwardDynamicsVjp, options, (q, v, tau, w, fext), out, num_threads, general_path
    )


KINDS: dict[Any, Any] = {
    rnea_jvp: compiled.RneaJvp,
    rnea_vjp: compiled.RneaVjp,
    forward_dynamics_jvp: compiled.ForwardDynamicsJvp,
    forward_dynamics_vjp: compiled.ForwardDynamicsVjp,
}
OPTIONS = ("fext_gradient", "inertia_gradient", "with_value")


def _bound(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of a product."""
    options = (-1, *(bool(given[name]) for name in OPTIONS if name in given))
    return bound(model, KINDS[function], options, given, out, partial(function, model, **given, out=out))


register(_bound, tuple(KINDS))
