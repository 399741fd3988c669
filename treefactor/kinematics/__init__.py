"""Compute placements, velocities and Jacobians of bodies, frames and centres of mass.

treefactor/quantities/kinematics.py declares the public functions, `requests` returns their compiled
functions. `fused` has the class `Kinematics` that computes many results together, and `terms` the terms of
the equation of motion. `plans` compiles requests, and says how to add an output.
`operational_space` has the inertia, inverse, null space and bias of tasks.

`jacobians` has the class `BodyMotions` that holds placements, velocities and unit motions of all bodies, and
the class `Support`, which lists the freedoms with an entry in a row.
"""

from ..quantities.functions import (
    all_terms,
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_inertia,
    centroidal_map,
    centroidal_map_dot,
    centroidal_momentum,
    centroidal_momentum_rate,
    frame_acceleration,
    frame_jacobian,
    frame_jacobian_dot,
    frame_placement,
    frame_velocity,
    joint_jacobian,
    joint_placements,
)
from .delassus import delassus
from .fused import Kinematics
from .jacobians import BodyMotions
from .operational_space import (
    OperationalSpace,
    operational_bias,
    operational_inertia,
    operational_space,
    task_bias,
)

__all__ = [
    "BodyMotions",
    "Kinematics",
    "OperationalSpace",
    "all_terms",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_inertia",
    "centroidal_map",
    "centroidal_map_dot",
    "centroidal_momentum",
    "centroidal_momentum_rate",
    "delassus",
    "frame_acceleration",
    "frame_jacobian",
    "frame_jacobian_dot",
    "frame_placement",
    "frame_velocity",
    "joint_jacobian",
    "joint_placements",
    "operational_bias",
    "operational_inertia",
    "operational_space",
    "task_bias",
]
