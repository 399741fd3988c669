"""Compute placements, velocities and Jacobians of bodies and frames.

`frames` has the public functions; `plans` compiles the requests behind them, and says how to add an output.
`jacobians` has the functions of `treefactor.constraints`, the class `Kinematics` that holds placements,
velocities and unit motions of all bodies, and the class `Support`, which lists the freedoms that have an entry in
a row.
"""

from .frames import (
    frame_acceleration,
    frame_jacobian,
    frame_jacobian_dot,
    frame_placement,
    frame_velocity,
    joint_jacobian,
    joint_placements,
)
from .jacobians import Kinematics, acceleration_bias, jacobian, placement

__all__ = [
    "Kinematics",
    "acceleration_bias",
    "frame_acceleration",
    "frame_jacobian",
    "frame_jacobian_dot",
    "frame_placement",
    "frame_velocity",
    "jacobian",
    "joint_jacobian",
    "joint_placements",
    "placement",
]
