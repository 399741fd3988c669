"""Compute derivatives of motions of frames and centres of mass, and of momentum."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._util.bindable import register
from ..kinematics._bound_request import BoundRequest, call
from ..kinematics._general_path import general_path
from ..kinematics.frames import bound
from ..kinematics.kept_requests import compiled_request
from ..kinematics.masses import CENTER_DERIVATIVES, MOMENTUM_DERIVATIVES
from ..kinematics.plans import CLASSICAL, FRAME_DERIVATIVES
from ..model.model import Model


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


_named: Callable[..., Any] = tuple.__new__  # makes a named tuple of a tuple


def frame_derivatives(
    model: Model,
    q,
    v,
    a,
    frame,
    reference: str = "LOCAL",
    classical: bool = False,
    out: MotionDerivatives | None = None,
    num_threads: int = 1,
) -> MotionDerivatives:
    """Compute the derivatives of the placement, velocity and acceleration of frames by q, v and a.

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included.
    q, v : array_like, shapes (..., nq), (..., nv)
        Leading axes are a batch; an array without them applies to every configuration.
    a : array_like, shape (..., nv), or None
        None means zero.
    frame, reference, classical
        As for `frame_acceleration`.
    out : MotionDerivatives, optional
        Result of an earlier call of these shapes, to be overwritten.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    MotionDerivatives
        ``jacobian``, ``velocity_q``, ``acceleration_q``, ``acceleration_v``, each of shape (..., 6, nv) or
        (..., k, 6, nv) for a list of k frames: derivatives of what `frame_velocity` and `frame_acceleration`
        return in the same reference, by q along `integrate`, in their units per m or rad, per m/s or rad/s.
        ``jacobian`` is `frame_jacobian`, the derivative
        of the placement by q, of the velocity by v and of the acceleration by a. In a batch, configurations
        that are not finite give NaN, but for columns that are zero for every q.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError, ValueError
        As for `frame_acceleration`.

    Notes
    -----
    Singh, Russell & Wensing (2022), with one body for each axis of a universal joint. Pinocchio's
    ``getFrameVelocityDerivatives`` and ``getFrameAccelerationDerivatives`` mean the same in "LOCAL". In
    "LOCAL_WORLD_ALIGNED" they shift and turn the derivatives in "WORLD", which leaves out that the frame's
    origin moves with q; in "WORLD" their columns by q are wrong for accelerations of spherical, planar and
    free-flyer joints that are not at the root (4.1), and in all references for universal joints, whose axes
    depend on q.

    Examples
    --------
    >>> import treefactor as tf
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> found = tf.frame_derivatives(arm, [0.0], [2.0], [0.0], "tip", "LOCAL_WORLD_ALIGNED", classical=True)
    >>> found.velocity_q.T + 0.0, found.acceleration_v.T + 0.0
    (array([[-2.,  0.,  0.,  0.,  0.,  0.]]), array([[-4.,  0.,  0.,  0.,  0.,  0.]]))
    """
    option = CLASSICAL if classical else 0
    given = tuple(out) if isinstance(out, tuple) else out
    found = call(
        model, FRAME_DERIVATIVES, frame, reference, option, q, v, a, given, num_threads, general_path
    )
    return _named(MotionDerivatives, found) if out is None else out


def com_derivatives(
    model: Model, q, v, a=None, root=None, out: MotionDerivatives | None = None, num_threads: int = 1
) -> MotionDerivatives:
    """Compute the derivatives of a centre of mass, of its velocity and of its acceleration by q, v and a.

    Parameters
    ----------
    model, root, num_threads
        As for `center_of_mass`.
    q, v, a, out
        As for `frame_derivatives`.

    Returns
    -------
    MotionDerivatives
        ``jacobian``, ``velocity_q``, ``acceleration_q``, ``acceleration_v``, each of shape (..., 3, nv), in
        world axes: m, m/s and m/s^2 per m or rad, per m/s or rad/s. ``jacobian`` is
        `center_of_mass_jacobian`.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError, IndexError, ValueError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``getCenterOfMassVelocityDerivatives`` is ``velocity_q``.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.com_derivatives(arm, [0.0], [2.0]).velocity_q.T + 0.0
    array([[-2.,  0.,  0.]])
    """
    root = -1 if root is None else root
    given = tuple(out) if isinstance(out, tuple) else out
    found = call(model, CENTER_DERIVATIVES, root, "LOCAL", 0, q, v, a, given, num_threads, general_path)
    return _named(MotionDerivatives, found) if out is None else out


def centroidal_derivatives(
    model: Model, q, v, a, out: CentroidalDerivatives | None = None, num_threads: int = 1
) -> CentroidalDerivatives:
    """Compute the derivatives of `centroidal_momentum` and `centroidal_momentum_rate` by q, v and a.

    Parameters
    ----------
    model, q, v, a, num_threads
        As for `frame_derivatives`.
    out : CentroidalDerivatives, optional
        Result of an earlier call of these shapes, to be overwritten.

    Returns
    -------
    CentroidalDerivatives
        ``dhdot_da``, ``dh_dq``, ``dhdot_dq``, ``dhdot_dv``, each of shape (..., 6, nv): linear rows before
        those about the centre of mass, in world axes: N s, N m s, N and N m per m or rad, and so on.
        ``dhdot_da`` is `centroidal_map`; gravity is not included.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``computeCentroidalDynamicsDerivatives``, which returns them in the order of dh_dq, dhdot_dq,
    dhdot_dv and dhdot_da; its derivatives with universal joints are wrong (4.1).

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.centroidal_derivatives(arm, [0.0], [3.0], [0.0]).dhdot_dv.T.round(12) + 0.0
    array([[-12.,   0.,   0.,   0.,   0.,   0.]])
    """
    given = tuple(out) if isinstance(out, tuple) else out
    found = call(model, MOMENTUM_DERIVATIVES, -1, "LOCAL", 0, q, v, a, given, num_threads, general_path)
    return _named(CentroidalDerivatives, found) if out is None else out


def _bound(function, model: Model, given: dict, out) -> BoundRequest:
    """Return the bound call of derivatives of frames or of masses."""
    if function is frame_derivatives:
        option = CLASSICAL if given["classical"] else 0
        request = compiled_request(model, FRAME_DERIVATIVES, given["frame"], given["reference"], option)
    elif function is com_derivatives:
        root = -1 if given["root"] is None else given["root"]
        request = compiled_request(model, CENTER_DERIVATIVES, root, "LOCAL", 0)
    else:
        request = compiled_request(model, MOMENTUM_DERIVATIVES, -1, "LOCAL", 0)
    arrays = {name: given[name] for name in ("q", "v", "a") if given[name] is not None}
    return bound(request, model, arrays, out, partial(function, model, **given, out=out), out)


register(_bound, (frame_derivatives, com_derivatives, centroidal_derivatives))
