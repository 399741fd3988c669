"""Placements and velocities of bodies, and rows of Jacobians."""

from .jacobians import Kinematics, acceleration_bias, jacobian, placement

__all__ = [
    "Kinematics",
    "acceleration_bias",
    "jacobian",
    "placement",
]
