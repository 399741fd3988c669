"""Rotations in batches: exponentials, logarithms, products and conversions of matrices (..., 3, 3).

Quaternions are x y z w. Rotation matrices are not checked.
"""

from __future__ import annotations

import numpy as np

from ._pose_calls import general_path
from ._poses import NUMBERS, call, call_one

__all__ = [
    "act",
    "act_inverse",
    "between",
    "compose",
    "exp",
    "from_quaternion",
    "from_rpy",
    "interpolate",
    "inverse",
    "jexp",
    "jlog",
    "log",
    "to_quaternion",
    "to_rpy",
]

_EXP = NUMBERS["so3_exp"]
_LOG = NUMBERS["so3_log"]
_JEXP = NUMBERS["so3_jexp"]
_JLOG = NUMBERS["so3_jlog"]
_COMPOSE = NUMBERS["so3_compose"]
_INVERSE = NUMBERS["so3_inverse"]
_BETWEEN = NUMBERS["so3_between"]
_INTERPOLATE = NUMBERS["so3_interpolate"]
_ACT = NUMBERS["so3_act"]
_ACT_INVERSE = NUMBERS["so3_act_inverse"]
_FROM_QUATERNION = NUMBERS["so3_from_quaternion"]
_TO_QUATERNION = NUMBERS["so3_to_quaternion"]
_FROM_RPY = NUMBERS["so3_from_rpy"]
_TO_RPY = NUMBERS["so3_to_rpy"]


def exp(w, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the rotation by the angle and about the axis of a rotation vector.

    Parameters
    ----------
    w : array_like, shape (..., 3)
        Rotation vectors, rad.
    out : ndarray, optional
        Receives the result.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., 3, 3)

    Raises
    ------
    ShapeError, DtypeError
        If an argument or out has another shape or type, or leading axes differ.
    NonFiniteError
        For single elements; in batches NaN stays in its element.

    Notes
    -----
    ``pinocchio.exp3``.

    Examples
    --------
    >>> from treefactor import so3
    >>> so3.exp([0.0, 0.0, 0.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    return call_one(_EXP, w, out, num_threads, general_path)


def log(R, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the rotation vector, of length at most pi, of a rotation.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
        Rotation matrices; not checked.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3)
        Finite at a half turn, too.

    Notes
    -----
    ``pinocchio.log3``.
    """
    return call_one(_LOG, R, out, num_threads, general_path)


def jexp(w, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the right Jacobian J of `exp`: exp(w + d) is exp(w) exp(J d) to first order.

    Parameters
    ----------
    w : array_like, shape (..., 3)
        Rotation vectors, rad.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)

    Notes
    -----
    ``pinocchio.Jexp3``.
    """
    return call_one(_JEXP, w, out, num_threads, general_path)


def jlog(R, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the right Jacobian J of `log`: log(R exp(d)) is log(R) + J d to first order.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
        Rotation matrices; not checked.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)

    Notes
    -----
    ``pinocchio.Jlog3``.
    """
    return call_one(_JLOG, R, out, num_threads, general_path)


def compose(R0, R1, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the product R0 R1.

    Parameters
    ----------
    R0, R1 : array_like, shape (..., 3, 3)
        Either may lack the leading axes of the other.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)
    """
    return call(_COMPOSE, R0, R1, None, out, num_threads, general_path)


def inverse(R, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the inverse rotation, the transposed matrix.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
        Rotation matrices; not checked.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)
    """
    return call_one(_INVERSE, R, out, num_threads, general_path)


def between(R0, R1, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the inverse of R0 times R1: the rotation R1, seen from R0.

    Parameters
    ----------
    R0, R1 : array_like, shape (..., 3, 3)
        Either may lack the leading axes of the other.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)
    """
    return call(_BETWEEN, R0, R1, None, out, num_threads, general_path)


def interpolate(R0, R1, u, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the rotation at the fraction u between R0 and R1: R0 exp(u log(R0^-1 R1)).

    Parameters
    ----------
    R0, R1 : array_like, shape (..., 3, 3)
        Either may lack the leading axes of the other.
    u : float or array_like
        0 gives R0, 1 gives R1; one number, or one for each rotation of the batch.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)

    Notes
    -----
    ``pinocchio.Quaternion.slerp``.
    """
    return call(_INTERPOLATE, R0, R1, u, out, num_threads, general_path)


def act(R, x, out=None, num_threads: int = 1) -> np.ndarray:
    """Return turned vectors R x.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
        Rotation matrices; not checked.
    x : array_like, shape (..., 3)
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3)
    """
    return call(_ACT, R, x, None, out, num_threads, general_path)


def act_inverse(R, x, out=None, num_threads: int = 1) -> np.ndarray:
    """Return vectors turned back: the inverse of R times x.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
        Rotation matrices; not checked.
    x : array_like, shape (..., 3)
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3)
    """
    return call(_ACT_INVERSE, R, x, None, out, num_threads, general_path)


def from_quaternion(q, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the rotation of a quaternion.

    Parameters
    ----------
    q : array_like, shape (..., 4)
        x y z w, of any length but zero.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)
        In a batch, NaN for quaternions of length zero.

    Raises
    ------
    ConfigurationError
        If a single quaternion has length zero.

    Notes
    -----
    ``pinocchio.Quaternion(q).matrix()``.
    """
    return call_one(_FROM_QUATERNION, q, out, num_threads, general_path)


def to_quaternion(R, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the unit quaternion x y z w of a rotation.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
        Rotation matrices; not checked.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 4)
        Of the two quaternions of a rotation, the one with w >= 0.

    Notes
    -----
    ``pinocchio.Quaternion(R).coeffs()``, up to the sign.
    """
    return call_one(_TO_QUATERNION, R, out, num_threads, general_path)


def from_rpy(rpy, out=None, num_threads: int = 1) -> np.ndarray:
    """Return the rotation by roll, pitch and yaw about fixed axes, as URDF has them.

    Parameters
    ----------
    rpy : array_like, shape (..., 3)
        Angles about x, then y, then z, rad.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3, 3)

    Notes
    -----
    ``pinocchio.rpy.rpyToMatrix``.
    """
    return call_one(_FROM_RPY, rpy, out, num_threads, general_path)


def to_rpy(R, out=None, num_threads: int = 1) -> np.ndarray:
    """Return roll, pitch and yaw of a rotation.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
        Rotation matrices; not checked.
    out, num_threads
        As for `exp`; so are the errors.

    Returns
    -------
    ndarray, shape (..., 3)
        Pitch lies within -pi/2 and pi/2; where it is one of them, roll is 0.

    Notes
    -----
    ``pinocchio.rpy.matrixToRpy``; these angles give R at every pitch.
    """
    return call_one(_TO_RPY, R, out, num_threads, general_path)
