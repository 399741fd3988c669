"""Rigid motions in batches: exponentials, logarithms, products and conversions of poses (..., 3, 4).

Spatial velocities are linear before angular, quaternions x y z w. Rotation matrices are not checked.
"""

from __future__ import annotations

import numpy as np

from ._pose_calls import general_path
from ._poses import NUMBERS, call, call_one

__all__ = [
    "act",
    "act_inverse",
    "action",
    "between",
    "compose",
    "exp",
    "from_rpy",
    "from_xyzquat",
    "interpolate",
    "inverse",
    "jexp",
    "jlog",
    "log",
    "to_xyzquat",
]

_EXP = NUMBERS["se3_exp"]
_LOG = NUMBERS["se3_log"]
_JEXP = NUMBERS["se3_jexp"]
_JLOG = NUMBERS["se3_jlog"]
_COMPOSE = NUMBERS["se3_compose"]
_INVERSE = NUMBERS["se3_inverse"]
_BETWEEN = NUMBERS["se3_between"]
_INTERPOLATE = NUMBERS["se3_interpolate"]
_ACT = NUMBERS["se3_act"]
_ACT_INVERSE = NUMBERS["se3_act_inverse"]
_ACTION = NUMBERS["se3_action"]
_FROM_XYZQUAT = NUMBERS["se3_from_xyzquat"]
_TO_XYZQUAT = NUMBERS["se3_to_xyzquat"]
_FROM_RPY = NUMBERS["se3_from_rpy"]


def exp(v, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the pose that a constant velocity v reaches from the identity within one second.

    Parameters
    ----------
    v : array_like, shape (..., 6)
        Linear before angular, in axes of the moving body (m/s, rad/s).
    out : ndarray, optional
        Receives the result.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., 3, 4)

    Raises
    ------
    ShapeError, DtypeError
        If an argument or out has another shape or type, or leading axes differ.
    NonFiniteError
        For single elements; in batches NaN stays in its element.

    Notes
    -----
    ``pinocchio.exp6``.

    Examples
    --------
    >>> from treefactor import se3
    >>> se3.exp([1.0, 0, 0, 0, 0, 0])
    array([[1., 0., 0., 1.],
           [0., 1., 0., 0.],
           [0., 0., 1., 0.]])
    """
    return call_one(_EXP, v, out, num_threads, general_path)


def log(M, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the velocity of at most half a turn that leads from the identity to M within one second.

    Parameters
    ----------
    M : array_like, shape (..., 3, 4)
        Rotation matrix and translation [R p].
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 6)
        Linear before angular; finite at a half turn, too.

    Notes
    -----
    ``pinocchio.log6``.

    Examples
    --------
    >>> from treefactor import se3
    >>> se3.log([[1.0, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0]])
    array([2., 0., 0., 0., 0., 0.])
    """
    return call_one(_LOG, M, out, num_threads, general_path)


def jexp(v, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the right Jacobian J of `exp`: exp(v + d) is exp(v) exp(J d) to first order.

    Parameters
    ----------
    v : array_like, shape (..., 6)
        Linear before angular.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 6, 6)

    Notes
    -----
    ``pinocchio.Jexp6``.
    """
    return call_one(_JEXP, v, out, num_threads, general_path)


def jlog(M, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the right Jacobian J of `log`: log(M exp(d)) is log(M) + J d to first order.

    Parameters
    ----------
    M : array_like, shape (..., 3, 4)
        Rotation matrix and translation [R p].
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 6, 6)

    Notes
    -----
    ``pinocchio.Jlog6``.
    """
    return call_one(_JLOG, M, out, num_threads, general_path)


def compose(M0, M1, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the product M0 M1: the pose M1, given in the frame M0.

    Parameters
    ----------
    M0, M1 : array_like, shape (..., 3, 4)
        Either may lack the leading axes of the other.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 4)

    Notes
    -----
    ``M0 * M1`` of ``pinocchio.SE3``.
    """
    return call(_COMPOSE, M0, M1, None, out, num_threads, general_path)


def inverse(M, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the inverse pose.

    Parameters
    ----------
    M : array_like, shape (..., 3, 4)
        Rotation matrix and translation [R p].
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 4)

    Notes
    -----
    ``M.inverse()`` of ``pinocchio.SE3``.
    """
    return call_one(_INVERSE, M, out, num_threads, general_path)


def between(M0, M1, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the inverse of M0 times M1: the pose M1, seen from the frame M0.

    Parameters
    ----------
    M0, M1 : array_like, shape (..., 3, 4)
        Either may lack the leading axes of the other.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 4)

    Notes
    -----
    ``M0.actInv(M1)`` of ``pinocchio.SE3``.
    """
    return call(_BETWEEN, M0, M1, None, out, num_threads, general_path)


def interpolate(M0, M1, u, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the pose at the fraction u between M0 and M1: M0 exp(u log(M0^-1 M1)).

    Parameters
    ----------
    M0, M1 : array_like, shape (..., 3, 4)
        Either may lack the leading axes of the other.
    u : float or array_like
        0 gives M0, 1 gives M1; one number, or one for each pose of the batch.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 4)

    Notes
    -----
    ``pinocchio.SE3.Interpolate``.
    """
    return call(_INTERPOLATE, M0, M1, u, out, num_threads, general_path)


def act(M, x, out=None, num_threads: int = 1) -> np.ndarray:
    """Transform points or spatial velocities from the frame M to its reference: R x + p for points.

    Parameters
    ----------
    M : array_like, shape (..., 3, 4)
        Rotation matrix and translation [R p].
    x : array_like, shape (..., 3) or (..., 6)
        Points (m), or velocities, linear before angular.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3) or (..., 6)

    Notes
    -----
    ``M.act(x)`` of ``pinocchio.SE3``, for points and for ``pinocchio.Motion``.

    Examples
    --------
    >>> from treefactor import se3
    >>> se3.act(se3.exp([1.0, 0, 0, 0, 0, 0]), [0.0, 2, 0])
    array([1., 2., 0.])
    """
    return call(_ACT, M, x, None, out, num_threads, general_path)


def act_inverse(M, x, out=None, num_threads: int = 1) -> np.ndarray:
    """Transform points or spatial velocities into the frame M: the inverse of `act`.

    Parameters
    ----------
    M : array_like, shape (..., 3, 4)
        Rotation matrix and translation [R p].
    x : array_like, shape (..., 3) or (..., 6)
        Points (m), or velocities, linear before angular.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3) or (..., 6)

    Notes
    -----
    ``M.actInv(x)`` of ``pinocchio.SE3``.
    """
    return call(_ACT_INVERSE, M, x, None, out, num_threads, general_path)


def action(M, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the matrix by which `act` multiplies spatial velocities.

    Parameters
    ----------
    M : array_like, shape (..., 3, 4)
        Rotation matrix and translation [R p].
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 6, 6)

    Notes
    -----
    ``M.action`` of ``pinocchio.SE3``. Its transpose takes forces from the outer frame to M.
    """
    return call_one(_ACTION, M, out, num_threads, general_path)


def from_xyzquat(x, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the pose of a position and a quaternion.

    Parameters
    ----------
    x : array_like, shape (..., 7)
        Position (m) and quaternion x y z w of any length but zero.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 4)
        In a batch, NaN for quaternions of length zero.

    Raises
    ------
    ConfigurationError
        If a single quaternion has length zero.

    Notes
    -----
    ``pinocchio.XYZQUATToSE3``.
    """
    return call_one(_FROM_XYZQUAT, x, out, num_threads, general_path)


def to_xyzquat(M, out=None, num_threads: int = 1) -> np.ndarray:
    """Return position and quaternion x y z w of a pose.

    Parameters
    ----------
    M : array_like, shape (..., 3, 4)
        Rotation matrix and translation [R p].
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 7)
        Of the two quaternions of a rotation, the one with w >= 0.

    Notes
    -----
    ``pinocchio.SE3ToXYZQUAT``.
    """
    return call_one(_TO_XYZQUAT, M, out, num_threads, general_path)


def from_rpy(xyz, rpy, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the pose at a position, turned by roll, pitch and yaw about fixed axes, as URDF has them.

    Parameters
    ----------
    xyz : array_like, shape (..., 3)
        Position, m.
    rpy : array_like, shape (..., 3)
        Angles about x, then y, then z, rad.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 4)

    Notes
    -----
    The rotation is that of ``pinocchio.rpy.rpyToMatrix``.
    """
    return call(_FROM_RPY, xyz, rpy, None, out, num_threads, general_path)
