"""Check that the rotations in configurations have unit length; errors name the joint."""

from __future__ import annotations

import numpy as np

from ..exceptions import ConfigurationError
from ..tolerances import UNIT_SQUARE
from .joints import ROTATIONS
from .model import Model


def require_rotations(model: Model, q: np.ndarray, name: str) -> None:
    """Raise ConfigurationError if a finite (cos, sin) or quaternion does not have unit length."""
    for kind, turned in ROTATIONS.items():
        if kind in model.entries:
            x = q[..., model.entries[kind][0][:, turned]]
            with np.errstate(over="ignore"):
                square = (x * x).sum(-1)
            odd = (np.abs(square - 1.0) > UNIT_SQUARE) & np.isfinite(x).all(-1)
            if odd.any():
                _complain(model, kind, square, odd, name)


def _complain(model: Model, kind: str, square: np.ndarray, odd: np.ndarray, name: str) -> None:
    """Raise ConfigurationError that names the first rotation of another length."""
    for *element, k in np.argwhere(odd).tolist():
        joint = [joint.name for joint in model.joints if joint.kind == kind and not joint.mimic][k]
        what = "quaternion" if kind in ("spherical", "freeflyer") else "(cos, sin)"
        where = f"{name}{element}" if element else name
        length = np.sqrt(square[(*element, k)])
        raise ConfigurationError(f"the {what} of joint {joint!r} in {where} has length {length:.9g}", joint)
