"""Regressors, base parameters and estimates of inertial parameters.

`base_parameters` finds the combinations of parameters that the forces of the joints depend on; `excitation`
names what measured motions do not show.
"""

from .base_parameters import BaseParameters, Direction, base_parameters
from .excitation import directions_not_excited, unexcited

__all__ = ["BaseParameters", "Direction", "base_parameters", "directions_not_excited", "unexcited"]
