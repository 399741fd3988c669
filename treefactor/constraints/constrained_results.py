"""Types of the derivatives of constrained forward dynamics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of constrained forward dynamics: matrices (..., nv, nv) and (..., rows, nv).

    Of the accelerations by q, v and tau, then of the forces of loops, drives and contacts.
    """

    da_dq: np.ndarray
    da_dv: np.ndarray
    da_dtau: np.ndarray
    dforces_dq: np.ndarray
    dforces_dv: np.ndarray
    dforces_dtau: np.ndarray


class ConstrainedDerivativesWithValue(NamedTuple):
    """Derivatives of constrained forward dynamics, accelerations (..., nv) and forces (..., rows)."""

    da_dq: np.ndarray
    da_dv: np.ndarray
    da_dtau: np.ndarray
    dforces_dq: np.ndarray
    dforces_dv: np.ndarray
    dforces_dtau: np.ndarray
    a: np.ndarray
    forces: np.ndarray
