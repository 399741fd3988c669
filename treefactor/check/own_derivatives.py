"""Compute derivatives by treefactor with the keys of `treefactor.check.derivatives`, and their values."""

from __future__ import annotations

import numpy as np

from .. import dynamics, kinematics
from ..derivatives.first_order import forward_dynamics_derivatives, rnea_derivatives
from ..derivatives.kinematics import centroidal_derivatives, frame_derivatives
from ..exceptions import NotPositiveDefiniteError
from ..model.model import Model

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
Matrices = dict[tuple[str, str], np.ndarray]


def derivatives(model: Model, q, v, a, tau, frame: str) -> Matrices:
    """Return the matrices: of q̈ where H has an inverse, of momenta where the robot has mass."""
    found: Matrices = {
        ("τ", by): X for by, X in zip("qva", rnea_derivatives(model, q, v, a), strict=True)
    }
    try:
        matrices = forward_dynamics_derivatives(model, q, v, tau)
        found |= {("q̈", by): X for by, X in zip("qvτ", matrices, strict=True)}
    except NotPositiveDefiniteError:
        pass
    for reference in REFERENCES:
        motion = frame_derivatives(model, q, v, a, frame, reference)
        found |= {(f"V {reference}", by): getattr(motion, f"velocity_{by}") for by in "qv"}
        found |= {(f"A {reference}", by): getattr(motion, f"acceleration_{by}") for by in "qva"}
    if model.mass:
        centroidal = centroidal_derivatives(model, q, v, a)
        found |= {("ḣ", by): getattr(centroidal, f"dhdot_d{by}") for by in "qva"}
        found["h", "q"] = centroidal.dh_dq
    return found


def values(model: Model, q, v, a, tau, frame: str) -> dict[str, np.ndarray]:
    """Return tau, q̈ where H has an inverse, V and A in all references, the momentum h and its rate ḣ."""
    found = {"τ": dynamics.rnea(model, q, v, a)}
    try:
        found["q̈"] = dynamics.forward_dynamics(model, q, v, tau)
    except NotPositiveDefiniteError:
        pass
    for reference in REFERENCES:
        found[f"V {reference}"] = kinematics.frame_velocity(model, q, v, frame, reference)
        found[f"A {reference}"] = kinematics.frame_acceleration(model, q, v, a, frame, reference)
    if model.mass:
        found["h"] = kinematics.centroidal_momentum(model, q, v)
        found["ḣ"] = kinematics.centroidal_momentum_rate(model, q, v, a)
    return found
