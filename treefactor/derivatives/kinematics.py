"""Compute derivatives of motions of frames and centres of mass, of momentum, and of configurations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics import requests
from ..kinematics._request import Request
from ..model.model import Model
from ..quantities.functions import centroidal_derivatives, com_derivatives, frame_derivatives

__all__ = [
    "CentroidalDerivatives",
    "MotionDerivatives",
    "centroidal_derivatives",
    "com_derivatives",
    "frame_derivatives",
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


def of_frames(model: Model, name: str, frame, reference: str, classical: bool) -> Request:
    """Return the compiled function of derivatives of frames."""
    return requests.of_frames(model, name, frame, reference, classical, gather=MotionDerivatives)


def of_center(model: Model, name: str, root) -> Request:
    """Return the compiled function of derivatives of a centre of mass."""
    return requests.of_masses(model, name, root, gather=MotionDerivatives)


def of_momentum(model: Model, name: str) -> Request:
    """Return the compiled function of derivatives of the momentum about the centre of mass."""
    return requests.of_masses(model, name, gather=CentroidalDerivatives)
