"""Compute derivatives of motions of frames and centres of mass, of momentum, and of configurations."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .._util.bindable import register
from ..kinematics import requests
from ..kinematics._request import Request
from ..kinematics.masses import CENTER_DERIVATIVES, MOMENTUM_DERIVATIVES
from ..kinematics.plans import FRAME_DERIVATIVES
from ..model._configuration_calls import (
    DIFFERENCE_BY_Q0,
    DIFFERENCE_BY_Q1,
    INTEGRATE_BY_Q,
    INTEGRATE_BY_V,
)
from ..model._configuration_calls import general_path as step_path
from ..model._configuration_fast_path import call_both
from ..model.configuration_derivatives import bind_both, two_outs
from ..model.model import Model
from ..quantities.functions import centroidal_derivatives, com_derivatives, frame_derivatives

__all__ = [
    "CentroidalDerivatives",
    "MotionDerivatives",
    "centroidal_derivatives",
    "com_derivatives",
    "difference_derivatives",
    "frame_derivatives",
    "integrate_derivatives",
]


class MotionDerivatives(NamedTuple):
    """Derivatives of the placement, velocity and acceleration of a frame or of a centre of mass.

    Derivatives by q are along `treefactor.integrate`. Leading axes are the batch, and an axis for the frames
    of a list; r is 6 for frames, linear rows before angular ones, and 3 for a centre of mass.

    Attributes
    ----------
    jacobian : ndarray, shape (..., r, nv)
        Of the placement by q (displacement of the point and angle of the rotation), of the velocity by v and
        of the acceleration by a.
    velocity_q : ndarray, shape (..., r, nv)
        Of the velocity by q.
    acceleration_q : ndarray, shape (..., r, nv)
        Of the acceleration by q.
    acceleration_v : ndarray, shape (..., r, nv)
        Of the acceleration by v.
    """

    jacobian: np.ndarray
    velocity_q: np.ndarray
    acceleration_q: np.ndarray
    acceleration_v: np.ndarray

    @property
    def velocity_v(self) -> np.ndarray:
        """Derivative of the velocity by v: the Jacobian."""
        return self.jacobian

    @property
    def acceleration_a(self) -> np.ndarray:
        """Derivative of the acceleration by a: the Jacobian."""
        return self.jacobian


class CentroidalDerivatives(NamedTuple):
    """Derivatives of the momentum h about the centre of mass, and of its rate; leading axes are the batch.

    Attributes
    ----------
    dhdot_da : ndarray, shape (..., 6, nv)
        Of the rate by a, equal to that of h by v: `treefactor.centroidal_map`.
    dh_dq : ndarray, shape (..., 6, nv)
    dhdot_dq : ndarray, shape (..., 6, nv)
    dhdot_dv : ndarray, shape (..., 6, nv)
    """

    dhdot_da: np.ndarray
    dh_dq: np.ndarray
    dhdot_dq: np.ndarray
    dhdot_dv: np.ndarray

    @property
    def dh_dv(self) -> np.ndarray:
        """Derivative of the momentum by v: the centroidal map."""
        return self.dhdot_da


NO_OUTS = None, None


def of_frames(model: Model, frame, reference: str, classical: bool) -> Request:
    """Return the compiled function of derivatives of frames."""
    gather = partial(tuple.__new__, MotionDerivatives)
    return requests.of_frames(model, FRAME_DERIVATIVES, frame, reference, classical, gather=gather)


def of_center(model: Model, root) -> Request:
    """Return the compiled function of derivatives of a centre of mass."""
    return requests.of_masses(
        model, CENTER_DERIVATIVES, root, gather=partial(tuple.__new__, MotionDerivatives)
    )


def of_momentum(model: Model) -> Request:
    """Return the compiled function of derivatives of the momentum about the centre of mass."""
    return requests.of_masses(
        model, MOMENTUM_DERIVATIVES, gather=partial(tuple.__new__, CentroidalDerivatives)
    )


def integrate_derivatives(model: Model, q, v, out=None, num_threads: int = 1):
    """Compute the derivatives of `integrate` by q and by v.

    Parameters
    ----------
    model, q, v, num_threads
        As for `integrate`.
    out : tuple of two ndarrays, shape (..., nv, nv), optional
        Receives the result.

    Returns
    -------
    tuple of two ndarrays, shape (..., nv, nv)
        Velocity of the result, in its own axes, per velocity of q (the adjoint of exp(-v)) and per change of
        v (the right Jacobian of exp). Both are the identity but for blocks of joints that turn in more than
        one way.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    Pinocchio's ``dIntegrate``; `d_integrate` computes one of them. A joint's block depends only on its own
    entries of q and v: a model of a free-flyer alone gives that block of a robot, without the rest.

    Examples
    --------
    >>> import treefactor as tf
    >>> ball = tf.Model([tf.Joint("ball", "spherical")])
    >>> by_q, by_v = tf.integrate_derivatives(ball, tf.neutral(ball), [0.0, 0.0, 0.0])
    >>> by_q + by_v
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    outs = NO_OUTS if out is None else two_outs(None, out, q, v)
    return call_both(model, INTEGRATE_BY_Q, INTEGRATE_BY_V, q, v, outs, num_threads, step_path)


def difference_derivatives(model: Model, q0, q1, out=None, num_threads: int = 1):
    """Compute the derivatives of `difference` by q0 and by q1.

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    out : tuple of two ndarrays, shape (..., nv, nv), optional
        Receives the result.

    Returns
    -------
    tuple of two ndarrays, shape (..., nv, nv)
        Change of the difference per velocity of q0 and of q1, each in its own axes: with the right Jacobian J
        of exp and the difference d, minus the inverse of J(-d), and the inverse of J(d).

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `difference`.

    Notes
    -----
    Pinocchio's ``dDifference``; `d_difference` computes one of them.

    Examples
    --------
    >>> import treefactor as tf
    >>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
    >>> tf.difference_derivatives(slide, [1.0], [3.0])
    (array([[-1.]]), array([[1.]]))
    """
    outs = NO_OUTS if out is None else two_outs(None, out, q0, q1)
    return call_both(model, DIFFERENCE_BY_Q0, DIFFERENCE_BY_Q1, q0, q1, outs, num_threads, step_path)


register(partial(bind_both, (INTEGRATE_BY_Q, INTEGRATE_BY_V)), [integrate_derivatives])
register(partial(bind_both, (DIFFERENCE_BY_Q0, DIFFERENCE_BY_Q1)), [difference_derivatives])
