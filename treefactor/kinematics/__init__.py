"""Compute placements, velocities and Jacobians of bodies and frames.

`jacobians` has the public functions, the class `Kinematics` that holds placements, velocities and unit
motions of all bodies, and the class `Support`, which lists the freedoms that have an entry in a row.
`operational_space` has the inertia, inverse, null space and bias of tasks.
"""

from .jacobians import Kinematics, acceleration_bias, jacobian, placement
from .operational_space import (
    OperationalSpace,
    operational_bias,
    operational_inertia,
    operational_space,
    task_bias,
)

__all__ = [
    "Kinematics",
    "OperationalSpace",
    "acceleration_bias",
    "jacobian",
    "operational_bias",
    "operational_inertia",
    "operational_space",
    "placement",
    "task_bias",
]
