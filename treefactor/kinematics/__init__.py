"""Compute placements, velocities and Jacobians of bodies and frames.

`jacobians` has the public functions, the class `Kinematics` that holds placements, velocities and unit
motions of all bodies, and the class `Support`, which lists the freedoms that have an entry in a row.
"""

from .jacobians import Kinematics, acceleration_bias, jacobian, placement

__all__ = [
    "Kinematics",
    "acceleration_bias",
    "jacobian",
    "placement",
]
