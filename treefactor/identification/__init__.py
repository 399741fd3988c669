"""Base parameters, fits of bodies and gradients by inertial parameters.

`base_parameters` finds the combinations of parameters that the forces of the joints depend on; `excitation`
names what measured motions do not show; `physical` fits bodies that can exist to a triangle of least squares;
`gradients` changes gradients to coordinates of bodies that can exist.
"""

from .base_parameters import BaseParameters, Direction, base_parameters
from .excitation import directions_not_excited, unexcited
from .gradients import log_cholesky_gradient
from .physical import PhysicalFit, fit_physical

__all__ = [
    "BaseParameters",
    "Direction",
    "PhysicalFit",
    "base_parameters",
    "directions_not_excited",
    "fit_physical",
    "log_cholesky_gradient",
    "unexcited",
]
