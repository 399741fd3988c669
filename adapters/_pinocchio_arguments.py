"""Validate arguments that must be objects of Pinocchio."""

from __future__ import annotations

import pinocchio as pin

from .._util.engine_objects import require_object
from .._util.messages import received


def require_model(model, name: str = "model") -> None:
    """Raise TypeError unless model is a `pinocchio.Model`; the message shows how to make one."""
    if isinstance(model, pin.Model):
        return
    if isinstance(model, pin.Data):
        advice = "pass the model that made this data"
        raise TypeError(f"{name} must be a pinocchio.Model, got {received(model)}: {advice}")
    files = "load a file with pinocchio_.load(path), or with treefactor.Model.from_urdf(path)"
    require_object(model, pin.Model, name, "a pinocchio.Model", files)


def require_data(data) -> None:
    """Raise TypeError unless data is a `pinocchio.Data`."""
    if not isinstance(data, pin.Data):
        advice = ": pass model.createData()" if isinstance(data, pin.Model) else ""
        raise TypeError(f"data must be a pinocchio.Data, got {received(data)}{advice}")
