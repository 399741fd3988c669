"""Types of the first derivatives of inverse and forward dynamics."""

from typing import NamedTuple

import numpy as np


class RneaDerivatives(NamedTuple):
    """Derivatives of inverse dynamics: matrices by q, v and a, the last one being H."""

    dtau_dq: np.ndarray
    dtau_dv: np.ndarray
    dtau_da: np.ndarray


class RneaDerivativesWithValue(NamedTuple):
    """Derivatives of inverse dynamics, and the generalized forces."""

    dtau_dq: np.ndarray
    dtau_dv: np.ndarray
    dtau_da: np.ndarray
    tau: np.ndarray


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of forward dynamics: matrices by q, v and tau, the last one being the inverse of H."""

    da_dq: np.ndarray
    da_dv: np.ndarray
    da_dtau: np.ndarray


class ForwardDynamicsDerivativesWithValue(NamedTuple):
    """Derivatives of forward dynamics, and the acceleration."""

    da_dq: np.ndarray
    da_dv: np.ndarray
    da_dtau: np.ndarray
    a: np.ndarray
