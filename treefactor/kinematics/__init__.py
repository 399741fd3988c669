"""Compute placements, velocities and Jacobians of bodies and frames."""

from .jacobians import Kinematics, acceleration_bias, jacobian, placement

__all__ = [
    "Kinematics",
    "acceleration_bias",
    "jacobian",
    "placement",
]
