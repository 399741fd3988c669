"""Named tuples of second derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class RneaHvp(NamedTuple):
    """Second derivatives of a weighted sum of inverse dynamics along a direction.

    Attributes
    ----------
    q, v, a : ndarray, shape (..., nv)
        Parts by q, v and a.
    """

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class RneaHessian(NamedTuple):
    """Second derivatives of a weighted sum of inverse dynamics, by pairs of arguments.

    Attributes
    ----------
    qq, qv, vv, qa : ndarray, shape (..., nv, nv) or packed
        The first letter is the argument of the rows. Those by a and v, and by a twice, are zero.
    """

    qq: np.ndarray
    qv: np.ndarray
    vv: np.ndarray
    qa: np.ndarray


class ForwardDynamicsHvp(NamedTuple):
    """Second derivatives of a weighted sum of accelerations along a direction.

    Attributes
    ----------
    q, v, tau : ndarray, shape (..., nv)
        Parts by q, v and tau.
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


class ForwardDynamicsHessian(NamedTuple):
    """Second derivatives of a weighted sum of accelerations, by pairs of arguments.

    Attributes
    ----------
    qq, qv, vv, qtau : ndarray, shape (..., nv, nv)
        The first letter is the argument of the rows. Those by tau and v, and by tau twice, are zero.
    """

    qq: np.ndarray
    qv: np.ndarray
    vv: np.ndarray
    qtau: np.ndarray
